//! `tegula verify`.

use std::time::Instant;

use crate::args::GraphArgs;
use crate::errors::Result;
use crate::json::{self, Seconds};
use crate::report::{self, EdgeCount, Facts};
use crate::session::Session;

/// Reads every byte of a graph and checks it.
///
/// # Errors
/// The first damage found.
pub fn verify(args: &GraphArgs, session: &Session) -> Result<()> {
    session.check_report()?;
    let started = Instant::now();
    let graph = args.open("the check", |graph| Ok(graph.verify_size()))?;
    let checked = graph.verify(session.progress(), &session.cancel)?;
    let elapsed = started.elapsed();
    if session.json {
        return session.print_json(&json::Verify {
            schema: "tegula.verify.v1",
            files: checked.files,
            bytes: checked.bytes,
            tiles: checked.tiles,
            edges: checked.edges,
            seconds: Seconds(elapsed),
            peak_memory_bytes: json::peak_memory(),
        });
    }
    let mut facts = Facts::default();
    facts.add("files", report::count(checked.files));
    facts.add("bytes", report::bytes(checked.bytes));
    facts.add("tiles", report::count(checked.tiles));
    let unit = EdgeCount::of(graph.manifest()).stored_unit();
    facts.add(unit.many, report::count(checked.edges));
    let rate = report::byte_rate(checked.bytes, elapsed);
    facts.add("time", format!("{}, {rate}", report::time(elapsed)));
    session.print_report(&format!("{} is sound\n{}", report::path(&args.graph), facts.to_text()))
}
