//! Graphs are replaced, moved or removed while others read them or add rows to them, in every
//! order. Nobody sees or touches a graph other than the one that was opened.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use tegula_import::{ImportConfig, import};
use tegula_machine::Error as MachineError;
use tegula_machine::disk::{Backend, Caching, Pool, Reader, Targets};
use tegula_machine::threads::{Cancel, Progress, ProgressUnit, Silent};
use tegula_store::Error;
use tegula_store::graph::Graph;
use tegula_store::rows::{
    ChunkCut, Direction, RowEncoding, RowReader, RowsConfig, build, build_aside,
};
use tegula_testkit::Scratch;

const CONFIG: RowsConfig = RowsConfig {
    direction: Direction::Forward,
    encoding: RowEncoding::Gap,
    memory: 64 << 20,
    threads: 1,
    cut: ChunkCut::STANDARD,
};

/// A folder with a place for graphs.
struct Place(Scratch);

impl Place {
    /// Puts the graph `old` in its place.
    fn new() -> Place {
        let place = Place(Scratch::new());
        fs::write(place.0.join("old.wel"), "7 8 1\n8 9 2\n9 7 3\n7 70 4\n").unwrap();
        fs::write(place.0.join("new.wel"), "1 2 1\n2 3 5\n").unwrap();
        place.import("old");
        place
    }

    /// Imports one of the two graphs, which replaces what is there.
    fn import(&self, name: &str) {
        let mut config = ImportConfig { memory: 64 << 20, threads: 1, ..ImportConfig::default() };
        config.input.weighted = true;
        config.force = true;
        let inputs = [self.0.join(format!("{name}.wel"))];
        import(&inputs, &self.graph(), &config, &Silent, &Cancel::default()).unwrap();
    }

    fn graph(&self) -> PathBuf {
        self.0.join("g.tegula")
    }

    fn open(&self) -> Result<Graph, Error> {
        Graph::open(&self.graph(), &reader(), Caching::PageCache)
    }

    /// Asserts that the graph in this place is the new one, whole, without rows and with nothing
    /// beside it.
    #[track_caller]
    fn assert_new(&self) {
        let graph = self.open().unwrap();
        assert_eq!(graph.edge_count(), 2);
        graph.verify(&Silent, &Cancel::default()).unwrap();
        let known: Vec<&str> =
            graph.manifest().files.iter().map(|file| file.name.as_str()).collect();
        for name in files(&self.graph()).keys() {
            assert!(name == "manifest.json" || known.contains(&name.as_str()), "{name}");
        }
        assert!(!known.contains(&"rows.data"));
        let names = fs::read_dir(self.0.path()).unwrap();
        let hidden = names
            .filter(|name| name.as_ref().unwrap().file_name().as_encoded_bytes().starts_with(b"."));
        assert_eq!(hidden.count(), 0);
    }
}

fn reader() -> Reader {
    Reader::open(Backend::Auto, Pool::new(64 << 20)).unwrap()
}

fn files(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(directory).unwrap().map(Result::unwrap);
    entries
        .map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap()))
        .collect()
}

fn add_rows(graph: &Graph, progress: &dyn Progress) -> Result<(), Error> {
    build(graph, &CONFIG, progress, &Cancel::default()).map(drop)
}

/// Calls `strike` when a stage begins or ends.
struct At<'a> {
    begin: bool,
    strike: &'a (dyn Fn() + Sync),
}

impl Progress for At<'_> {
    fn begin(&self, stage: &str, _total: Option<u64>, _unit: ProgressUnit) {
        if self.begin && stage == "building rows" {
            (self.strike)();
        }
    }

    fn advance(&self, _done: u64) {}

    fn end(&self) {
        if !self.begin {
            (self.strike)();
        }
    }
}

#[test]
fn a_replaced_graph_is_still_read_as_it_was() {
    let place = Place::new();
    let old = place.open().unwrap();
    place.import("new");
    assert_eq!(old.verify(&Silent, &Cancel::default()).unwrap().edges, 4);
    assert_eq!(old.original_ids().unwrap().by_id_position(3).unwrap().to_string(), "70");
    place.assert_new();
}

