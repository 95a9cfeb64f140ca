#![expect(clippy::print_stdout, reason = "an example prints")]
//! Measures how long a search takes beside other work.
//!
//! `beside GRAPH SOURCE` runs a breadth-first search from a source, first alone and then while
//! PageRank runs on the same scheduler. It prints as JSON the number of levels and the seconds of
//! both searches.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use tegula_algorithms::centrality::pagerank::{PageRank, PageRankConfig, Stop};
use tegula_algorithms::engine::{Cancel, RunOptions, Scheduler, VertexId, open_graph};
use tegula_algorithms::paths::bfs::Bfs;
use tegula_machine::Error as MachineError;
use tegula_machine::disk::Backend;
use tegula_store::OriginalId;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, directory, source] = &arguments[..] else {
        return Err("usage: beside GRAPH SOURCE".into());
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
            Ok::<_, tegula_algorithms::engine::Error>((found.statistics.iterations, seconds))
        };
        // The first search brings the rows or tiles into memory for the two that are timed.
        search()?;
        let (levels, alone) = search()?;
        let (cancel, has_begun) = (Cancel::default(), AtomicBool::new(false));
        let (beside, iterations) = std::thread::scope(|scope| {
            let ranks = scope.spawn(|| {
                let stop = Stop::Iterations(u64::MAX);
                let config = PageRankConfig { stop, ..Default::default() };
                let options = RunOptions { cancel: cancel.clone(), ..options.clone() };
                has_begun.store(true, Ordering::Relaxed);
                PageRank::run(&graph, config, &options).map(|outcome| outcome.statistics.iterations)
            });
            while !has_begun.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
            let beside = search();
            cancel.cancel();
            (beside, ranks.join())
        });
        let (_, beside) = beside?;
        if !matches!(
            iterations,
            Ok(Err(tegula_algorithms::engine::Error::Machine(MachineError::Cancelled)))
        ) {
            return Err("PageRank ended before the search".into());
        }
        println!("{{\"levels\": {levels}, \"alone\": {alone:.6}, \"beside\": {beside:.6}}}");
        Ok(())
    })
}
