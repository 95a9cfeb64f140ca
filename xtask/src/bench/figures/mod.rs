//! The groups of figures.

pub mod arrays;
mod beliefs;
mod beside;
mod big;
mod budget;
mod checkpoints;
mod costs;
mod executors;
mod from_disk;
mod import;
mod lookups;
mod messages;
mod pagerank;
pub mod rows;
mod search;
pub mod size;
mod small;
mod sssp;
mod targets;
mod traversal;
mod triangles;

use super::figure::Figure;
use super::lab::Lab;
use super::{estimates, peers};
use crate::tegula::Result;

/// Figures measured together.
pub struct Group {
    /// Its name for `--only`.
    pub name: &'static str,
    /// The subject of the figures.
    pub title: &'static str,
    /// Measures them.
    pub measure: fn(&mut Lab<'_>) -> Result<Vec<Figure>>,
}

/// Every group, in the order in which they are measured and shown.
pub const GROUPS: &[Group] = &[
    Group { name: "pagerank-memory", title: "PageRank in memory", measure: pagerank::in_memory },
    Group { name: "pagerank-disk", title: "PageRank from disk", measure: pagerank::from_disk },
    Group { name: "wcc", title: "Connected components from disk", measure: search::wcc },
    Group { name: "bfs", title: "Breadth-first search", measure: search::bfs },
    Group { name: "executors", title: "Tiles or rows", measure: executors::all },
    Group {
        name: "costs",
        title: "What iterations take, and what was predicted",
        measure: costs::all,
    },
    Group {
        name: "checkpoints",
        title: "Runs that keep checkpoints",
        measure: checkpoints::of_pagerank,
    },
    Group { name: "beside", title: "A search beside other work", measure: beside::search },
    Group { name: "lookups", title: "Look-ups from disk", measure: lookups::all },
    Group { name: "rows", title: "Bits per edge of rows", measure: rows::all },
    Group { name: "traversal", title: "Traversals with run-ahead", measure: traversal::all },
    Group { name: "sssp", title: "Shortest paths", measure: sssp::all },
    Group { name: "from-disk", title: "Other algorithms from disk", measure: from_disk::all },
    Group { name: "beliefs", title: "Belief propagation", measure: beliefs::all },
    Group { name: "triangles", title: "Triangles", measure: triangles::all },
    Group { name: "import-raw", title: "Import of raw pairs", measure: import::raw },
    Group { name: "import-text", title: "Import of text", measure: import::from_text },
    Group { name: "size", title: "Bytes per edge", measure: size::all },
    Group {
        name: "pagerank-big",
        title: "PageRank on a graph four times as large",
        measure: pagerank::big,
    },
    Group { name: "big", title: "A graph eight times as large", measure: big::all },
    Group { name: "arrays", title: "Arrays on disk", measure: arrays::on_disk },
    Group {
        name: "arrays-rmat",
        title: "Arrays on disk, most of whose entries say nothing",
        measure: arrays::rmat,
    },
    Group {
        name: "messages",
        title: "Messages read again or sent, with arrays on disk",
        measure: messages::both_ways,
    },
    Group {
        name: "arrays-big",
        title: "Arrays on disk of a graph sixteen times as large",
        measure: arrays::big,
    },
    Group { name: "small", title: "Small graphs, whole runs", measure: small::all },
    Group {
        name: "estimates",
        title: "Every algorithm, and what was estimated",
        measure: estimates::all,
    },
    Group { name: "peers", title: "Other libraries", measure: peers::all },
];
