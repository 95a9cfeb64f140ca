//! A breadth-first and a sequential traversal of the rows of a graph by one thread, with run-ahead and
//! without, and from memory.
//!
//! ```sh
//! cargo run --release -p tegula-engine --example run_ahead -- GRAPH [PERCENT [SECONDS]]
//! ```
//!
//! `PERCENT` of the rows find room in the cache, by default 5. Without run-ahead a measurement ends after
//! so many `SECONDS` at the latest, by default 10; with run-ahead it visits the same rows.

#![expect(clippy::print_stdout, reason = "an example shows what it finds")]

use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

use tegula_engine::traverse::{BreadthFirst, RunAhead, Sequential, Traversal, VertexSet};
use tegula_engine::{Cancel, Graph, RowReader, Speed, VertexId};
use tegula_store::read::{Backend, Caching, Pool, Reader};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let directory = arguments.next().ok_or("which graph?")?;
    let percent = arguments.next().map_or(Ok(5), |text| text.parse::<u64>())?;
    let limit = Duration::from_secs(arguments.next().map_or(Ok(10), |text| text.parse())?);
    let reader = Reader::open(Backend::Auto, Pool::new(1 << 30))?;
    let graph = Graph::open(Path::new(&directory), &reader, Caching::Direct)?;
    let degrees = graph.out_degrees()?;
    let hub = (0..graph.vertex_count()).max_by_key(|&vertex| degrees[vertex as usize]);
    let hub = VertexId(hub.ok_or("it has no vertex")?);
    let all = RowReader::cache_size_max(&graph, false);
    for (name, cache_size) in [("disk", all * percent / 100), ("memory", all)] {
        let open = || RowReader::open(&graph, false, cache_size, &Speed::default().targets);
        for is_breadth_first in [true, false] {
            let mut rates = Vec::new();
            let mut count_max = u64::MAX;
            for runs_ahead in [false, true] {
                let rows = open()?.ok_or("it has no rows")?;
                if name == "memory" {
                    sequential(&rows, hub, true, (u64::MAX, Duration::MAX))?;
                }
                let run = if is_breadth_first { breadth_first } else { sequential };
                let limits = (count_max, if runs_ahead { Duration::MAX } else { limit });
                let (count, seconds) = run(&rows, hub, runs_ahead, limits)?;
                count_max = count;
                rates.push(count as f64 / seconds);
                let statistics = rows.statistics();
                println!(
                    "{name}, breadth-first {is_breadth_first:5}, run-ahead {runs_ahead:5}: {:>10.0} \
                     rows/s of {count_max}, hit rate {:.2} %, {} requests for {} pages",
                    rates[rates.len() - 1],
                    100.0 * statistics.hit_rate(),
                    statistics.requests,
                    statistics.pages_read
                );
            }
            println!("  speed-up {:.2}", rates[1] / rates[0]);
        }
    }
    Ok(())
}

/// The most rows, and the longest time.
type Limits = (u64, Duration);

/// Rows and seconds of a search from a vertex.
fn breadth_first(
    rows: &RowReader,
    source: VertexId,
    runs_ahead: bool,
    limits: Limits,
) -> Result<(u64, f64), Box<dyn Error>> {
    let visited = VertexSet::new(rows.rows().vertex_count());
    let mut frontier = BreadthFirst::with_capacity(rows.rows().vertex_count() as usize);
    visited.insert(source);
    frontier.push(source);
    rate(rows, frontier, runs_ahead, limits, |target, frontier| {
        if visited.insert(target) {
            frontier.push(target);
        }
    })
}

/// Rows and seconds of a pass.
fn sequential(
    rows: &RowReader,
    _source: VertexId,
    runs_ahead: bool,
    limits: Limits,
) -> Result<(u64, f64), Box<dyn Error>> {
    let mut sum = 0u64;
    let order = Sequential::new(0..rows.rows().vertex_count());
    let rate = rate(rows, order, runs_ahead, limits, |target, _| sum += u64::from(target.0));
    std::hint::black_box(sum);
    rate
}

fn rate<O: RunAhead>(
    rows: &RowReader,
    order: O,
    runs_ahead: bool,
    limits: Limits,
    mut visit: impl FnMut(VertexId, &mut O),
) -> Result<(u64, f64), Box<dyn Error>> {
    let cancel = Cancel::default();
    let mut traversal = Traversal::new(rows, order, &cancel);
    if !runs_ahead {
        traversal = traversal.without_run_ahead();
    }
    let started = Instant::now();
    let mut count = 0u64;
    while let Some((row, order)) = traversal.next_row()? {
        row.for_each(|target| visit(target, order))?;
        count += 1;
        let is_late = count.is_multiple_of(256) && started.elapsed() > limits.1;
        if is_late || count == limits.0 {
            break;
        }
    }
    Ok((count, started.elapsed().as_secs_f64()))
}
