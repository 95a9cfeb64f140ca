//! Which chunks a worker holds at a time, by the memory that there is.

use std::ops::Range;

use tegula_machine::{Error, Result};

use super::chunks::PlannedChunk;
use super::config::{RowsConfig, task};
use super::size::{FRAMES_SIZE, group_size};
use crate::graph::{Graph, TileEntry};
use crate::rows::direction::Direction;
use crate::tiles::EdgeWeight;

/// Groups for each worker, where memory asks for no more: enough that none waits long for the others.
const GROUPS_PER_WORKER: u64 = 4;

/// How the work is divided.
pub(super) struct Groups {
    pub workers: usize,
    /// Chunks that a worker holds at a time.
    pub groups: Vec<Range<usize>>,
}

/// Groups the chunks, where `held` bytes are taken by other things.
///
/// # Errors
/// [`Error::OverBudget`] where memory does not hold a chunk.
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
    let largest = sizes.iter().copied().map(size).max().unwrap_or(FRAMES_SIZE);
    let memory = config.memory.saturating_sub(held);
    if largest > memory {
        let task = task(config.direction);
        let what = format!("{task}, of one of which {row_max} edges are held at a time,");
        return Err(Error::OverBudget { what, needed: held + largest, budget: config.memory });
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

/// Which end of an edge decides on the row that it is gathered for. In an undirected graph both lead to the same rows:
/// targets to fewer places at a time, as tiles are ordered by them, sources mostly to fewer tiles where groups
/// are small.
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

/// Between which vertices the edges of a group run.
pub(super) struct Ends {
    pub sources: Range<u32>,
    targets: Range<u32>,
}

impl Ends {
    /// Those of some chunks, one behind the other.
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

    /// Whether a tile may hold such an edge, where `end` is the end that has it in its row.
    pub fn may_lie_in(&self, graph: &Graph, end: Direction, tile: &TileEntry) -> bool {
        let origin = graph.origin_of(tile);
        end.may_hold_any(&tile.summary, origin, &self.sources)
            && end.opposite().may_hold_any(&tile.summary, origin, &self.targets)
    }
}
