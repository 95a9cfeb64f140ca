//! Edge lists from real life: doubtful ones are refused or reported.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::process::Command;
use std::thread;

use crate::shop::Shop;

/// Imports and returns the counts of vertices and edges.
fn counts(shop: &Shop, words: &str) -> (u64, u64) {
    let report = shop.tegula(&format!("import {words} -o g.tegula --force --json")).done().json();
    (report["vertices"].as_u64().unwrap(), report["edges"].as_u64().unwrap())
}

#[test]
fn unread_columns_are_in_the_summary_and_in_json() {
    let shop = Shop::new();
    shop.write("g.csv", "u,v,weight\n1,2,3\n");
    let said = shop.tegula("import g.csv -o g.tegula").done();
    let warning = "g.csv: column `weight` was not read; use --weighted to keep it";
    assert!(said.err.contains(warning), "{}", said.err);
    let report = shop.tegula("import g.csv -o g.tegula --force --json").done().json();
    assert_eq!(report["warnings"], serde_json::json!([warning]));
    let report = shop.tegula("import g.csv -o g.tegula --force --json --weighted").done().json();
    assert_eq!(report["warnings"], serde_json::json!([]));
}

#[test]
fn columns_are_chosen_by_name_in_any_case_or_by_position() {
    let shop = Shop::new();
    shop.write("g.csv", "u,v,Length_M\n1,2,3.5\n2,3,0.5\n");
    assert_eq!(counts(&shop, "g.csv --weighted --weight-column length_m"), (3, 2));
    assert_eq!(counts(&shop, "g.csv --weighted --weight-column 3"), (3, 2));
    shop.tegula("import g.csv -o w.tegula --weight-column length_m").failed(2, &["--weighted"]);
    shop.write("h.csv", "1,9,2\n2,9,3\n");
    assert_eq!(counts(&shop, "h.csv --no-header --source-column 1 --target-column 3"), (3, 2));
    let said = shop.tegula("import h.csv -o h.tegula --source-column 1 --target-column 3").done();
    assert!(said.err.contains("1, 3, no header"), "{}", said.err);
    shop.tegula("import h.csv -o i.tegula --no-header --source-column x").failed(2, &["positions"]);
    shop.tegula("import h.csv -o i.tegula --source-column 0").failed(2, &["counted from 1"]);
    shop.tegula("import h.csv -o i.tegula --delimiter 7").failed(2, &["cannot separate"]);
    shop.write("p.txt", "1|2\n2|3\n");
    assert_eq!(counts(&shop, "p.txt --delimiter |"), (3, 2));
}

#[test]
fn ambiguous_inputs_are_refused() {
    let shop = Shop::new();
    shop.write("quoted.txt", "\"ann\" \"bob\"\n");
    shop.tegula("import quoted.txt -o g.tegula").failed(3, &["begins with a quote", "commas"]);
    shop.write("bare.csv", "src,dst\n1,2\n");
    let twice = "--source-column src --target-column src";
    shop.tegula(&format!("import bare.csv -o g.tegula --weighted {twice}"))
        .failed(3, &["`src` would be both the source and the target"]);
    shop.tegula("import bare.csv -o g.tegula --weighted").failed(
        3,
        &["no column has weights; the only columns are `src`, `dst`", "leave out --weighted"],
    );
    shop.tegula("import bare.csv -o g.tegula").done();
    shop.tegula("import g.tegula bare.csv -o h.tegula")
        .failed(3, &["already a graph directory", "`tegula export GRAPH -o FILE`", "together"]);
}

#[test]
fn addresses_and_patterns_are_refused_with_advice() {
    let shop = Shop::new();
    for name in
        ["s3://bucket/x.parquet", "gs://b/x.csv", "https://a.org/x.txt", "http://a/g.properties"]
    {
        let words = [name, "this is an address", "download it first", "`-`"];
        shop.tegula(&format!("import {name} -o g.tegula")).failed(3, &words);
    }
    for name in ["part-*.csv", "part-?.csv", "part-[0-9].csv", "*.properties"] {
        let words = [name, "leave out the quotes"];
        shop.tegula(&format!("import {name} -o g.tegula")).failed(3, &words);
    }
    shop.write("part-*.csv", "1,2\n");
    shop.tegula("import part-*.csv -o g.tegula").done();
    shop.tegula("import part-*.csv -o h.tegula --vertices s3://b/x").failed(3, &["an address"]);
}

