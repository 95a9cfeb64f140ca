//! Rows are verified in every encoding. All damage is found, and never leads out of bounds.

use std::fs;
use std::path::PathBuf;

use proptest::prelude::*;
use tegula_machine::Error as MachineError;
use tegula_machine::threads::{Cancel, Workers};
use tegula_store::graph::Graph;
use tegula_store::rows::{ChunkCut, RowBatch, RowEncoding, RowsConfig};
use tegula_store::{Error, ShortId};

use crate::resealed::{payload, reseal, rewrite_manifest};
use crate::rows_support::{
    ENCODINGS, TINY, alike_edges, build_rows, config, copies, dense_edges, imported, open,
    opened_rows, reopen, verify,
};

/// Makes two rows of the small graph, whose bits are flipped, take two pieces.
const FEW: ChunkCut = ChunkCut { edges_max: 17, window_log2: 3 };

const CUTS: [ChunkCut; 2] = [ChunkCut::STANDARD, TINY];

/// Imports a small graph with rows, which copy if they can.
fn with_rows(
    encoding: RowEncoding,
    is_weighted: bool,
    cut: ChunkCut,
) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let edges = match encoding {
        RowEncoding::Copy => alike_edges(5, 60, 10),
        RowEncoding::Plain | RowEncoding::Ceesor | RowEncoding::Gap => dense_edges(5, 90, 16),
    };
    let directory = imported(folder.path(), &edges, is_weighted);
    let config = RowsConfig { cut, ..config(encoding, 64 << 20, 1) };
    build_rows(&open(&directory), &config).unwrap();
    assert_eq!(copies(&directory), encoding == RowEncoding::Copy && cut == ChunkCut::STANDARD);
    (folder, directory)
}

/// Rows whose bits are flipped: each encoding, with or without weights, and rows in pieces.
const DAMAGED: [(RowEncoding, bool, ChunkCut); 5] = [
    (RowEncoding::Gap, true, ChunkCut::STANDARD),
    (RowEncoding::Ceesor, false, ChunkCut::STANDARD),
    (RowEncoding::Plain, false, ChunkCut::STANDARD),
    (RowEncoding::Copy, false, ChunkCut::STANDARD),
    (RowEncoding::Ceesor, true, FEW),
];

/// Calls a closure with each kind of rows, in a thread of its own: these tests are the longest.
fn for_each_damaged(damage: impl Fn((RowEncoding, bool, ChunkCut)) + Sync) {
    let damage = &damage;
    std::thread::scope(|scope| {
        DAMAGED.iter().for_each(|&rows| {
            scope.spawn(move || damage(rows));
        });
    });
}

#[test]
fn verify_reads_rows_in_every_encoding() {
    for (count, vertices) in [(0, 1), (300, 40), (60_000, 70_000)] {
        for is_weighted in [false, true] {
            for encoding in ENCODINGS {
                let folder = tempfile::tempdir().unwrap();
                let edges = dense_edges(2, count, vertices);
                let directory = imported(folder.path(), &edges, is_weighted);
                verify(&directory).unwrap();
                let cut = if vertices == 40 { TINY } else { ChunkCut::STANDARD };
                let config = RowsConfig { cut, ..config(encoding, 64 << 20, 2) };
                build_rows(&open(&directory), &config).unwrap();
                verify(&directory).unwrap();
            }
        }
    }
}

#[test]
#[ignore = "long"]
fn every_flipped_bit_is_found_and_named() {
    for_each_damaged(|(encoding, is_weighted, cut)| {
        let (_folder, directory) = with_rows(encoding, is_weighted, cut);
        let weights = is_weighted.then_some("rows.weights");
        for name in ["rows.data", "rows.index", "manifest.json"].into_iter().chain(weights) {
            let path = directory.join(name);
            let intact = fs::read(&path).unwrap();
            for bit in 0..8 * intact.len() {
                let mut damaged = intact.clone();
                damaged[bit / 8] ^= 1 << (bit % 8);
                fs::write(&path, damaged).unwrap();
                match verify(&directory) {
                    Err(Error::Machine(MachineError::Corrupt { path: named, .. })) => {
                        assert_eq!(named, path, "bit {bit}, {encoding:?}");
                    }
                    Err(Error::Machine(MachineError::UnsupportedVersion {
                        path: named, ..
                    })) => {
                        assert_eq!(named, directory, "bit {bit} of {name}");
                    }
                    other => panic!("bit {bit} of {name}, {encoding:?}: {other:?}"),
                }
            }
            fs::write(&path, intact).unwrap();
        }
        verify(&directory).unwrap();
    });
}

