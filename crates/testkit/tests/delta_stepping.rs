//! The yardstick finds the distances of Dijkstra's algorithm, with any threads and buckets.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tegula_generators::{Generator, Grid, Rmat, edges, weight};
use tegula_testkit::DeltaStepping;

const SEED: u64 = 7;

/// Sums are exact in double precision, since weights are multiples of 2^-24.
fn dijkstra(generator: &dyn Generator, source: usize) -> Vec<f64> {
    let mut neighbours = vec![Vec::new(); generator.vertex_count() as usize];
    for (number, (one, other)) in (0..).zip(edges(generator)) {
        let weight = f64::from(weight(SEED, number));
        neighbours[one as usize].push((other as usize, weight));
        neighbours[other as usize].push((one as usize, weight));
    }
    let mut distances = vec![f64::INFINITY; neighbours.len()];
    distances[source] = 0.0;
    let mut queue = BinaryHeap::from([Reverse((0, source))]);
    while let Some(Reverse((bits, vertex))) = queue.pop() {
        for &(target, weight) in &neighbours[vertex] {
            let nearer = f64::from_bits(bits) + weight;
            if nearer < distances[target] {
                distances[target] = nearer;
                queue.push(Reverse((nearer.to_bits(), target)));
            }
        }
    }
    distances
}

fn check(generator: &dyn Generator, source: u32) {
    let expected = dijkstra(generator, source as usize);
    for threads in [1, 2, 5] {
        let rows = DeltaStepping::new(generator, SEED, threads);
        for delta in [0.01, 0.3, 1e6] {
            let found = rows.distances(source, delta);
            assert_eq!(found.len(), expected.len());
            for (vertex, (&found, &expected)) in found.iter().zip(&expected).enumerate() {
                let found = f64::from(found);
                let is_close = found == expected || (found - expected).abs() <= 1e-5 * expected;
                assert!(is_close, "{threads} threads, {delta}, {vertex}: {found}, not {expected}");
            }
        }
    }
}

#[test]
fn distances_in_a_skewed_graph_are_the_least() {
    check(&Rmat::new(12, 16, 3).unwrap(), 0);
}

#[test]
fn distances_in_a_grid_are_the_least() {
    check(&Grid::new(60, 50).unwrap(), 1234);
}
