//! Algorithms against oracles, and conditions that do not change their results.

use tegula_machine::disk::{Backend, Pool, Reader};
use tegula_testkit::data::skip;
use tegula_testkit::{
    EdgeList, bfs, match_pagerank, match_personalized_pagerank, small_graphs, verify_bfs,
    verify_wcc, wcc,
};

use crate::shop::{Shop, assert_shape, column, numbers, numbers_with_gaps};

#[test]
fn every_small_graph_has_the_oracles_answers() {
    let shop = Shop::new();
    for (name, graph) in small_graphs(11) {
        shop.import(&graph, "");
        let ranks = shop.tegula("run pagerank g.tegula --iterations 12").done().out;
        match_pagerank(&graph, 0.85, 12, &numbers(&ranks, "rank")).expect(name);
        let components = shop.tegula("run wcc g.tegula").done().out;
        verify_wcc(&graph, &numbers(&components, "component")).expect(name);
        let Some(&source) = graph.vertices().last() else { continue };
        let found = shop.tegula(&format!("run bfs g.tegula --source {source} --parents")).done();
        let distances = numbers_with_gaps(&found.out, "distance");
        let parents = numbers_with_gaps(&found.out, "parent");
        verify_bfs(&graph, source, &distances, Some(&parents)).expect(name);
        assert_eq!(distances, bfs(&graph, source), "{name}");
    }
}

#[test]
fn both_methods_for_components_agree_in_every_order() {
    let shop = Shop::new();
    for (name, graph) in small_graphs(3) {
        for order in ["given", "degree", "dfs"] {
            shop.import(&graph, &format!("--undirected --order {order}"));
            let joined = shop.tegula("run wcc g.tegula").done().out;
            let spread = shop.tegula("run wcc g.tegula --method propagation").done().out;
            assert_eq!(joined, spread, "{name} {order}");
            assert_eq!(numbers::<u64>(&joined, "component"), wcc(&graph), "{name} {order}");
        }
    }
}

#[test]
fn results_depend_on_neither_threads_nor_how_files_are_read_nor_memory() {
    let shop = Shop::new();
    shop.tegula("generate rmat --scale 11 -o g.el").done();
    shop.tegula("import g.el -o g.tegula --layouts tiles,rows").done();
    let has_rings = Reader::open(Backend::Uring, Pool::new(1 << 20)).is_ok();
    if !has_rings {
        skip("this system has no io_uring");
    }
    for algorithm in [
        "pagerank g.tegula",
        "wcc g.tegula",
        "bfs g.tegula --source 4 --parents",
        "sssp g.tegula --source 4",
    ] {
        let expected = shop.tegula(&format!("run {algorithm} --threads 1")).done().out;
        assert!(expected.lines().count() > 1000);
        for options in [
            "--threads 2 --io auto",
            "--threads 3 --io threads",
            "--threads 1 --io threads",
            "--threads 2 --io threads --memory 48MiB",
            "--executor scan",
            "--executor seek --threads 3 --io threads",
            "--executor seek --memory 64MiB",
            "--threads 3 --io uring",
        ] {
            let words = format!("run {algorithm} {options}");
            let said = shop.tegula(&words);
            let scans = algorithm.starts_with("pagerank") || algorithm.starts_with("wcc");
            if scans && options.contains("seek") {
                said.failed(2, &["--executor"]);
                continue;
            }
            if options.contains("uring") && !has_rings {
                said.failed(1, &["io_uring"]);
                continue;
            }
            assert!(said.done().out == expected, "{words}");
        }
    }
}

