//! The yardstick finds the levels of the oracle, with any threads and in both directions.

use tegula_generators::{Generator, Grid, Listed, Path, Rmat, edges};
use tegula_testkit::{EdgeList, PlainBfs, bfs};

/// Returns the number of vertices at each distance from the source, by the oracle.
fn expected(generator: &dyn Generator, source: u64, is_undirected: bool) -> Vec<usize> {
    let graph = EdgeList::new(edges(generator));
    let graph = if is_undirected { graph.undirected() } else { graph };
    let mut levels = Vec::new();
    for hops in bfs(&graph, source).into_iter().filter_map(|(_, hops)| hops) {
        levels.resize(levels.len().max(hops as usize + 1), 0);
        levels[hops as usize] += 1;
    }
    levels
}

fn check(generator: &dyn Generator, source: u64) {
    for is_undirected in [true, false] {
        let expected = expected(generator, source, is_undirected);
        for threads in [1, 2, 5] {
            let rows = PlainBfs::new(generator, is_undirected, threads);
            assert_eq!(rows.vertex_count() as u64, generator.vertex_count());
            assert_eq!(rows.levels(source as u32), expected, "{threads} threads, {is_undirected}");
        }
    }
}

#[test]
fn levels_of_a_skewed_graph_match_the_oracle() {
    let graph = Rmat::new(15, 16, 3).unwrap();
    check(&graph, edges(&graph)[0].0);
}

#[test]
fn levels_match_the_oracle_where_there_are_many() {
    check(&Grid::new(60, 50).unwrap(), 1234);
    check(&Path { vertex_count: 500 }, 0);
}

#[test]
fn levels_of_a_star_match_the_oracle() {
    let star: Vec<_> = (1..5000).map(|leaf| (leaf, 0)).collect();
    check(&Listed::new(&star), 17);
}
