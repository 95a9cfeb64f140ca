#![expect(clippy::print_stdout, reason = "an example prints")]
//! Times look-ups of the neighbours of random vertices on disk: how long a user waits for the
//! answer.
//!
//! ```sh
//! cargo run --release -p tegula-store --example look_up -- GRAPH COUNT IN_FLIGHT
//! ```
//!
//! `IN_FLIGHT` threads look up one vertex each, again and again. The index is in memory. Rows are
//! read past the page cache, and hardly any stay in memory. Vertices without neighbours are left
//! out.

use std::error::Error;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use tegula_machine::disk::{Backend, Caching, Pool, Reader, Targets};
use tegula_store::graph::Graph;
use tegula_store::rows::{Direction, RowBatch, RowReader};
use tegula_store::{Result, ShortId};

fn main() -> std::result::Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [graph, count, in_flight] = arguments.as_slice() else {
        return Err("usage: look_up GRAPH COUNT IN_FLIGHT".into());
    };
    let reader = Reader::open(Backend::Auto, Pool::new(64 << 20))?;
    let graph = Graph::open(Path::new(graph), &reader, Caching::Direct)?;
    let rows = RowReader::open(
        &graph,
        Direction::Forward,
        false,
        RowReader::CACHE_SIZE_MIN,
        &Targets::default(),
    )?;
    let rows = rows.ok_or("the graph has no rows")?;
    let asked = random_vertices(&rows, count.parse()?);
    let next = AtomicUsize::new(0);
    let started = Instant::now();
    let answers: Vec<Result<Vec<f64>>> = std::thread::scope(|scope| {
        let users: Vec<_> = (0..in_flight.parse::<usize>().unwrap_or(1).max(1))
            .map(|_| scope.spawn(|| look_up(&rows, &asked, &next)))
            .collect();
        users.into_iter().map(|user| user.join().unwrap_or_else(|_| Ok(Vec::new()))).collect()
    });
    let seconds = started.elapsed().as_secs_f64();
    let mut latencies = Vec::new();
    for answer in answers {
        latencies.extend(answer?);
    }
    latencies.sort_by(f64::total_cmp);
    let at = |share: f64| latencies[((latencies.len() - 1) as f64 * share) as usize];
    let (p50, p99, count, hit_rate) =
        (at(0.5), at(0.99), latencies.len(), rows.statistics().hit_rate());
    println!(
        r#"{{"count":{count},"seconds":{seconds},"p50":{p50},"p99":{p99},"hit_rate":{hit_rate}}}"#
    );
    Ok(())
}

/// Looks up vertices until none is left. Returns the seconds that each took.
fn look_up(rows: &RowReader, asked: &[ShortId], next: &AtomicUsize) -> Result<Vec<f64>> {
    let mut batch = RowBatch::default();
    let mut latencies = Vec::new();
    let mut neighbours = Vec::new();
    while let Some(vertex) = asked.get(next.fetch_add(1, Ordering::Relaxed)) {
        let started = Instant::now();
        neighbours.clear();
        rows.get(std::slice::from_ref(vertex), &mut batch)?;
        rows.row(&batch, 0).for_each(|target| neighbours.push(target))?;
        latencies.push(started.elapsed().as_secs_f64());
    }
    Ok(latencies)
}

/// Random vertices that have a row, the same in every run.
fn random_vertices(rows: &RowReader, count: usize) -> Vec<ShortId> {
    let vertex_count = u64::from(rows.rows().vertex_count());
    let mut number = 1u64;
    let numbers = std::iter::repeat_with(|| {
        number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        ShortId((((number >> 32) * vertex_count) >> 32) as u32)
    });
    let has_row = |vertex: &ShortId| rows.rows().extent(*vertex).bit_count() > 0;
    numbers.filter(has_row).take(count).collect()
}
