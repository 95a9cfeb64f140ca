//! A run with fewer threads than it asks for gives the bits of a run with all.

mod support;

use std::num::{NonZeroU64, NonZeroUsize};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use support::{AMPLE, import_with, tables, ways::with_rows};
use tegula_engine::{Arrays, Checkpoints, RunOptions, open_graph};
use tegula_generators::{Rmat, edges};
use tegula_machine::disk::Backend;
use tegula_machine::threads::refuse_each;
use tegula_store::graph::VertexOrder;
use tegula_store::tiles::Grid;
use tegula_testkit::{EdgeList, Scratch};

/// Runs along tiles and along rows, with arrays in memory and on disk.
fn runs() -> Vec<(&'static str, Value, Arrays)> {
    vec![
        ("pagerank", json!({ "iterations": 3 }), Arrays::InMemory),
        ("pagerank", json!({ "iterations": 2 }), Arrays::OnDisk),
        ("wcc", json!({}), Arrays::InMemory),
        ("scc", json!({}), Arrays::InMemory),
        ("kcore", json!({}), Arrays::InMemory),
        ("triangles", json!({}), Arrays::InMemory),
    ]
}

fn skewed(scratch: &Scratch) -> PathBuf {
    let graph = EdgeList::new(edges(&Rmat::new(9, 8, 5).unwrap()));
    let grid = Grid { segment_log2: 8, column_log2: 7 };
    let mut config = with_rows(VertexOrder::Degree, false);
    config.tuning.grid = grid;
    import_with(config, scratch.path(), "skewed", &graph)
}

/// The table of a run as text.
fn answer(
    directory: &Path,
    (name, wanted, arrays): &(&str, Value, Arrays),
    checkpoints: Option<Checkpoints<'_>>,
) -> String {
    let threads = Backend::Threads(NonZeroUsize::new(2).unwrap());
    let graph = open_graph(directory, AMPLE, threads).unwrap();
    let options = RunOptions {
        memory: AMPLE,
        threads: 3,
        arrays: *arrays,
        checkpoints,
        ..RunOptions::default()
    };
    format!("{:?}", tables::answer(&graph, name, wanted.clone(), &options))
}

#[test]
fn a_run_goes_on_with_the_available_threads() {
    let scratch = Scratch::new();
    let directory = skewed(&scratch);
    for run in runs() {
        let expected = answer(&directory, &run, None);
        let asked = refuse_each(|| assert!(answer(&directory, &run, None) == expected, "{run:?}"));
        assert!(asked >= 5, "{run:?} asks for {asked} threads");
    }
    // A checkpoint is written by a thread of its own.
    let run = &runs()[0];
    let expected = answer(&directory, run, None);
    let folder = scratch.join("checkpoints");
    let asked = refuse_each(|| {
        let every = NonZeroU64::MIN;
        let kept = Checkpoints { folder: Some(&folder), every, resume: None, run: "pagerank" };
        assert!(answer(&directory, run, Some(kept)) == expected);
        std::fs::remove_dir_all(&folder).unwrap();
    });
    assert!(asked >= 9, "{asked}");
}
