//! Rules for every table of vertices that an option names. Its first row is no header unless its
//! names or an option say so. Rows of vertices that the graph lacks are refused or, with
//! `--missing skip`, counted and skipped.

use serde_json::{Value, json};

use crate::shop::{Said, Shop};

/// A command that ends with an option; the table follows.
#[derive(Clone, Copy)]
struct Call {
    words: &'static str,
    /// In each row of the table, the text after the id, with commas. `ID` is a vertex.
    rest: &'static str,
}

impl Call {
    /// Returns the option at the end of the words.
    fn option(&self) -> &'static str {
        self.words.rsplit(' ').next().unwrap()
    }

    /// Writes a table with these ids.
    fn table(&self, shop: &Shop, name: &str, ids: &[&str], known: &str) {
        let rest = self.rest.replace("ID", known);
        self.write(shop, name, ids.iter().map(|id| format!("{id}{rest}\n")).collect());
    }

    /// Writes the same with a header of unknown names.
    fn table_with_header(&self, shop: &Shop, name: &str, ids: &[&str], known: &str) {
        let names = &",a,b"[..2 * self.rest.matches(',').count()];
        let rest = self.rest.replace("ID", known);
        let rows: String = ids.iter().map(|id| format!("{id}{rest}\n")).collect();
        self.write(shop, name, format!("person{names}\n{rows}"));
    }

    fn write(&self, shop: &Shop, name: &str, rows: String) {
        shop.write(name, if name.ends_with(".csv") { rows } else { rows.replace(',', "\t") });
    }

    /// Runs the command on a table. `FIRST` is replaced by a vertex.
    fn run(&self, shop: &Shop, first: &str, table_and_more: &str) -> Said {
        shop.tegula(&format!("{} {table_and_more}", self.words.replace("FIRST", first)))
    }
}

const fn call(words: &'static str, rest: &'static str) -> Call {
    Call { words, rest }
}

/// All options that name a table of vertices.
const CALLS: [Call; 17] = [
    call("run bfs g.tegula --sources", ""),
    call("run bfs g.tegula --source FIRST --targets", ""),
    call("run sssp g.tegula --sources", ""),
    call("run sssp g.tegula --source FIRST --targets", ""),
    call("run k-hop g.tegula --hops 0 --sources", ""),
    call("run betweenness g.tegula --sources", ""),
    call("run random-walks g.tegula --length 1 --sources", ""),
    call("run similarity g.tegula --sources", ""),
    call("run similarity g.tegula --pairs", ",ID"),
    call("run subgraph g.tegula --vertices", ""),
    call("export g.tegula -o - --neighbours-of", ""),
    call("run pagerank g.tegula --iterations 2 --personalize", ""),
    call("run pagerank g.tegula --iterations 2 --personalize", ",2"),
    call("run spmv g.tegula --iterations 1 --vector", ",3"),
    call("run conductance g.tegula --sets", ",red"),
    call("run belief-propagation g.tegula --potential alike.txt --priors", ",1,0.5"),
    call("run astar g.tegula --source FIRST --target FIRST --coordinates", ",1,2"),
];

/// Imports a ring of three vertices, with rows.
fn import_ring(shop: &Shop, [a, b, c]: [&str; 3]) {
    shop.write("g.el", format!("{a} {b}\n{b} {c}\n{c} {a}\n"));
    shop.tegula("import g.el -o g.tegula --force --undirected --layouts tiles,rows").done();
    shop.write("alike.txt", "0.9 0.1\n0.1 0.9\n");
}

const INTEGERS: [&str; 3] = ["0", "1", "2"];
const STRINGS: [&str; 3] = ["ann", "bob", "cy"];

#[test]
fn an_unknown_vertex_in_the_first_row_is_refused_by_every_option() {
    let shop = Shop::new();
    for (vertices, unknown) in [(INTEGERS, &["99", "7.0", "foo"][..]), (STRINGS, &["alcie"])] {
        import_ring(&shop, vertices);
        for call in CALLS {
            for (&first, name) in unknown.iter().zip(["t.csv", "t.txt", "t.csv"]) {
                let [a, b, c] = vertices;
                call.table(&shop, name, &[first, a, b, c], a);
                let said = call.run(&shop, a, &format!("{name} --missing refuse"));
                let no_vertex = format!("g.tegula has no vertex `{first}`");
                said.failed(
                    3,
                    &["line 1", &no_vertex, "known by the column names `vertex`", "--header"],
                );
            }
        }
    }
}

