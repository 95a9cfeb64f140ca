//! Graphs written for programs that draw them (`export`, `run subgraph`). GraphML and GEXF,
//! imported again, make the same graph, and columns of tables are attributes of vertices.

use tegula_testkit::XorShift;

use crate::shop::{Shop, lines};

/// Names that XML and DOT would misread without escapes.
const NAMES: [&str; 12] = [
    "plain",
    "7",
    "007",
    "a b",
    " around ",
    "\"quoted\"",
    "it's & <that>",
    "é ∞ 漢",
    "tab\there",
    "two\nlines\r",
    "back\\slash\\",
    "&amp;",
];

/// Returns a graph as GraphML: all vertices, and random edges between some of them.
fn document(names: &[String], directed: bool, weighted: bool, seed: u64) -> String {
    let escaped = |text: &str| {
        let code = |character: char| match character {
            'a'..='z' | '0'..='9' => character.to_string(),
            other => format!("&#{};", u32::from(other)),
        };
        text.chars().map(code).collect::<String>()
    };
    let nodes = names.iter().map(|name| format!("<node id=\"{}\"/>\n", escaped(name)));
    let mut random = XorShift::new(seed);
    let mut end = || escaped(&names[random.below(names.len() as u64 - 2) as usize]);
    let ends: Vec<(String, String)> = (0..4 * names.len()).map(|_| (end(), end())).collect();
    let edges = ends.iter().enumerate().map(|(number, (source, target))| {
        let weight = number as f32 / 3.0 - 2.0;
        let data =
            if weighted { format!("<data key=\"w\">{weight}</data>") } else { String::new() };
        format!("<edge source=\"{source}\" target=\"{target}\">{data}</edge>\n")
    });
    let direction = if directed { "directed" } else { "undirected" };
    let body: String = nodes.chain(edges).collect();
    format!(
        "<graphml><key id=\"w\" for=\"edge\" attr.name=\"weight\"/>\n<graph edgedefault=\"{direction}\">\n{body}\
         </graph></graphml>\n"
    )
}

/// Returns the edges of a graph, sorted, and the degrees of its vertices.
fn content(shop: &Shop, graph: &str) -> (Vec<String>, String) {
    shop.tegula(&format!("export {graph} -o edges.csv --force")).done();
    let text = String::from_utf8(shop.read("edges.csv")).unwrap();
    let mut edges: Vec<String> = text.split('\n').map(str::to_owned).collect();
    edges.sort();
    (edges, shop.tegula(&format!("export {graph} --degrees -o -")).done().out)
}

#[test]
fn graphml_and_gexf_are_imported_again_as_the_same_graph() {
    let shop = Shop::new();
    let integers: Vec<String> = (0..40).map(|id: u64| (id * id * 977).to_string()).collect();
    let strings: Vec<String> = NAMES.iter().map(|&name| name.to_owned()).collect();
    let mut seed = 0;
    for (ids, names) in [("integer", &integers), ("string", &strings)] {
        for (directed, weighted) in [(true, false), (true, true), (false, false), (false, true)] {
            seed += 1;
            shop.write("in.graphml", document(names, directed, weighted, seed));
            let flag = if weighted { "--weighted" } else { "" };
            let import = format!("import -o g.tegula --force --ids {ids} {flag}");
            shop.tegula(&format!("{import} in.graphml")).done();
            let expected = content(&shop, "g.tegula");
            assert!(expected.0.len() > 2 * names.len(), "{ids}");
            for file in ["out.graphml", "out.gexf", "out.graphml.gz", "out.gexf.zst"] {
                let export = format!("export g.tegula --force -o {file}");
                let told = shop.tegula(&format!("{export} --json")).done().json();
                let bytes = shop.read(file);
                assert_eq!(told["vertices"], names.len(), "{file}");
                assert_eq!(told["edges"], 4 * names.len(), "{file}");
                assert_eq!(told["bytes"], bytes.len(), "{file}");
                shop.tegula(&format!("{export} --threads 1 --memory 48MiB")).done();
                assert!(shop.read(file) == bytes, "{file} depends on threads or memory");
                let import = import.replace("g.tegula", "h.tegula");
                shop.tegula(&format!("{import} {file}")).done();
                assert_eq!(
                    content(&shop, "h.tegula"),
                    expected,
                    "{file} {ids} {directed} {weighted}"
                );
                let info = shop.tegula("info h.tegula --json").done().json();
                assert_eq!(info["undirected"], !directed, "{file}");
            }
        }
    }
}

