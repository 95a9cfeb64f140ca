//! GraphML and GEXF: both give the same edges and vertices in any spelling, and an error names the
//! line of what cannot be read.

use std::fmt::Write;
use std::path::Path;

use crate::input_support::{Edge, folder, named, read, sorted};
use proptest::prelude::*;
use tegula_import::input::{Format, IdKind, Input, InputOptions};
use tegula_import::settings::{FORMAT_GEXF, FORMAT_GRAPHML, IDS_STRING, WEIGHTED};
use tegula_import::{ImportConfig, import};
use tegula_machine::disk::{Backend, Caching, Pool, Reader};
use tegula_machine::threads::{Cancel, Silent};
use tegula_store::graph::Graph;
use tegula_store::{At, Error, Hint, OriginalId, Result};
use tegula_testkit::input_files::{gzip, put};

/// A graph whose vertices are named by their numbers.
#[derive(Debug, Clone)]
struct Sample {
    directed: bool,
    names: Vec<String>,
    edges: Vec<(usize, usize, i16)>,
}

fn samples() -> impl Strategy<Value = Sample> {
    let name = prop_oneof![
        "[a-z<>&\"' é]{1,6}",
        (0u64..1000).prop_map(|id| id.to_string()),
        Just("n0".to_owned())
    ];
    (prop::collection::btree_set(name, 1..30), any::<bool>()).prop_flat_map(|(names, directed)| {
        let edge = (0..names.len(), 0..names.len(), any::<i16>());
        let names: Vec<String> = names.into_iter().collect();
        prop::collection::vec(edge, 0..80).prop_map(move |edges| Sample {
            directed,
            names: names.clone(),
            edges,
        })
    })
}

fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;");
    text.replace('é', "&#xe9;")
}

impl Sample {
    fn direction(&self) -> &str {
        if self.directed { "directed" } else { "undirected" }
    }

    /// Returns GraphML with columns of two types, one of them not wanted, and vertices between
    /// edges.
    fn graphml(&self, column: &str) -> String {
        let mut text = format!(
            "<?xml version='1.0' encoding='utf-8'?>\n<!-- a comment -->\n\
             <graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n\
             <key id=\"d0\" for=\"node\" attr.name=\"{column}\" attr.type=\"string\"/>\n\
             <key id=\"d1\" for=\"edge\" attr.name=\"{column}\" attr.type=\"long\"><default> 7</default></key>\n\
             <key id=\"d2\" for=\"edge\" attr.name=\"other\" attr.type=\"double\"/>\n\
             <key id=\"d3\" for=\"edge\" attr.name=\"{column}\" attr.type=\"double\"/>\n\
             <graph id='G' edgedefault=\"{}\">\n<desc>a &lt; b</desc>",
            self.direction()
        );
        let split = self.edges.len().min(3);
        for (index, (source, target, weight)) in self.edges.iter().enumerate() {
            if index == split / 2 {
                self.nodes(&mut text, "<data key=\"d0\">5 &amp; x</data>");
            }
            let ends = [source, target].map(|&end| escaped(&self.names[end]));
            write!(
                text,
                "  <edge id=\"e{index}\" source=\"{}\"\n target=\"{}\">",
                ends[0], ends[1]
            )
            .unwrap();
            let key = if index % 2 == 0 { "d1" } else { "d3" };
            if *weight != 7 {
                write!(text, "<data key=\"d2\">1</data><data key=\"{key}\">\n{weight} </data>")
                    .unwrap();
            }
            text.push_str("<port name='p'/></edge>\n");
        }
        if self.edges.is_empty() {
            self.nodes(&mut text, "");
        }
        text + "</graph>\n</graphml>\n"
    }

    fn nodes(&self, text: &mut String, within: &str) {
        for (index, name) in self.names.iter().enumerate() {
            match index % 2 {
                0 => writeln!(text, "<node id=\"{}\"/>", escaped(name)).unwrap(),
                _ => writeln!(text, "<node id=\"{}\">{within}</node>", escaped(name)).unwrap(),
            }
        }
    }

