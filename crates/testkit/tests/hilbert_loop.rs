//! The yardstick computes the ranks and the components of the oracle, in memory and from disk.

use std::collections::BTreeSet;

use tegula_generators::{Generator, Listed, Rmat, edges};
use tegula_testkit::{EdgeList, HilbertLoop, Scratch, match_pagerank, small_graphs, wcc};

fn check(name: &str, generator: &dyn Generator, graph: &EdgeList) {
    let scratch = Scratch::new();
    let in_memory = HilbertLoop::new(generator);
    let on_disk = in_memory.on_disk(&scratch.join("edges")).unwrap();
    let components: BTreeSet<u64> = wcc(graph).into_iter().map(|(_, label)| label).collect();
    for mut edges in [in_memory, on_disk] {
        let mut ranks = edges.initial_ranks();
        for _ in 0..5 {
            edges.iterate(0.85, &mut ranks).unwrap();
        }
        let found: Vec<(u64, f64)> =
            graph.vertices().into_iter().zip(ranks.into_iter().map(f64::from)).collect();
        match_pagerank(graph, 0.85, 5, &found).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(edges.component_count().unwrap(), components.len(), "{name}");
    }
}

#[test]
fn ranks_and_components_match_the_oracle() {
    let rmat = Rmat::new(13, 16, 3).unwrap();
    check("skewed", &rmat, &EdgeList::new(edges(&rmat)));
}

#[test]
fn small_graphs_match_the_oracle() {
    for (name, graph) in small_graphs(2) {
        if graph.vertices().last().is_none_or(|&id| id < 1 << 20) {
            check(name, &Listed::new(&graph.edges), &graph);
        }
    }
}
