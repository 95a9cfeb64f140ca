//! Tables that the options of algorithms name: their rows, looked up in a graph.
//!
//! The readers are compiled from their files, with stand-ins for what they take from other modules:
//! all algorithms together take a quarter of an hour to build.

#![no_main]

use std::collections::HashSet;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use tegula_engine::RunOptions;
use tegula_fuzz::graph::chosen;
use tegula_fuzz::tables::NAMES;
use tegula_fuzz::{answer, choice, put};
use tegula_store::Result;
use tegula_store::graph::Graph;

use side_table::{LocalPaths, Missing, TableOptions, TableSource, Tables};

#[allow(dead_code, reason = "algorithms use the rest")]
#[path = "../../crates/algorithms/src/side_table/mod.rs"]
mod side_table;

#[allow(dead_code, reason = "algorithms use the rest")]
#[path = "../../crates/algorithms/src/"]
mod readers {
    #[path = "paths/astar/coordinates.rs"]
    pub mod coordinates;
    #[path = "similarity/similarity/pairs.rs"]
    pub mod pairs;
    #[path = "centrality/pagerank/seeds.rs"]
    pub mod seeds;
    #[path = "propagation/spmv/vector.rs"]
    pub mod vector;
    #[path = "shared/vertex_list.rs"]
    pub mod vertex_list;
}

#[allow(dead_code, reason = "algorithms use the rest")]
#[path = "../../crates/algorithms/src/propagation/belief_propagation"]
mod belief_propagation {
    pub mod model;
    pub mod potential;
    pub mod priors;
}

#[allow(dead_code, reason = "algorithms use the rest")]
#[path = "../../crates/algorithms/src/communities/conductance"]
mod conductance {
    mod memberships;
    pub mod sets;

    use memberships::{Membership, Memberships};
}

mod algorithm {
    pub trait SideFiles {
        #[allow(dead_code, reason = "algorithms use it")]
        fn size(&self) -> u64;
    }
}

mod answer {
    pub use tegula_machine::{count, counted};
}

mod error {
    pub use tegula_store::Result;

    pub fn is_weight(weight: impl Into<f64>) -> bool {
        (0.0..f64::INFINITY).contains(&weight.into())
    }
}

mod shared {
    pub mod original_ids {
        use tegula_store::graph::Graph;
        use tegula_store::{Result, VertexId};

        pub fn name_of(_graph: &Graph, vertex: VertexId) -> Result<u64> {
            Ok(vertex.0)
        }
    }
}

/// A graph whose ids are integers, and one whose ids are strings.
static GRAPHS: LazyLock<[Graph; 2]> =
    LazyLock::new(|| [0, 7].map(|kind| chosen(kind).open_for_runs(MEMORY)));

/// Memory of a run in bytes.
const MEMORY: u64 = 256 << 20;

/// The states of a variable whose priors are read.
const STATES: usize = 3;

/// Reads a table in the way that the lower bits of a byte choose.
fn read(reader: u8, source: &TableSource, tables: &mut Tables<'_>) -> Result<()> {
    let vertices = tables.graph.vertex_count() as usize;
    match reader {
        0 => {
            let found = readers::coordinates::Coordinates::read("it", source, tables)?;
            assert!(found.as_slice().iter().flatten().all(|number| number.is_finite()));
        }
        1 => {
            let list = readers::pairs::PairList::read("it", source, tables)?;
            assert!(list.pairs.iter().flatten().all(|vertex| vertex.index() < vertices));
        }
        2 => {
            let seeds = readers::seeds::Seeds::read("it", source, tables)?;
            assert!(seeds.as_slice().iter().all(|(vertex, _)| vertex.index() < vertices));
        }
        3 => {
            let vector = readers::vector::Vector::read("it", source, tables)?;
            assert_eq!(vector.values().len(), vertices);
        }
        4 => {
            let list = readers::vertex_list::VertexList::read("it", source, tables)?;
            assert!(list.vertices.iter().all(|vertex| vertex.index() < vertices));
        }
        5 => {
            let sets = conductance::sets::NamedSets::read("it", source, tables)?;
            let names: Vec<&str> = sets.order().iter().map(|&set| sets.name(set)).collect();
            assert!(names.iter().all(|name| !name.is_empty()));
            assert_eq!(names.iter().collect::<HashSet<_>>().len(), names.len());
        }
        _ => {
            let default_prior = vec![0.0; STATES - 1];
            let model = belief_propagation::model::Model {
                states: STATES,
                default_prior,
                ..Default::default()
            };
            let model = belief_propagation::priors::read_priors("it", source, model, tables)?;
            assert!(model.priors.iter().all(|odds| odds.is_finite()));
        }
    }
    Ok(())
}

// The first byte chooses the reader and the graph, the second the options and the format.
fuzz_target!(|data: &[u8]| {
    let Some((first, data)) = choice(data) else { return };
    let Some((second, text)) = choice(data) else { return };
    let missing = [None, Some(Missing::Refuse), Some(Missing::Skip)];
    let options = TableOptions {
        header: second & 1 == 1,
        missing: missing[usize::from(second >> 1 & 3) % missing.len()],
    };
    let source = TableSource::new(put(NAMES[usize::from(second >> 3 & 3)], text));
    let run = RunOptions { memory: MEMORY, threads: 1, ..RunOptions::default() };
    let graph = &GRAPHS[usize::from(first >> 3 & 1)];
    let mut tables = Tables::new(graph, &run, &LocalPaths, options);
    answer(read(first & 7, &source, &mut tables));
    for read in tables.into_read() {
        assert!(read.warnings().all(|warning| !warning.is_empty()));
        assert!(read.missing_rows > 0 || read.missing_first.is_empty());
    }
});
