//! A graph does not depend on the threads, the order or the pieces in which it is made.

use std::sync::Mutex;

use rayon::ThreadPoolBuilder;
use tegula_generators::{
    ErdosRenyi, Generator, Grid, Listed, Path, Rmat, ScaleFree, Star, WattsStrogatz, edges,
    for_each_block, weight,
};

/// Graphs of one seed, each of more than one block.
fn generators(seed: u64) -> Vec<(&'static str, Box<dyn Generator>)> {
    vec![
        ("r-mat", Box::new(Rmat::new(13, 16, seed).unwrap())),
        ("erdos-renyi", Box::new(ErdosRenyi::new(5_000, 150_000, seed).unwrap())),
        ("watts-strogatz", Box::new(WattsStrogatz::new(30_000, 10, 0.1, seed).unwrap())),
        ("scale-free", Box::new(ScaleFree::new(30_000, 5, seed).unwrap())),
        ("grid", Box::new(Grid::new(300, 250).unwrap())),
        ("path", Box::new(Path { vertex_count: 100_001 })),
        ("star", Box::new(Star { vertex_count: 100_001 })),
    ]
}

#[test]
fn the_number_of_threads_changes_nothing() {
    for (name, generator) in generators(1) {
        let of = |threads| {
            let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| edges(&*generator))
        };
        assert_eq!(of(1), of(5), "{name}");
    }
}

#[test]
fn any_range_of_edges_equals_that_of_the_whole() {
    for (name, generator) in generators(1) {
        let whole = edges(&*generator);
        assert_eq!(whole.len() as u64, generator.edge_count(), "{name}");
        let mut first = 0;
        for length in [0, 1, 4095, 4097, 65_535, 3] {
            let mut piece = vec![(0, 0); length];
            generator.fill(first as u64, &mut piece);
            assert_eq!(piece, whole[first..first + length], "{name} from {first}");
            first += length;
        }
    }
}

#[test]
fn ids_are_below_the_vertex_count() {
    for (name, generator) in generators(2) {
        let count = generator.vertex_count();
        assert!(
            edges(&*generator).iter().all(|&(source, target)| source < count && target < count),
            "{name}"
        );
    }
}

#[test]
fn different_seeds_make_different_graphs() {
    for ((name, one), (_, two)) in generators(1).iter().zip(&generators(2)).take(3) {
        assert_ne!(edges(&**one), edges(&**two), "{name}");
    }
    assert_ne!(weight(1, 0), weight(2, 0));
}

#[test]
fn blocks_cover_every_edge_once() {
    for (name, generator) in generators(1) {
        let seen = Mutex::new(vec![(u64::MAX, u64::MAX); generator.edge_count() as usize]);
        for_each_block(&*generator, |first, edges| {
            let first = first as usize;
            seen.lock().unwrap()[first..first + edges.len()].copy_from_slice(edges);
        });
        assert_eq!(seen.into_inner().unwrap(), edges(&*generator), "{name}");
    }
}

#[test]
fn listed_edges_are_returned_unchanged() {
    let list = [(3, 4), (0, 9), (3, 4)];
    let listed = Listed::new(&list);
    assert_eq!((listed.vertex_count(), edges(&listed)), (10, list.to_vec()));
    assert_eq!(Listed::new(&[]).vertex_count(), 0);
}

#[test]
fn released_graphs_never_change() {
    // Published measurements name a scale and a seed. A change of these numbers would give another
    // graph.
    let mut rmat = [(0, 0); 2];
    Rmat::new(20, 16, 1).unwrap().fill(1_000_000, &mut rmat);
    let mut erdos_renyi = [(0, 0); 2];
    ErdosRenyi::new(1000, 5000, 1).unwrap().fill(100, &mut erdos_renyi);
    assert_eq!(rmat, [(56_025, 515_650), (854_772, 415_397)]);
    assert_eq!(erdos_renyi, [(80, 521), (317, 646)]);
}