/// Imports a graph of a few strings; one vertex has no edge.
fn small(shop: &Shop) {
    shop.write("g.csv", "source,target,weight\na,\"b\"\"\",0.5\n\"b\"\"\",c&,2\nd\\,d\\,-1\n");
    shop.write("all.csv", "vertex\na\n\"b\"\"\"\nc&\nd\\\nlone\n");
    shop.tegula("import g.csv -o g.tegula --weighted --vertices all.csv").done();
}

/// The graph of [`small`] with its attributes, as GraphML.
const GRAPHML: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="a0" for="node" attr.name="distance" attr.type="long"/>
  <key id="a1" for="node" attr.name="size" attr.type="double"/>
  <key id="a2" for="node" attr.name="note" attr.type="string"/>
  <key id="weight" for="edge" attr.name="weight" attr.type="double"/>
  <graph edgedefault="directed">
    <node id="a"><data key="a0">0</data><data key="a1">1.5</data><data key="a2">007</data></node>
    <node id="b&quot;"><data key="a0">1</data></node>
    <node id="c&amp;"><data key="a0">2</data></node>
    <node id="d\"/>
    <node id="lone"><data key="a1">3</data><data key="a2">&lt;x&gt;</data></node>
    <edge source="a" target="b&quot;"><data key="weight">0.5</data></edge>
    <edge source="b&quot;" target="c&amp;"><data key="weight">2</data></edge>
    <edge source="d\" target="d\"><data key="weight">-1</data></edge>
  </graph>
</graphml>
"#;

/// The same as GEXF.
const GEXF: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<gexf xmlns="http://gexf.net/1.3" version="1.3">
  <graph defaultedgetype="directed">
    <attributes class="node">
      <attribute id="0" title="distance" type="long"/>
      <attribute id="1" title="size" type="double"/>
      <attribute id="2" title="note" type="string"/>
    </attributes>
    <nodes count="5">
      <node id="a" label="a"><attvalues><attvalue for="0" value="0"/><attvalue for="1" value="1.5"/><attvalue for="2" value="007"/></attvalues></node>
      <node id="b&quot;" label="b&quot;"><attvalues><attvalue for="0" value="1"/></attvalues></node>
      <node id="c&amp;" label="c&amp;"><attvalues><attvalue for="0" value="2"/></attvalues></node>
      <node id="d\" label="d\"/>
      <node id="lone" label="lone"><attvalues><attvalue for="1" value="3"/><attvalue for="2" value="&lt;x&gt;"/></attvalues></node>
    </nodes>
    <edges count="3">
      <edge source="a" target="b&quot;" weight="0.5"/>
      <edge source="b&quot;" target="c&amp;" weight="2"/>
      <edge source="d\" target="d\" weight="-1"/>
    </edges>
  </graph>
</gexf>
"#;

/// The same as DOT.
const DOT: &str = r#"digraph {
  "a" ["distance"="0", "size"="1.5", "note"="007"];
  "b\"" ["distance"="1"];
  "c&" ["distance"="2"];
  "d\\";
  "lone" ["size"="3", "note"="<x>"];
  "a" -> "b\"" [weight=0.5];
  "b\"" -> "c&" [weight=2];
  "d\\" -> "d\\" [weight=-1];
}
"#;

#[test]
fn each_format_has_vertices_edges_weights_and_attributes() {
    let shop = Shop::new();
    small(&shop);
    shop.tegula("run bfs g.tegula --source a -o hops.parquet").done();
    shop.write("notes.tsv", "size\tvertex\tnote\n1.5\ta\t007\n3\tlone\t<x>\n\td\\\t\n");
    let export = "export g.tegula --attribute hops.parquet --attribute notes.tsv --force -o";
    let written = |file: &str| {
        shop.tegula(&format!("{export} {file}")).done();
        String::from_utf8(shop.read(file)).unwrap()
    };
    assert_eq!(sorted_edges(&written("out.graphml")), sorted_edges(GRAPHML));
    let mut written_gexf = written("out.gexf");
    for number in 0..3 {
        let id = format!(" id=\"{number}\" source=");
        assert!(written_gexf.contains(&id), "{written_gexf}");
        written_gexf = written_gexf.replace(&id, " source=");
    }
    assert_eq!(sorted_edges(&written_gexf), sorted_edges(GEXF));
    assert_eq!(sorted_edges(&written("out.dot")), sorted_edges(DOT));
    let out = shop.tegula("export g.tegula -o - --format dot").done().out;
    assert_eq!(sorted_edges(&out).len(), DOT.lines().count());
    assert!(out.contains("  \"lone\";\n"), "{out}");
    shop.tegula("import g.csv -o u.tegula --undirected").done();
    let out = shop.tegula("export u.tegula -o - --format dot").done().out;
    assert!(out.starts_with("graph {\n") && out.contains("\"a\" -- \"b\\\"\";\n"), "{out}");
}