#[test]
fn every_option_skips_a_declared_header() {
    let shop = Shop::new();
    for vertices in [INTEGERS, STRINGS] {
        import_ring(&shop, vertices);
        for call in CALLS {
            for name in ["t.csv", "t.txt"] {
                call.table(&shop, name, &vertices, vertices[0]);
                let expected = call.run(&shop, vertices[0], name).done().out;
                call.table_with_header(&shop, name, &vertices, vertices[0]);
                let told = call.run(&shop, vertices[0], &format!("{name} --header")).done().out;
                assert_eq!(told, expected, "{} {name}", call.words);
                let untold = call.run(&shop, vertices[0], &format!("{name} --missing refuse"));
                untold.failed(3, &["line 1", "has no vertex `person`"]);
            }
        }
    }
}

#[test]
fn a_header_of_known_names_needs_no_option() {
    let shop = Shop::new();
    import_ring(&shop, INTEGERS);
    for (option, header, rows) in [
        ("run k-hop g.tegula --hops 0 --sources", "vertex", "0\n2\n"),
        ("run k-hop g.tegula --hops 0 --sources", "customer_id", "0\n2\n"),
        ("run k-hop g.tegula --hops 0 --sources", "name,id", "x,0\ny,2\n"),
        ("run similarity g.tegula --pairs", "u,v", "0,1\n2,1\n"),
        ("run similarity g.tegula --pairs", "similarity,source,target", "1,0,1\n1,2,1\n"),
        ("run spmv g.tegula --iterations 1 --vector", "person,value", "0,1\n2,1\n"),
    ] {
        shop.write("t.csv", format!("{header}\n{rows}"));
        let said = shop.tegula(&format!("{option} t.csv --json")).done().json();
        assert_eq!(said["tables"][0]["rows"], 2, "{option} {header}: {said}");
    }
}

#[test]
fn unknown_vertices_are_skipped_and_counted_by_every_option() {
    let shop = Shop::new();
    for vertices in [INTEGERS, STRINGS] {
        import_ring(&shop, vertices);
        for call in CALLS {
            let [a, b, c] = vertices;
            call.table(&shop, "t.csv", &vertices, a);
            let expected = call.run(&shop, a, "t.csv").done().out;
            call.table(&shop, "t.csv", &["99", a, "foo", b, "foo", c], a);
            let said = call.run(&shop, a, "t.csv --missing skip").done();
            assert_eq!(said.out, expected, "{}", call.words);
            let warning = format!(
                "warning: {}: 3 of 6 rows were skipped, as the graph does not have their vertices: `99`, `foo`",
                call.option()
            );
            assert!(said.err.contains(&warning), "{}", said.err);
            call.run(&shop, a, "t.csv --missing refuse").failed(3, &["no vertex `99`"]);
            call.table(&shop, "t.csv", &["99", "98"], a);
            let none = call.run(&shop, a, "t.csv --missing skip");
            none.failed(3, &["t.csv: g.tegula has no vertex of this table: it lacks `99`, `98`"]);
        }
    }
}

#[test]
fn a_program_is_told_which_rows_were_skipped() {
    let shop = Shop::new();
    import_ring(&shop, STRINGS);
    shop.write("t.txt", "ann\nx\nbob\n");
    let tables = |words: &str, option: &str| {
        let said = shop.tegula(&format!("{words} t.txt --missing skip --json")).done().json();
        let expected = json!([
            {"option": option, "rows": 2, "missing_rows": 1, "missing_first": ["x"]}
        ]);
        assert_eq!(said["tables"], expected, "{words}");
        assert_eq!(said["warnings"].as_array().map(Vec::len), Some(1), "{said}");
    };
    tables("run k-hop g.tegula --hops 1 --sources", "sources");
    tables("export g.tegula -o out.csv --neighbours-of", "neighbours_of");
    let said = shop.tegula("run wcc g.tegula --json").done().json();
    assert_eq!(said["tables"], Value::Array(Vec::new()));
    // An algorithm without tables has no such option.
    shop.tegula("run wcc g.tegula --missing skip").failed(2, &["--missing"]);
}

#[test]
fn the_other_vertex_of_a_pair_may_be_missing_too() {
    let shop = Shop::new();
    for vertices in [INTEGERS, STRINGS] {
        import_ring(&shop, vertices);
        let [a, b, _] = vertices;
        shop.write("t.csv", format!("{a},{b}\n{a},99\n{a},+1\n"));
        let words = "run similarity g.tegula --pairs t.csv";
        shop.tegula(words).failed(3, &["line 2", "has no vertex `99`"]);
        let said = shop.tegula(&format!("{words} --missing skip --json")).done().json();
        let table = &said["tables"][0];
        assert_eq!((&table["rows"], &table["missing_rows"]), (&1.into(), &2.into()), "{said}");
    }
}

