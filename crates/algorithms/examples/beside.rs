#![expect(clippy::print_stdout, reason = "an example prints")]
//! Measures how long a search takes beside other work.
//!
//! `beside GRAPH SOURCE [JOBS]` runs a breadth-first search from a source, first alone and then while
//! one or more PageRanks run on the same scheduler. It prints as JSON the number of levels and the
//! seconds of both searches.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use tegula_algorithms::centrality::pagerank::{PageRank, Stop};
use tegula_algorithms::engine::{
    Cancel, Error, Result, RunOptions, Scheduler, VertexId, open_graph,
};
use tegula_algorithms::paths::bfs::Bfs;
use tegula_machine::Error as MachineError;
use tegula_machine::disk::Backend;
use tegula_store::OriginalId;

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let (directory, source, jobs) = match &arguments[..] {
        [_, directory, source] => (directory, source, 1),
        [_, directory, source, jobs] => (directory, source, jobs.parse::<usize>()?),
        _ => return Err("usage: beside GRAPH SOURCE [JOBS]".into()),
    };
    let options = RunOptions { memory: 4 << 30, ..Default::default() };
    let graph = open_graph(Path::new(directory), options.memory, Backend::Auto)?;
    let source: VertexId = graph
        .original_ids()?
        .find(&OriginalId::String(source.clone()))?
        .ok_or("there is no such vertex")?;
    Scheduler::scope(&graph, &options.resources(), |scheduler| {
        let options = RunOptions { scheduler: Some(scheduler), ..options.clone() };
        let search = || {
            let started = Instant::now();
            let found = Bfs::run(&graph, source, &options)?;
            let seconds = started.elapsed().as_secs_f64();
            Ok::<_, Error>((found.statistics.iterations, seconds))
        };
        // The first search brings the rows or tiles into memory for the two that are timed.
        search()?;
        let (levels, alone) = search()?;
        let (cancel, begun) = (Cancel::default(), AtomicUsize::new(0));
        let (beside, iterations) = std::thread::scope(|scope| {
            let run = || {
                let stop = Stop::Iterations(u64::MAX);
                let options = RunOptions { cancel: cancel.clone(), ..options.clone() };
                begun.fetch_add(1, Ordering::Relaxed);
                PageRank::run(&graph, stop, &options).map(|outcome| outcome.statistics.iterations)
            };
            let ranks: Vec<_> = (0..jobs).map(|_| scope.spawn(run)).collect();
            while begun.load(Ordering::Relaxed) < jobs {
                std::thread::yield_now();
            }
            let beside = search();
            cancel.cancel();
            (beside, ranks.into_iter().map(|ranks| ranks.join()).collect::<Vec<_>>())
        });
        let (_, beside) = beside?;
        let is_cancelled = |ended: &std::thread::Result<Result<u64>>| {
            matches!(ended, Ok(Err(Error::Machine(MachineError::Cancelled))))
        };
        if !iterations.iter().all(is_cancelled) {
            return Err("a PageRank ended before the search".into());
        }
        println!("{{\"levels\": {levels}, \"alone\": {alone:.6}, \"beside\": {beside:.6}}}");
        Ok(())
    })
}
