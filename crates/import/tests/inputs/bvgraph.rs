//! BVGraphs of WebGraph: lists from a plain encoder and files of the library give their arcs, and
//! damaged files are refused.

use std::fs;
use std::path::{Path, PathBuf};

use crate::input_support::{Edge, folder, read, sorted};
use proptest::prelude::*;
use tegula_import::input::{Format, IdKind, Input, InputOptions};
use tegula_import::{ImportConfig, import};
use tegula_machine::Error as MachineError;
use tegula_machine::disk::{Backend, Caching, Pool, Reader};
use tegula_machine::threads::{Cancel, Silent};
use tegula_store::graph::Graph;
use tegula_store::{Error, Result};
use tegula_testkit::input_files::put;
use tempfile::TempDir;

/// How a number is written, by the names of the codes in the properties.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Code {
    Unary,
    Gamma,
    Delta,
    Zeta(u32),
}

/// The choices of an encoder.
#[derive(Debug, Clone)]
struct Choice {
    window: usize,
    interval_min: u64,
    outdegree: Code,
    reference: Code,
    interval: Code,
    residual: Code,
    /// How far back in the window the referenced list is, repeated in turn.
    distances: Vec<usize>,
}

/// Bits as digits.
#[derive(Default)]
struct Digits(String);

impl Digits {
    fn number(&mut self, code: Code, number: u64) {
        let digits = |value: u64| format!("{value:b}");
        match code {
            Code::Unary => self.0 += &("0".repeat(number as usize) + "1"),
            Code::Gamma => {
                let binary = digits(number + 1);
                self.number(Code::Unary, binary.len() as u64 - 1);
                self.0 += &binary[1..];
            }
            Code::Delta => {
                let binary = digits(number + 1);
                self.number(Code::Gamma, binary.len() as u64 - 1);
                self.0 += &binary[1..];
            }
            Code::Zeta(step) => {
                let step = step as usize;
                let value = number + 1;
                let shells = (digits(value).len() - 1) / step;
                self.number(Code::Unary, shells as u64);
                // Minimal binary among 2^(shells * step) * (2^step - 1) numbers.
                let first = 1u64 << (shells * step);
                let (offset, count) = (value - first, (first << step) - first);
                let width = digits(count - 1).len();
                let short = if count == 1 { 1 } else { (1u64 << width) - count };
                if count == 1 {
                } else if offset < short {
                    self.fixed(offset, width - 1);
                } else {
                    self.fixed(offset + short, width);
                }
            }
        }
    }

    fn fixed(&mut self, value: u64, width: usize) {
        if width > 0 {
            self.0 += &format!("{value:0width$b}");
        }
    }

    fn bytes(&self) -> Vec<u8> {
        let byte = |digits: &[u8]| {
            digits
                .iter()
                .enumerate()
                .fold(0, |byte, (place, digit)| byte | (digit - b'0') << (7 - place))
        };
        self.0.as_bytes().chunks(8).map(byte).collect()
    }
}

/// Returns the natural number that encodes `number` relative to `other`.
fn folded(number: u64, other: u64) -> u64 {
    if number >= other { 2 * (number - other) } else { 2 * (other - number) - 1 }
}