    /// Returns GEXF with the weight as an attribute of the edge, or in a column.
    fn gexf(&self, column: Option<&str>) -> String {
        let declared = column.map_or(String::new(), |name| {
            format!("<attributes class=\"edge\"><attribute id=\"c\" title=\"{name}\" type=\"float\"/></attributes>")
        });
        let mut text = format!(
            "<gexf version=\"1.3\" xmlns:viz=\"http://x/viz\"><meta><creator>me</creator></meta>\n\
             <graph mode='static' defaultedgetype=\"{}\">\n\
             <attributes class=\"node\"><attribute id=\"c\" title=\"weight\" type=\"string\"/></attributes>\n\
             {declared}<nodes>\n",
            self.direction()
        );
        self.nodes(
            &mut text,
            "<attvalues><attvalue for=\"c\" value=\"x\"/></attvalues><viz:size value=\"2\"/>",
        );
        text.push_str("</nodes>\n<edges>\n");
        for (index, (source, target, weight)) in self.edges.iter().enumerate() {
            let ends = [source, target].map(|&end| escaped(&self.names[end]));
            let [source, target] = ends;
            let kind = if index % 3 == 0 {
                format!("type=\"{}\"", self.direction())
            } else {
                String::new()
            };
            let own = match (column, weight) {
                (None, 1) | (Some(_), _) => String::new(),
                (None, weight) => format!("weight=\"{weight}.0\""),
            };
            write!(text, "<edge id='{index}' source=\"{source}\" target=\"{target}\" {kind} {own}")
                .unwrap();
            match column {
                None => text.push_str("/>\n"),
                Some(_) => writeln!(
                    text,
                    "><attvalues><attvalue for=\"c\" value=\"{weight}\"/></attvalues></edge>"
                )
                .unwrap(),
            }
        }
        text + "</edges></graph></gexf>"
    }

    fn edges(&self, weighted: bool) -> Vec<Edge> {
        let edge = |&(source, target, weight): &(usize, usize, i16)| {
            let [source, target] = [source, target].map(|end| self.names[end].clone());
            (source, target, weighted.then_some(f32::from(weight)))
        };
        sorted(self.edges.iter().map(edge).collect())
    }

    fn ids(&self, are_strings: bool) -> Vec<OriginalId> {
        let mut names = self.names.clone();
        if are_strings {
            names.sort();
            return names.into_iter().map(OriginalId::String).collect();
        }
        names.sort_by_key(|name| name.parse::<u64>().unwrap());
        names.iter().map(|name| OriginalId::Integer(name.parse().unwrap())).collect()
    }
}

fn options(weighted: bool, threads: usize) -> InputOptions {
    InputOptions {
        weighted,
        threads,
        ids: IdKind::String,
        memory: 1 << 17,
        ..InputOptions::default()
    }
}

fn edges(path: &Path, options: &InputOptions) -> Result<Vec<Edge>> {
    read(&Input::resolve(&[path.to_owned()], options)?)
}

