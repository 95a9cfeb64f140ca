//! Cuts rows into chunks, as a function of the graph alone.
//!
//! Most chunks hold the rows of a range of sources. A source with more edges than a chunk may have
//! gets several, its *pieces*: each holds its edges to a range of targets.

use std::ops::{ControlFlow, Range};

use tegula_machine::threads::Cancel;

use crate::graph::{Graph, TileEntry};
use crate::rows::cut::ChunkCut;
use crate::rows::direction::Direction;
use crate::rows::index::CHUNK_LOG2_MAX;
use crate::{Error, Result};

/// A chunk before it is built.
#[derive(Debug, Clone)]
pub(super) struct PlannedChunk {
    pub sources: Range<u32>,
    /// All vertices, or the range of targets if it is a piece.
    pub targets: Range<u32>,
    pub edges: u64,
    pub is_piece: bool,
}

impl PlannedChunk {
    /// The range of its arcs as numbers, see [`arc`].
    pub fn arcs(&self) -> Range<u64> {
        arc(self.sources.start, self.targets.start)
            ..arc(self.sources.end.saturating_sub(1), self.targets.end)
    }

    /// Number of edges of each of its rows, or of its piece of one.
    pub fn row_edges<'d>(&'d self, degrees: &'d [u32]) -> impl Iterator<Item = u64> + 'd {
        let sources = self.sources.start as usize..self.sources.end as usize;
        // A piece has a part of the edges of its row. No other chunk has fewer edges than one of
        // its rows.
        degrees[sources].iter().map(|&degree| u64::from(degree).min(self.edges))
    }
}

/// An arc as a number. Arcs in rows ascend by these numbers.
pub(super) fn arc(source: u32, target: u32) -> u64 {
    u64::from(source) << u32::BITS | u64::from(target)
}

/// Cuts all rows into chunks. Rows that get several are counted first, as many together as have
/// counters in `memory` bytes.
pub(super) fn plan_chunks(
    graph: &Graph,
    direction: Direction,
    degrees: &[u32],
    cut: ChunkCut,
    memory: u64,
    cancel: &Cancel,
) -> Result<Vec<PlannedChunk>> {
    let mut ranges = Vec::new();
    for first in (0..degrees.len()).step_by(1 << CHUNK_LOG2_MAX) {
        halve(degrees, first, CHUNK_LOG2_MAX, cut.edges_max, &mut ranges);
    }
    let vertex_count = degrees.len() as u32;
    let is_long = |sources: &Range<u32>| edges_of(degrees, sources) > cut.edges_max;
    let long = ranges.iter().filter(|sources| is_long(sources)).map(|sources| sources.start);
    let counting = Counting { graph, direction, degrees, cut, windows: cut.windows(vertex_count) };
    let long = counting.cut(&long.collect::<Vec<u32>>(), memory, cancel)?;
    let mut long = long.into_iter();
    let mut chunks = Vec::with_capacity(ranges.len());
    for sources in ranges {
        let targets_cut = if is_long(&sources) { long.next() } else { None };
        let whole = || vec![(0..vertex_count, edges_of(degrees, &sources))];
        let targets_cut = targets_cut.unwrap_or_else(whole);
        let is_piece = targets_cut.len() > 1;
        chunks.extend(targets_cut.into_iter().map(|(targets, edges)| {
            let sources = sources.clone();
            PlannedChunk { sources, targets, edges, is_piece }
        }));
    }
    Ok(chunks)
}

/// Cuts sources into aligned ranges by their degrees.
fn halve(degrees: &[u32], first: usize, log2: u32, edges_max: u64, ranges: &mut Vec<Range<u32>>) {
    if first >= degrees.len() {
        return;
    }
    let end = (first + (1 << log2)).min(degrees.len());
    let sources = first as u32..end as u32;
    if log2 == 0 || edges_of(degrees, &sources) <= edges_max {
        ranges.push(sources);
        return;
    }
    halve(degrees, first, log2 - 1, edges_max, ranges);
    halve(degrees, first + (1 << (log2 - 1)), log2 - 1, edges_max, ranges);
}

