//! Writes the seeds of the targets that read a graph directory: the files of small graphs. To be
//! run in this folder, after a format has changed:
//!
//! ```text
//! cargo run --example write_seeds
//! ```

use std::fs;
use std::path::Path;

// It has what instrumented code calls.
use libfuzzer_sys as _;
use serde_json::json;
use tegula_fuzz::graph::{KINDS, OF_ROWS, OF_TILES, OF_VERTICES, chosen};
use tegula_fuzz::{checkpoint, shard, sources, vertex_array};

fn main() {
    for kind in 0..KINDS.len() as u8 {
        let directory = chosen(kind);
        let manifest = serde_json::to_vec_pretty(&directory.manifest()).expect("JSON");
        write("manifest", &format!("kind-{kind}"), kind, &manifest);
        for (target, names) in
            [("rows", OF_ROWS), ("vertices", OF_VERTICES), ("tile_table", OF_TILES)]
        {
            for (place, name) in (0..).zip(names) {
                if let Some(content) = directory.content(name) {
                    write(target, &format!("{name}-{kind}"), kind | place << 3, content);
                }
            }
        }
        let tiles = directory.content("tiles.data").expect("every graph has tiles");
        for (number, tile) in (0..3).zip(directory.tiles()) {
            write("tile", &format!("kind-{kind}-{number}"), 8, &tiles[tile]);
        }
    }
    let beside = checkpoint::header();
    write("checkpoint", "header", 0, &beside);
    write("checkpoint", "list", 1, &checkpoint::list(&beside));
    let other =
        json!({ "version": "0.1.0", "graph": [], "run": "x", "iteration": 1, "aggregate": [] });
    write("checkpoint", "other", 0, other.to_string().as_bytes());
    write_beside_graphs();
}

/// Writes the seeds of shards, of lists of sources, and of vertex arrays.
fn write_beside_graphs() {
    let directory = shard::of(1);
    let manifest = serde_json::to_vec_pretty(&directory.manifest()).expect("JSON");
    write("shard", "manifest", 0, &manifest);
    for (choice, name) in (1..).zip(shard::FILES) {
        if let Some(content) = directory.content(name) {
            write("shard", name, choice, content);
        }
    }
    for (cell, count, list) in sources::lists() {
        write("sources", &format!("cell-{cell}"), cell, &[&[count], list].concat());
    }
    for (choice, size) in (0..).zip([4, 8, 6, 1]) {
        write("vertex_array", &format!("{size}-bytes"), 2 * choice, &vertex_array::payload(size));
    }
    write("vertex_array", "file", 1, &vertex_array::file(4));
    write("block_file", "array", 1, &vertex_array::file(1));
    write("block_file", "tiles", 3, directory.sealed(shard::FILES[0]));
}

fn write(target: &str, name: &str, choice: u8, content: &[u8]) {
    let folder = Path::new("corpus").join(target);
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join(name), [&[choice], content].concat())
        .expect("a folder that is written to");
}