#[test]
fn opening_a_graph_that_is_replaced_meanwhile_is_an_error() {
    let place = Place::new();
    let directory = Graph::open_directory(&place.graph()).unwrap();
    place.import("new");
    let error = Graph::open_in(&directory, &reader(), Caching::PageCache).map(drop).unwrap_err();
    assert!(matches!(&error, Error::Replaced { path } if *path == place.graph()), "{error}");
    // A file that is missing from a graph in its place is another error.
    fs::remove_file(place.graph().join("degrees.in")).unwrap();
    let error = place.open().map(drop).unwrap_err();
    assert!(
        matches!(&error, Error::Machine(MachineError::Corrupt { part, .. }) if part == "degrees.in"),
        "{error}"
    );
    // A graph that is moved while its files are opened counts as replaced.
    let directory = Graph::open_directory(&place.graph()).unwrap();
    fs::rename(place.graph(), place.0.join("moved")).unwrap();
    let error = Graph::open_in(&directory, &reader(), Caching::PageCache).map(drop).unwrap_err();
    assert!(matches!(error, Error::Replaced { .. }), "{error}");
}

#[test]
fn rows_for_a_replaced_graph_go_nowhere() {
    let place = Place::new();
    let replace = || place.import("new");
    let before = place.open().unwrap();
    replace();
    let error = add_rows(&before, &Silent).unwrap_err();
    assert!(matches!(error, Error::Replaced { .. }), "{error}");
    place.assert_new();
    for begin in [true, false] {
        place.import("old");
        let old = place.open().unwrap();
        let error = add_rows(&old, &At { begin, strike: &replace }).unwrap_err();
        assert!(matches!(error, Error::Replaced { .. }), "{error}");
        place.assert_new();
    }
}

#[test]
fn a_graph_that_has_got_rows_is_replaced_with_them() {
    let place = Place::new();
    let old = place.open().unwrap();
    add_rows(&old, &Silent).unwrap();
    let with_rows = place.open().unwrap();
    place.import("new");
    place.assert_new();
    assert_eq!(with_rows.verify(&Silent, &Cancel::default()).unwrap().edges, 4);
    // The manifest of `old` has rows, but they are gone.
    let error = add_rows(&old, &Silent).unwrap_err();
    assert!(matches!(error, Error::Replaced { .. }), "{error}");
    place.assert_new();
}

#[test]
fn rows_follow_a_graph_that_is_moved() {
    let place = Place::new();
    let moved = place.0.join("moved.tegula");
    let strike = || {
        fs::rename(place.graph(), &moved).unwrap();
        place.import("new");
    };
    add_rows(&place.open().unwrap(), &At { begin: true, strike: &strike }).unwrap();
    place.assert_new();
    let graph = Graph::open(&moved, &reader(), Caching::PageCache).unwrap();
    assert!(graph.manifest().rows.is_some());
    graph.verify(&Silent, &Cancel::default()).unwrap();
    assert!(files(&moved).keys().all(|name| !name.starts_with('.')));
}

#[test]
fn rows_aside_leave_the_graph_and_the_folder_as_they_were() {
    let place = Place::new();
    let before = files(&place.graph());
    let aside = place.0.join("aside");
    fs::create_dir(&aside).unwrap();
    let mut graph = place.open().unwrap();
    let rows = build_aside(&graph, &aside, &CONFIG, &Silent, &Cancel::default()).unwrap();
    assert_eq!(fs::read_dir(&aside).unwrap().count(), 1);
    graph.add_rows(rows).unwrap();
    assert_eq!(fs::read_dir(&aside).unwrap().count(), 0);
    graph.verify(&Silent, &Cancel::default()).unwrap();
    assert!(
        RowReader::open(&graph, Direction::Forward, true, 1 << 20, &Targets::default())
            .unwrap()
            .is_some()
    );
    assert_eq!(files(&place.graph()), before);
    // Rows that were built aside belong to one graph.
    let rows = build_aside(&place.open().unwrap(), &aside, &CONFIG, &Silent, &Cancel::default());
    place.import("new");
    let error = place.open().unwrap().add_rows(rows.unwrap()).unwrap_err();
    assert!(matches!(error, Error::Replaced { .. }), "{error}");
    assert_eq!(fs::read_dir(&aside).unwrap().count(), 0);
}