/// Imports a file. Returns the vertices by their ids, whether the graph is undirected, and the
/// number of its arcs.
fn imported(input: &Path, ids: IdKind) -> (Vec<OriginalId>, bool, u64) {
    let folder = folder();
    let output = folder.path().join("g.tegula");
    let input_options = InputOptions { ids, ..InputOptions::default() };
    let config = ImportConfig {
        input: input_options,
        memory: 64 << 20,
        threads: 2,
        allow_empty: true,
        ..ImportConfig::default()
    };
    import(&[input.to_owned()], &output, &config, &Silent, &Cancel::default())
        .unwrap_or_else(|error| panic!("{error}"));
    let reader = Reader::open(Backend::Auto, Pool::new(16 << 20)).unwrap();
    let graph = Graph::open(&output, &reader, Caching::PageCache).unwrap();
    graph.verify(&Silent, &Cancel::default()).unwrap();
    let mut all = Vec::new();
    let all_ids = graph.original_ids().unwrap();
    all_ids
        .for_each_chunk(|ids, _| -> Result<()> {
            all.extend((0..ids.len()).map(|index| ids.get(index)));
            Ok(())
        })
        .unwrap();
    (all, graph.manifest().undirected, graph.manifest().edges)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn both_forms_give_the_same_edges(sample in samples(), threads in 1usize..4) {
        let folder = folder();
        for weighted in [false, true] {
            let expected = sample.edges(weighted);
            let plain = options(weighted, threads);
            let chosen = InputOptions { weight_column: named("Strength"), ..plain.clone() };
            for (name, text, options) in [
                ("g.graphml", sample.graphml("weight"), &plain),
                ("g.graphml", sample.graphml("strength"), &chosen),
                ("g.gexf", sample.gexf(None), &plain),
                ("g.gexf", sample.gexf(Some("strength")), &chosen),
            ] {
                for text in [text.clone(), text.replace('\n', "\r\n"), format!("\u{feff}{text}")] {
                    let path = put(&folder, name, text.as_bytes());
                    prop_assert_eq!(&edges(&path, options).unwrap(), &expected, "{}", text);
                    let unnamed = put(&folder, "unnamed", text.as_bytes());
                    prop_assert_eq!(&edges(&unnamed, options).unwrap(), &expected);
                }
                let path = put(&folder, &format!("{name}.gz"), &gzip(text.as_bytes()));
                prop_assert_eq!(edges(&path, options).unwrap(), expected.clone());
            }
        }
    }

}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]

    #[test]
    fn all_vertices_are_there_and_the_direction_is_kept(sample in samples()) {
        let folder = folder();
        let loops = sample.edges.iter().filter(|edge| edge.0 == edge.1).count() as u64;
        let edges = sample.edges.len() as u64;
        let arcs = if sample.directed { edges } else { 2 * edges - loops };
        let expected = (sample.ids(true), !sample.directed, arcs);
        let path = put(&folder, "g.graphml", sample.graphml("weight").as_bytes());
        prop_assert_eq!(imported(&path, IdKind::String), expected.clone());
        let path = put(&folder, "g.gexf", sample.gexf(None).as_bytes());
        prop_assert_eq!(imported(&path, IdKind::String), expected);
        let mut numbered = sample;
        numbered.names = (0..numbered.names.len()).map(|id| (id * 37).to_string()).collect();
        let path = put(&folder, "g.gexf", numbered.gexf(None).as_bytes());
        let expected = (numbered.ids(false), !numbered.directed, arcs);
        prop_assert_eq!(imported(&path, IdKind::Auto), expected);
    }
}

#[test]
fn documents_of_several_blocks_give_all_their_edges() {
    let names: Vec<String> = (0..500).map(|id| format!("vertex number {id}")).collect();
    let edge = |n: usize| (n % 499, n.wrapping_mul(7919) % 500, (n % 100) as i16);
    let sample = Sample { directed: true, names, edges: (0..20_000).map(edge).collect() };
    let folder = folder();
    for (name, text) in [("g.graphml", sample.graphml("w")), ("g.gexf", sample.gexf(None))] {
        let path = put(&folder, name, text.as_bytes());
        for threads in [1, 3] {
            assert!(edges(&path, &options(true, threads)).unwrap() == sample.edges(true), "{name}");
        }
    }
}

#[test]
fn files_of_other_programs_are_read_as_they_write_them() {
    let edge = |source: &str, target: &str, weight| (source.into(), target.into(), Some(weight));
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let weights = [0.5, 2.0, 7.0];
    let strengths = [3.0, 1.5, 1.0];
    let strong = InputOptions { weight_column: named("strength"), ..options(true, 1) };
    for name in ["networkx.graphml", "networkx.gexf"] {
        let path = data.join(name);
        for (options, [ab, bc, qa]) in [(&options(true, 1), weights), (&strong, strengths)] {
            let expected = [edge("a", "b", ab), edge("b", "c d", bc), edge("é\"q", "a", qa)];
            assert_eq!(edges(&path, options).unwrap(), expected, "{name}");
        }
        let ids = ["a", "alone", "b", "c d", "é\"q"].map(|id| OriginalId::String(id.to_owned()));
        assert_eq!(imported(&path, IdKind::Auto), (ids.to_vec(), false, 3), "{name}");
    }
    let drawn = edges(&data.join("drawn.graphml"), &options(true, 1)).unwrap();
    assert_eq!(drawn, [edge("n0", "n1", 2.5)]);
}