#[test]
fn json_is_one_object_with_the_promised_fields() {
    let shop = Shop::new();
    shop.import(&EdgeList::new(vec![(1, 2), (2, 3), (3, 1), (4, 1)]), "");
    for (algorithm, summary) in [
        ("pagerank g.tegula", [("change", "number"), ("sum", "number"), ("top", "array")]),
        (
            "bfs g.tegula --source 2",
            [("reached", "number"), ("depth", "number"), ("levels", "array")],
        ),
        ("wcc g.tegula", [("components", "number"), ("largest", "number"), ("top", "array")]),
    ] {
        let report = shop.tegula(&format!("run {algorithm} --json")).done().json();
        assert_eq!(report["schema"], "tegula.run.v1");
        assert_eq!(report["algorithm"], algorithm.split(' ').next().unwrap());
        assert_eq!((&report["vertices"], &report["edges"]), (&4.into(), &4.into()));
        let numbers =
            ["iterations", "edges_processed", "bytes_read", "bytes_written", "peak_memory_bytes"];
        assert_shape(&report, &numbers.map(|name| (name, "number")));
        assert_shape(&report["seconds"], &["open", "run", "write"].map(|name| (name, "number")));
        assert_shape(&report["summary"], &summary);
        let times = report["iteration_seconds"].as_array().unwrap();
        assert_eq!(Some(times.len() as u64), report["iterations"].as_u64());
        assert_eq!(report["bytes_written"], 0);
    }
    shop.import(&EdgeList::default(), "");
    let report = shop.tegula("run pagerank g.tegula --json").done().out;
    assert!(report.contains(r#""sum":0.0,"#), "{report}");
    shop.import(&EdgeList::new(vec![(1, 2), (2, 3), (3, 1), (4, 1)]), "");
    let report = shop.tegula("run bfs g.tegula --source 2 --json -o out.csv").done().json();
    assert_eq!(report["bytes_written"].as_u64(), Some(shop.read("out.csv").len() as u64));
    let expected = serde_json::json!({"reached": 3, "depth": 2, "levels": [1, 1, 1]});
    assert_eq!(report["summary"], expected);
}

#[test]
fn top_prints_the_first_rows_and_orders_ties_by_vertex() {
    let shop = Shop::new();
    // All others point to 5 and are alike.
    shop.import(&EdgeList::new(vec![(9, 5), (3, 5), (7, 5), (1, 5), (20, 21)]), "");
    let said = shop.tegula("run pagerank g.tegula --top 4").done();
    let vertices: Vec<u64> = column(&said.out, "rank").into_iter().map(|(v, _)| v).collect();
    assert_eq!(vertices, [5, 21, 1, 3]);
    assert!(said.err.contains("sum of ranks"));
    let levels = shop.tegula("run bfs g.tegula --source 9 --top 8").done().out;
    assert_eq!(levels, "distance\tvertices\n0\t1\n1\t1\n");
    let components = shop.tegula("run wcc g.tegula --top 1").done().out;
    assert_eq!(components, "component\tvertices\n1\t5\n");
    assert_eq!(shop.tegula("run wcc g.tegula --top 0").done().out, "component\tvertices\n");
    shop.import(&EdgeList::new(vec![(3, 1), (1, 2), (2, 9)]), "");
    let order = shop.tegula("run topological-order g.tegula --top 2").done().out;
    assert_eq!(order, "vertex\tposition\n3\t0\n1\t1\n");
}

#[test]
fn pagerank_stops_as_its_options_say() {
    let shop = Shop::new();
    shop.tegula("generate rmat --scale 8 -o g.el").done();
    shop.tegula("import g.el -o g.tegula").done();
    let iterations = |options: &str| {
        let report = shop.tegula(&format!("run pagerank g.tegula --json {options}")).done().json();
        let change = report["summary"]["change"].as_f64();
        (report["iterations"].as_u64().unwrap(), change)
    };
    assert_eq!(iterations("--iterations 3").0, 3);
    assert_eq!(iterations("--iterations 0"), (0, None));
    assert_eq!(iterations("--tolerance 0 --max-iterations 7").0, 7);
    let (count, change) = iterations("--tolerance 1e-3");
    assert!(count < 20 && change < Some(1e-3), "{count} {change:?}");
    let both = "run pagerank g.tegula --iterations 3 --tolerance 0.1";
    shop.tegula(both).failed(2, &["--tolerance"]);
}

#[test]
fn ranks_that_have_not_converged_are_done_with_a_warning() {
    let shop = Shop::new();
    // The ranks swing between the middle of this star and its leaves for long.
    shop.import(&EdgeList::new((1..500).map(|leaf| (0, leaf)).collect()), "--undirected");
    let converged = |options: &str| {
        let said = shop.tegula(&format!("run pagerank g.tegula --json {options}")).done();
        let report = said.json();
        let warnings = report["warnings"].as_array().unwrap().len();
        assert_eq!(said.err.contains("warning: the ranks have not converged"), warnings == 1);
        (report["summary"]["converged"].as_bool(), warnings)
    };
    assert_eq!(converged(""), (Some(true), 0));
    assert_eq!(converged("--tolerance 1e-8 --max-iterations 200"), (Some(true), 0));
    assert_eq!(converged("--max-iterations 20"), (Some(false), 1));
    assert_eq!(converged("--max-iterations 0"), (Some(false), 1));
    // `--iterations` sets no tolerance.
    assert_eq!(converged("--iterations 20"), (None, 0));
    let said = shop.tegula("run pagerank g.tegula --max-iterations 20 --quiet --top 1").done();
    assert!(said.err.starts_with("warning: ") && said.err.contains("--max-iterations"));
    shop.import(&EdgeList::default(), "");
    assert_eq!(converged(""), (Some(true), 0));
}

#[test]
fn ignored_weights_are_warned_of() {
    let shop = Shop::new();
    shop.write("g.wel", "1 2 0.5\n2 3 0.25\n3 1 4\n");
    shop.write("sets.txt", "1 1\n2 2\n");
    for (options, is_weighted) in [("--undirected --weighted", true), ("--undirected", false)] {
        shop.tegula(&format!("import g.wel -o g.tegula --force {options}")).done();
        for (algorithm, expects_weights) in [
            ("pagerank g.tegula", true),
            ("conductance g.tegula --sets sets.txt", true),
            ("sssp g.tegula --source 1", false),
            ("astar g.tegula --source 1 --target 2", false),
            ("mst g.tegula", false),
            ("bfs g.tegula --source 1", false),
            ("wcc g.tegula", false),
            ("mis g.tegula", false),
        ] {
            let said = shop.tegula(&format!("run {algorithm} --json")).done();
            let warnings = said.json()["warnings"].as_array().unwrap().len();
            assert_eq!(warnings == 1, is_weighted && expects_weights, "{algorithm} {options}");
            let words = " passes over the weights of the graph";
            assert_eq!(said.err.contains(words), warnings == 1, "{}", said.err);
            assert_eq!(said.err.contains("the option --weighted"), warnings == 1, "{}", said.err);
        }
        let said = shop.tegula("run louvain g.tegula").done().err;
        assert_eq!(said.contains("those of the graph"), is_weighted, "{said}");
        assert_eq!(said.contains("1 for every edge"), !is_weighted, "{said}");
        assert!(said.contains("louvain on g.tegula: 3 vertices, 3 edges (6 arcs)"), "{said}");
        assert!(said.contains("arcs followed"), "{said}");
    }
}

#[test]
fn a_dead_end_leads_to_the_seeds() {
    let shop = Shop::new();
    shop.import(&EdgeList::new(vec![(1, 2), (3, 4), (4, 3)]), "");
    shop.write("seeds.txt", "1\n");
    let words = "run pagerank g.tegula --personalize seeds.txt --tolerance 1e-9 \
                 --max-iterations 1000";
    let ranks: Vec<(u64, f64)> = numbers(&shop.tegula(words).done().out, "rank");
    // r1 = 0.15 + 0.85 r2, r2 = 0.85 r1: all jumps lead to 1, none to 3 and 4.
    for ((vertex, rank), expected) in ranks.into_iter().zip([1.0 / 1.85, 0.85 / 1.85, 0.0, 0.0]) {
        assert!((rank - expected).abs() < 1e-6, "{vertex}: {rank}, not {expected}");
    }
}

#[test]
fn seeds_pull_the_ranks_towards_them() {
    let shop = Shop::new();
    for (name, graph) in small_graphs(11) {
        let Some(&seed) = graph.vertices().last() else { continue };
        shop.import(&graph, "");
        shop.write("seeds.txt", format!("# preferred\r\n{seed}\t0.5\r\n\n{}\n", graph.edges[0].0));
        let words = "run pagerank g.tegula --iterations 12 --personalize seeds.txt";
        let ranks = shop.tegula(words).done().out;
        let seeds = [(seed, 0.5), (graph.edges[0].0, 1.0)];
        match_personalized_pagerank(&graph, 0.85, 12, &seeds, &numbers(&ranks, "rank"))
            .expect(name);
    }
    shop.write("g.csv", "src,dst\nann,bob\nbob,007\n");
    shop.tegula("import g.csv -o g.tegula --force --ids string").done();
    shop.write("seeds.txt", "007,2\n");
    let words = "run pagerank g.tegula --json --personalize seeds.txt";
    assert_eq!(shop.tegula(words).done().json()["summary"]["top"][0]["vertex"], "007");
}

#[test]
fn seeds_that_make_no_sense_are_refused_with_their_line() {
    let shop = Shop::new();
    shop.import(&EdgeList::new(vec![(1, 2), (2, 4)]), "");
    for (text, words) in [
        ("1\n3\n", "seeds.txt, line 2: g.tegula has no vertex `3`"),
        ("x\n", "line 1: g.tegula has no vertex `x`, as its ids are integers"),
        ("1 a\n", "seeds.txt, line 1: `a`"),
        ("\n1 -1\n", "seeds.txt, line 2: `-1`"),
        ("1 0\n", "no vertex"),
        ("# nobody\n", "no vertex"),
    ] {
        shop.write("seeds.txt", text);
        shop.tegula("run pagerank g.tegula --personalize seeds.txt").failed(3, &[words]);
    }
    shop.tegula("run pagerank g.tegula --personalize no.txt").failed(3, &["no.txt"]);
}

#[test]
fn strings_are_ids_as_well() {
    let shop = Shop::new();
    shop.write("g.tsv", "bob\tann\ncy\tbob\n007\tx\n");
    shop.tegula("import g.tsv -o g.tegula --no-header --ids string").done();
    let components = shop.tegula("run wcc g.tegula").done().out;
    let expected = "vertex\tcomponent\n007\t007\nann\tann\nbob\tann\ncy\tann\nx\t007\n";
    assert_eq!(components, expected);
    let found = shop.tegula("run bfs g.tegula --source cy --parents").done().out;
    let expected = "vertex\tdistance\tparent\n007\t\t\nann\t2\tbob\nbob\t1\tcy\ncy\t0\tcy\nx\t\t\n";
    assert_eq!(found, expected);
    assert!(shop.tegula("run bfs g.tegula --source 007").done().out.contains("x\t1\n"));
    let report = shop.tegula("run pagerank g.tegula --json").done().json();
    assert_eq!(report["summary"]["top"][0]["vertex"], "ann");
}

#[test]
fn long_names_are_ids_as_well() {
    let shop = Shop::new();
    // One name of some hundred KiB, some MiB in all, and letters of an odd number of bytes.
    let name = |vertex: usize| match vertex {
        1234 => "\u{1f3db}".repeat(100_000),
        _ => format!("{}-{vertex:04}", "\u{20ac}".repeat(500)),
    };
    let edges = (1..3000).map(|vertex| format!("{}\t{}\n", name(vertex - 1), name(vertex)));
    shop.write("g.tsv", edges.collect::<String>());
    shop.tegula("import g.tsv -o g.tegula --no-header --ids string").done();
    shop.tegula("verify g.tegula").done();
    // Vertex 1234 is the last one in byte order.
    let order = (0..3000).filter(|&vertex| vertex != 1234).chain([1234]);
    let (mut hops, mut components) = (String::new(), String::new());
    for vertex in order {
        hops += &format!("{}\t{vertex}\t{}\n", name(vertex), name(vertex.saturating_sub(1)));
        components += &format!("{}\t{}\n", name(vertex), name(0));
    }
    let said = shop.tegula("run wcc g.tegula").done();
    assert!(said.out.strip_prefix("vertex\tcomponent\n") == Some(&components));
    let said = shop.tegula(&format!("run bfs g.tegula --parents --source {}", name(0))).done();
    assert!(said.out.strip_prefix("vertex\tdistance\tparent\n") == Some(&hops));
    for vertex in [1, 1233, 1235, 2999] {
        let words = format!("run bfs g.tegula --top 1 --source {}", name(vertex));
        assert_eq!(shop.tegula(&words).done().out, "distance\tvertices\n0\t1\n");
    }
}

#[test]
fn an_estimate_says_what_is_needed_and_runs_nothing() {
    let shop = Shop::new();
    shop.import(&EdgeList::new((0..1000).map(|v| (v, v / 2)).collect()), "");
    shop.write("seed.txt", "1\n");
    shop.write("seeds.txt", "1\n".repeat(300_000));
    for algorithm in [
        "pagerank g.tegula",
        "pagerank g.tegula --personalize seed.txt",
        "pagerank g.tegula --personalize seeds.txt",
        "wcc g.tegula",
        "bfs g.tegula --source 1",
        "bfs g.tegula --source 1 --parents",
        "subgraph g.tegula --component 1 -o part.tegula --force",
    ] {
        let words = format!("run {algorithm} --estimate --json --memory 8MiB");
        let said = shop.tegula(&words);
        assert_eq!(said.code, Some(4), "{}", said.err);
        assert!(said.err.contains("the budget is 8.0 MiB"), "{}", said.err);
        let estimate = said.json();
        assert_eq!(estimate["fits"], false, "{estimate}");
        let needed = estimate["needed_bytes"].as_u64().unwrap();
        // The budget that the estimate names is indeed the least.
        shop.tegula(&format!("run {algorithm} --memory {needed}")).done();
        let less = needed - 1;
        shop.tegula(&format!("run {algorithm} --memory {less}")).failed(4, &["budget"]);
    }
    let text = shop.tegula("run pagerank g.tegula --estimate -o out.csv").done().out;
    assert!(text.contains("vertex arrays") && text.contains("fits"), "{text}");
    assert!(!shop.path("out.csv").exists());
}
