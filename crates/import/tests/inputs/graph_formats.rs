//! The formats of other programs: all give the same edges, tell which vertices there are, and are
//! refused where they contradict themselves.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use crate::input_support::{Edge, folder, read, sorted};
use proptest::prelude::*;
use tegula_import::input::{IdKind, Input, InputOptions};
use tegula_import::{ImportConfig, import};
use tegula_machine::disk::{Backend, Caching, Pool, Reader};
use tegula_machine::threads::{Cancel, Silent};
use tegula_store::graph::Graph;
use tegula_store::{At, Error, OriginalId, Result};
use tegula_testkit::input_files::{gzip, put};

/// Edges among the vertices `1..=vertices`, with integer weights.
#[derive(Debug, Clone)]
struct Sample {
    vertices: u64,
    edges: Vec<(u64, u64, i32)>,
}

fn samples() -> impl Strategy<Value = Sample> {
    (1u64..60).prop_flat_map(|vertices| {
        let edge = (1..=vertices, 1..=vertices, -9i32..1000);
        prop::collection::vec(edge, 0..300).prop_map(move |edges| Sample { vertices, edges })
    })
}

impl Sample {
    fn matrix_market(&self, weighted: bool, symmetric: bool) -> String {
        let field = if weighted { "integer" } else { "pattern" };
        let symmetry = if symmetric { "symmetric" } else { "general" };
        let mut text =
            format!("%%MatrixMarket matrix coordinate {field} {symmetry}\n% a comment\n\n");
        writeln!(text, "{0} {0} {1}", self.vertices, self.edges.len()).unwrap();
        for (source, target, weight) in &self.edges {
            match weighted {
                true => writeln!(text, "{source} {target} {weight}").unwrap(),
                false => writeln!(text, "{source}\t{target}").unwrap(),
            }
        }
        text
    }

    fn dimacs(&self) -> String {
        let mut text = format!("c a graph\nc\np sp {} {}\n", self.vertices, self.edges.len());
        for (number, (source, target, weight)) in self.edges.iter().enumerate() {
            if number % 5 == 4 {
                text.push_str("c between\n");
            }
            writeln!(text, "a {source} {target} {weight}").unwrap();
        }
        text
    }

    /// Returns lists of neighbours, with `vertex_weights` weights of the vertex before each.
    fn metis(&self, weighted: bool, vertex_weights: usize) -> String {
        let format =
            [u8::from(vertex_weights > 0), u8::from(weighted)].map(|digit| digit.to_string());
        let mut text =
            format!("% a comment\n{} {} {}", self.vertices, self.edges.len(), format.concat());
        writeln!(text, " {vertex_weights}").unwrap();
        for vertex in 1..=self.vertices {
            let mut line = "7 ".repeat(vertex_weights);
            for (_, target, weight) in self.edges.iter().filter(|edge| edge.0 == vertex) {
                write!(line, " {target}").unwrap();
                if weighted {
                    write!(line, " {weight}").unwrap();
                }
            }
            let comment = if vertex % 7 == 3 { "% 1 2 3\n" } else { "" };
            writeln!(text, "{comment}{line}").unwrap();
        }
        text
    }

    /// Returns a serialized graph, whose vertices count from 0.
    fn gapbs(&self, weighted: bool, directed: bool) -> Vec<u8> {
        let mut bytes = vec![u8::from(directed)];
        bytes.extend([self.edges.len() as u64, self.vertices].map(u64::to_le_bytes).as_flattened());
        for is_out in [true, false].into_iter().take(1 + usize::from(directed)) {
            let list = |vertex: u64| {
                let ends = self.edges.iter().map(move |&(source, target, weight)| {
                    if is_out { (source, target, weight) } else { (target, source, weight) }
                });
                ends.filter(move |edge| edge.0 == vertex)
            };
            let mut offset = 0;
            bytes.extend(0u64.to_le_bytes());
            for vertex in 1..=self.vertices {
                offset += list(vertex).count() as u64;
                bytes.extend(offset.to_le_bytes());
            }
            for (_, other, weight) in (1..=self.vertices).flat_map(list) {
                bytes.extend((other as u32 - 1).to_le_bytes());
                bytes.extend(weight.to_le_bytes().into_iter().filter(|_| weighted));
            }
        }
        bytes
    }

    /// Returns the edges as the readers give them, with ids from `first` on.
    fn expected(&self, weighted: bool, first: u64) -> Vec<Edge> {
        let id = |vertex: u64| (vertex - 1 + first).to_string();
        let edge = |&(source, target, weight): &(u64, u64, i32)| {
            (id(source), id(target), weighted.then_some(weight as f32))
        };
        sorted(self.edges.iter().map(edge).collect())
    }