#[test]
fn a_mutual_edge_is_two_arcs() {
    let folder = folder();
    let text = "<gexf><graph defaultedgetype='directed'><nodes><node id='1'/><node id='2'/></nodes><edges>\
                <edge source='1' target='2' type='mutual' weight='3'/><edge source='2' target='2' type='mutual'/>\
                </edges></graph></gexf>";
    let path = put(&folder, "g.gexf", text.as_bytes());
    let edge = |source: &str, target: &str, weight| (source.into(), target.into(), Some(weight));
    let expected = [edge("1", "2", 3.0), edge("2", "1", 3.0), edge("2", "2", 1.0)];
    assert_eq!(edges(&path, &options(true, 1)).unwrap(), expected);
}

/// Returns a document with two edge columns of the same name, and an edge without a weight.
fn with_defaults(one: &str, other: &str, weight: &str) -> String {
    format!(
        "<graphml>\n<key id='a' for='edge' attr.name='weight'><default>{one}</default></key>\n\
         <key id='b' for='edge' attr.name='weight'><default>{other}</default></key>\n\
         <graph edgedefault='directed'><edge source='1' target='2'/>\n\
         <edge source='2' target='3'><data key='b'>{weight}</data></edge></graph></graphml>"
    )
}

#[test]
fn columns_of_one_name_have_one_default() {
    let folder = folder();
    let path = put(&folder, "g.graphml", with_defaults("7", " 7 ", "2").as_bytes());
    let edge = |source: &str, target: &str, weight| (source.into(), target.into(), Some(weight));
    let expected = [edge("1", "2", 7.0), edge("2", "3", 2.0)];
    assert_eq!(edges(&path, &options(true, 1)).unwrap(), expected);
    let text = with_defaults("7", "8", "2");
    assert_refused("g.graphml", &text, &options(true, 1), Some(3), "different defaults");
    // The default of the column takes precedence over the weight that GEXF gives every edge.
    let text = "<gexf><graph><attributes class='edge'><attribute id='c' title='weight' type='float'>\
                <default>2.5</default></attribute></attributes><nodes><node id='1'/><node id='2'/></nodes>\
                <edges><edge source='1' target='2'/></edges></graph></gexf>";
    let path = put(&folder, "g.gexf", text.as_bytes());
    assert_eq!(edges(&path, &options(true, 1)).unwrap(), [edge("1", "2", 2.5)]);
}

#[test]
fn references_in_a_weight_are_characters() {
    let folder = folder();
    let path = put(&folder, "g.graphml", with_defaults("1", "1", "&#45;1&#x2e;5").as_bytes());
    let found = edges(&path, &options(true, 1)).unwrap();
    assert_eq!(found[1].2, Some(-1.5));
    let text = with_defaults("1", "1", "&dot;5");
    assert_refused("g.graphml", &text, &options(true, 1), Some(5), "this entity is unknown");
}

/// Asserts that a document is refused, in `line` or as a whole, in words that include `says`.
fn assert_refused(name: &str, text: &str, options: &InputOptions, line: Option<u64>, says: &str) {
    let folder = folder();
    let path = put(&folder, name, text.as_bytes());
    for threads in [1, 3] {
        match edges(&path, &InputOptions { threads, ..options.clone() }) {
            Err(Error::BadInput { place, problem }) => {
                assert!(problem.message.contains(says), "{text}: {problem}");
                assert_eq!(place.at, line.map_or(At::File, At::Line), "{text}: {problem}");
            }
            other => panic!("{text} is read as {other:?}"),
        }
    }
}

const HEAD: &str =
    "<graphml>\n<key id='d1' for='edge' attr.name='weight'/>\n<graph edgedefault='directed'>\n";

