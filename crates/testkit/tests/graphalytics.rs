//! Checks the oracles and the matching rules against LDBC Graphalytics' own files.

use tegula_testkit::graphalytics::{UNREACHED, graph, reference};
use tegula_testkit::matching::{GRAPHALYTICS_EPSILON, epsilon, equivalent, exact};
use tegula_testkit::{Table, bfs, pagerank, wcc};

const EXAMPLE_DIRECTED: &str = "graphalytics/example-directed";
const EXAMPLE_UNDIRECTED: &str = "graphalytics/example-undirected";
const GNUTELLA: &str = "p2p-Gnutella31/p2p-31";

fn check_bfs(stem: &str, directed: bool, source: u64, output: &str) {
    let (Some(graph), Some(expected)) = (graph(stem, directed), reference::<u64>(output)) else {
        return;
    };
    let distances = bfs(&graph, source);
    let actual: Table<u64> =
        distances.iter().map(|&(vertex, hops)| (vertex, hops.unwrap_or(UNREACHED))).collect();
    exact(&expected, &actual).unwrap();
}

fn check_pagerank(stem: &str, directed: bool, iterations: usize, output: &str) {
    let (Some(graph), Some(expected)) = (graph(stem, directed), reference::<f64>(output)) else {
        return;
    };
    let actual = pagerank(&graph, 0.85, iterations);
    epsilon(&expected, &actual, 1e-9).unwrap();
    assert!((actual.iter().map(|&(_, rank)| rank).sum::<f64>() - 1.0).abs() < 1e-9);
}

fn check_wcc(stem: &str, directed: bool, output: &str) {
    let (Some(graph), Some(expected)) = (graph(stem, directed), reference::<u64>(output)) else {
        return;
    };
    equivalent(&expected, &wcc(&graph)).unwrap();
}

#[test]
fn bfs_matches_the_reference() {
    check_bfs(EXAMPLE_DIRECTED, true, 1, "graphalytics/example-directed-BFS");
    check_bfs(EXAMPLE_UNDIRECTED, false, 2, "graphalytics/example-undirected-BFS");
    check_bfs("graphalytics/test-bfs-directed", true, 1, "graphalytics/test-bfs-directed-BFS");
    check_bfs(GNUTELLA, false, 6, "p2p-Gnutella31/p2p-31-BFS");
    check_bfs(GNUTELLA, true, 6, "p2p-Gnutella31/p2p-31-BFS-directed");
}

#[test]
fn pagerank_matches_the_reference() {
    check_pagerank(EXAMPLE_DIRECTED, true, 2, "graphalytics/example-directed-PR");
    check_pagerank(EXAMPLE_UNDIRECTED, false, 2, "graphalytics/example-undirected-PR");
    check_pagerank(GNUTELLA, false, 10, "p2p-Gnutella31/p2p-31-PR");
    check_pagerank(GNUTELLA, true, 10, "p2p-Gnutella31/p2p-31-PR-directed.computed");
}

#[test]
fn wcc_matches_the_reference() {
    check_wcc(EXAMPLE_DIRECTED, true, "graphalytics/example-directed-WCC");
    check_wcc(EXAMPLE_UNDIRECTED, false, "graphalytics/example-undirected-WCC");
    check_wcc("graphalytics/test-wcc-undirected", false, "graphalytics/test-wcc-undirected-WCC");
    check_wcc(GNUTELLA, true, "p2p-Gnutella31/p2p-31-WCC");
}

#[test]
fn matching_agrees_with_graphalytics() {
    let labels = |file: &str| reference::<u64>(&format!("graphalytics/matching/{file}.csv"));
    let numbers = |file: &str| reference::<f64>(&format!("graphalytics/matching/{file}.csv"));
    let Some(expected) = labels("exact_expected") else {
        return;
    };
    exact(&expected, &labels("exact_actual1").unwrap()).unwrap();
    exact(&expected, &labels("exact_actual2").unwrap()).unwrap_err();

    let expected = labels("equivalence_expected").unwrap();
    equivalent(&expected, &labels("equivalence_actual1").unwrap()).unwrap();
    equivalent(&expected, &labels("equivalence_actual2").unwrap()).unwrap_err();

    let expected = numbers("epsilon_expected").unwrap();
    epsilon(&expected, &numbers("epsilon_actual1").unwrap(), GRAPHALYTICS_EPSILON).unwrap();
    epsilon(&expected, &numbers("epsilon_actual2").unwrap(), GRAPHALYTICS_EPSILON).unwrap_err();
}

#[test]
fn matching_requires_the_same_vertices() {
    let expected = [(1, 1.0), (2, f64::INFINITY)];
    epsilon(&expected, &expected, 0.0).unwrap();
    assert!(epsilon(&expected, &[(1, 1.0)], 0.1).unwrap_err().contains("2 vertices"));
    assert!(epsilon(&expected[..1], &expected, 0.1).unwrap_err().contains("1 vertices"));
    assert!(epsilon(&expected, &[(1, 1.0), (3, 1.0)], 0.1).unwrap_err().contains("vertex 2"));
    assert!(epsilon(&expected, &[(1, 1.0), (2, 1e300)], 0.1).is_err());
    assert!(epsilon(&[(1, 1.0)], &[(1, f64::NAN)], 0.1).is_err());
    assert!(equivalent(&[(1, 1), (2, 1)], &[(1, 5), (2, 6)]).is_err());
    assert!(equivalent(&[(1, 1), (2, 2)], &[(1, 5), (2, 5)]).is_err());
}
