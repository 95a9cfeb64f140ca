//! Power is lost at any moment of an import, or of adding rows. What is left is the graph as it
//! was, or the new one, whole. Once the call has returned, it is the new one.

use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use tegula_import::{ImportConfig, import};
use tegula_machine::disk::{Backend, Caching, Pool, Reader, Unfinished, durable};
use tegula_machine::threads::{Cancel, Silent};
use tegula_store::graph::Graph;
use tegula_store::rows::{self, ChunkCut, Direction, RowEncoding, RowsConfig};
use tegula_testkit::Scratch;
use tegula_testkit::power_loss::{self, Crash, Trace};

/// Where the graph is to be, in a folder that is not there at first.
const GRAPH: &str = "deep/er/g.tegula";

/// A folder for a graph, and edges outside of it.
struct Place {
    root: Scratch,
    inputs: Scratch,
}

/// A manifest, or `None` if there is no graph.
type Found = Option<Vec<u8>>;

impl Place {
    fn new() -> Place {
        let place = Place { root: Scratch::new(), inputs: Scratch::new() };
        fs::write(place.inputs.join("old.wel"), "7 8 1\n8 9 2\n9 7 3\n7 70 4\n").unwrap();
        fs::write(place.inputs.join("new.wel"), "a b 1\nb c 5\n").unwrap();
        place
    }

    fn graph(&self) -> PathBuf {
        self.root.join(GRAPH)
    }

    /// Imports a list of edges. The graph replaces what is there.
    fn import(&self, name: &str, rows: Option<RowEncoding>) {
        let mut config = ImportConfig { memory: 64 << 20, threads: 1, ..ImportConfig::default() };
        config.input.weighted = true;
        (config.force, config.rows, config.reverse) = (true, rows, rows);
        let inputs = [self.inputs.join(format!("{name}.wel"))];
        import(&inputs, &self.graph(), &config, &Silent, &Cancel::default()).unwrap();
    }

    fn found(&self) -> Found {
        fs::read(self.graph().join("manifest.json")).ok()
    }

    /// Does some work and records its steps.
    fn record(&self, work: impl FnOnce()) -> Trace {
        power_loss::record(self.root.path(), durable::watch, work)
    }
}

fn reader() -> Reader {
    Reader::open(Backend::Threads(NonZeroUsize::MIN), Pool::new(64 << 20)).unwrap()
}

/// Returns the check of what a crash leaves: one of the two graphs, whole, and nothing that the
/// next import or build in its place does not remove.
fn one_of(old: Found, new: Found) -> impl Fn(&Path, Crash) -> Result<(), String> {
    let reader = reader();
    move |root, crash| {
        let graph = root.join(GRAPH);
        let found = fs::read(graph.join("manifest.json")).ok();
        if found != new && (crash == Crash::Behind || found != old) {
            return Err("this is neither of the two graphs".into());
        }
        match found {
            Some(_) => verify(&graph, &reader)?,
            None if graph.exists() => return Err("a folder without a graph".into()),
            None => {}
        }
        let Some(folder) = graph.parent().filter(|folder| folder.exists()) else { return Ok(()) };
        drop(
            Unfinished::folder(&graph, tegula_store::graph::contents::remove)
                .map_err(|error| error.to_string())?,
        );
        let mut names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
        match names.find(|name| name != "g.tegula") {
            Some(name) => Err(format!("{} is not removed", name.display())),
            None => Ok(()),
        }
    }
}

/// Adds rows to a graph. Checks that it is whole with them, and that its folder has nothing else.
fn add_rows(graph: &Path, direction: Direction, reader: &Reader) -> Result<(), String> {
    let encoding = RowEncoding::Gap;
    let config =
        RowsConfig { direction, encoding, memory: 64 << 20, threads: 1, cut: ChunkCut::STANDARD };
    let opened = Graph::open(graph, reader, Caching::PageCache);
    let built = opened.and_then(|it| rows::build(&it, &config, &Silent, &Cancel::default()));
    let manifest = built.map_err(|error| error.to_string())?;
    verify(graph, reader)?;
    let names = fs::read_dir(graph).unwrap().map(|entry| entry.unwrap().file_name());
    let mut others = names.map(|name| name.into_string().unwrap());
    match others.find(|name| name != "manifest.json" && manifest.file(name).is_none()) {
        Some(name) => Err(format!("{name} is left in the graph")),
        None => Ok(()),
    }
}

fn verify(graph: &Path, reader: &Reader) -> Result<(), String> {
    let graph = Graph::open(graph, reader, Caching::PageCache);
    let verified = graph.and_then(|graph| graph.verify(&Silent, &Cancel::default()));
    verified.map(drop).map_err(|error| error.to_string())
}

#[test]
fn a_graph_is_whole_or_not_there() {
    for name in ["old", "new"] {
        let place = Place::new();
        let trace = place.record(|| place.import(name, None));
        trace.assert_survived_by_each_sync(&one_of(None, place.found()));
    }
}

#[test]
fn a_graph_that_is_replaced_is_there_until_the_new_one_is() {
    let place = Place::new();
    place.import("old", Some(RowEncoding::Gap));
    let old = place.found();
    let trace = place.record(|| place.import("new", None));
    trace.assert_survived_by_each_sync(&one_of(old, place.found()));
}

#[test]
fn a_graph_that_gets_rows_is_whole_with_them_or_without() {
    let place = Place::new();
    place.import("old", None);
    for direction in Direction::ALL {
        let old = place.found();
        let trace = place.record(|| add_rows(&place.graph(), direction, &reader()).unwrap());
        let check = one_of(old.clone(), place.found());
        let reader = reader();
        trace.assert_survived_by_each_sync(&|root, crash| {
            check(root, crash)?;
            let graph = root.join(GRAPH);
            // What is left of the rows does not get in the way.
            let has_none = fs::read(graph.join("manifest.json")).ok() == old;
            if has_none { add_rows(&graph, direction, &reader) } else { Ok(()) }
        });
    }
}

#[test]
fn a_graph_imported_with_rows_never_appears_without_them() {
    let place = Place::new();
    let trace = place.record(|| place.import("old", Some(RowEncoding::Gap)));
    trace.assert_survived(&one_of(None, place.found()));
}