#[test]
fn malformed_or_unsupported_graphml_is_refused_at_its_line() {
    let plain = InputOptions { ids: IdKind::Auto, ..options(false, 1) };
    for (text, line, says) in [
        ("<node id='1'/>\n<edge source='1'/>", Some(5), "`edge` has no `target`"),
        ("<node/>", Some(4), "`node` has no `id`"),
        ("<node id='1'/>\n\n<hyperedge/>", Some(6), "hyperedge"),
        (
            "<edge source='1' target='2'/>\n<edge source='1' target='2' directed='false'/>",
            Some(5),
            "this edge is undirected, but the first one is directed",
        ),
        (
            "<edge source='1' target='2'/><node id='1'>\n<graph edgedefault='directed'/></node>",
            Some(5),
            "a second graph",
        ),
        ("<edge source='1' target='x'/>", Some(4), "the id `x` is not an integer"),
        ("<edge source='1' target='007'/>", Some(4), "the same vertex as `7`"),
        ("<edge source='1' target='2' directed='maybe'/>", Some(4), "`maybe`"),
        ("<edge source='1' source='2' target='2'/>", Some(4), "`source` occurs twice"),
        (
            "<edge source='1' target='2'>\n<edge source='1' target='2'/></edge>",
            Some(5),
            "within an edge",
        ),
        ("<edge source='&nope;' target='2'/>", Some(4), "`source` is not XML"),
        ("<edge source='1' target='2'></node>", Some(4), "this is not XML"),
        ("<edge source='1' target='2'>", Some(5), "cut off"),
        ("<edge source='1", Some(4), "not closed"),
    ] {
        let closing =
            if line == Some(5) && says == "cut off" { "\n" } else { "</graph></graphml>" };
        let closing = if says == "not closed" { "" } else { closing };
        assert_refused("x.graphml", &format!("{HEAD}{text}{closing}"), &plain, line, says);
    }
    for (text, line, says) in [
        ("<svg>\n</svg>", Some(1), "its outermost element is `svg`"),
        ("<graphml></graphml>", None, "no element `graph`"),
        ("<graphml>\n<graph/></graphml>", Some(2), "no `edgedefault`"),
        ("<?xml version='1.0' encoding='latin1'?><graphml/>", Some(1), "iconv -f latin1"),
        ("1 2\n", None, "no element `graph`"),
    ] {
        assert_refused("x.graphml", text, &plain, line, says);
    }
    let deep = format!("{HEAD}{}", "<a>".repeat(300));
    assert_refused("x.graphml", &deep, &plain, Some(4), "elements are open");
    let long = format!("{HEAD}\n<node id='{}'/>", "x".repeat(1 << 17));
    assert_refused("x.graphml", &long, &plain, Some(5), "longer than");
    let long = format!("{HEAD}\n<!-- {} -->", "x".repeat(1 << 17));
    assert_refused("x.graphml", &long, &plain, Some(5), "longer than");
}

#[test]
fn names_and_defaults_of_columns_are_bounded() {
    let plain = InputOptions { ids: IdKind::Auto, ..options(false, 1) };
    let graph = "<graph edgedefault='directed'><edge source='1' target='2'/></graph>";
    let long = "x".repeat(1025);
    for (key, what) in [
        (format!("<key id='{long}' for='edge' attr.name='a'/>"), "the id of a column"),
        (format!("<key id='a' for='edge' attr.name='{long}'/>"), "the name of a column"),
        (
            format!("<key id='a' for='edge' attr.name='b'><default>{long}</default></key>"),
            "the default of a column",
        ),
    ] {
        let text = format!("<graphml>\n{key}\n{graph}</graphml>");
        assert_refused("x.graphml", &text, &plain, Some(2), &format!("{what} is longer than 1024"));
    }
    let keys: String =
        (0..1025).map(|key| format!("<key id='{key}' for='edge' attr.name='{key}'/>\n")).collect();
    let text = format!("<graphml>\n{keys}{graph}</graphml>");
    assert_refused("x.graphml", &text, &plain, Some(1026), "more than 1024 columns");
}