/// Returns log2 of the bytes of the file's blocks.
fn block_log2(name: &str) -> u32 {
    if name == "rows.index" { 20 } else { 12 }
}

/// Visits every row, in spite of any damage.
fn visit_all(graph: &Graph) -> Result<(), Error> {
    let reader = opened_rows(graph, true, 1 << 20)?;
    let reader = reader.expect("its manifest names rows");
    let mut batch = RowBatch::default();
    for vertex in (0..graph.short_vertex_count().unwrap()).map(ShortId) {
        assert_eq!(reader.get(&[vertex], &mut batch)?, 1);
        let row = reader.row(&batch, 0);
        let mut weights = Vec::new();
        // A damaged row may be an error or give wrong numbers, but only of existing vertices.
        let _ = row.for_each(|target| {
            assert!(u64::from(target.0) < graph.vertex_count());
            weights.push(row.weight(weights.len()));
        });
    }
    for &source in reader.rows().long() {
        for piece in reader.rows().pieces(source) {
            let _ = reader.piece(&piece, &mut batch)?.for_each(|target| {
                assert!(u64::from(target.0) < graph.vertex_count());
            });
        }
    }
    reader.prefetch_range(ShortId(0)..ShortId(graph.short_vertex_count().unwrap()));
    // A damaged row is an error, and so is a wrong number of edges.
    let _ = Workers::scope(2, |workers| reader.unpack(workers, &Cancel::default()));
    Ok(())
}

#[test]
#[ignore = "long"]
fn verify_finds_every_flipped_bit_under_right_checksums() {
    for_each_damaged(|(encoding, is_weighted, cut)| {
        let (_folder, directory) = with_rows(encoding, is_weighted, cut);
        let chunks = open(&directory).manifest().rows.as_ref().unwrap().chunks as usize;
        let weights = is_weighted.then_some("rows.weights");
        for name in ["rows.data", "rows.index"].into_iter().chain(weights) {
            let intact = payload(&directory, name);
            let mut idle = 0;
            for bit in 0..8 * intact.len() {
                let mut damaged = intact.clone();
                damaged[bit / 8] ^= 1 << (bit % 8);
                reseal(&directory, name, &damaged, block_log2(name));
                let graph = reopen(&directory).unwrap();
                let visited = visit_all(&graph);
                assert!(
                    matches!(visited, Ok(()) | Err(Error::Machine(MachineError::Corrupt { .. }))),
                    "{visited:?}"
                );
                match verify(&directory) {
                    Err(Error::Machine(MachineError::Corrupt { .. })) => {}
                    other => {
                        other.unwrap();
                        idle += 1;
                    }
                }
            }
            // Bits that only fill a byte or a word have no effect, nor have widths of codes that no
            // row uses.
            let idle_max = if name == "rows.index" { 8 * intact.len() / 3 } else { 7 * chunks };
            assert!(idle <= idle_max, "{idle} bits of {name}, {encoding:?}");
            reseal(&directory, name, &intact, block_log2(name));
        }
        verify(&directory).unwrap();
    });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..Default::default() })]

    #[test]
    fn no_damaged_index_leads_out_of_bounds(
        choice in (
            prop::sample::select(&ENCODINGS[..]),
            any::<bool>(),
            prop::sample::select(&CUTS[..]),
        ),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u64>(), 0u32..64), 1..6),
        cut in prop::option::weighted(0.1, any::<prop::sample::Index>()),
        in_records in any::<bool>(),
    ) {
        let (_folder, directory) = with_rows(choice.0, choice.1, choice.2);
        let mut bytes = payload(&directory, "rows.index");
        // A record has 88 bytes. Half of the cases damage the records, by which the other bytes are
        // read.
        let reach = if in_records { 88 } else { bytes.len() };
        for (place, value, shift) in changes {
            let place = place.index(reach) & !7;
            let value = (value >> shift).to_le_bytes();
            bytes[place..place + 8].copy_from_slice(&value);
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        reseal(&directory, "rows.index", &bytes, 20);
        let visited = visit_all(&reopen(&directory).unwrap());
        prop_assert!(matches!(visited, Ok(()) | Err(Error::Machine(MachineError::Corrupt { .. }))), "{visited:?}");
        let verified = verify(&directory);
        prop_assert!(matches!(verified, Ok(()) | Err(Error::Machine(MachineError::Corrupt { .. }))), "{verified:?}");
    }
}

