//! PageRank of another engine, in arrays of its own, beside a job of tegula: both work on the same
//! tiles, which are read once. `cargo run --release --example shared_scan -- GRAPH.tegula`
#![expect(clippy::print_stdout, reason = "an example prints")]

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use tegula_algorithms::centrality::pagerank::{PageRank, PageRankConfig, Stop};
use tegula_algorithms::engine::sharing::{self, EdgeBlock};
use tegula_algorithms::engine::{Backend, Graph, Result, RunOptions, Scheduler, open_graph};

const CONFIG: PageRankConfig = PageRankConfig { damping: 0.85, stop: Stop::Iterations(20) };
/// Ranks are added up as integers of this unit, so the order does not matter.
const UNIT: f64 = 1.0 / (1u64 << 62) as f64;

fn own_ranks(graph: &Graph, options: &RunOptions<'_>) -> Result<Vec<f64>> {
    let count = graph.vertex_count() as usize;
    let (ranks, _) = sharing::join(graph, 24 * count as u64, false, options, |scan| {
        let zeroes = || (0..count).map(|_| AtomicU64::new(0)).collect::<Vec<_>>();
        let (degrees, sums) = (zeroes(), zeroes());
        scan.scan(None, &|EdgeBlock { sources, .. }| {
            sources.iter().for_each(|&source| _ = degrees[source as usize].fetch_add(1, Relaxed));
        })?;
        let degree = |it: usize| degrees[it].load(Relaxed);
        let mut ranks = vec![1.0 / count as f64; count];
        for _ in 0..20 {
            let dangling: f64 = (0..count).filter(|&it| degree(it) == 0).map(|it| ranks[it]).sum();
            scan.scan(None, &|EdgeBlock { sources, targets, .. }| {
                for (&source, &target) in sources.iter().zip(targets) {
                    let sent = ranks[source as usize] / degree(source as usize) as f64;
                    sums[target as usize].fetch_add((sent / UNIT) as u64, Relaxed);
                }
            })?;
            for (rank, sum) in ranks.iter_mut().zip(&sums) {
                let reduced = dangling / count as f64 + sum.swap(0, Relaxed) as f64 * UNIT;
                *rank = 0.15 / count as f64 + 0.85 * reduced;
            }
        }
        Ok(ranks)
    })?;
    Ok(ranks)
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let directory = std::env::args().nth(1).ok_or("which graph?")?;
    let options = RunOptions { memory: 4 << 30, ..RunOptions::default() };
    let graph = open_graph(directory.as_ref(), options.memory, Backend::Auto)?;
    let (theirs, ours) = Scheduler::scope(&graph, &options.resources(), |scheduler| {
        let options = RunOptions { scheduler: Some(scheduler), ..options.clone() };
        std::thread::scope(|threads| {
            let theirs = threads.spawn(|| own_ranks(&graph, &options));
            let ours = PageRank::run(&graph, CONFIG, &options);
            (theirs.join(), ours)
        })
    });
    let theirs = theirs.map_err(|_| "the other engine panicked")??;
    let difference = theirs.iter().zip(ours?.states).map(|(a, b)| (a - f64::from(b)).abs());
    let (read, tiles) = (graph.reader().statistics().bytes_read, graph.tile_bytes());
    assert!(read < tiles + tiles / 4 + 4 * theirs.len() as u64, "tiles were read twice");
    println!("difference of the ranks (L1): {:.2e}; read: {read} bytes", difference.sum::<f64>());
    Ok(())
}