/// Encodes ascending lists of neighbours without repeats.
fn encoded(lists: &[Vec<u64>], choice: &Choice) -> Digits {
    let mut out = Digits::default();
    for (vertex, list) in lists.iter().enumerate() {
        out.number(choice.outdegree, list.len() as u64);
        if list.is_empty() {
            continue;
        }
        let mut left = list.clone();
        if choice.window > 0 {
            let wanted = choice.distances[vertex % choice.distances.len()];
            let distance = wanted.min(choice.window).min(vertex);
            out.number(choice.reference, distance as u64);
            if distance > 0 {
                let model = &lists[vertex - distance];
                copy_blocks(&mut out, model, list);
                left.retain(|id| !model.contains(id));
            }
        }
        if left.is_empty() {
            continue;
        }
        if choice.interval_min > 0 {
            let intervals: Vec<Vec<u64>> = left
                .chunk_by(|a, b| a + 1 == *b)
                .filter(|ids| ids.len() as u64 >= choice.interval_min)
                .map(<[u64]>::to_vec)
                .collect();
            out.number(choice.interval, intervals.len() as u64);
            let mut end = None;
            for ids in &intervals {
                let start = end.map_or(folded(ids[0], vertex as u64), |end: u64| ids[0] - end - 1);
                out.number(choice.interval, start);
                out.number(choice.interval, ids.len() as u64 - choice.interval_min);
                end = ids.last().map(|last| last + 1);
            }
            left.retain(|id| !intervals.iter().flatten().any(|other| other == id));
        }
        let mut last = None;
        for &id in &left {
            let number = last.map_or(folded(id, vertex as u64), |last: u64| id - last - 1);
            out.number(choice.residual, number);
            last = Some(id);
        }
    }
    out
}

/// Writes which neighbours of a list are copied: blocks of neighbours, in turn copied and left out.
/// The last block is implicit.
fn copy_blocks(out: &mut Digits, model: &[u64], list: &[u64]) {
    let mut blocks: Vec<u64> = vec![0];
    let mut is_copied = true;
    for id in model {
        if list.contains(id) != is_copied {
            is_copied = !is_copied;
            blocks.push(0);
        }
        *blocks.last_mut().unwrap() += 1;
    }
    blocks.pop();
    // The number of blocks tells whether the last one is copied.
    out.number(Code::Gamma, blocks.len() as u64);
    for (index, block) in blocks.iter().enumerate() {
        out.number(Code::Gamma, block - u64::from(index > 0));
    }
}

fn flag(what: &str, code: Code) -> String {
    match code {
        Code::Unary => format!("{what}_UNARY"),
        Code::Gamma => format!("{what}_GAMMA"),
        Code::Delta => format!("{what}_DELTA"),
        Code::Zeta(_) => format!("{what}_ZETA"),
    }
}

fn properties(lists: &[Vec<u64>], choice: &Choice, bits: usize) -> String {
    let arcs: usize = lists.iter().map(Vec::len).sum();
    let Choice { window, interval_min, .. } = choice;
    let zeta = match choice.residual {
        Code::Zeta(step) => step,
        _ => 3,
    };
    let flags = [
        flag("OUTDEGREES", choice.outdegree),
        flag("REFERENCES", choice.reference),
        flag("INTERVALS", choice.interval),
        flag("RESIDUALS", choice.residual),
    ];
    format!(
        "#BVGraph properties\ngraphclass=it.unimi.dsi.webgraph.BVGraph\nversion=0\nnodes={}\narcs={arcs}\n\
         windowsize={window}\nminintervallength={interval_min}\nzetak={zeta}\nlength={bits}\ncompressionflags={}\n",
        lists.len(),
        flags.join("|")
    )
}

fn written(folder: &TempDir, lists: &[Vec<u64>], choice: &Choice) -> PathBuf {
    let digits = encoded(lists, choice);
    put(folder, "g.properties", properties(lists, choice, digits.0.len()).as_bytes());
    put(folder, "g.graph", &digits.bytes())
}

fn arcs(lists: &[Vec<u64>]) -> Vec<Edge> {
    let of = |(source, list): (usize, &Vec<u64>)| -> Vec<Edge> {
        list.iter().map(|target| (source.to_string(), target.to_string(), None)).collect()
    };
    sorted(lists.iter().enumerate().flat_map(of).collect())
}

fn options(threads: usize) -> InputOptions {
    InputOptions { threads, memory: 1 << 20, ..InputOptions::default() }
}

fn edges(path: &Path, options: &InputOptions) -> Result<Vec<Edge>> {
    read(&Input::resolve(&[path.to_owned()], options)?)
}

fn codes() -> impl Strategy<Value = Code> {
    prop_oneof![Just(Code::Gamma), Just(Code::Delta), (1u32..7).prop_map(Code::Zeta)]
}

