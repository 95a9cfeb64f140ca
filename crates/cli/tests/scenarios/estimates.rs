//! Estimates of runs against what the runs then take.

use std::fs;

use tegula_algorithms::CATALOGUE;

use crate::shop::Shop;

/// The largest relative difference between the peak and its estimate.
const PEAK_OFF: f64 = 0.15;
/// Bytes of code that it may be off in addition. How much of a program is resident depends on what
/// the system has read around the touched pages, and these graphs are small beside it.
const CODE_OFF: f64 = 3.0 * (1 << 20) as f64;

/// The graph and the question decide how much of their arrays these algorithms use: their peak may
/// be less than estimated.
const AT_THE_MOST: [&str; 10] = [
    "astar",
    "belief-propagation",
    "conductance",
    "k-hop",
    "leiden",
    "louvain",
    "random-walks",
    "similarity",
    "sssp",
    "subgraph",
];
/// The options that algorithms require.
fn options(name: &str) -> &'static str {
    match name {
        "bfs" | "sssp" => "--source 1",
        "astar" => "--source 1 --target 2",
        "k-hop" => "--source 1 --hops 2",
        "conductance" => "--sets sets.txt",
        "similarity" => "--pairs pairs.txt",
        "subgraph" => "--component 1",
        "belief-propagation" => "--potential potential.txt --iterations 3",
        "betweenness" | "closeness" | "harmonic" => "--samples 2",
        "random-walks" => "--length 10 --walks 2",
        _ => "",
    }
}

#[test]
fn rounds_are_no_more_than_the_options_allow() {
    let shop = Shop::new();
    shop.tegula("generate rmat --scale 8 --weighted -o g.wel").done();
    shop.tegula("import g.wel --weighted --undirected -o g.tegula").done();
    for (name, option) in [
        ("pagerank", "max-iterations"),
        ("pagerank --weighted", "max-iterations"),
        ("eigenvector", "max-iterations"),
        ("katz", "max-iterations"),
        ("hits", "max-iterations"),
        ("pagerank", "iterations"),
        ("cdlp", "iterations"),
        ("spmv", "iterations"),
    ] {
        let (algorithm, more) = name.split_once(' ').unwrap_or((name, ""));
        let run = format!("run {algorithm} g.tegula {more} --{option} 2 --estimate --json");
        let estimate = shop.tegula(&run).done().json();
        assert_eq!(estimate["work"]["rounds"], 2.0, "{run}: {estimate}");
    }
}

#[test]
#[ignore = "long"]
fn the_peak_of_every_algorithm_is_as_estimated() {
    let shop = Shop::new();
    fs::write(shop.path("sets.txt"), "1 one\n2 one\n3 two\n").unwrap();
    fs::write(shop.path("pairs.txt"), "1 2\n2 3\n").unwrap();
    fs::write(shop.path("potential.txt"), "3 1\n1 2\n").unwrap();
    shop.tegula("generate watts-strogatz --vertices 131072 --weighted -o g.wel").done();
    let layouts = "--layouts tiles,rows,reverse";
    shop.tegula(&format!("import g.wel --weighted --undirected {layouts} -o g.tegula")).done();
    shop.tegula("generate grid --width 360 --height 360 -o dag.el").done();
    shop.tegula(&format!("import dag.el {layouts} -o dag.tegula")).done();
    let mut wrong = Vec::new();
    for entry in CATALOGUE {
        let name = entry.name;
        let graph = if name == "topological-order" { "dag.tegula" } else { "g.tegula" };
        let run = format!("run {name} {graph} {} --json", options(name));
        let estimate = shop.tegula(&format!("{run} --estimate")).done().json();
        let found = shop.tegula(&run).done().json();
        let [estimated, peak] =
            [&estimate, &found].map(|said| said["peak_memory_bytes"].as_f64().unwrap());
        let off = estimated - peak;
        let most_off = PEAK_OFF * peak + CODE_OFF;
        let is_right = match name {
            _ if AT_THE_MOST.contains(&name) => off >= -most_off,
            _ => off.abs() <= most_off,
        };
        if !is_right {
            wrong.push(format!("{name}: {estimated} bytes estimated, {peak} taken"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("; "));
}
