//! What memory and time a run needs, said before it starts.

use std::time::Duration;

use tegula_algorithms::algorithm::{Needs, Request, StreamedLayout};
use tegula_engine::{Error, Graph};
use tegula_machine::Bytes;
use tegula_store::Hint;

use super::input::name_of;
use super::options::RunArgs;
use crate::errors;
use crate::hints;
use crate::json::{self, Seconds, Work};
use crate::report::{self, Facts};
use crate::session::Session;

/// Prints what a run needs.
///
/// # Errors
/// [`OverBudget`](tegula_machine::Error::OverBudget) where it does not fit.
pub fn show(
    needs: &Needs,
    request: &Request,
    graph: &Graph,
    args: &RunArgs,
    session: &Session,
) -> errors::Result<()> {
    let (algorithm, memory) = (request.name, args.machine.reading.budget.bytes());
    let plan = needs.estimate.plan_on_disk(memory);
    let room = match plan {
        Some((arrays, plan)) => {
            arrays.check_room(graph, &plan, args.machine.spill_directory.as_deref())
        }
        None => Ok(()),
    };
    let outlook = Outlook {
        room,
        seconds: seconds(needs, graph, args),
        threads: args.machine.threads.count(),
    };
    let fits = needs.check(algorithm, memory);
    if session.json {
        session.print_json(&to_json(needs, algorithm, graph, memory, &outlook))?;
    } else {
        let refusal = fits.as_ref().err().map(tegula_algorithms::Error::hints);
        let facts = facts(needs, memory, &outlook, refusal.as_deref()).to_text();
        let graph = report::path(name_of(request, graph));
        session.print(&format!("{algorithm} on {graph} needs\n{facts}"))?;
    }
    // Refused only now: the figures are shown also where they do not fit.
    Ok(fits?)
}

/// What to expect of a run.
struct Outlook {
    /// Why the files of its arrays cannot be made, if there is a known reason.
    room: Result<(), Error>,
    /// How long it takes, where that can be estimated.
    seconds: Option<Duration>,
    threads: usize,
}

/// Estimates how long a run takes, where that is possible.
fn seconds(needs: &Needs, graph: &Graph, args: &RunArgs) -> Option<Duration> {
    let speed = args.machine.reading.speed(graph.directory());
    let seconds =
        needs.seconds(args.machine.reading.budget.bytes(), args.machine.threads.count(), &speed)?;
    Duration::try_from_secs_f64(seconds).ok()
}

fn to_json(
    needs: &Needs,
    algorithm: &'static str,
    graph: &Graph,
    memory: u64,
    outlook: &Outlook,
) -> json::Estimate {
    let estimate = &needs.estimate;
    json::Estimate {
        schema: "tegula.estimate.v1",
        algorithm,
        vertices: graph.vertex_count(),
        edges: graph.edge_count(),
        vertex_bytes: estimate.vertex_bytes,
        stream_bytes_min: estimate.stream_bytes_min,
        overhead_bytes: estimate.overhead_bytes,
        needed_bytes: needs.needed(),
        layout: layout_name(needs.layout),
        layout_bytes: estimate.layout_bytes,
        arrays_on_disk: json::ArraysOnDisk::of(estimate, memory),
        disk_refuses: outlook.room.as_ref().err().map(ToString::to_string),
        why_in_memory: needs.why_in_memory,
        iteration_bytes: needs.iteration_bytes(memory),
        moved_bytes: needs.bytes_moved(memory) as u64,
        lists_bytes: needs.lists_bytes,
        resident_bytes: json::peak_memory(),
        peak_memory_bytes: needs.peak_bytes(memory, json::peak_memory()),
        seconds: outlook.seconds.map(Seconds),
        work: Work::of(needs, memory, outlook.threads),
        memory_bytes: memory,
        fits: needs.needed() <= memory,
        layout_fits: needs.holds_layout(memory),
    }
}

/// Whether iterations after the first read the layout again.
fn layout_is_read_again(needs: &Needs, memory: u64) -> bool {
    needs.layout == StreamedLayout::Tiles && !needs.holds_layout(memory)
}

fn layout_name(layout: StreamedLayout) -> &'static str {
    match layout {
        StreamedLayout::None => "none",
        StreamedLayout::Tiles => "tiles",
        StreamedLayout::Rows => "rows",
    }
}

