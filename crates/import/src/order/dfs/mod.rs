//! The depth-first order: vertices that are close in the graph get dense ids that are close.
//!
//! It is the enumeration of Roy, Nilakant, Dalibard and Yoneki (*Mitigating I/O latency in
//! SSD-based graph traversal*, University of Cambridge, Technical Report 823, 2012), after which
//! most offsets between neighbours are small:
//!
//! 1. `adjacency`: the edges are laid out as lists of neighbours, without their directions.
//! 2. `spanning_trees`: a traversal with a stack finds a spanning tree of each component.
//! 3. `placement`: each subtree gets a range of dense ids next to its siblings, the heaviest first.
//!    Its root lies between the ranges of its children, behind half of its vertices.
//!
//! Neighbours and roots are visited by ascending id, so the order depends on the edges alone. Time
//! is linear in vertices and edges, except for the sorting of the lists. Memory is 16 bytes an id
//! at any moment, besides the lists, which go to disk where they exceed their share:
//!
//! | bytes an id | where the lists begin | parent | order of visits | weight | places of a sort | next place |
//! | --- | --- | --- | --- | --- | --- | --- |
//! | forest | 8 | 4 | 4 | | | |
//! | weights, sorted | | 4 | 4 | 4 | 4 | |
//! | placement | | 4, then the dense id | 4 | 4 | | 4 |

mod adjacency;
mod placement;
mod spanning_trees;
#[cfg(test)]
mod tests;

use tegula_store::{Error, Result, SHORT_COUNT_MAX};

use tegula_store::tiles::VertexNumber;

use crate::count::census::{DegreeSummary, DegreeTable};
use crate::edge::Weight;
use crate::import_run::ImportRun;
use crate::shares;
use crate::source::EdgeSource;

/// No vertex.
const NONE: u32 = <u32 as VertexNumber>::NONE;

/// Bytes of tables for each id.
const ID_BYTES: u64 = 16;
/// Bytes of the counted degrees for each id, which are held at the same time.
const DEGREE_BYTES: u64 = 4;

/// The memory that the tables take, the most that they may take, and what is left for lists of
/// neighbours in memory. The rest holds kept edges, and piles while they are written.
struct TreeMemory {
    tables: u64,
    tables_max: u64,
    lists: u64,
}

impl TreeMemory {
    fn of(run: &ImportRun<'_>, id_end: u64) -> TreeMemory {
        let tables = ID_BYTES.saturating_mul(id_end);
        let held = (ID_BYTES + DEGREE_BYTES).saturating_mul(id_end);
        TreeMemory {
            tables,
            tables_max: run.share(shares::TREES),
            lists: run.share(shares::TREES_AND_LISTS).saturating_sub(held),
        }
    }
}

/// Returns whether the tables for ids below `id_end` fit the memory of a run, and whether the ids
/// fit 32 bits.
pub(crate) fn is_affordable(run: &ImportRun<'_>, id_end: u64) -> bool {
    let memory = TreeMemory::of(run, id_end);
    memory.tables <= memory.tables_max && id_end <= SHORT_COUNT_MAX
}

/// Returns the dense id of each id below `summary.id_end`, [`NONE`] for an id without edges.
///
/// # Errors
/// [`Error::OverBudget`](tegula_machine::Error::OverBudget) if the tables do not fit;
/// [`Error::Limit`](tegula_machine::Error::Limit) if ids have more than 32 bits; errors of reading
/// the edges and of temporary files.
pub(super) fn enumerate<W: Weight>(
    run: &ImportRun<'_>,
    edges: &EdgeSource<'_, W>,
    degrees: &DegreeTable,
    summary: &DegreeSummary,
) -> Result<Vec<u32>> {
    if summary.id_end > SHORT_COUNT_MAX {
        let what = "the number of vertices for the order dfs";
        return Err(Error::limit(what, summary.id_end, SHORT_COUNT_MAX));
    }
    let memory = TreeMemory::of(run, summary.id_end);
    if memory.tables > memory.tables_max {
        let what = format!("the order dfs of {} ids", summary.id_end);
        let needed = shares::TREES.whole_of(memory.tables);
        return Err(Error::over_budget(what, needed, run.memory));
    }
    let mut lists = adjacency::lay_out(run, edges, degrees, summary, memory.lists)?;
    let forest = spanning_trees::grow(run, degrees, summary, &mut lists)?;
    // Placing the vertices needs the memory of the lists.
    drop(lists);
    Ok(placement::place(forest))
}
