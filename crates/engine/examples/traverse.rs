#![expect(clippy::print_stdout, reason = "an example prints")]
//! Times a part of a traversal of rows on disk, with or without run-ahead, on one thread.
//!
//! ```sh
//! cargo run --release -p tegula-engine --example traverse -- \
//!     GRAPH bfs|dfs|dijkstra|sequential SOURCE CACHE_PERCENT FROM COUNT [--without-run-ahead]
//! ```
//!
//! The cache holds `CACHE_PERCENT` of the rows, and reads go past the page cache. Rows before row
//! `FROM` of the traversal are read with run-ahead and not timed. The next `COUNT` rows are timed,
//! or all with a `COUNT` of 0. So the same rows can be read either way, in the middle of a
//! traversal.

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use tegula_engine::traverse::{
    BestFirst, BreadthFirst, DepthFirst, Filter, Listed, Nested, RunAhead, Sequential, Traversal,
    VertexSet,
};
use tegula_engine::{Cancel, Graph, Row, RowReader, ShortId};
use tegula_machine::disk::{Backend, Caching, PageStatistics, Pool, Reader, speed_of};
use tegula_store::OriginalId;
use tegula_store::rows::Direction;

type Outcome<T> = Result<T, Box<dyn Error>>;

const USAGE: &str = "usage: traverse GRAPH bfs|dfs|dijkstra|sequential SOURCE CACHE_PERCENT FROM \
                     COUNT [--without-run-ahead]";
/// Bytes for reads beside the rows.
const POOL_SIZE: u64 = 64 << 20;

/// The rows that are timed.
#[derive(Clone, Copy)]
struct Window {
    from: u64,
    count: u64,
    runs_ahead: bool,
}

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (graph, kind, source, percent, from, count, runs_ahead) = match arguments.as_slice() {
        [graph, kind, source, percent, from, count] => {
            (graph, kind, source, percent, from, count, true)
        }
        [graph, kind, source, percent, from, count, flag] if flag == "--without-run-ahead" => {
            (graph, kind, source, percent, from, count, false)
        }
        _ => return Err(USAGE.into()),
    };
    let reader = Reader::open(Backend::Auto, Pool::new(POOL_SIZE))?;
    let graph = Graph::open(Path::new(graph), &reader, Caching::Direct)?;
    let source = OriginalId::String(source.clone());
    let source = graph.original_ids()?.find(&source)?.ok_or("there is no such source")?;
    let has_weights = kind == "dijkstra";
    let size = RowReader::cache_size_max(&graph, Direction::Forward, has_weights)
        * percent.parse::<u64>()?
        / 100;
    let targets = speed_of(graph.directory()).targets;
    let rows = RowReader::open(
        &graph,
        Direction::Forward,
        has_weights,
        size.max(RowReader::CACHE_SIZE_MIN),
        &targets,
    )?;
    let rows = rows.ok_or("the graph has no rows")?;
    let window = Window { from: from.parse()?, count: count.parse()?, runs_ahead };
    let line = match kind.as_str() {
        "bfs" => bfs(&rows, source.short(), window)?,
        "dfs" => dfs(&graph, &rows, source.short(), window)?,
        "dijkstra" => dijkstra(&rows, source.short(), window)?,
        "sequential" => sequential(&graph, &rows, window)?,
        _ => return Err(USAGE.into()),
    };
    println!("{line}");
    Ok(())
}

fn bfs(rows: &RowReader, source: ShortId, window: Window) -> Outcome<String> {
    let reached = VertexSet::new(rows.rows().vertex_count());
    reached.insert(source);
    let mut order = BreadthFirst::default();
    order.push(source);
    traverse(rows, order, window, |row, order| {
        row.for_each(|target| {
            if reached.insert(target) {
                order.push(target);
            }
        })
    })
}

