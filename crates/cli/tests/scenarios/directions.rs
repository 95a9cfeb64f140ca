//! Searches along edges, against edges, and in both directions.

use crate::shop::Shop;

/// Imports calls and their lengths: `ann -> bob -> cy` and `dee -> bob`.
fn import(shop: &Shop, options: &str) {
    shop.write("calls.csv", "source,target,weight\nann,bob,2\nbob,cy,3\ndee,bob,1\n");
    let words = "import calls.csv -o g.tegula --force --weighted";
    shop.tegula(&format!("{words} {options}")).done();
}

/// Returns a table of all vertices.
fn of_all(ann: &str, bob: &str, cy: &str, dee: &str) -> String {
    format!("vertex\tdistance\nann\t{ann}\nbob\t{bob}\ncy\t{cy}\ndee\t{dee}\n")
}

#[test]
fn a_search_follows_the_given_direction() {
    let shop = Shop::new();
    for layouts in ["tiles", "tiles,rows", "tiles,reverse", "tiles,rows,reverse"] {
        for (direction, hops, distances, near) in [
            ("out", of_all("", "0", "1", ""), of_all("", "0", "3", ""), "bob\t0\ncy\t1\n"),
            (
                "in",
                of_all("1", "0", "", "1"),
                of_all("2", "0", "", "1"),
                "ann\t1\nbob\t0\ndee\t1\n",
            ),
            (
                "both",
                of_all("1", "0", "1", "1"),
                of_all("2", "0", "3", "1"),
                "ann\t1\nbob\t0\ncy\t1\ndee\t1\n",
            ),
        ] {
            import(&shop, &format!("--layouts {layouts}"));
            let run = |words: &str| {
                shop.tegula(&format!("run {words} --source bob --direction {direction}")).done().out
            };
            assert_eq!(run("bfs g.tegula"), hops, "{direction} {layouts}");
            assert_eq!(run("bfs g.tegula --executor seek"), hops, "{direction} {layouts}");
            assert_eq!(run("sssp g.tegula"), distances, "{direction} {layouts}");
            assert_eq!(run("sssp g.tegula --method dijkstra"), distances, "{direction} {layouts}");
            let found = run("k-hop g.tegula --hops 1");
            assert_eq!(found, format!("vertex\thops\n{near}"), "{direction} {layouts}");
        }
        shop.tegula("verify g.tegula").done();
    }
    // `--direction out` is the default.
    let along = shop.tegula("run bfs g.tegula --source bob").done().out;
    assert_eq!(along, of_all("", "0", "1", ""));
}

#[test]
fn an_estimate_tells_which_rows_a_direction_needs() {
    let shop = Shop::new();
    import(&shop, "");
    for algorithm in ["bfs", "sssp"] {
        let estimate = |direction: &str| {
            let words = format!("run {algorithm} g.tegula --source bob --direction {direction}");
            shop.tegula(&format!("{words} --estimate --json")).done().json()
        };
        assert_eq!(estimate("out")["layout"], "tiles");
        for direction in ["in", "both"] {
            let told = estimate(direction);
            assert_eq!(told["layout"], "rows", "{told}");
            assert_eq!(told["why_in_memory"], "rows lead to random vertices");
            let needed = told["needed_bytes"].as_u64().unwrap();
            let words = format!("run {algorithm} g.tegula --source bob --direction {direction}");
            let less = needed - 1;
            shop.tegula(&format!("{words} --memory {less}")).failed(4, &["budget"]);
            shop.tegula(&format!("{words} --memory {needed}")).done();
            import(&shop, "");
        }
    }
}

#[test]
fn a_direction_that_cannot_be_followed_is_refused() {
    let shop = Shop::new();
    import(&shop, "");
    for algorithm in ["bfs", "sssp"] {
        for direction in ["in", "both"] {
            let words = format!("run {algorithm} g.tegula --source bob --direction {direction}");
            shop.tegula(&format!("{words} --executor scan"))
                .failed(2, &["follow rows", "--executor seek"]);
        }
        let words = format!("run {algorithm} g.tegula --source bob --direction");
        shop.tegula(&format!("{words} up")).failed(2, &["out", "in", "both"]);
    }
    import(&shop, "--undirected");
    for direction in ["out", "in", "both"] {
        let words = format!("run bfs g.tegula --source bob --direction {direction}");
        let found = shop.tegula(&format!("{words} --executor scan")).done().out;
        assert_eq!(found, of_all("1", "0", "1", "1"), "{direction}");
    }
}

#[test]
fn a_checkpoint_is_of_one_direction() {
    let shop = Shop::new();
    shop.tegula("generate path --vertices 50 -o g.el").done();
    shop.tegula("import g.el -o g.tegula --ids integer").done();
    for algorithm in ["bfs", "sssp"] {
        let words = format!("run {algorithm} g.tegula --source 49 --direction in");
        let expected = shop.tegula(&words).done().out;
        let kept = format!("{words} --checkpoint {algorithm} --checkpoint-every 7");
        assert_eq!(shop.tegula(&kept).done().out, expected);
        let resumed = shop.tegula(&format!("{words} --resume {algorithm}")).done().out;
        assert_eq!(resumed, expected, "{algorithm}");
        for direction in ["out", "both"] {
            let words = format!("run {algorithm} g.tegula --source 49 --direction {direction}");
            shop.tegula(&format!("{words} --resume {algorithm}")).failed(3, &["direction"]);
        }
    }
}
