//! The yardstick computes the ranks of the oracle, with any grid and threads.

use tegula_generators::{Generator, Listed, Rmat, edges};
use tegula_testkit::{EdgeList, GridStream, Scratch, Table, match_pagerank};

fn check(generator: &dyn Generator, chunk_log2: u32, threads: usize) {
    let scratch = Scratch::new();
    let (pairs, folder) = (scratch.join("edges.bin32"), scratch.join("grid"));
    let graph = EdgeList::new(edges(generator));
    let ends = graph.edges.iter().flat_map(|&(source, target)| [source as u32, target as u32]);
    std::fs::write(&pairs, ends.flat_map(u32::to_le_bytes).collect::<Vec<u8>>()).unwrap();
    std::fs::create_dir(&folder).unwrap();
    let vertices = graph.vertices();
    let (count, connected) = (generator.vertex_count() as u32, vertices.len() as u32);
    let mut grid =
        GridStream::build(&pairs, &folder, count, connected, chunk_log2, threads).unwrap();
    let mut ranks = vec![0.0; count as usize];
    let mut dangling = grid.start(&mut ranks);
    for _ in 0..5 {
        dangling = grid.iterate(0.85, dangling, &mut ranks).unwrap();
    }
    let rank = |&vertex: &u64| (vertex, f64::from(ranks[vertex as usize]));
    let found: Table<f64> = vertices.iter().map(rank).collect();
    match_pagerank(&graph, 0.85, 5, &found).unwrap_or_else(|error| panic!("{chunk_log2}: {error}"));
    let sum: f64 = ranks.iter().map(|&rank| f64::from(rank)).sum();
    assert!((sum - 1.0).abs() < 1e-4, "ids without an edge have ranks: {sum}");
}

#[test]
fn ranks_of_a_skewed_graph_match_the_oracle() {
    let rmat = Rmat::new(13, 16, 3).unwrap();
    check(&rmat, 20, 1);
    check(&rmat, 10, 2);
    check(&rmat, 12, 3);
}

#[test]
fn ids_without_an_edge_are_no_vertices() {
    let star: Vec<_> = (1..500).map(|leaf| (3 * leaf, 7)).collect();
    check(&Listed::new(&star), 7, 2);
}