fn facts(needs: &Needs, memory: u64, outlook: &Outlook, refusal: Option<&[Hint]>) -> Facts {
    let estimate = &needs.estimate;
    let layout = layout_name(needs.layout);
    let mut facts = Facts::default();
    let on_disk = estimate.plan_on_disk(memory);
    facts.add("vertex arrays and workers", report::bytes(estimate.vertex_bytes));
    if let Some(why) = needs.why_in_memory {
        facts.add("all in memory, since", why);
    }
    if needs.layout != StreamedLayout::None {
        let streaming = format!("streaming of {layout}, at least");
        facts.add(streaming, report::bytes(estimate.stream_bytes_min));
    }
    facts.add("code, tables and stacks", report::bytes(estimate.overhead_bytes));
    if let Some(bytes) = needs.build_bytes {
        facts.add("building the rows first", report::bytes(bytes));
    }
    if let Some(bytes) = needs.writing_bytes() {
        facts.add("writing the graph, at least", report::bytes(bytes));
    }
    let in_memory = estimate.needed_in_memory().max(needs.needed());
    facts.add("needed", report::bytes(in_memory));
    if needs.needed() < in_memory {
        facts.add("needed with arrays on disk", report::bytes(needs.needed()));
    }
    if let Some((arrays, plan)) = &on_disk {
        let (held, files) = (report::bytes(plan.bytes), report::bytes(arrays.file_size(plan)));
        facts.add("arrays within the budget", format!("{held} in memory, {files} in files"));
    }
    // Rows that are yet to be built have only an expected size.
    let is_expected = needs.build_bytes.is_some() && needs.layout == StreamedLayout::Rows;
    let about = if is_expected { ", about" } else { "" };
    if needs.layout != StreamedLayout::None {
        facts.add(format!("all {layout}{about}"), report::bytes(estimate.layout_bytes));
    }
    if needs.needed() <= memory && layout_is_read_again(needs, memory) {
        facts.add("an iteration moves, about", report::bytes(needs.iteration_bytes(memory)));
    }
    if needs.needed() <= memory {
        let moved = report::bytes(needs.bytes_moved(memory) as u64);
        let peak = report::bytes(needs.peak_bytes(memory, json::peak_memory()));
        let time = outlook.seconds.map_or_else(|| "time not known".to_owned(), report::time);
        facts.add("takes, about", format!("{time}, {peak} at the peak, and moves {moved}"));
    }
    facts.add("budget", report::bytes(memory));
    let verdict = match (refusal, &outlook.room) {
        (Some(hints), _) => {
            let [needed, budget] = Bytes::told_apart(needs.needed(), memory);
            let what_to_do = hints::any_of(hints).unwrap_or_default();
            format!("does not fit: needs {needed} of {budget}; {what_to_do}")
        }
        (None, Err(refused)) => {
            format!("fits, but its arrays have no place on disk: {refused}")
        }
        (None, Ok(())) => how_it_fits(needs, memory),
    };
    facts.add("verdict", verdict);
    facts
}

/// Says in a line what memory a run needs and how it uses its budget.
pub fn plan(needs: &Needs, memory: u64) -> String {
    let [needed, budget] = [needs.needed(), memory].map(report::bytes);
    let fits = how_it_fits(needs, memory);
    format!("memory: {needed} needed at least, {budget} allowed; the run {fits}")
}

/// Says how a run uses a budget that is large enough.
fn how_it_fits(needs: &Needs, memory: u64) -> String {
    let layout = layout_name(needs.layout);
    if needs.layout == StreamedLayout::None {
        return "fits".to_owned();
    }
    if needs.holds_layout(memory) {
        return format!("fits; {layout} are read once and stay in memory");
    }
    if let Some((_, plan)) = needs.estimate.plan_on_disk(memory) {
        let groups = report::counted(plan.groups.into(), "group", "groups");
        return format!(
            "fits, with arrays on disk; tiles are read by {groups} of columns in every iteration"
        );
    }
    match needs.layout {
        StreamedLayout::Rows => "fits; rows are read as they come up".to_owned(),
        StreamedLayout::None | StreamedLayout::Tiles => {
            "fits; tiles are read in every iteration".to_owned()
        }
    }
}