    /// Returns the sample with each edge both ways, and none twice.
    fn both_ways(&self) -> Sample {
        let mut edges: Vec<(u64, u64, i32)> = Vec::new();
        for &(source, target, weight) in &self.edges {
            let there = |edge: &(u64, u64, i32)| (edge.0, edge.1) == (source, target);
            if source != target && !edges.iter().any(there) {
                edges.extend([(source, target, weight), (target, source, weight)]);
            }
        }
        Sample { edges, ..*self }
    }
}

fn options(weighted: bool, threads: usize) -> InputOptions {
    // The smallest blocks there are.
    InputOptions { weighted, threads, memory: 1 << 16, ..InputOptions::default() }
}

fn edges(path: &Path, options: &InputOptions) -> Vec<Edge> {
    let input =
        Input::resolve(&[path.to_owned()], options).unwrap_or_else(|error| panic!("{error}"));
    read(&input).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Imports files. Returns the vertices in the order of their ids, whether the graph is undirected,
/// and the number of its arcs.
fn imported(inputs: &[PathBuf], config: &ImportConfig) -> (Vec<OriginalId>, bool, u64) {
    let folder = folder();
    let output = folder.path().join("g.tegula");
    import(inputs, &output, config, &Silent, &Cancel::default())
        .unwrap_or_else(|error| panic!("{inputs:?}: {error}"));
    let reader = Reader::open(Backend::Auto, Pool::new(16 << 20)).unwrap();
    let graph = Graph::open(&output, &reader, Caching::PageCache).unwrap();
    graph.verify(&Silent, &Cancel::default()).unwrap();
    let ids = graph.original_ids().unwrap();
    let mut all = Vec::new();
    ids.for_each_chunk(|ids, _| -> Result<()> {
        all.extend((0..ids.len()).map(|index| ids.get(index)));
        Ok(())
    })
    .unwrap();
    (all, graph.manifest().undirected, graph.manifest().edges)
}

fn config() -> ImportConfig {
    let allow_empty = true;
    ImportConfig { memory: 64 << 20, threads: 2, force: true, allow_empty, ..Default::default() }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn every_format_gives_the_same_edges(sample in samples(), threads in 1usize..4) {
        let folder = folder();
        for weighted in [false, true] {
            let texts = [
                ("g.mtx", sample.matrix_market(true, false)),
                ("g.gr", sample.dimacs()),
                ("g.graph", sample.metis(true, 0)),
                ("g.metis", sample.metis(true, 3)),
            ];
            let unweighted = [
                ("g.mtx", sample.matrix_market(false, false)),
                ("g.graph", sample.metis(false, 0)),
                ("g.metis", sample.metis(false, 2)),
            ];
            let unweighted = unweighted.into_iter().filter(|_| !weighted);
            for (name, text) in texts.into_iter().chain(unweighted) {
                for text in [text.clone(), text.replace('\n', "\r\n")] {
                    let path = put(&folder, name, text.as_bytes());
                    let found = edges(&path, &options(weighted, threads));
                    prop_assert_eq!(&found, &sample.expected(weighted, 1), "{}", text);
                    let path = put(&folder, &format!("{name}.gz"), &gzip(text.as_bytes()));
                    prop_assert_eq!(found, edges(&path, &options(weighted, threads)));
                }
            }
            for has_weights in [weighted, true] {
                let path = put(&folder, "g.sg", &sample.gapbs(has_weights, true));
                let found = edges(&path, &options(weighted, threads));
                prop_assert_eq!(found, sample.expected(weighted, 0));
            }
        }
    }

    #[test]
    fn all_vertices_are_there_and_the_direction_is_kept(sample in samples()) {
        let folder = folder();
        let ids = |first: u64| {
            (first..first + sample.vertices).map(OriginalId::Integer).collect::<Vec<_>>()
        };
        let arcs = sample.edges.len() as u64;
        let loops = sample.edges.iter().filter(|edge| edge.0 == edge.1).count() as u64;
        let mtx = put(&folder, "g.mtx", sample.matrix_market(false, false).as_bytes());
        prop_assert_eq!(imported(&[mtx], &config()), (ids(1), false, arcs));
        let mtx = put(&folder, "g.mtx", sample.matrix_market(true, true).as_bytes());
        prop_assert_eq!(imported(&[mtx], &config()), (ids(1), true, 2 * arcs - loops));
        let gr = put(&folder, "g.gr", sample.dimacs().as_bytes());
        prop_assert_eq!(imported(&[gr], &config()), (ids(1), false, arcs));

        let both = sample.both_ways();
        let arcs = both.edges.len() as u64;
        let sg = put(&folder, "g.sg", &both.gapbs(false, false));
        prop_assert_eq!(imported(&[sg], &config()), (ids(0), true, arcs));
        let half = Sample { edges: both.edges.clone(), ..both };
        let text = half.metis(true, 1);
        let first = format!("{} {} ", both.vertices, arcs);
        let text = text.replacen(&first, &format!("{} {} ", both.vertices, arcs / 2), 1);
        let metis = put(&folder, "g.metis", text.as_bytes());
        prop_assert_eq!(imported(std::slice::from_ref(&metis), &config()), (ids(1), false, arcs));
        let undirected = ImportConfig { undirected: true, ..config() };
        prop_assert_eq!(imported(&[metis], &undirected), (ids(1), true, arcs));
    }
}

#[test]
fn files_of_several_blocks_give_all_their_edges() {
    let edges_of = |n: u64| (1 + n % 997, 1 + n.wrapping_mul(0x9e37_79b9) % 1000, (n % 100) as i32);
    let sample = Sample { vertices: 1000, edges: (0..30_000).map(edges_of).collect() };
    let folder = folder();
    for (name, bytes) in [
        ("g.mtx", sample.matrix_market(true, false).into_bytes()),
        ("g.gr", sample.dimacs().into_bytes()),
        ("g.graph", sample.metis(true, 1).into_bytes()),
        ("g.wsg", sample.gapbs(true, true)),
    ] {
        let first = u64::from(name != "g.wsg");
        for threads in [1, 3] {
            let found = edges(&put(&folder, name, &bytes), &options(true, threads));
            assert!(found == sample.expected(true, first), "{name}");
        }
    }
    // Recognized by content, and as a stream.
    for text in [sample.matrix_market(true, false), sample.dimacs()] {
        let path = put(&folder, "unnamed", text.as_bytes());
        assert!(edges(&path, &options(true, 2)) == sample.expected(true, 1));
        let stream = Box::new(std::io::Cursor::new(text));
        let input = Input::from_reader(stream, &options(true, 2)).unwrap();
        assert!(read(&input).unwrap() == sample.expected(true, 1));
    }
}

/// Asserts that a text is refused, in `line` or as a whole, in words that include `says`.
fn assert_refused(name: &str, text: &str, weighted: bool, line: Option<u64>, says: &str) {
    let folder = folder();
    let path = put(&folder, name, text.as_bytes());
    for threads in [1, 3] {
        let options = options(weighted, threads);
        let found =
            Input::resolve(std::slice::from_ref(&path), &options).and_then(|input| read(&input));
        match found {
            Err(Error::BadInput { place, problem }) => {
                assert_eq!(place.at, line.map_or(At::File, At::Line), "{text}: {problem}");
                assert!(problem.message.contains(says), "{text}: {problem}");
            }
            other => panic!("{text} is read as {other:?}"),
        }
    }
}

#[test]
fn a_malformed_matrix_is_refused_at_its_line() {
    for (text, weighted, line, says) in [
        ("1 2\n", false, Some(1), "begins with %%MatrixMarket"),
        ("", false, Some(1), "begins with %%MatrixMarket"),
        ("%%MatrixMarket matrix array real general\n2 2\n", false, Some(1), "coordinates"),
    ] {
        assert_refused("x.mtx", text, weighted, line, says);
    }
    for (text, weighted, line, says) in [
        ("complex general\n2 2 0\n", true, Some(1), "complex"),
        ("real skew-symmetric\n2 2 0\n", true, Some(1), "skew-symmetric"),
        ("pattern general\n2 2 0\n", true, Some(1), "no weights"),
        ("real general\n% c\n", false, Some(3), "the line with sizes is missing"),
        ("real general\n% c\n2 2\n", false, Some(3), "rows, columns and entries"),
        ("real general\n2 3 0\n", false, Some(2), "2 rows and 3 columns"),
        ("real general\n9 18446744073709551616 0\n", false, Some(2), "rows"),
        ("real general\n2 2 1\n1 x 1\n", false, Some(3), "not an integer"),
        ("real general\n2 2 1\n1 2\n", true, Some(3), "expected 3 columns"),
        ("real general\n2 2 2\n1 2 1\n", false, None, "declares 2 edges but has 1"),
        ("real general\n2 2 0\n1 2 1\n", false, None, "declares 0 edges but has 1; correct that"),
    ] {
        let text = format!("%%MatrixMarket matrix coordinate {text}");
        assert_refused("x.mtx", &text, weighted, line, says);
    }
}

#[test]
fn malformed_dimacs_is_refused_at_its_line() {
    for (text, weighted, line, says) in [
        ("1 2\n", false, Some(1), "`p sp VERTICES ARCS`"),
        ("c only\n", false, Some(2), "the line with sizes is missing"),
        ("p max 3 2\n", false, Some(1), "not the problem `max`"),
        ("p sp 3 x\n", false, Some(1), "`p sp VERTICES ARCS`"),
        ("c\np sp 3 2\na 1 2 3\nb 1 2\n", false, Some(4), "does not begin a line of edges"),
        ("p sp 3 2\na 1 2 3\n", false, None, "declares 2 edges but has 1"),
        ("p sp 3 1\na 1\n", false, Some(2), "expected 4 columns"),
        ("p edge 3 1\ne 1 2\n", true, Some(1), "no weights"),
    ] {
        assert_refused("x.gr", text, weighted, line, says);
    }
}

#[test]
fn malformed_metis_is_refused_at_its_line() {
    for (text, line, says) in [
        ("a b\n", Some(1), "vertices, edges"),
        ("2 1 7\n2\n1\n", Some(1), "three digits"),
        ("2 1\n2\n3\n", Some(3), "not one of the vertices 1 to 2"),
        ("2 1\n2\n0\n", Some(3), "not one of the vertices 1 to 2"),
        ("2 1\n2\n\n1\n", Some(4), "one more line"),
        ("2 1 1\n2\n", Some(2), "has no weight"),
        ("3 2\n2\n1 3\n", None, "4 arcs in the lists of both ends, but has 3 arcs; is it"),
        ("3 1\n2 3\n1\n1\n", None, "2 arcs in the lists of both ends, but has 4 arcs; correct"),
        ("3 2 100\n5 2\n7 1 3\n1 2\n", Some(2), "not one of the vertices"),
    ] {
        assert_refused("x.graph", text, false, line, says);
    }
}

#[test]
fn metis_with_an_edge_in_one_list_alone_can_only_be_directed() {
    let folder = folder();
    let path = put(&folder, "x.graph", b"3 2\n2\n\n1\n");
    let inputs = std::slice::from_ref(&path);
    let output = folder.path().join("g.tegula");
    let undirected = ImportConfig { undirected: true, ..config() };
    let error = import(inputs, &output, &undirected, &Silent, &Cancel::default())
        .expect_err("the edge from 3 to 1 is not in the list of 1");
    let says = "an edge must be in the lists of both of its ends";
    assert!(error.to_string().contains(says), "{error}");
    assert_eq!(error.hints().len(), 1);
    let ids = [1, 2, 3].map(OriginalId::Integer).to_vec();
    assert_eq!(imported(inputs, &config()), (ids, false, 2));
}

#[test]
fn serialized_graphs_that_are_cut_off_or_damaged_are_refused() {
    let folder = folder();
    let sample = Sample { vertices: 4, edges: vec![(1, 2, 5), (1, 3, 6), (4, 1, 7)] };
    let whole = sample.gapbs(false, true);
    let refused = |bytes: &[u8], says: &str| {
        let path = put(&folder, "x.sg", bytes);
        let found = Input::resolve(&[path], &options(false, 1)).and_then(|input| read(&input));
        let error = found.expect_err(says);
        assert!(error.to_string().contains(says), "{error}");
    };
    for cut in 0..whole.len() {
        refused(&whole[..cut], "is cut off");
    }
    // Changed: the first list, the end of the second one, a neighbour.
    for (at, byte, says) in [
        (17, 1, "do not ascend"),
        (25, 9, "do not ascend"),
        (57, 4, "the ids of the vertices are below 4"),
    ] {
        let mut bytes = whole.clone();
        bytes[at] = byte;
        refused(&bytes, says);
    }
    let path = put(&folder, "x.sg", &whole);
    let error = Input::resolve(&[path], &options(true, 1)).expect_err("there are none");
    assert!(error.to_string().contains("no weights"), "{error}");
}

#[test]
fn edges_of_files_with_and_without_direction_do_not_mix_unasked() {
    let folder = folder();
    let symmetric = "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 1\n2 1\n";
    let inputs = [put(&folder, "a.mtx", symmetric.as_bytes()), put(&folder, "b.txt", b"2 3\n")];
    let output = folder.path().join("g.tegula");
    let error = import(&inputs, &output, &config(), &Silent, &Cancel::default());
    assert!(error.is_err_and(|error| error.to_string().contains("are directed")));
    let undirected = ImportConfig { undirected: true, ..config() };
    let ids = [1, 2, 3].map(OriginalId::Integer).to_vec();
    assert_eq!(imported(&inputs, &undirected), (ids, true, 4));
    // Integers are names if that is asked for.
    let input = InputOptions { ids: IdKind::String, ..InputOptions::default() };
    let strings = ImportConfig { input, ..config() };
    let ids = ["1", "2", "3"].map(|id| OriginalId::String(id.to_owned())).to_vec();
    assert_eq!(imported(&inputs[..1], &strings), (ids, true, 2));
    fs::remove_dir_all(&output).ok();
}