#[test]
fn a_last_line_without_its_end_is_a_warning() {
    let shop = Shop::new();
    shop.write("g.csv", "source,target\n1,2\n2,3");
    let warning = "g.csv, line 3: the last line does not end with a line feed, but the lines before it do; the file may be \
                   cut off";
    let said = shop.tegula("import g.csv -o g.tegula").done();
    assert!(said.err.contains(&format!("warning: {warning}")), "{}", said.err);
    shop.write("h.csv", "1,2\n2,3");
    let report = shop.tegula("import g.csv h.csv -o g.tegula --force --json").done().json();
    assert_eq!(
        report["warnings"],
        serde_json::json!([format!("{warning}; the same holds for 1 other file")])
    );
}

#[test]
fn edges_that_are_skipped_as_comments_are_warned_of() {
    let shop = Shop::new();
    let warnings = |text: &str, options: &str| {
        shop.write("g.csv", text);
        let words = format!("import g.csv -o g.tegula --force --json {options}");
        shop.tegula(&words).done().json()["warnings"].take()
    };
    let edges = "ann,bob\n".repeat(9000);
    for (text, options, line, count) in [
        ("shop,who\n#1 Shop,Anna\nx,y\n", "--source-column shop --target-column who", 2, 1),
        ("# c\n\n% c\nann,bob\n\n%,Anna\n#a,b\n", "--no-header", 6, 2),
        ("src,dst\n1,2\n #7,2\n", "--ids string", 3, 1),
        (&*format!("{edges}#1 Shop,Anna\n{edges}#,x\n"), "--no-header --threads 3", 9001, 2),
        (&*format!("{edges}#,x\n"), "--no-header --drop-duplicates", 9001, 1),
    ] {
        let told = format!(
            "g.csv, line {line}: skipped this line as a comment, the first of {count} after \
             the first edge; where an id begins with # or %, put it in quotes, with commas or tabs \
             between the columns"
        );
        assert_eq!(warnings(text, options), serde_json::json!([told]), "{options}");
    }
    for (text, options) in [
        ("# c\n% c\nann,bob\n\n", "--no-header"),
        ("# c\nsrc,dst\n\"#1 Shop\",Anna\n", ""),
        ("# c\n1,2\n# c\n", ""),
    ] {
        assert_eq!(warnings(text, options), serde_json::json!([]), "{text}");
    }
}

#[test]
fn bad_rows_are_skipped_up_to_the_allowed_number() {
    let shop = Shop::new();
    shop.write("g.txt", "1 2\n2 x\n2 3\n4\n3 4\n");
    shop.tegula("import g.txt -o g.tegula").failed(3, &["g.txt, line 2", "`x`"]);
    let words = "g.txt, line 4: more than 1 row cannot be understood; this row exceeds the limit";
    let help = "help: use --ids string if the ids are names, or raise --skip-bad-rows";
    shop.tegula("import g.txt -o g.tegula --skip-bad-rows 1")
        .failed(3, &[words, "the first is g.txt, line 2", help]);
    assert_eq!(shop.names(), ["g.txt"]);
    for threads in [1, 3] {
        let words =
            format!("import g.txt -o g.tegula --force --skip-bad-rows 2 --threads {threads}");
        let report = shop.tegula(&format!("{words} --json")).done().json();
        assert_eq!((&report["edges"], &report["skipped_rows"]), (&3.into(), &2.into()));
        let warning = report["warnings"][0].as_str().unwrap();
        assert!(warning.starts_with("g.txt, line 2: the id `x`"), "{warning}");
        let end =
            "skipped this row, the first of 2 bad rows; use --ids string if the ids are names";
        assert!(warning.ends_with(end), "{warning}");
        let said = shop.tegula(&words).done();
        let line = said.err.lines().find(|line| line.trim_start().starts_with("skipped rows"));
        assert!(line.is_some_and(|line| line.ends_with('2')), "{}", said.err);
    }
}

