//! Runs checks on every small graph, in all layouts.

use tegula_engine::Graph;
use tegula_import::ImportConfig;
use tegula_store::graph::VertexOrder;
use tegula_store::rows::RowEncoding;
use tegula_testkit::{EdgeList, Scratch, small_graphs};

use super::ways::{GRIDS, ROW_CUTS};
use super::{import_with, open};

/// Runs a check on every small graph, directed and undirected, with its arcs, in all orders,
/// encodings and grids.
pub fn on_small_graphs(check: impl Fn(&str, &EdgeList, &Graph)) {
    let mut encodings = RowEncoding::ALL.into_iter().cycle();
    let mut grids = GRIDS.into_iter().cycle();
    let mut row_cuts = ROW_CUTS.into_iter().cycle();
    let mut orders =
        [VertexOrder::Given, VertexOrder::Degree, VertexOrder::Dfs].into_iter().cycle();
    for seed in 0..4 {
        let scratch = Scratch::new();
        for (name, edges) in small_graphs(seed) {
            for undirected in [false, true] {
                let rows = encodings.next();
                let mut config = ImportConfig {
                    order: orders.next(),
                    rows,
                    reverse: rows.filter(|_| !undirected),
                    undirected,
                    ..Default::default()
                };
                config.tuning.grid = grids.next().unwrap_or_default();
                config.tuning.row_cut = row_cuts.next().unwrap_or(ROW_CUTS[0]);
                let name = format!("{name}-{undirected}");
                let graph = open(&import_with(config, scratch.path(), &name, &edges));
                let arcs = if undirected { edges.undirected() } else { edges.clone() };
                check(&name, &arcs, &graph);
            }
        }
    }
}
