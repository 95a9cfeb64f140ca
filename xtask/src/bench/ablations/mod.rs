//! The choices of tegula, each against its alternatives.

mod break_even;
mod checkpoints;
mod comparison;
pub mod cost;
mod encodings;
mod ownership;
mod parts;
mod processes;
mod reading;
mod selective;
mod stars;
mod tile_order;
mod vertex_orders;

use super::figures::Group;

/// Every group, in the order in which they are measured and shown.
pub const ABLATIONS: &[Group] = &[
    Group { name: "vertex-orders", title: "Orders of the vertices", measure: vertex_orders::all },
    Group { name: "encodings", title: "Encodings of rows", measure: encodings::all },
    Group { name: "selective", title: "Selective scheduling", measure: selective::all },
    Group { name: "threads", title: "One thread and two", measure: processes::threads },
    Group { name: "stars", title: "One thread and two on stars", measure: stars::all },
    Group { name: "reading", title: "io_uring and pread, by depth", measure: reading::backends },
    Group {
        name: "run-ahead",
        title: "Whole traversals with run-ahead and without",
        measure: reading::run_ahead,
    },
    Group {
        name: "budgets",
        title: "PageRank with room for 5 to 200 % of the tiles",
        measure: processes::budgets,
    },
    Group {
        name: "checkpoint-intervals",
        title: "Checkpoints, by the iterations between them",
        measure: checkpoints::all,
    },
    Group { name: "tile-order", title: "Orders of the tiles", measure: tile_order::all },
    Group { name: "ownership", title: "Who writes the sums of a target", measure: ownership::all },
    Group { name: "parts", title: "Parts of a batch, by their edges", measure: parts::all },
    Group { name: "cost", title: "One thread along a list of edges (COST)", measure: cost::all },
    Group {
        name: "break-even",
        title: "Iterations that pay for an import",
        measure: break_even::all,
    },
];
