//! Developer tasks: `cargo xtask TASK`.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a developer's tool reports on the terminal"
)]

mod algorithms;
mod bench;
mod demo;
mod outcome;
mod tegula;
mod tidy;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use outcome::Outcome;

/// A task: its name, a summary in one line, and its function. The function gets the root of the
/// workspace and the arguments after the name.
struct Task {
    name: &'static str,
    summary: &'static str,
    run: fn(&Path, &[String]) -> Outcome,
}

/// Every task. A new one is a module and a line here.
const TASKS: &[Task] = &[
    Task {
        name: "tidy",
        summary: "check the style of the code: sizes, banned calls, crate arrows, tests",
        run: tidy::run,
    },
    Task {
        name: "algorithms",
        summary: "write docs/ALGORITHMS.md from the catalogue",
        run: algorithms::run,
    },
    Task {
        name: "demo",
        summary: "show tegula on a few graphs, in memory and from disk",
        run: demo::run,
    },
    Task {
        name: "bench",
        summary: "measure, and write the figures to bench/RESULTS.md",
        run: bench::run,
    },
    Task {
        name: "bench-ablations",
        summary: "measure each choice against its alternatives, for bench/ABLATIONS.md",
        run: bench::run_ablations,
    },
    Task {
        name: "bench-jobs",
        summary: "measure many jobs on one graph, for bench/JOBS.md",
        run: bench::run_jobs,
    },
    Task {
        name: "bench-ranks",
        summary: "measure runs on ranks, for bench/RANKS.md",
        run: bench::run_ranks,
    },
    Task {
        name: "bench-peers",
        summary: "measure real graphs beside igraph and NetworKit, for bench/PEERS.md",
        run: bench::run_peers,
    },
    Task {
        name: "fit-rates",
        summary: "measure every algorithm, and write the rates that estimates of time go by",
        run: bench::fit_rates,
    },
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((name, rest)) = arguments.split_first() else { return usage(None) };
    let Some(task) = TASKS.iter().find(|task| task.name == name) else {
        return usage(Some(name));
    };
    match (task.run)(&workspace_root(), rest) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask {name}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn usage(unknown: Option<&str>) -> ExitCode {
    if let Some(name) = unknown {
        eprintln!("xtask: there is no task `{name}`");
    }
    eprintln!("usage: cargo xtask TASK");
    for task in TASKS {
        eprintln!("  {:<16} {}", task.name, task.summary);
    }
    ExitCode::from(2)
}

fn workspace_root() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().unwrap_or(own).to_owned()
}