/// Returns the lines of a file, with edges sorted at the end.
fn sorted_edges(text: &str) -> Vec<&str> {
    let is_edge = |line: &&str| line.contains("<edge ") || line.contains(" -> ");
    let mut edges: Vec<&str> = text.lines().filter(is_edge).collect();
    edges.sort_unstable();
    text.lines().filter(|line| !is_edge(line)).chain(edges).collect()
}

#[test]
fn a_subgraph_takes_the_results_of_the_whole_graph_as_attributes() {
    let shop = Shop::new();
    shop.tegula("generate rmat --scale 10 -o g.el").done();
    shop.tegula("import g.el -o g.tegula").done();
    shop.tegula("run pagerank g.tegula -o ranks.parquet").done();
    shop.tegula("run wcc g.tegula -o components.csv.gz").done();
    let ranks = shop.tegula("run pagerank g.tegula -o -").done().out;
    let (_, ranks) = lines(&ranks, '\t');
    let some: String = ranks.iter().step_by(9).map(|row| format!("{}\n", row[0])).collect();
    shop.write("some.txt", &some);
    let run = "run subgraph g.tegula --vertices some.txt --attribute ranks.parquet --attribute components.csv.gz";
    shop.tegula(&format!("{run} -o part.gexf")).done();
    let text = String::from_utf8(shop.read("part.gexf")).unwrap();
    assert_eq!(text, shop.tegula(&format!("{run} --format gexf")).done().out);
    let titles: Vec<&str> = text.lines().filter(|line| line.contains("<attribute ")).collect();
    assert!(titles[0].contains("title=\"rank\" type=\"double\""), "{titles:?}");
    assert!(titles[1].contains("title=\"component\" type=\"long\""), "{titles:?}");
    let nodes: Vec<&str> = text.lines().filter(|line| line.contains("<node ")).collect();
    assert_eq!(nodes.len(), some.lines().count());
    for (node, row) in nodes.iter().zip(ranks.iter().step_by(9)) {
        assert!(node.contains(&format!("<node id=\"{}\"", row[0])), "{node}");
        let value = node.split("for=\"0\" value=\"").nth(1).unwrap().split('"').next().unwrap();
        let rank: f64 = row[1].parse().unwrap();
        assert_eq!(value.parse::<f64>().unwrap(), rank, "{node}");
        assert!(node.contains("for=\"1\" value=\""), "{node}");
    }
    shop.tegula("run subgraph g.tegula --vertices some.txt -o part.csv").done();
    let (_, edges) = lines(&String::from_utf8(shop.read("part.csv")).unwrap(), ',');
    assert_eq!(text.lines().filter(|line| line.contains("<edge ")).count(), edges.len());
}

#[test]
fn a_graph_above_the_limit_of_elements_is_refused() {
    let shop = Shop::new();
    small(&shop);
    let before = shop.names();
    for words in ["export g.tegula -o g.dot", "run subgraph g.tegula --vertices all.csv -o g.dot"] {
        shop.tegula(&format!("{words} --elements-max 7")).failed(
            2,
            &["has 8 vertices and edges", "more than the 7", "subgraph", "--elements-max"],
        );
        assert_eq!(shop.names(), before, "{words}");
        shop.tegula(&format!("{words} --elements-max 8 --force")).done();
        std::fs::remove_file(shop.path("g.dot")).unwrap();
    }
    shop.tegula("generate rmat --scale 16 -o large.bin32").done();
    shop.tegula("import large.bin32 -o large.tegula").done();
    shop.tegula("export large.tegula -o large.gexf").failed(2, &["more than the 1,000,000"]);
    shop.tegula("export large.tegula -o large.gexf --elements-max 2000000").done();
}