fn dfs(graph: &Graph, rows: &RowReader, source: ShortId, window: Window) -> Outcome<String> {
    let vertices = rows.rows().vertex_count();
    let longest = graph.out_degrees()?.into_iter().max().unwrap_or(0);
    let visited = VertexSet::new(vertices);
    let inner = DepthFirst::new(&visited, vertices, DepthFirst::room(longest.into()));
    let sources = [source];
    let order = Nested { inner, outer: Listed::new(&sources) };
    traverse(rows, order, window, |row, order| {
        while order.inner.leave().is_some() {}
        order.inner.enter(row.source());
        row.for_each(|target| {
            order.inner.push(target);
        })
    })
}

fn dijkstra(rows: &RowReader, source: ShortId, window: Window) -> Outcome<String> {
    let vertices = rows.rows().vertex_count();
    let mut distances = vec![f64::INFINITY; vertices as usize];
    distances[source.index()] = 0.0;
    let settled = VertexSet::new(vertices);
    let mut order = Filter::new(BestFirst::default(), |vertex| !settled.contains(vertex));
    order.order_mut().push(source, 0);
    traverse(rows, order, window, |row, order| {
        settled.insert(row.source());
        let distance = distances[row.source().index()];
        row.for_each_weighted(|target, weight| {
            let nearer = distance + f64::from(weight);
            if nearer < distances[target.index()] {
                distances[target.index()] = nearer;
                // Non-negative floats have the order of their bits.
                order.order_mut().push(target, nearer.to_bits());
            }
        })?;
        Ok(())
    })
}

/// Runs one iteration of PageRank, without the constants that all vertices share.
fn sequential(graph: &Graph, rows: &RowReader, window: Window) -> Outcome<String> {
    let degrees = graph.out_degrees()?;
    let mut ranks = vec![0f32; degrees.len()];
    traverse(rows, Sequential::new(0..graph.short_vertex_count()?), window, |row, _| {
        let share = 1.0 / degrees[row.source().index()].max(1) as f32;
        row.for_each(|target| ranks[target.index()] += share)
    })
}

/// Visits rows; returns the time of those in the window.
fn traverse<O: RunAhead>(
    rows: &RowReader,
    order: O,
    window: Window,
    mut visit: impl FnMut(&Row<'_>, &mut O) -> tegula_engine::Result<()>,
) -> Outcome<String> {
    let cancel = Cancel::default();
    let mut traversal = Traversal::new(rows, order, &cancel);
    let mut pass = |traversal: &mut Traversal<'_, O>, count: u64| -> Outcome<u64> {
        let mut done = 0;
        while done < count
            && let Some((row, order)) = traversal.next_row()?
        {
            visit(&row, order)?;
            done += 1;
        }
        Ok(done)
    };
    let before = pass(&mut traversal, window.from)?;
    if !window.runs_ahead {
        traversal = traversal.without_run_ahead();
    }
    let statistics = rows.statistics();
    let started = Instant::now();
    let count = if window.count == 0 { u64::MAX } else { window.count };
    let timed = pass(&mut traversal, count)?;
    let seconds = started.elapsed().as_secs_f64();
    Ok(summary(before, timed, seconds, &statistics, &rows.statistics()))
}

fn summary(
    before: u64,
    rows: u64,
    seconds: f64,
    earlier: &PageStatistics,
    later: &PageStatistics,
) -> String {
    let wanted = (later.wanted - earlier.wanted).max(1) as f64;
    let hit_rate = (later.hits - earlier.hits) as f64 / wanted;
    let ready_rate = (later.ready - earlier.ready) as f64 / wanted;
    let requests = later.requests - earlier.requests;
    let bytes = later.bytes_read + later.bytes_past - earlier.bytes_read - earlier.bytes_past;
    format!(
        r#"{{"rows_before":{before},"rows":{rows},"seconds":{seconds},"hit_rate":{hit_rate},"ready_rate":{ready_rate},"requests":{requests},"bytes_read":{bytes}}}"#
    )
}