#[test]
fn invalid_weights_are_refused_at_their_line() {
    let weighted = options(true, 1);
    for (text, line, says) in [
        (
            "<edge source='1' target='2'><data key='d1'>2</data></edge>\n<edge source='1' target='2'/>",
            5,
            "no weight",
        ),
        ("<edge source='1' target='2'>\n<data key='d1'>x</data></edge>", 5, "`x` is not a number"),
        ("<edge source='1' target='2'><data key='d1'>1e99</data></edge>", 4, "too large"),
    ] {
        let text = format!("{HEAD}{text}</graph></graphml>");
        assert_refused("x.graphml", &text, &weighted, Some(line), says);
    }
    // A reader keeps only the beginning of a long text, which alone would be 0.
    let long = |rest: &str| {
        let weight = format!("0.{}{rest}", "0".repeat(300));
        let edge = format!("<edge source='1' target='2'><data key='d1'>{weight}</data></edge>");
        format!("{HEAD}{edge}</graph></graphml>")
    };
    for rest in ["&#48;x", "&#48;", "&#32;1"] {
        assert_refused("x.graphml", &long(rest), &weighted, Some(4), "longer than 256 bytes");
    }
    let folder = folder();
    let path = put(&folder, "x.graphml", long("&#32; ").as_bytes());
    assert_eq!(edges(&path, &weighted).unwrap(), [("1".into(), "2".into(), Some(0.0))]);
    let none = "<graphml><graph edgedefault='directed'/></graphml>";
    assert_refused("x.graphml", none, &weighted, None, "no weights");
    let chosen = InputOptions { weight_column: named("length"), ..weighted.clone() };
    let text = format!("{HEAD}</graph></graphml>");
    assert_refused(
        "x.graphml",
        &text,
        &chosen,
        None,
        "column `length` does not exist; the columns are `weight`",
    );
    let gexf =
        "<gexf><graph>\n<edges><edge source='1' target='2' weight='heavy'/></edges></graph></gexf>";
    assert_refused("x.gexf", gexf, &weighted, Some(2), "`heavy` is not a number");
}

#[test]
fn refused_documents_have_hints() {
    let folder = folder();
    let plain = InputOptions::default();
    let hints = |name: &str, text: &str, options: &InputOptions| match edges(
        &put(&folder, name, text.as_bytes()),
        options,
    ) {
        Err(error) => error.hints(),
        other => panic!("{other:?}"),
    };
    let text = format!("{HEAD}<node id='1'/></graph></graphml>");
    assert_eq!(hints("x.txt", &text, &plain), [Hint::set([FORMAT_GRAPHML])]);
    assert_eq!(hints("x.csv", "<gexf>\n", &plain), [Hint::set([FORMAT_GEXF])]);
    let mixed = text.replace("<node id='1'/>", "<node id='1'/><edge source='1' target='x'/>");
    let strings = Hint::set([IDS_STRING]).detail("if the ids are names");
    assert_eq!(hints("x.graphml", &mixed, &plain), [strings]);
    let none = text.replace("<key id='d1' for='edge' attr.name='weight'/>", "");
    let leave_out = Hint::leave_out(WEIGHTED.option);
    assert_eq!(hints("x.graphml", &none, &options(true, 1)), [leave_out]);
    // Under another file name it is read if the user names the format.
    let given = InputOptions { format: Format::GraphMl, ..options(false, 1) };
    assert_eq!(edges(&put(&folder, "x.txt", text.as_bytes()), &given).unwrap(), []);
    let unread = Input::resolve(&[put(&folder, "x.graphml", text.as_bytes())], &plain).unwrap();
    let [warning] = &unread.warnings()[..] else { panic!("{:?}", unread.warnings()) };
    assert_eq!(warning.hints, [Hint::set([WEIGHTED]).detail("to keep them")]);
}

#[test]
fn an_edge_ends_at_a_vertex_that_is_listed() {
    let folder = folder();
    let text = format!("{HEAD}<node id='1'/><edge source='1' target='2'/></graph></graphml>");
    let path = put(&folder, "x.graphml", text.as_bytes());
    let output = folder.path().join("g.tegula");
    let config = ImportConfig { memory: 64 << 20, ..ImportConfig::default() };
    let refused = import(&[path], &output, &config, &Silent, &Cancel::default());
    assert!(refused.is_err_and(|error| error.to_string().contains("at the vertex 2")));
}