#[test]
fn the_advised_commands_make_edges_of_other_kinds_of_files() {
    let shop = Shop::new();
    let gml = "graph [\n  node [\n    id 1\n  ]\n  edge [\n    source 1\n    target 2\n  ]\n  edge [\n    \
               source 3\n    target 1\n  ]\n]\n";
    for (name, text) in [
        ("g.dot", "digraph g {\n  1 -> 2;\n  3 -> 1 [weight=3];\n}\n"),
        ("h.txt", "1 -> 2\n3 -> 1\n"),
        ("g.gml", gml),
        ("g.net", "*Vertices 3\n1 \"a\"\n2 \"b\"\n*Arcs\n1 2 1\n3 1 2\n"),
        ("lists.txt", "1 2\n3 1 2 3\n"),
        ("slashes.txt", "// from to\n1 2\n3 1\n"),
        ("wide.txt", "\u{feff}1 2\n3 1\n"),
    ] {
        match name {
            "wide.txt" => {
                let wide: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
                shop.write(name, wide);
            }
            _ => shop.write(name, text),
        }
        let said =
            shop.tegula(&format!("import {name} -o g.tegula")).failed(3, &[name, "edges.txt"]);
        let command = said.err.split('`').nth(1).unwrap().replace("FILE", name);
        let mut shell = Command::new("sh");
        shell.args(["-c", &command]).current_dir(shop.path("."));
        assert!(shell.status().unwrap().success(), "{command}");
        let found = counts(&shop, "edges.txt --no-header");
        assert!(found.0 == 3 && found.1 >= 2, "{name}: {found:?} by {command}");
    }
}

/// Returns the peak memory of a process so far.
fn peak_of(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kibibytes << 10)
}

#[test]
fn a_line_of_100_megabytes_takes_no_more_than_the_memory() {
    const MEMORY: u64 = 64 << 20;
    let shop = Shop::new();
    for (before, line) in [("", 1), ("1 2\n2 3\n", 3), ("# c\n\n", 3)] {
        let mut child = shop.start(&format!("import - -o g.tegula --memory {MEMORY} --threads 3"));
        let mut input = child.stdin.take().unwrap();
        input.write_all(before.as_bytes()).unwrap();
        let mut peak = 0;
        for _ in 0..1600 {
            if input.write_all(&[b'1'; 64 << 10]).is_err() {
                break;
            }
            peak = peak.max(peak_of(child.id()).unwrap_or(0));
        }
        drop(input);
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(3), "{said}");
        assert!(said.contains(&format!("-, line {line}: the line is longer than")), "{said}");
        assert!(0 < peak && peak <= MEMORY, "{peak} bytes");
    }
}

#[test]
fn every_order_works_with_the_least_memory() {
    let shop = Shop::new();
    // A few vertices, with ids from a wide range.
    let id = |number: u64| number * 7919 * 7919 % 1_500_007;
    let lines = (0..900).map(|edge| format!("{} {} 1\n", id(edge % 318), id(edge * 31 % 318)));
    shop.write("g.txt", lines.collect::<String>());
    for order in ["given", "degree", "dfs", "auto"] {
        for options in ["", "--undirected", "--weighted"] {
            let words = format!("g.txt --order {order} --memory 64MiB {options}");
            assert_eq!(counts(&shop, &words).0, 318, "{words}");
        }
    }
}

#[test]
fn a_budget_that_is_exceeded_is_named_as_it_was_given() {
    let shop = Shop::new();
    let mut out = BufWriter::new(File::create(shop.path("g.bin32")).unwrap());
    for id in 0..1_500_000u32 {
        out.write_all(&[id.to_le_bytes(), (id + 1).to_le_bytes()].concat()).unwrap();
    }
    out.flush().unwrap();
    let words = "import g.bin32 -o g.tegula --order dfs --memory";
    let said = shop.tegula(&format!("{words} 64MiB")).failed(4, &["the budget is 64.0 MiB"]);
    let needed = said.err.split("needs ").nth(1).unwrap().split(" MiB").next().unwrap();
    let enough: f64 = needed.parse().unwrap();
    shop.tegula(&format!("{words} {}MiB", enough.ceil())).done();
}

#[test]
fn a_header_is_known_in_standard_input() {
    let shop = Shop::new();
    for text in ["FromNodeId\tToNodeId\n1\t2\n", "u,v\n1,2\n", "one other\n1 2\n"] {
        let mut child = shop.start("import - -o g.tegula --force --json");
        let mut input = child.stdin.take().unwrap();
        let writer = thread::spawn(move || input.write_all(text.as_bytes()).unwrap());
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!((&report["vertices"], &report["edges"]), (&2.into(), &1.into()), "{text:?}");
    }
}

