//! Verifying a graph computes again what its manifest says, so it finds changes even if somebody
//! has made the checksum right. And a right graph is never refused.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tegula_import::{ImportConfig, import};
use tegula_machine::disk::{Backend, Caching, Pool, Reader, crc32c};
use tegula_machine::threads::{Cancel, Silent};
use tegula_store::Error;
use tegula_store::graph::{Graph, VertexOrder};
use tegula_store::rows::RowEncoding;
use tegula_store::tiles::Grid;
use tegula_testkit::{Scratch, XorShift, edit_manifest};

use crate::resealed::{payload, reseal};

fn config(order: Option<VertexOrder>) -> ImportConfig {
    ImportConfig {
        memory: 64 << 20,
        threads: 2,
        order,
        force: true,
        allow_empty: true,
        ..ImportConfig::default()
    }
}

fn imported(scratch: &Scratch, text: &str, config: &ImportConfig) -> PathBuf {
    let (input, output) = (scratch.join("g.wel"), scratch.join("g.tegula"));
    fs::write(&input, text).unwrap();
    import(&[input], &output, config, &Silent, &Cancel::default()).unwrap();
    output
}

fn verify(directory: &Path) -> Result<(), Error> {
    let reader = Reader::open(Backend::Auto, Pool::new(64 << 20))?;
    let graph = Graph::open(directory, &reader, Caching::PageCache)?;
    graph.verify(&Silent, &Cancel::default()).map(drop)
}

/// Few sources and targets, so that edges repeat; loops, and hubs.
fn edges(seed: u64, count: u64, vertices: u64, name: impl Fn(u64) -> String) -> String {
    let mut random = XorShift::new(seed);
    let line = |_| {
        let most = random.below(vertices) + 1;
        let (source, target) = (random.below(most), random.below(vertices));
        format!("{} {} {}\n", name(source), name(target), random.below(3))
    };
    (0..count).map(line).collect()
}

/// Collects pointers to all values that are no object or list.
fn leaves(value: &Value, pointer: String, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => fields
            .iter()
            .for_each(|(name, value)| leaves(value, format!("{pointer}/{name}"), found)),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .for_each(|(index, value)| leaves(value, format!("{pointer}/{index}"), found)),
        _ => found.push(pointer),
    }
}

/// Returns other values that a field could have.
fn others(pointer: &str, value: &Value) -> Vec<Value> {
    let words = |names: &[&str]| {
        names.iter().filter(|&name| value != name).map(|&name| name.into()).collect()
    };
    match value {
        Value::Bool(flag) => vec![(!flag).into()],
        Value::Number(number) if pointer == "/equal_weight" => {
            vec![(number.as_f64().unwrap() + 0.5).into()]
        }
        Value::Number(number) => {
            let number = number.as_u64().unwrap();
            let less = number.checked_sub(1).map(Value::from);
            less.into_iter().chain([(number + 1).into()]).collect()
        }
        _ if pointer == "/ids" => words(&["range", "integer", "string"]),
        _ if pointer.ends_with("/encoding") => words(&["plain", "ceesor", "gap"]),
        _ if pointer == "/order/name" => words(&["given", "degree", "weight"]),
        _ => words(&["tiles.table", "other.data", "../g.wel"]),
    }
}

/// Asserts that every change of a manifest is noticed, except in fields that nothing else can
/// confirm.
#[track_caller]
fn assert_every_edit_is_noticed(directory: &Path) {
    verify(directory).unwrap();
    let text = fs::read_to_string(directory.join("manifest.json")).unwrap();
    let manifest: Value = serde_json::from_str(&text).unwrap();
    let mut pointers = Vec::new();
    leaves(&manifest, String::new(), &mut pointers);
    pointers.retain(|it| {
        let is_free = it == "/order/reason" || it.starts_with("/order/estimates");
        // A segment or column that is not full could also be larger or smaller.
        let is_free = is_free || manifest["cells"] == 1 && it.starts_with("/grid");
        !is_free && it != "/crc32c"
    });
    assert!(pointers.len() > 20, "{pointers:?}");
    for pointer in pointers {
        let value = manifest.pointer(&pointer).unwrap();
        if pointer == "/undirected" && value == true {
            // The same arcs could have been imported one by one.
            continue;
        }
        for other in others(&pointer, value) {
            if pointer == "/format_version" && other == 9 {
                // A graph without a row in pieces is the same in both versions.
                continue;
            }
            let mut edited = manifest.clone();
            *edited.pointer_mut(&pointer).unwrap() = other.clone();
            edited.as_object_mut().unwrap().remove("crc32c");
            let edited = serde_json::to_string_pretty(&edited).unwrap();
            edit_manifest(directory, |_| edited.strip_suffix("\n}").unwrap().to_owned());
            let error = match verify(directory) {
                Err(error) => error.to_string(),
                Ok(()) => panic!("{pointer} is {value}, not {other}"),
            };
            assert!(error.contains("g.tegula"), "{pointer}: {error}");
            fs::write(directory.join("manifest.json"), &text).unwrap();
        }
    }
    verify(directory).unwrap();
}

#[test]
fn weights_are_equal_although_tiles_skip_sources() {
    let scratch = Scratch::new();
    let sparse = edges(5, 4000, 20_000, |id| id.to_string());
    let sparse: String =
        sparse.lines().map(|line| line[..line.len() - 1].to_owned() + "2\n").collect();
    let mut weighted = config(Some(VertexOrder::Given));
    weighted.input.weighted = true;
    let directory = imported(&scratch, &sparse, &weighted);
    let text = fs::read_to_string(directory.join("manifest.json")).unwrap();
    let manifest: Value = serde_json::from_str(&text).unwrap();
    let of_weights = |file: &&Value| file["name"] == "tiles.weights";
    let file = manifest["files"].as_array().unwrap().iter().find(of_weights).unwrap();
    assert!(file["bytes"].as_u64().unwrap() > 4 * manifest["edges"].as_u64().unwrap());
    assert_eq!((&manifest["equal_weight"], &manifest["format_version"]), (&2.0.into(), &11.into()));
    verify(&directory).unwrap();
}

