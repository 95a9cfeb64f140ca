//! The yardstick computes the ranks of the oracle, on any number of threads.

use tegula_generators::{Generator, Listed, Rmat, edges};
use tegula_testkit::csc_pull::{CscPull, Isolated};
use tegula_testkit::{EdgeList, Table, match_pagerank, small_graphs};

fn ranks(generator: &dyn Generator, isolated: Isolated, threads: usize) -> Vec<f32> {
    let mut columns = CscPull::new(generator, isolated, threads);
    assert_eq!(columns.edge_count() as u64, generator.edge_count());
    let mut ranks = columns.initial_ranks();
    for _ in 0..5 {
        columns.iterate(0.85, &mut ranks);
    }
    ranks
}

fn table(vertices: Vec<u64>, ranks: Vec<f32>) -> Table<f64> {
    assert_eq!(vertices.len(), ranks.len());
    vertices.into_iter().zip(ranks.into_iter().map(f64::from)).collect()
}

#[test]
fn ranks_match_the_oracle() {
    let rmat = Rmat::new(14, 16, 3).unwrap();
    let mut graph = EdgeList::new(edges(&rmat));
    let dropped = table(graph.vertices(), ranks(&rmat, Isolated::Drop, 3));
    match_pagerank(&graph, 0.85, 5, &dropped).unwrap();
    graph.isolated.extend(0..rmat.vertex_count());
    let kept = table(graph.vertices(), ranks(&rmat, Isolated::Keep, 3));
    match_pagerank(&graph, 0.85, 5, &kept).unwrap();
}

#[test]
fn small_graphs_match_the_oracle() {
    for (name, graph) in small_graphs(2) {
        if graph.vertices().last().is_some_and(|&id| id > 1 << 20) {
            continue;
        }
        let found = table(graph.vertices(), ranks(&Listed::new(&graph.edges), Isolated::Drop, 2));
        match_pagerank(&graph, 0.85, 5, &found).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let rmat = Rmat::new(12, 16, 3).unwrap();
    assert_eq!(ranks(&rmat, Isolated::Keep, 1), ranks(&rmat, Isolated::Keep, 4));
}
