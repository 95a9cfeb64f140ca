//! Groups chunks by the memory available: a worker holds one group at a time.

use std::ops::Range;

use super::chunks::PlannedChunk;
use super::config::{RowsConfig, task};
use super::size::{FRAMES_SIZE, group_size};
use crate::graph::{Graph, TileEntry};
use crate::rows::direction::Direction;
use crate::tiles::EdgeWeight;
use crate::{Error, Result};

/// Groups per worker where memory suffices: enough that no worker waits long for the others.
const GROUPS_PER_WORKER: u64 = 4;

/// The division of the work.
pub(super) struct Groups {
    pub workers: usize,
    /// Chunks that a worker holds at a time.
    pub groups: Vec<Range<usize>>,
}

/// Groups the chunks. Other data take `held` bytes.
///
/// # Errors
/// [`Error::OverBudget`](tegula_machine::Error::OverBudget) where memory does not hold a chunk.
pub(super) fn plan_groups<W: EdgeWeight>(
    chunks: &[PlannedChunk],
    degrees: &[u32],
    config: &RowsConfig,
    held: u64,
) -> Result<Groups> {
    let sizes = chunks.iter().map(|chunk| (chunk.edges, chunk.sources.len() as u64));
    let sizes: Vec<(u64, u64)> = sizes.collect();
    let row_max = chunks.iter().flat_map(|chunk| chunk.row_edges(degrees)).max().unwrap_or(0);
    let size = |(edges, sources)| group_size::<W>(edges, sources, row_max);
    // Without chunks, it must not be 0: memory is divided by it.
    let largest = sizes.iter().copied().map(size).max().unwrap_or(FRAMES_SIZE);
    let memory = config.memory.saturating_sub(held);
    if largest > memory {
        let task = task(config.direction);
        let what = format!("{task}, with up to {row_max} edges of a row in memory,");
        return Err(Error::over_budget(what, held + largest, config.memory));
    }
    let workers = (config.threads.max(1) as u64).min(memory / largest);
    let share = memory / workers;
    let all: u64 = sizes.iter().map(|&(edges, _)| edges).sum();
    let edges_wanted = (all / (workers * GROUPS_PER_WORKER)).max(config.cut.edges_max);
    let mut groups: Vec<Range<usize>> = Vec::new();
    let (mut edges, mut sources) = (0, 0);
    for (index, &(edges_here, sources_here)) in sizes.iter().enumerate() {
        (edges, sources) = (edges + edges_here, sources + sources_here);
        match groups.last_mut() {
            Some(group) if edges <= edges_wanted && size((edges, sources)) <= share => {
                group.end += 1;
            }
            _ => {
                groups.push(index..index + 1);
                (edges, sources) = (edges_here, sources_here);
            }
        }
    }
    Ok(Groups { workers: workers as usize, groups })
}

/// Chooses the end of an edge by which edges are gathered. In an undirected graph both ends lead to
/// the same rows. Gathering by target touches fewer positions at a time, since tiles are ordered by
/// target. Gathering by source mostly reads fewer tiles if groups are small.
pub(super) fn gathered_end(
    graph: &Graph,
    direction: Direction,
    chunks: &[PlannedChunk],
    groups: &[Range<usize>],
) -> Direction {
    if !graph.manifest().undirected {
        return direction;
    }
    let visits = |end: Direction| -> u64 {
        let visited = |group: &Range<usize>| -> u64 {
            let ends = Ends::of(&chunks[group.clone()]);
            let tiles = graph.tiles().iter().filter(|tile| ends.may_lie_in(graph, end, tile));
            tiles.map(|tile| u64::from(tile.summary.edge_count)).sum()
        };
        groups.iter().map(visited).sum()
    };
    let [by_source, by_target] = Direction::ALL.map(visits);
    if by_target <= by_source { Direction::Reverse } else { Direction::Forward }
}

/// The vertices between which the edges of a group run.
pub(super) struct Ends {
    pub sources: Range<u32>,
    targets: Range<u32>,
}

impl Ends {
    /// The ends of consecutive chunks.
    pub fn of(chunks: &[PlannedChunk]) -> Ends {
        let (Some(first), Some(last)) = (chunks.first(), chunks.last()) else {
            return Ends { sources: 0..0, targets: 0..0 };
        };
        let targets = match first.sources.start == last.sources.start {
            true => first.targets.start..last.targets.end,
            false => 0..u32::MAX,
        };
        Ends { sources: first.sources.start..last.sources.end, targets }
    }

    /// Whether a tile may hold such an edge. `end` is the end whose row has it.
    pub fn may_lie_in(&self, graph: &Graph, end: Direction, tile: &TileEntry) -> bool {
        let origin = graph.origin_of(tile);
        end.may_hold_any(&tile.summary, origin, &self.sources)
            && end.opposite().may_hold_any(&tile.summary, origin, &self.targets)
    }
}
