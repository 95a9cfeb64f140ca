//! Declared vertices (`import --vertices N`): there may be more than have edges, up to 2^40 - 1.

use crate::shop::{Shop, numbers};

#[test]
fn vertices_without_edges_are_there_where_they_are_declared() {
    let shop = Shop::new();
    shop.write("g.txt", "0 1\n1 2\n2 0\n4 1\n");
    for order in ["given", "degree", "dfs"] {
        let import = format!("import g.txt -o g.tegula --vertices 7 --order {order} --force");
        shop.tegula(&import).done();
        let info = shop.tegula("info g.tegula --json").done().json();
        assert_eq!((&info["vertices"], &info["isolated"]), (&7.into(), &3.into()), "{order}");
        shop.tegula("verify g.tegula").done();
        let ranks = shop.tegula("run pagerank g.tegula -o -").done().out;
        let ranks = numbers::<f64>(&ranks, "rank");
        let ids: Vec<u64> = ranks.iter().map(|&(id, _)| id).collect();
        assert_eq!(ids, [0, 1, 2, 3, 4, 5, 6], "{order}");
        assert!((ranks.iter().map(|(_, rank)| rank).sum::<f64>() - 1.0).abs() < 1e-6);
        assert!(ranks[3].1 == ranks[5].1 && ranks[5].1 == ranks[6].1, "{ranks:?}");
        let components = shop.tegula("run wcc g.tegula -o -").done().out;
        let components = numbers::<u64>(&components, "component");
        let expected = [(0, 0), (1, 0), (2, 0), (3, 3), (4, 0), (5, 5), (6, 6)];
        assert_eq!(components, expected, "{order}");
    }
}

#[test]
fn ids_that_are_not_declared_are_refused() {
    let shop = Shop::new();
    shop.write("g.txt", "0 1\n1 2\n");
    let words = ["the id 2 is too large", "below 2", "--vertices"];
    shop.tegula("import g.txt -o g.tegula --vertices 2").failed(3, &words);
    let words = ["the id 2 is too large: the ids of 1 vertex must be below 1", "--vertices"];
    shop.tegula("import g.txt -o g.tegula --vertices 1").failed(3, &words);
    shop.write("names.txt", "a b\nb c\n");
    let words = ["the ids are read as strings", "--vertices"];
    shop.tegula("import names.txt -o g.tegula --vertices 9").failed(3, &words);
    let words = ["1099511627776", "1099511627775"];
    shop.tegula("import g.txt -o g.tegula --vertices 1099511627776").failed(3, &words);
    let words = ["with rows", "4294967295"];
    let import = "import g.txt -o g.tegula --vertices 4294967296 --layouts tiles,rows";
    shop.tegula(import).failed(3, &words);
    assert_eq!(shop.names(), ["g.txt", "names.txt"], "nothing is left");
}

#[test]
#[ignore = "long"]
fn graphs_of_more_vertices_than_32_bits_count_are_shown_quickly() {
    let shop = Shop::new();
    for vertices in [(1u64 << 32) - 1, 1 << 32, (1 << 32) + 1, (1 << 40) - 1] {
        shop.write("g.txt", format!("0 1\n1 2\n2 {}\n", vertices - 1));
        let import = format!("import g.txt -o g.tegula --vertices {vertices} --undirected --force");
        shop.tegula(&format!("{import} --memory 1GiB")).done();
        let info = shop.tegula("info g.tegula --json").done().json();
        assert_eq!(info["vertices"], vertices);
        assert_eq!(info["isolated"], vertices - 4);
        let verified = shop.tegula("verify g.tegula --memory 2GiB --json").done().json();
        assert_eq!(verified["edges"], 6);
        for run in ["pagerank", "bfs --source 0", "wcc --method propagation"] {
            let estimate = shop.tegula(&format!("run {run} g.tegula --estimate --json"));
            let estimate = estimate.done().json();
            assert!(estimate["vertex_bytes"].as_u64().unwrap() > 4 * vertices, "{run}");
            assert!(estimate["why_in_memory"].is_null(), "{run}");
        }
    }
    // Without room for the table of a union-find, labels are propagated.
    let estimate = shop.tegula("run wcc g.tegula --estimate --json").done().json();
    assert!(estimate["why_in_memory"].is_null());
    assert!(estimate["needed_bytes"].as_u64() < estimate["vertex_bytes"].as_u64());
}