#[test]
fn graphs_in_xml_are_those_of_their_edge_lists() {
    let shop = Shop::new();
    shop.write("g.el", "5 7\n7 9\n9 5\n5 9\n");
    let nodes = "<node id='5'/><node id='7'><data/></node><node id='9'/>";
    let edges = "<edge source='5' target='7'/><edge source='7' target='9'/>\n\
                 <edge source='9' target='5'/><edge source='5' target='9'></edge>";
    let graphml =
        format!("<graphml><graph edgedefault='directed'>{nodes}{edges}</graph></graphml>");
    shop.write("g.graphml", graphml);
    let gexf = format!(
        "<gexf><graph defaultedgetype='directed'><nodes>{nodes}</nodes><edges>{edges}</edges></graph></gexf>"
    );
    shop.write("g.gexf", gexf);
    for name in ["g.graphml", "g.gexf"] {
        assert_eq!(counts(&shop, name), (3, 4));
        let ranks = shop.tegula("run pagerank g.tegula -o -").done().out;
        assert_eq!(counts(&shop, "g.el"), (3, 4));
        assert_eq!(shop.tegula("run pagerank g.tegula -o -").done().out, ranks, "{name}");
        // A stream can be read once, but a document is read twice.
        let piped = format!("$T import - --format {} -o p.tegula < {name}", &name[2..]);
        shop.shell(&piped).failed(3, &["cannot be read from a stream"]);
    }
    shop.write(
        "bad.graphml",
        "<graphml>\n<graph edgedefault='directed'>\n<edge source='1'/>\n</graph></graphml>",
    );
    shop.tegula("import bad.graphml -o b.tegula")
        .failed(3, &["bad.graphml, line 3", "no `target`"]);
    shop.tegula("import g.el -o b.tegula --format graphml")
        .failed(3, &["this GraphML has no element `graph`"]);
}

#[test]
fn listed_vertices_that_are_skipped_as_comments_are_warned_of() {
    let shop = Shop::new();
    shop.write("g.csv", "ann,bob\n");
    let imported = |list: &str, options: &str| {
        shop.write("list.csv", list);
        let words = format!("import g.csv -o g.tegula --no-header --force --json {options}");
        let mut report = shop.tegula(&words).done().json();
        (report["vertices"].take(), report["warnings"].take())
    };
    for (list, line, count) in
        [("ann\nbob\n#rust\n", 3, 1), ("# names\nvertex\n% of two\nann\nbob\n\n%x\n #y\n", 7, 2)]
    {
        let told = format!(
            "list.csv, line {line}: skipped this line as a comment, the first of {count} after \
             the first vertex; where an id begins with # or %, put it in quotes, with commas or \
             tabs between the columns"
        );
        let expected = (serde_json::json!(2), serde_json::json!([told]));
        assert_eq!(imported(list, "--vertices list.csv"), expected, "{list}");
    }
    let (vertices, warnings) = imported("# c\nann\nbob\n\"#rust\"\n", "--vertices list.csv");
    assert_eq!((vertices, warnings), (serde_json::json!(3), serde_json::json!([])));
}

#[test]
fn an_input_that_is_named_twice_is_refused() {
    let shop = Shop::new();
    std::fs::create_dir(shop.path("parts")).unwrap();
    shop.write("parts/a.csv", "1,2\n");
    shop.write("parts/b.csv", "2,3\n");
    for names in
        ["parts/a.csv parts/a.csv", "parts parts/b.csv", "parts/a.csv ./parts/../parts/a.csv"]
    {
        let words = format!("import {names} -o g.tegula");
        shop.tegula(&words).failed(3, &["this input is named twice"]);
    }
    shop.shell("echo 1 2 | $T import - - -o g.tegula").failed(3, &["this input is named twice"]);
    // A file may also come as standard input.
    for names in ["- parts/a.csv", "parts -", "- -"] {
        let words = format!("$T import {names} -o g.tegula < parts/a.csv");
        shop.shell(&words).failed(3, &["this input is named twice"]);
    }
    shop.tegula("import parts -o g.tegula").done();
    shop.shell("$T import - parts/b.csv -o h.tegula < parts/a.csv").done();
}