#[test]
fn no_field_of_a_manifest_can_be_changed_unnoticed() {
    let scratch = Scratch::new();
    let integers = edges(1, 400, 40, |id| (5 * id).to_string());
    let (rows, order) = (Some(RowEncoding::Gap), Some(VertexOrder::Degree));
    let both = ImportConfig { rows, reverse: rows, ..config(order) };
    assert_every_edit_is_noticed(&imported(&scratch, &integers, &both));
    let names = edges(2, 400, 40, |id| format!("v{id}"));
    let mut weighted = config(Some(VertexOrder::Degree));
    weighted.input.weighted = true;
    weighted.rows = Some(RowEncoding::Gap);
    weighted.undirected = true;
    assert_every_edit_is_noticed(&imported(&scratch, &names, &weighted));
    let equal = names.replace(" 0\n", " 2\n").replace(" 1\n", " 2\n");
    assert_every_edit_is_noticed(&imported(&scratch, &equal, &weighted));
    let range = edges(3, 400, 40, |id| id.to_string());
    assert_every_edit_is_noticed(&imported(&scratch, &range, &config(Some(VertexOrder::Degree))));
    let grid = Grid { segment_log2: 7, column_log2: 8 };
    let mut cells = config(None);
    cells.tuning.grid = grid;
    let wide = edges(4, 2000, 1000, |id| id.to_string());
    assert_every_edit_is_noticed(&imported(&scratch, &wide, &cells));
}

#[test]
fn a_wrong_list_of_sources_is_noticed_under_a_right_checksum() {
    let scratch = Scratch::new();
    let grid = Grid { segment_log2: 8, column_log2: 8 };
    let mut cells = config(Some(VertexOrder::Given));
    cells.tuning.grid = grid;
    let directory = imported(&scratch, &edges(5, 1500, 1000, |id| id.to_string()), &cells);
    verify(&directory).unwrap();
    let manifest: Value =
        serde_json::from_slice(&fs::read(directory.join("manifest.json")).unwrap()).unwrap();
    let count = |field: &str| manifest[field].as_u64().unwrap() as usize;
    let (table, lists) = (payload(&directory, "tiles.table"), directory.join("tiles.sources"));
    let right = fs::read(&lists).unwrap();
    let (mut tried, mut noticed) = (0, 0);
    for cell in 0..count("cells") {
        let record = 24 * count("batches") + 48 * cell;
        let offset = u64::from_le_bytes(table[record + 24..][..8].try_into().unwrap()) as usize;
        let size = u32::from_le_bytes(table[record + 36..][..4].try_into().unwrap()) as usize;
        let list = offset..offset + size;
        for bit in (0..8 * size).step_by(7) {
            let (mut wrong, mut resealed) = (right.clone(), table.clone());
            wrong[offset + bit / 8] ^= 1 << (bit % 8);
            resealed[record + 40..][..4]
                .copy_from_slice(&crc32c(&wrong[list.clone()]).to_le_bytes());
            fs::write(&lists, wrong).unwrap();
            reseal(&directory, "tiles.table", &resealed, 20);
            tried += 1;
            // The bits after the last number of a list are not read.
            if let Err(error) = verify(&directory) {
                assert!(error.to_string().contains("tiles.sources"), "{error}");
                noticed += 1;
            }
        }
    }
    assert!(tried > 400 && noticed > tried * 3 / 4, "{noticed} of {tried}");
}

#[test]
fn one_arc_or_weight_shows_that_a_graph_is_not_undirected() {
    let scratch = Scratch::new();
    let mut weighted = config(None);
    weighted.input.weighted = true;
    for (text, is_symmetric) in [
        ("1 2 5\n2 1 5\n3 3 1\n", true),
        ("1 2 5\n2 1 5\n2 3 1\n", false),
        ("1 2 5\n2 1 6\n", false),
        ("1 2 5\n1 2 5\n2 1 5\n", false),
        ("1 2 5\n1 2 6\n2 1 6\n2 1 5\n", true),
    ] {
        let directory = imported(&scratch, text, &weighted);
        edit_manifest(&directory, |body| {
            body.replace("\"undirected\": false", "\"undirected\": true")
        });
        match verify(&directory) {
            Ok(()) => assert!(is_symmetric, "{text}"),
            Err(error) => {
                let error = error.to_string();
                assert!(!is_symmetric && error.contains("manifest.json"), "{text}: {error}");
                assert!(error.contains("`undirected`"), "{error}");
            }
        }
    }
}

#[test]
fn graphs_with_any_number_of_loops_and_repeated_edges_are_sound() {
    let scratch = Scratch::new();
    for (seed, count, vertices) in
        [(1, 0, 1), (2, 1000, 1), (3, 3000, 3), (4, 200_000, 17), (5, 200_000, 90_000)]
    {
        let text = edges(seed, count, vertices, |id| id.to_string());
        for order in [VertexOrder::Given, VertexOrder::Degree, VertexOrder::Dfs] {
            for (undirected, weighted) in [(false, false), (true, true)] {
                let mut config = ImportConfig { undirected, ..config(Some(order)) };
                config.input.weighted = weighted;
                verify(&imported(&scratch, &text, &config)).unwrap();
            }
        }
    }
}