fn edges_of(degrees: &[u32], sources: &Range<u32>) -> u64 {
    let degrees = &degrees[sources.start as usize..sources.end as usize];
    degrees.iter().map(|&degree| u64::from(degree)).sum()
}

/// Ranges of targets that cover all vertices, with the number of a row's edges into each.
type RowCut = Vec<(Range<u32>, u64)>;

/// Joins the windows of a row into ranges of targets, up to `cut.edges_max` edges each. `counts`
/// has the edges of each window. Returns each range with its edges.
fn cut_row(counts: &[u32], vertex_count: u32, cut: ChunkCut) -> RowCut {
    let mut pieces = Vec::new();
    let (mut first, mut edges) = (0, 0);
    for (window, &count) in counts.iter().enumerate() {
        let count = u64::from(count);
        // No piece is left empty, even before a window with more edges than a chunk may have.
        if count > 0 && edges > 0 && edges + count > cut.edges_max {
            let end = (window << cut.window_log2) as u32;
            pieces.push((first..end, edges));
            (first, edges) = (end, 0);
        }
        edges += count;
    }
    pieces.push((first..vertex_count, edges));
    pieces
}

/// Counts the edges of long rows.
struct Counting<'c> {
    graph: &'c Graph,
    direction: Direction,
    degrees: &'c [u32],
    cut: ChunkCut,
    /// Number of windows of all vertices.
    windows: usize,
}

impl Counting<'_> {
    /// Cuts the rows of some ascending sources. The counters take `memory` bytes, or more if one
    /// row needs more.
    fn cut(&self, sources: &[u32], memory: u64, cancel: &Cancel) -> Result<Vec<RowCut>> {
        let counters = memory as usize / size_of::<u32>();
        let at_once = (counters / self.windows.max(1)).max(1);
        let mut cut = Vec::with_capacity(sources.len());
        for sources in sources.chunks(at_once) {
            let counts = self.count(sources, cancel)?;
            let vertex_count = self.degrees.len() as u32;
            let rows = counts.chunks(self.windows);
            cut.extend(rows.map(|counts| cut_row(counts, vertex_count, self.cut)));
        }
        Ok(cut)
    }

    /// Counts the edges of some sources to each window of targets, source by source.
    fn count(&self, sources: &[u32], cancel: &Cancel) -> Result<Vec<u32>> {
        let Counting { graph, direction, degrees, cut, windows } = *self;
        let mut counts = vec![0u32; sources.len() * windows];
        let is_wanted = |tile: &TileEntry| {
            let origin = graph.origin_of(tile);
            let may_hold = |&id: &u32| direction.may_hold_any(&tile.summary, origin, &(id..id + 1));
            sources.iter().any(may_hold)
        };
        graph.for_each_tile(is_wanted, false, cancel, |index, tile, _| {
            let mut is_sound = true;
            let visited = graph.for_each_edge(index, tile, |_, source, target| {
                let (source, target) = direction.ends(source as u32, target as u32);
                let Ok(number) = sources.binary_search(&source) else { return };
                let window = (target >> cut.window_log2) as usize;
                match counts[number * windows..][..windows].get_mut(window) {
                    // A count must not wrap around to the degree, with which it is compared below.
                    Some(count) => *count = count.saturating_add(1),
                    None => is_sound = false,
                }
            });
            let damaged = |detail| graph.damaged_tile(index, detail);
            visited.map_err(damaged)?;
            if !is_sound {
                return Err(damaged("an edge leads to no vertex".to_owned()));
            }
            Ok(ControlFlow::Continue(()))
        })?;
        for (&source, counts) in sources.iter().zip(counts.chunks(windows)) {
            let edges: u64 = counts.iter().map(|&count| u64::from(count)).sum();
            if edges != u64::from(degrees[source as usize]) {
                return Err(other_degrees(graph));
            }
        }
        Ok(counts)
    }
}

/// The error for tiles whose edges do not agree with the degrees.
pub(super) fn other_degrees(graph: &Graph) -> Error {
    let detail = "there are not as many edges as its degrees say".to_owned();
    Error::corrupt(graph.directory(), "its tiles", detail)
}
