//! PageRank of another engine beside a job of tegula, on tiles that are read once: `shared_scan GRAPH`
#![expect(clippy::print_stdout, reason = "an example prints")]

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use tegula_algorithms::centrality::pagerank::{PageRank, Stop};
use tegula_algorithms::engine::{Backend, Graph, Result, RunOptions, Scheduler, open_graph};
use tegula_algorithms::engine::{RunStatistics, sharing};

const STOP: Stop = Stop::Iterations(20);
/// Ranks are added up as integers of this unit, so the order does not matter.
const UNIT: f64 = 1.0 / (1u64 << 62) as f64;

fn own_ranks(graph: &Graph, options: &RunOptions<'_>) -> Result<(Vec<f64>, RunStatistics)> {
    let size = graph.vertex_count() as usize;
    sharing::join(graph, 24 * size as u64, false, options, |scan| {
        let zeroes = || (0..size).map(|_| AtomicU64::new(0)).collect::<Vec<_>>();
        let (degrees, sums) = (zeroes(), zeroes());
        scan.scan(None, &|block| {
            for &source in block.sources {
                degrees[source as usize].fetch_add(1, Relaxed);
            }
        })?;
        let degree = |it: usize| degrees[it].load(Relaxed);
        let mut ranks = vec![1.0 / size as f64; size];
        for _ in 0..20 {
            let dangling: f64 = (0..size).filter(|&it| degree(it) == 0).map(|it| ranks[it]).sum();
            scan.scan(None, &|block| {
                for (&source, &target) in block.sources.iter().zip(block.targets) {
                    let sent = 0.85 * ranks[source as usize] / degree(source as usize) as f64;
                    sums[target as usize].fetch_add((sent / UNIT) as u64, Relaxed);
                }
            })?;
            for (rank, sum) in ranks.iter_mut().zip(&sums) {
                *rank = (0.15 + 0.85 * dangling) / size as f64 + UNIT * sum.swap(0, Relaxed) as f64;
            }
        }
        Ok(ranks)
    })
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let directory = std::env::args().nth(1).ok_or("which graph?")?;
    let options = RunOptions { memory: 4 << 30, ..RunOptions::default() };
    let graph = open_graph(directory.as_ref(), options.memory, Backend::Auto)?;
    let (ours, theirs) = Scheduler::scope(&graph, &options.resources(), |scheduler| {
        let options = RunOptions { scheduler: Some(scheduler), ..options.clone() };
        std::thread::scope(|threads| {
            let theirs = threads.spawn(|| own_ranks(&graph, &options));
            (PageRank::run(&graph, STOP, &options), theirs.join())
        })
    });
    let (theirs, _) = theirs.map_err(|_| "the other engine panicked")??;
    let difference = theirs.iter().zip(ours?.states).map(|(a, b)| (a - f64::from(b)).abs());
    let read = graph.reader().statistics().bytes_read;
    assert!(read < graph.tile_bytes() / 4 * 5 + 4 * graph.vertex_count(), "tiles were read twice");
    println!("difference of the ranks (L1): {:.2e}; read: {read} bytes", difference.sum::<f64>());
    Ok(())
}