#[test]
fn parquet_tables_of_a_larger_graph_have_missing_vertices() {
    let shop = Shop::new();
    for vertices in [INTEGERS, STRINGS] {
        let [a, b, c] = vertices;
        shop.write("large.el", format!("{a} {b}\n{b} {c}\n{c} {a}\n{c} 9\n"));
        shop.tegula("import large.el -o large.tegula --force --undirected").done();
        import_ring(&shop, vertices);
        shop.write("pairs.csv", format!("{a},{b}\n{a},9\n9,{a}\n"));
        for (run, name) in
            [("pagerank", "ranks"), ("wcc", "sets"), ("similarity --pairs pairs.csv", "pairs")]
        {
            let (algorithm, options) = run.split_once(' ').unwrap_or((run, ""));
            let words = format!("run {algorithm} large.tegula {options} -o {name}.parquet --force");
            shop.tegula(&words).done();
        }
        for call in CALLS.iter().filter(|call| !call.rest.contains(",1,")) {
            let (table, missing) = match call.option() {
                "--sets" => ("sets.parquet", 1),
                "--pairs" => ("pairs.parquet", 2),
                _ => ("ranks.parquet", 1),
            };
            call.run(&shop, a, table).failed(3, &["has no vertex `9`"]);
            let said = call.run(&shop, a, &format!("{table} --missing skip")).done();
            assert!(said.err.contains(&format!(": {missing} of ")), "{}: {}", call.words, said.err);
        }
    }
}

#[test]
fn a_list_of_vertices_for_an_import_keeps_its_first_row() {
    let shop = Shop::new();
    shop.write("g.el", "0 1\n");
    let import = |list: &str, options: &str| {
        shop.write("list.csv", list);
        let words = format!("import g.el -o g.tegula --force --vertices list.csv --json {options}");
        shop.tegula(&words)
    };
    for first in ["foo", "7.0", "1O7", "-1"] {
        import(&format!("{first}\n0\n1\n"), "").failed(3, &["list.csv, line 1", first]);
    }
    let named = "if this is the header, name the column `vertex`";
    import("person\n0\n1\n", "").failed(3, &["line 1", named]);
    for header in ["vertex", "id", "Node", "person_id"] {
        let said = import(&format!("{header}\n0\n1\n7\n"), "").done().json();
        assert_eq!(said["vertices"], 3, "{header}");
    }
    let said = import("alcie\n0\n1\n", "--ids string").done().json();
    assert_eq!(said["vertices"], 3, "a first row of a list of names is a vertex");
}

#[test]
fn a_table_without_rows_is_a_warning() {
    let shop = Shop::new();
    import_ring(&shop, INTEGERS);
    for call in ["run k-hop g.tegula --hops 1 --sources", "run bfs g.tegula --source 0 --targets"] {
        for (text, option) in [("", ""), ("vertex\n", ""), ("person\n", "--header")] {
            shop.write("t.csv", text);
            let said = shop.tegula(&format!("{call} t.csv {option}")).done();
            assert!(said.err.contains("the table has no rows"), "{call} {text:?}: {}", said.err);
        }
    }
}

#[test]
fn a_last_row_that_may_be_cut_off_is_a_warning_of_every_option() {
    let shop = Shop::new();
    import_ring(&shop, INTEGERS);
    for call in CALLS {
        call.table(&shop, "t.csv", &INTEGERS, "0");
        let whole = call.run(&shop, "0", "t.csv").done();
        assert!(!whole.err.contains("cut off"), "{}", whole.err);
        let text = String::from_utf8(shop.read("t.csv")).unwrap();
        shop.write("t.csv", text.trim_end());
        let cut = call.run(&shop, "0", "t.csv").done();
        let warning = "the last row does not end with a line feed";
        assert!(cut.err.contains(call.option()) && cut.err.contains(warning), "{}", cut.err);
        assert_eq!(cut.out, whole.out);
    }
}

#[test]
fn standard_input_is_read_for_one_option_only() {
    let shop = Shop::new();
    import_ring(&shop, INTEGERS);
    let both = "echo 0 | $T run bfs g.tegula --sources - --targets -";
    shop.shell(both).failed(3, &["standard input can be read only once"]);
    let matrix = "printf '2 1\\n1 2\\n' | $T run belief-propagation g.tegula";
    let both = format!("{matrix} --potential - --priors -");
    shop.shell(&both).failed(3, &["standard input can be read only once"]);
}