fn choices() -> impl Strategy<Value = Choice> {
    let codes = (
        prop_oneof![Just(Code::Gamma), Just(Code::Delta)],
        prop_oneof![Just(Code::Unary), Just(Code::Gamma), Just(Code::Delta)],
        prop_oneof![Just(Code::Gamma), Just(Code::Delta)],
        codes(),
    );
    let distances = prop::collection::vec(0usize..9, 1..20);
    (0usize..8, 0u64..5, codes, distances).prop_map(|(window, interval_min, codes, distances)| {
        let (outdegree, reference, interval, residual) = codes;
        Choice { window, interval_min, outdegree, reference, interval, residual, distances }
    })
}

/// Lists that have runs, and share some of their neighbours.
fn lists() -> impl Strategy<Value = Vec<Vec<u64>>> {
    (1u64..80).prop_flat_map(|vertices| {
        let run = (0..vertices, 1u64..8).prop_map(move |(first, length)| {
            (first..(first + length).min(vertices)).collect::<Vec<u64>>()
        });
        let list = prop::collection::vec(run, 0..6).prop_map(|runs| {
            let mut list = runs.concat();
            list.sort_unstable();
            list.dedup();
            list
        });
        let blend = |lists: Vec<Vec<u64>>| -> Vec<Vec<u64>> {
            let shared = |(place, list): (usize, &Vec<u64>)| {
                let others = lists[place.saturating_sub(2)].iter().filter(|id| *id % 3 > 0);
                let mut list: Vec<u64> = list.iter().chain(others).copied().collect();
                list.sort_unstable();
                list.dedup();
                list
            };
            lists.iter().enumerate().map(shared).collect()
        };
        prop::collection::vec(list, vertices as usize).prop_map(blend)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn lists_in_any_code_give_their_arcs(
        lists in lists(), choice in choices(), threads in 1usize..4
    ) {
        let folder = folder();
        let path = written(&folder, &lists, &choice);
        prop_assert_eq!(edges(&path, &options(threads)).unwrap(), arcs(&lists));
        // Given both of its files, or its folder, it is read once.
        put(&folder, "g.offsets", b"where each list begins");
        let of_folder = InputOptions { format: Format::BvGraph, ..options(threads) };
        for (paths, options) in [
            (vec![path.clone(), path.with_extension("properties")], options(threads)),
            (vec![folder.path().to_owned()], of_folder),
        ] {
            let found = read(&Input::resolve(&paths, &options).unwrap()).unwrap();
            prop_assert_eq!(found, arcs(&lists));
        }
    }

    #[test]
    fn a_damaged_file_is_refused_or_has_other_arcs(
        lists in lists(), choice in choices(), flips in prop::collection::vec(any::<u64>(), 1..4)
    ) {
        let folder = folder();
        let path = written(&folder, &lists, &choice);
        let mut bytes = fs::read(&path).unwrap();
        for flip in flips {
            let bit = flip as usize % (8 * bytes.len());
            bytes[bit / 8] ^= 0x80 >> (bit % 8);
        }
        fs::write(&path, bytes).unwrap();
        let count: usize = lists.iter().map(Vec::len).sum();
        match edges(&path, &options(2)) {
            Ok(found) => prop_assert_eq!(found.len(), count),
            Err(Error::BadInput { place, .. }) => prop_assert_eq!(place.file, path),
            Err(other) => prop_assert!(false, "{}", other),
        }
    }
}

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

#[test]
fn files_of_the_library_give_their_arcs_and_all_vertices() {
    let expected = edges(&data("web.txt"), &options(1)).unwrap();
    assert_eq!(expected.len(), 849);
    for name in ["web.graph", "web.properties", "web-other.graph"] {
        for threads in [1, 3] {
            assert_eq!(edges(&data(name), &options(threads)).unwrap(), expected, "{name}");
        }
        let given = InputOptions { format: Format::BvGraph, ..options(1) };
        assert_eq!(edges(&data(name), &given).unwrap(), expected, "{name}");
    }
    let folder = folder();
    let output = folder.path().join("g.tegula");
    let config = ImportConfig { memory: 64 << 20, ..ImportConfig::default() };
    let report =
        import(&[data("web.graph")], &output, &config, &Silent, &Cancel::default()).unwrap();
    assert_eq!((report.vertices, report.edges), (120, 849));
    let reader = Reader::open(Backend::Auto, Pool::new(16 << 20)).unwrap();
    let graph = Graph::open(&output, &reader, Caching::PageCache).unwrap();
    graph.verify(&Silent, &Cancel::default()).unwrap();
}

#[test]
fn a_list_that_is_longer_than_a_chunk_comes_whole() {
    let mut lists = vec![Vec::new(); 9000];
    lists[5] = (0..9000).filter(|id| id % 3 > 0).collect();
    lists[6] = (0..9000).collect();
    lists[8999] = vec![0, 8999];
    let gamma = Code::Gamma;
    let choice = Choice {
        window: 2,
        interval_min: 4,
        outdegree: gamma,
        reference: gamma,
        interval: gamma,
        residual: Code::Zeta(3),
        distances: vec![1],
    };
    let folder = folder();
    let path = written(&folder, &lists, &choice);
    let scarce = InputOptions { memory: 1 << 19, ..options(3) };
    assert!(edges(&path, &scarce).unwrap() == arcs(&lists));
    let too_scarce = InputOptions { memory: 1 << 18, ..options(3) };
    match edges(&path, &too_scarce) {
        Err(Error::Machine(MachineError::OverBudget { what, needed, budget })) => {
            assert!(what.contains("the neighbours of 6") && needed > budget, "{what}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn files_that_contradict_their_properties_are_refused() {
    let refused = |graph: &[u8], properties: Option<&str>, options: &InputOptions, says: &str| {
        let folder = folder();
        let path = put(&folder, "x.graph", graph);
        properties.iter().for_each(|text| drop(put(&folder, "x.properties", text.as_bytes())));
        let error = edges(&path, options).expect_err(says);
        assert!(matches!(error, Error::BadInput { .. }), "{error}");
        assert!(error.to_string().contains(says), "{error}");
    };
    let bytes = fs::read(data("web.graph")).unwrap();
    let told = fs::read_to_string(data("web.properties")).unwrap();
    let usual = options(1);
    let given = InputOptions { format: Format::BvGraph, ..options(1) };
    refused(&bytes, None, &usual, "needs its properties in the same folder");
    refused(&bytes, None, &given, "has its properties in the same folder");
    // The bits after the last list only fill a word.
    for cut in [0, 10, bytes.len() / 2, bytes.len() - 8] {
        refused(&bytes[..cut], Some(&told), &usual, "cut off");
        let unknown_length = told.replace("length=", "were=").replace("interval_length", "");
        let unknown_length = unknown_length.replace("minintervalwere=", "minintervallength=");
        let says = if cut < 15 { "cut off" } else { "the file ends within a number" };
        refused(&bytes[..cut], Some(&unknown_length), &usual, says);
    }
    for (from, to, says) in [
        ("arcs=849", "arcs=848", "arcs are left"),
        ("arcs=849", "arcs=850", "declares 850 edges but has 849"),
        ("nodes=120", "nodes=119", "the ids of the vertices are below 119"),
        ("nodes=120", "nodes=99999", "cut off"),
        ("nodes=120", "node=120", "the line `nodes=..` is missing"),
        ("webgraph.BVGraph", "webgraph.EFGraph", "EFGraph"),
        ("endianness=big", "endianness=little", "big-endian"),
        ("zetak=3", "zetak=4", ""),
    ] {
        assert!(told.contains(from), "{from}");
        refused(&bytes, Some(&told.replace(from, to)), &usual, says);
    }
    let weighted = InputOptions { weighted: true, ..options(1) };
    refused(&bytes, Some(&told), &weighted, "no weights");
    let strings = InputOptions { ids: IdKind::String, ..options(1) };
    refused(&bytes, Some(&told), &strings, "integer ids");
}
