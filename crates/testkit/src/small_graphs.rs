//! A family of small graphs, each with a feature that a program may have missed.

use tegula_generators::{ErdosRenyi, Generator, Grid, Path, Rmat, Star, WattsStrogatz, edges};

use crate::EdgeList;

/// Returns named graphs of at most a few thousand edges. The random ones depend on the seed. None
/// has weights.
pub fn small_graphs(seed: u64) -> Vec<(&'static str, EdgeList)> {
    let mut graphs = odd_cases();
    let valid = "the parameters are valid";
    let generated: [(&str, Box<dyn Generator>); 8] = [
        ("path", Box::new(Path { vertex_count: 100 })),
        ("star", Box::new(Star { vertex_count: 100 })),
        ("grid", Box::new(Grid::new(9, 13).expect(valid))),
        ("dense", Box::new(ErdosRenyi::new(40, 1200, seed).expect(valid))),
        ("complete", Box::new(ErdosRenyi::new(12, 132, seed).expect(valid))),
        ("disconnected", Box::new(ErdosRenyi::new(500, 300, seed).expect(valid))),
        ("small world", Box::new(WattsStrogatz::new(200, 6, 0.1, seed).expect(valid))),
        ("skewed, with loops and duplicates", Box::new(Rmat::new(8, 12, seed).expect(valid))),
    ];
    let generated = generated.map(|(name, generator)| (name, edges(&*generator)));
    let (_, skewed) = &generated[7];
    graphs.push(("sparse ids", EdgeList::new(with_sparse_ids(skewed))));
    graphs.push(("star reversed", EdgeList::new((1..100).map(|leaf| (leaf, 0)).collect())));
    graphs.extend(generated.map(|(name, edges)| (name, EdgeList::new(edges))));
    graphs
}

fn odd_cases() -> Vec<(&'static str, EdgeList)> {
    let cycle = |first: u64, length: u64| {
        (0..length).map(move |step| (first + step, first + (step + 1) % length))
    };
    [
        ("empty", vec![]),
        ("one loop", vec![(5, 5)]),
        ("one edge", vec![(1, 0)]),
        (
            "the smallest and the largest id",
            vec![(0, u64::MAX), (u64::MAX, 0), (u64::MAX, u64::MAX)],
        ),
        ("one edge many times", vec![(3, 4); 300]),
        ("reciprocal edges", vec![(1, 2), (2, 1), (2, 3), (3, 2)]),
        ("loops beside edges", vec![(1, 1), (1, 2), (2, 2), (2, 2), (3, 3)]),
        ("two cycles", cycle(0, 7).chain(cycle(1 << 40, 11)).collect()),
        ("all dangling but one", vec![(9, 1), (9, 2), (9, 3)]),
    ]
    .map(|(name, edges)| (name, EdgeList::new(edges)))
    .into()
}

/// Spreads ids over all 64-bit integers: multiplying by an odd factor is a bijection.
fn with_sparse_ids(edges: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let spread = |id: u64| u64::MAX - id.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    edges.iter().map(|&(source, target)| (spread(source), spread(target))).collect()
}