#[test]
fn only_verify_distinguishes_rows_of_another_graph() {
    // Both have the same degrees, so only the edges tell.
    let folder = tempfile::tempdir().unwrap();
    let squares = [(0, 1, 1.0), (1, 2, 1.0), (2, 3, 1.0), (3, 0, 1.0)];
    let others = [(0, 2, 1.0), (2, 1, 1.0), (1, 3, 1.0), (3, 0, 1.0)];
    let heavier = [(0, 1, 1.0), (1, 2, 1.0), (2, 3, 1.0), (3, 0, 2.0)];
    let directories = [&squares[..], &others[..], &heavier[..]].map(|edges| {
        let own = folder.path().join(format!("{edges:?}").replace(' ', ""));
        fs::create_dir(&own).unwrap();
        let directory = imported(&own, edges, true);
        build_rows(&open(&directory), &config(RowEncoding::Plain, 64 << 20, 1)).unwrap();
        directory
    });
    for (other, name) in [(1, "rows.data"), (2, "rows.weights")] {
        let own = payload(&directories[0], name);
        let foreign = payload(&directories[other], name);
        assert_ne!(own, foreign);
        reseal(&directories[0], name, &foreign, 12);
        let error = verify(&directories[0]).unwrap_err().to_string();
        assert!(error.contains("rows.data") && error.contains("than the tiles"), "{error}");
        reseal(&directories[0], name, &own, 12);
        verify(&directories[0]).unwrap();
    }
}

#[test]
fn a_manifest_that_names_rows_that_are_not_there_is_refused() {
    let (_folder, directory) = with_rows(RowEncoding::Gap, true, ChunkCut::STANDARD);
    for name in ["rows.data", "rows.index", "rows.weights"] {
        let path = directory.join(name);
        let intact = fs::read(&path).unwrap();
        fs::remove_file(&path).unwrap();
        let error = reopen(&directory).map(drop).unwrap_err().to_string();
        assert!(error.contains(name) && error.contains("missing"), "{error}");
        fs::write(&path, &intact[..intact.len() - 1]).unwrap();
        let error = reopen(&directory).map(drop).unwrap_err().to_string();
        assert!(error.contains(name), "{error}");
        fs::write(&path, &intact).unwrap();
    }
    let manifest = fs::read(directory.join("manifest.json")).unwrap();
    for name in ["rows.data", "rows.index", "rows.weights"] {
        rewrite_manifest(&directory, |manifest| {
            manifest["files"].as_array_mut().unwrap().retain(|file| file["name"] != name);
        });
        let error = reopen(&directory).map(drop).unwrap_err().to_string();
        assert!(error.contains("manifest.json") && error.contains(name), "{error}");
        fs::write(directory.join("manifest.json"), &manifest).unwrap();
    }
    for chunks in [0u64, 2, u64::MAX] {
        rewrite_manifest(&directory, |manifest| manifest["rows"]["chunks"] = chunks.into());
        let error = verify(&directory).unwrap_err().to_string();
        assert!(error.contains("rows.index"), "{chunks} chunks: {error}");
        fs::write(directory.join("manifest.json"), &manifest).unwrap();
    }
    for other in ["plain", "ceesor"] {
        rewrite_manifest(&directory, |manifest| manifest["rows"]["encoding"] = other.into());
        let error = verify(&directory).unwrap_err().to_string();
        assert!(error.contains("rows."), "{other}: {error}");
        fs::write(directory.join("manifest.json"), &manifest).unwrap();
    }
    verify(&directory).unwrap();
}
