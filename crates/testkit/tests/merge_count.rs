//! The yardstick counts the triangles of the oracle, with any number of threads.

use tegula_generators::{Generator, Grid, Listed, Rmat, edges};
use tegula_testkit::{EdgeList, MergeCount, neighbourhoods};

fn check(generator: &dyn Generator) -> u64 {
    let graph = EdgeList::new(edges(generator));
    let expected = neighbourhoods::triangles(&graph).iter().map(|row| row.1).sum::<u64>() / 3;
    for threads in [1, 2, 5] {
        assert_eq!(MergeCount::new(generator, threads).triangles(), expected, "{threads} threads");
    }
    expected
}

#[test]
fn triangles_match_the_oracle() {
    assert!(check(&Rmat::new(10, 16, 3).unwrap()) > 10_000);
    assert_eq!(check(&Grid::new(20, 30).unwrap()), 0);
    // Loops, reciprocal edges and duplicates make no triangles.
    let edges = [(0, 0), (0, 1), (1, 0), (0, 1), (1, 2), (2, 0), (2, 2)];
    assert_eq!(check(&Listed::new(&edges)), 1);
}