#[test]
fn attributes_that_make_no_sense_are_refused_and_leave_nothing() {
    let shop = Shop::new();
    small(&shop);
    shop.tegula("run bfs g.tegula --source a -o hops.parquet").done();
    shop.write("ok.csv", "vertex,kg\na,1\n");
    shop.write("again.csv", "vertex,kg\na,2\n");
    shop.write("stranger.csv", "vertex,kg\na,1\n# comment,2\nq,3\n");
    shop.write("twice.csv", "vertex,kg\na,1\nlone,1\na,2\n");
    shop.write("short.csv", "vertex,kg\na,1\nlone\n");
    shop.write("nameless.csv", "vertex,kg,\na,1,2\n");
    shop.write("unknown.csv", "city,kg\na,1\n");
    shop.write("alone.csv", "vertex\na\n");
    shop.write("empty.csv", "");
    let before = shop.names();
    for (words, code, why) in [
        (
            "-o x.gexf --attribute stranger.csv",
            3,
            "stranger.csv, line 4: g.tegula has no vertex `q`",
        ),
        ("-o x.gexf --attribute twice.csv", 3, "twice.csv, line 4: the vertex `a` has a row"),
        ("-o x.gexf --attribute short.csv", 3, "short.csv, line 3: expected 2 columns"),
        ("-o x.gexf --attribute nameless.csv", 3, "column 3 has no name"),
        ("-o x.gexf --attribute unknown.csv", 3, "no column is known as the vertex"),
        (
            "-o x.gexf --attribute alone.csv",
            3,
            "alone.csv, line 1: the first line has to name several",
        ),
        ("-o x.gexf --attribute empty.csv", 3, "the table is empty"),
        ("-o x.gexf --attribute missing.csv", 3, "missing.csv"),
        ("-o x.gexf --attribute g.tegula", 3, "folder"),
        ("-o x.gexf --attribute ok.csv --attribute again.csv", 3, "an attribute `kg` is in ok.csv"),
        ("-o x.csv --attribute ok.csv", 2, "--attribute is for GraphML, GEXF and DOT"),
        ("-o x.csv --elements-max 7", 2, "--elements-max is for GraphML"),
        ("-o x.csv --degrees --attribute ok.csv", 2, "--attribute is for"),
        ("-o x.gexf --degrees", 2, "names no format of results"),
        ("-o x.gexf --vertex a", 2, "GEXF holds a graph, but this is a table"),
        ("-o - --degrees --format dot", 2, "DOT holds a graph, but this is a table"),
        ("-o - --format dot --json", 2, "both want standard output"),
        ("-o no/x.gexf", 1, "folder no does not exist"),
        ("-o hops.parquet --format gexf", 1, "hops.parquet exists already"),
    ] {
        shop.tegula(&format!("export g.tegula {words}")).failed(code, &[why]);
        assert_eq!(shop.names(), before, "{words}");
    }
    let subgraph = "run subgraph g.tegula --vertices all.csv";
    shop.tegula(&format!("{subgraph} --attribute ok.csv")).failed(2, &["--attribute is for"]);
    shop.tegula(&format!("{subgraph} --format dot --top 3")).failed(2, &["the graph and --top"]);
    shop.tegula("run wcc g.tegula --format graphml").failed(2, &["GraphML holds a graph"]);
    shop.tegula("run wcc g.tegula --attribute ok.csv").failed(2, &["--attribute"]);
    assert_eq!(shop.names(), before);
}

#[test]
fn attributes_keep_the_budget() {
    let shop = Shop::new();
    let rows: String = (0..60_000).map(|id| format!("{id},{}\n", "x".repeat(400))).collect();
    shop.write("notes.csv", format!("vertex,note\n{rows}"));
    shop.write("g.el", "0 1\n");
    shop.tegula("import g.el -o g.tegula --vertices 60000").done();
    let export = "export g.tegula --attribute notes.csv -o g.graphml --json";
    shop.tegula(&format!("{export} --memory 64MiB"))
        .failed(4, &["reading the attributes needs 64.0", "64.000 MiB"]);
    let told = shop.tegula(&format!("{export} --memory 192MiB")).done().json();
    assert!(told["peak_memory_bytes"].as_u64().unwrap() <= 192 << 20, "{told}");
}

#[test]
fn characters_that_xml_forbids_are_refused_there_and_kept_in_dot() {
    let shop = Shop::new();
    shop.write("g.csv", "source,target\na,\"b\u{ffff}\"\n");
    shop.tegula("import g.csv -o g.tegula").done();
    for (file, format) in [("x.graphml", "GraphML"), ("x.gexf", "GEXF")] {
        let why = format!("U+FFFF, which {format} cannot hold");
        shop.tegula(&format!("export g.tegula -o {file}")).failed(2, &[&why, "write .dot"]);
    }
    assert_eq!(shop.names(), ["g.csv", "g.tegula"], "nothing is left");
    let dot = shop.tegula("export g.tegula -o - --format dot").done().out;
    assert!(dot.contains("\"a\" -> \"b\u{ffff}\";"), "{dot}");
}
