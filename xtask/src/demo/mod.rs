//! `cargo xtask demo`: imports a few graphs, runs algorithms on them in memory and from disk, and
//! shows the graphs and the figures.

mod chart;
mod graphs;
mod measure;
mod paint;
mod show;

use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::time::Instant;

use crate::outcome::Outcome;
use crate::tegula::Result;
use crate::tegula::arguments::Arguments;
use crate::tegula::command::Tegula;
use crate::tegula::page_cache::PageCache;
use crate::tegula::scratch::Scratch;
use graphs::graphs;
use measure::Stage;
use paint::Paint;

const USAGE: &str = "usage: cargo xtask demo [--scale S] [--keep]";
/// The scale of the generated graph: 17 million edges.
const SCALE: u32 = 20;

/// Shows the graphs one after the other.
pub fn run(root: &Path, arguments: &[String]) -> Outcome {
    let mut arguments = Arguments::new(arguments, USAGE);
    let (mut scale, mut is_kept) = (SCALE, false);
    while let Some(option) = arguments.next() {
        match option {
            "--scale" => scale = arguments.value("--scale")?,
            "--keep" => is_kept = true,
            "--help" | "-h" => return say(USAGE),
            _ => return arguments.unknown(option),
        }
    }
    match show_all(root, scale, is_kept) {
        // The reader of the output has seen enough.
        Err(error) if is_closed_pipe(&*error) => Ok(()),
        other => other,
    }
}

fn show_all(root: &Path, scale: u32, is_kept: bool) -> Outcome {
    let started = Instant::now();
    let paint = Paint::detect();
    let stage = Stage {
        root,
        tegula: Tegula::build(root)?,
        scratch: Scratch::new("demo", is_kept)?,
        cache: PageCache::detect(),
    };
    say(&show::introduction(&paint, stage.cache))?;
    let mut all = Vec::new();
    for graph in graphs(scale) {
        say(&show::heading(&paint, &graph))?;
        let status = |text: &str| show_status(&paint, text);
        let measured = stage.measure(&graph, &status)?;
        show_status(&paint, "");
        say(&show::graph(&paint, &graph, &measured))?;
        all.push((graph, measured));
    }
    say(&show::comparison(&paint, &all))?;
    let command = stage.tegula.path();
    let command = command.strip_prefix(root).unwrap_or(command);
    let kept = is_kept.then(|| stage.scratch.path());
    say(&show::ending(&paint, started.elapsed(), command, kept))
}

fn say(text: &str) -> Outcome {
    let mut out = io::stdout().lock();
    writeln!(out, "{text}")?;
    Ok(out.flush()?)
}

/// Shows the current step, on a line that the next text replaces.
fn show_status(paint: &Paint, text: &str) {
    let mut err = io::stderr().lock();
    if err.is_terminal() {
        let line =
            if text.is_empty() { String::new() } else { paint.dim(&format!("  {text} …")) };
        // If standard error is closed, nobody waits for news.
        let _ = write!(err, "\r\u{1b}[K{line}").and_then(|()| err.flush());
    }
}

fn is_closed_pipe(error: &(dyn std::error::Error + 'static)) -> bool {
    let error = error.downcast_ref::<io::Error>();
    error.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// Fails unless a condition holds.
fn check(holds: bool, what: impl Fn() -> String) -> Result<()> {
    if holds { Ok(()) } else { Err(what().into()) }
}
