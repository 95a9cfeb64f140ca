//! Verifiers accept right answers and refuse nearly right ones.

use tegula_testkit::{
    EdgeList, Table, bfs, conductance, match_pagerank, match_personalized_pagerank, mis, mst,
    pagerank, pagerank_until, personalized_pagerank, shortest_path, small_graphs, sssp, verify_bfs,
    verify_conductance, verify_mis, verify_mst, verify_pagerank, verify_path, verify_sssp,
    verify_wcc, wcc,
};

/// Finds a parent for each distance: any vertex one hop closer.
fn parents(graph: &EdgeList, distances: &Table<Option<u64>>) -> Table<Option<u64>> {
    let distance =
        |id| distances[distances.binary_search_by_key(&id, |&(vertex, _)| vertex).unwrap()].1;
    let parent = |vertex| {
        let closer = |&&(source, target): &&(u64, u64)| {
            target == vertex
                && distance(source).is_some_and(|hops| distance(vertex) == Some(hops + 1))
        };
        graph.edges.iter().find(closer).map(|&(source, _)| source)
    };
    distances.iter().map(|&(vertex, _)| (vertex, parent(vertex))).collect()
}

#[test]
fn right_answers_are_accepted_on_every_small_graph() {
    for (name, graph) in small_graphs(1) {
        verify_wcc(&graph, &wcc(&graph)).unwrap_or_else(|error| panic!("{name}: {error}"));
        for seed in 0..3 {
            verify_mis(&graph, &mis(&graph, seed))
                .unwrap_or_else(|error| panic!("{name}: {error}"));
        }
        verify_mst(&graph, &mst(&graph)).unwrap_or_else(|error| panic!("{name}: {error}"));
        let in_two = graph.vertices().into_iter().flat_map(|v| [(v, v % 3), (v, 2 + v % 2)]);
        let sets: Vec<(u64, u64)> = in_two.collect();
        for undirected in [false, true] {
            let rows = conductance(&graph, undirected, &sets[sets.len() / 4..]);
            verify_conductance(&graph, undirected, &sets[sets.len() / 4..], &rows)
                .unwrap_or_else(|error| panic!("{name}: {error}"));
        }
        let ranks = pagerank(&graph, 0.85, 7);
        match_pagerank(&graph, 0.85, 7, &ranks).unwrap_or_else(|error| panic!("{name}: {error}"));
        let Some(&source) = graph.vertices().first() else {
            continue;
        };
        let weighted = graph.weighted(5);
        for graph in [&graph, &weighted] {
            verify_sssp(graph, source, &sssp(graph, source))
                .unwrap_or_else(|error| panic!("{name}: {error}"));
        }
        let distances = bfs(&graph, source);
        let parents = parents(&graph, &distances);
        verify_bfs(&graph, source, &distances, Some(&parents))
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        verify_bfs(&graph, source, &distances, None)
            .unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

/// 0 -> 1 -> 2 -> 3, a shortcut 0 -> 2, and a separate edge 8 -> 9.
fn two_pieces() -> EdgeList {
    EdgeList::new(vec![(0, 1), (1, 2), (2, 3), (0, 2), (8, 9)])
}

#[test]
fn every_wrong_distance_is_refused() {
    let graph = two_pieces();
    let right = bfs(&graph, 0);
    assert_eq!(
        right,
        [(0, Some(0)), (1, Some(1)), (2, Some(1)), (3, Some(2)), (8, None), (9, None)]
    );
    for vertex in 0..right.len() {
        for wrong in [None, Some(0), Some(1), Some(2), Some(3)] {
            let mut distances = right.clone();
            distances[vertex].1 = wrong;
            assert_eq!(
                verify_bfs(&graph, 0, &distances, None).is_ok(),
                wrong == right[vertex].1,
                "{distances:?}"
            );
        }
    }
    verify_bfs(&graph, 0, &right[1..], None).unwrap_err();
    verify_bfs(&graph, 1, &right, None).unwrap_err();
}

#[test]
fn every_wrong_length_of_a_path_is_refused() {
    // In addition, a cycle of weight 0 that no path reaches.
    let mut graph = EdgeList::new([two_pieces().edges, vec![(9, 8), (3, 0)]].concat());
    graph.weights = Some(vec![0.5, 0.25, 2.0, 1.0, 0.0, 0.0, 0.0]);
    let right = sssp(&graph, 0);
    let none = f64::INFINITY;
    assert_eq!(right, [(0, 0.0), (1, 0.5), (2, 0.75), (3, 2.75), (8, none), (9, none)]);
    verify_sssp(&graph, 0, &right).unwrap();
    for vertex in 0..right.len() {
        for wrong in [none, 0.0, 0.5, 0.75, 1.0, 2.75, -1.0, f64::NAN] {
            let mut distances = right.clone();
            distances[vertex].1 = wrong;
            let is_right = wrong == right[vertex].1;
            assert_eq!(verify_sssp(&graph, 0, &distances).is_ok(), is_right, "{distances:?}");
        }
    }
    let mut distances = right.clone();
    (distances[4].1, distances[5].1) = (7.0, 7.0);
    verify_sssp(&graph, 0, &distances).unwrap_err();
    verify_sssp(&graph, 0, &right[1..]).unwrap_err();
    verify_sssp(&graph, 1, &right).unwrap_err();
}

#[test]
fn every_wrong_parent_is_refused() {
    let graph = two_pieces();
    let distances = bfs(&graph, 0);
    let right = [(0, None), (1, Some(0)), (2, Some(0)), (3, Some(2)), (8, None), (9, None)];
    verify_bfs(&graph, 0, &distances, Some(&right)).unwrap();
    for vertex in 0..right.len() {
        for wrong in [None, Some(0), Some(1), Some(2), Some(3), Some(8)] {
            let mut parents = right;
            parents[vertex].1 = wrong;
            // The source may be its own parent.
            let accepted = wrong == right[vertex].1 || (vertex == 0 && wrong == Some(0));
            assert_eq!(
                verify_bfs(&graph, 0, &distances, Some(&parents)).is_ok(),
                accepted,
                "{parents:?}"
            );
        }
    }
}

#[test]
fn wrong_components_are_refused() {
    let graph = two_pieces();
    assert_eq!(wcc(&graph), [(0, 0), (1, 0), (2, 0), (3, 0), (8, 8), (9, 8)]);
    for wrong in [
        [0, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 8, 9],
        [0, 1, 0, 0, 8, 8],
        [1, 1, 1, 1, 8, 8],
        [0, 0, 0, 0, 9, 9],
    ] {
        let components: Table<u64> = [0, 1, 2, 3, 8, 9].into_iter().zip(wrong).collect();
        assert!(verify_wcc(&graph, &components).is_err(), "{wrong:?}");
    }
}

#[test]
fn a_rank_off_by_more_than_the_tolerance_is_refused() {
    let graph = two_pieces();
    let mut ranks = pagerank(&graph, 0.85, 5);
    ranks[3].1 *= 1.0 + 9e-6;
    match_pagerank(&graph, 0.85, 5, &ranks).unwrap();
    ranks[3].1 *= 1.0 + 2e-6;
    assert!(match_pagerank(&graph, 0.85, 5, &ranks).unwrap_err().contains("vertex 3"));
}

#[test]
fn jumps_lead_to_the_seeds() {
    // After one round. Both vertices had 1/2: the seed sends it on, the dangling vertex jumps back.
    let graph = EdgeList::new(vec![(0, 1)]);
    let expected = [(0, 0.2 + 0.8 * 0.5), (1, 0.8 * 0.5)];
    match_personalized_pagerank(&graph, 0.8, 1, &[(0, 3.0)], &expected).unwrap();
    match_personalized_pagerank(&graph, 0.8, 1, &[(1, 3.0)], &expected).unwrap_err();
    let even = [(0, 2.0), (1, 1.0), (1, 1.0)];
    assert_eq!(personalized_pagerank(&graph, 0.8, 5, &even), pagerank(&graph, 0.8, 5));
}

#[test]
fn ranks_that_another_round_would_change_are_refused() {
    for (name, graph) in small_graphs(4) {
        let Some(&seed) = graph.vertices().last() else { continue };
        for seeds in [vec![], vec![(seed, 0.5), (graph.edges[0].0, 2.0)]] {
            let ranks = if seeds.is_empty() {
                pagerank(&graph, 0.85, 150)
            } else {
                personalized_pagerank(&graph, 0.85, 150, &seeds)
            };
            verify_pagerank(&graph, 0.85, &seeds, 1e-9, &ranks)
                .unwrap_or_else(|error| panic!("{name}: {error}"));
            let mut wrong = ranks.clone();
            wrong[0].1 += 1e-5;
            let error = verify_pagerank(&graph, 0.85, &seeds, 1e-9, &wrong).unwrap_err();
            assert!(error.contains("changes the ranks"), "{name}: {error}");
            assert!(verify_pagerank(&graph, 0.85, &seeds, 1e-9, &ranks[1..]).is_err(), "{name}");
        }
    }
}

#[test]
fn every_wrong_rank_is_refused() {
    let graph = two_pieces();
    for seeds in [vec![], vec![(1, 2.0), (9, 1.0)]] {
        let after = |rounds| match &seeds[..] {
            [] => pagerank(&graph, 0.85, rounds),
            seeds => personalized_pagerank(&graph, 0.85, rounds, seeds),
        };
        let verify = |damping, ranks: &Table<f64>| {
            verify_pagerank(&graph, damping, &seeds, 1e-6, ranks).map_err(|_| ranks.clone())
        };
        let right = after(200);
        verify(0.85, &right).unwrap();
        verify(0.8, &right).unwrap_err();
        for vertex in 0..right.len() {
            for off in [-1e-5, 1e-5, 0.1, f64::NAN] {
                let mut wrong = right.clone();
                wrong[vertex].1 += off;
                verify(0.85, &wrong).unwrap_err();
            }
            let mut moved = right.clone();
            moved[vertex].1 -= 1e-5;
            moved[(vertex + 1) % right.len()].1 += 1e-5;
            verify(0.85, &moved).unwrap_err();
        }
        (0..5).for_each(|rounds| drop(verify(0.85, &after(rounds)).unwrap_err()));
    }
}

#[test]
fn ranks_are_accepted_once_a_run_with_the_tolerance_stops() {
    let graph = two_pieces();
    for tolerance in [1e-2, 1e-3, 1e-4] {
        let (ranks, rounds) = pagerank_until(&graph, 0.85, tolerance, 100);
        verify_pagerank(&graph, 0.85, &[], tolerance, &ranks).unwrap();
        // The round after these changes more than the tolerance.
        let early = pagerank(&graph, 0.85, rounds - 2);
        verify_pagerank(&graph, 0.85, &[], tolerance, &early).unwrap_err();
    }
}

#[test]
fn ranks_converge_until_a_round_changes_little() {
    let graph = two_pieces();
    let (ranks, iterations) = pagerank_until(&graph, 0.85, 1e-9, 100);
    assert!((4..100).contains(&iterations), "{iterations}");
    assert_eq!(ranks, pagerank(&graph, 0.85, iterations));
    assert_eq!(pagerank_until(&graph, 0.85, 0.0, 3).1, 3);
}

#[test]
fn sets_that_are_not_maximal_independent_are_refused() {
    // 0 - 1 - 2 - 3, and 0 - 2.
    let graph = two_pieces();
    let vertices = [0, 1, 2, 3, 8, 9];
    let right: Vec<Vec<u64>> = vec![vec![0, 3], vec![1, 3], vec![2]]
        .into_iter()
        .flat_map(|set| [8, 9].map(|last| set.iter().copied().chain([last]).collect()))
        .collect();
    for mask in 0..64u32 {
        let is_in = |index: usize| mask >> index & 1 == 1;
        let table: Table<bool> =
            vertices.iter().enumerate().map(|(index, &vertex)| (vertex, is_in(index))).collect();
        let set: Vec<u64> = table.iter().filter(|row| row.1).map(|row| row.0).collect();
        assert_eq!(verify_mis(&graph, &table).is_ok(), right.contains(&set), "{set:?}");
    }
    verify_mis(&graph, &[(0, true)]).unwrap_err();
}

#[test]
fn every_wrong_figure_of_a_set_is_refused() {
    let graph = EdgeList::new(vec![(0, 1), (1, 2), (2, 2), (2, 0), (5, 6)]);
    let sets = [(0, 7), (2, 7), (5, 3)];
    assert_eq!(conductance(&graph, false, &sets), [(3, 1, 1, 1), (7, 2, 6, 2)]);
    assert_eq!(conductance(&graph, true, &sets), [(3, 1, 1, 1), (7, 2, 5, 2)]);
    for wrong in [(7, 2, 6, 3), (7, 2, 5, 2), (7, 1, 6, 2), (8, 2, 6, 2)] {
        let rows = [(3, 1, 1, 1), wrong];
        assert!(verify_conductance(&graph, false, &sets, &rows).is_err(), "{wrong:?}");
    }
    assert!(verify_conductance(&graph, false, &sets, &[(3, 1, 1, 1)]).is_err());
}

#[test]
fn wrong_forests_are_refused() {
    let mut graph = EdgeList::new(vec![(0, 1), (2, 1), (0, 2), (2, 0), (4, 3), (4, 4)]);
    graph.weights = Some(vec![1.0, 2.0, 3.0, 2.0, -1.0, -5.0]);
    let right = [(0, 1, 1.0), (0, 2, 2.0), (3, 4, -1.0)];
    assert_eq!(mst(&graph), right);
    verify_mst(&graph, &right).unwrap();
    // Equally light, but not the forest that `mst` chooses.
    verify_mst(&graph, &[(0, 1, 1.0), (1, 2, 2.0), (3, 4, -1.0)]).unwrap();
    let wrong: [&[(u64, u64, f32)]; 6] = [
        &right[..2],
        &[(0, 1, 1.0), (0, 2, 3.0), (3, 4, -1.0)],
        &[(0, 2, 2.0), (1, 2, 2.0), (3, 4, -1.0)],
        &[(0, 1, 1.0), (0, 2, 2.0), (1, 2, 2.0), (3, 4, -1.0)],
        &[(0, 1, 1.0), (0, 2, 2.0), (3, 4, -1.0), (3, 4, -1.0)],
        &[(0, 1, 0.5), (0, 2, 2.0), (3, 4, -1.0)],
    ];
    for forest in wrong {
        assert!(verify_mst(&graph, forest).is_err(), "{forest:?}");
    }
}

#[test]
fn every_wrong_path_is_refused() {
    // Two paths from 0 to 3 have the same length; the second has more edges. Edge 0 -> 3 is longer.
    // No path leads to 4.
    let edges = vec![(0, 1), (1, 3), (0, 2), (2, 5), (5, 3), (0, 3), (4, 0)];
    let weights = Some(vec![1.0, 2.0, 1.0, 0.0, 2.0, 4.0, 1.0]);
    let graph = EdgeList { weights, ..EdgeList::new(edges) };
    let right = shortest_path(&graph, 0, 3);
    assert_eq!(right, [(0, 0.0), (1, 1.0), (3, 3.0)]);
    let other = [(0, 0.0), (2, 1.0), (5, 1.0), (3, 3.0)];
    for path in [&right[..], &other] {
        verify_path(&graph, 0, 3, path).unwrap();
        verify_path(&graph, 4, 3, path).unwrap_err();
        verify_path(&graph, 0, 1, path).unwrap_err();
        for step in 0..path.len() {
            let mut shorter = path.to_vec();
            shorter.remove(step);
            verify_path(&graph, 0, 3, &shorter).unwrap_err();
            let mut longer = path.to_vec();
            longer[step].1 += 0.5;
            verify_path(&graph, 0, 3, &longer).unwrap_err();
        }
    }
    verify_path(&graph, 0, 3, &[(0, 0.0), (3, 4.0)]).unwrap_err();
    verify_path(&graph, 0, 3, &[]).unwrap_err();
    assert_eq!(shortest_path(&graph, 0, 4), []);
    verify_path(&graph, 0, 4, &[]).unwrap();
    assert_eq!(shortest_path(&graph, 2, 2), [(2, 0.0)]);
    // Where an edge has weight 0, a nearer neighbour is preferred to one at the same distance.
    let weights = Some(vec![1.0, 0.0, 0.0, 1.0]);
    let graph = EdgeList { weights, ..EdgeList::new(vec![(3, 2), (2, 1), (1, 2), (3, 1)]) };
    assert_eq!(shortest_path(&graph, 3, 1), [(3, 0.0), (1, 1.0)]);
}
