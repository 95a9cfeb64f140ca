"""NetworkX with tegula as its backend, against NetworkX itself."""

from __future__ import annotations

import inspect
import logging
import subprocess
import sys
import warnings
from collections.abc import Callable
from operator import attrgetter
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from networkx.utils.backends import _registered_algorithms

import tegula as tg
import tegula_networkx
from tegula.nx._known_failures import KNOWN_FAILURES
from tegula.nx._registry import FUNCTIONS

pytestmark = [
    pytest.mark.filterwarnings("ignore:Note. conversions to backend graphs"),
    pytest.mark.filterwarnings("ignore:.*bfs_predecessors:DeprecationWarning"),
]


def random_graph(kind: Any, seed: int = 1, nodes: int = 60, edges: int = 150) -> Any:
    """Return a graph with named nodes and weights; some nodes have no edge."""
    random = np.random.default_rng(seed)
    graph = kind()
    graph.add_nodes_from(f"n{node}" for node in range(nodes))
    for u, v in random.integers(0, nodes - 5, (edges, 2)).tolist():
        if u != v:
            graph.add_edge(f"n{u}", f"n{v}", weight=int(random.integers(1, 9)))
    return graph


UNDIRECTED = random_graph(nx.Graph)
DIRECTED = random_graph(nx.DiGraph)
CONNECTED = nx.connected_watts_strogatz_graph(50, 4, 0.3, seed=1)
ACYCLIC = nx.DiGraph(
    (u, v) for u, v in nx.gnp_random_graph(40, 0.1, seed=2, directed=True).edges if u < v
)


def of(name: str, *args: Any, **kwargs: Any) -> Callable[..., Any]:
    """Return a call of a function of NetworkX by the name by which it is dispatched."""

    def call(graph: Any, backend: str) -> Any:
        return _registered_algorithms[name](graph, *args, backend=backend, **kwargs)

    return call


EQUAL = {
    "connected_components": (of("connected_components"), UNDIRECTED),
    "weakly_connected_components": (of("weakly_connected_components"), DIRECTED),
    "is_connected": (of("is_connected"), UNDIRECTED),
    "number_strongly_connected_components": (of("number_strongly_connected_components"), DIRECTED),
    "is_biconnected": (of("is_biconnected"), CONNECTED),
    "core_number": (of("core_number"), UNDIRECTED),
    "triangles": (of("triangles"), UNDIRECTED),
    "bfs_edges": (of("bfs_edges", "n1"), UNDIRECTED),
    "bfs_edges, directed": (of("bfs_edges", "n1"), DIRECTED),
    "bfs_layers": (of("bfs_layers", "n1"), DIRECTED),
    "bfs_successors": (of("bfs_successors", "n1"), UNDIRECTED),
    "descendants": (of("descendants", "n1"), DIRECTED),
    "ancestors": (of("ancestors", "n1"), DIRECTED),
    "topological_generations": (of("topological_generations"), ACYCLIC),
    "topological_sort": (of("topological_sort"), ACYCLIC),
    "single_source_shortest_path": (of("single_source_shortest_path", "n1"), UNDIRECTED),
    "single_target_shortest_path_length": (
        of("single_target_shortest_path_length", "n1"),
        DIRECTED,
    ),
    "single_source_dijkstra_path_length": (
        of("single_source_dijkstra_path_length", "n1"),
        DIRECTED,
    ),
    "shortest_path_length to a target": (
        of("shortest_path_length", target="n1", weight="weight"),
        DIRECTED,
    ),
    "all_pairs_dijkstra_path_length": (of("all_pairs_dijkstra_path_length", cutoff=9), UNDIRECTED),
    "diameter": (of("diameter"), CONNECTED),
    "center": (of("center"), CONNECTED),
    "wiener_index": (of("wiener_index"), CONNECTED),
    "average_shortest_path_length": (of("average_shortest_path_length"), CONNECTED),
    "minimum_spanning_edges": (of("minimum_spanning_edges"), UNDIRECTED),
    "maximum_spanning_edges": (of("maximum_spanning_edges", data=False), UNDIRECTED),
    "is_forest": (of("is_forest"), DIRECTED),
    "isolates": (of("isolates"), UNDIRECTED),
    "cut_size": (of("cut_size", ["n1", "n2", "n3"], weight="weight"), UNDIRECTED),
    "node_boundary": (of("node_boundary", ["n1", "n2"]), DIRECTED),
    "multigraph": (
        of("single_source_dijkstra_path_length", "n1"),
        random_graph(nx.MultiGraph, edges=300),
    ),
}


def listed(value: Any) -> Any:
    """Return an iterator as a list, and what is in dictionaries as well."""
    is_plain = isinstance(value, dict | set | list | str | int | float | bool | tuple)
    return value if is_plain else list(value)


@pytest.mark.parametrize("name", EQUAL)
def test_a_result_equals_that_of_networkx(name: str) -> None:
    call, graph = EQUAL[name]
    found, expected = listed(call(graph, "tegula")), listed(call(graph, "networkx"))
    assert found == expected
    # The order counts as well where the result has one by hops.
    if isinstance(found, dict) and "dijkstra" not in name and "multi" not in name:
        assert list(found.values()) == list(expected.values()) or "shortest" not in name


def _sampled_betweenness(graph: Any, backend: str) -> Any:
    return nx.betweenness_centrality(graph, k=20, seed=3, backend=backend)


NEAR = {
    "pagerank": (of("pagerank", tol=1e-9), DIRECTED),
    "pagerank, personalized": (of("pagerank", personalization={"n1": 2, "n2": 1}), DIRECTED),
    "hits": (lambda graph, backend: nx.hits(graph, backend=backend)[0], CONNECTED),
    "eigenvector_centrality": (of("eigenvector_centrality", 500, 1e-8), CONNECTED),
    "katz_centrality": (of("katz_centrality", 0.05), DIRECTED),
    "closeness_centrality": (of("closeness_centrality"), DIRECTED),
    "closeness_centrality, plain": (of("closeness_centrality", wf_improved=False), UNDIRECTED),
    "harmonic_centrality": (of("harmonic_centrality"), DIRECTED),
    "betweenness_centrality": (of("betweenness_centrality"), DIRECTED),
    "betweenness_centrality, sampled": (_sampled_betweenness, UNDIRECTED),
    "betweenness_centrality, weighted": (
        of("betweenness_centrality", weight="weight", normalized=False),
        UNDIRECTED,
    ),
    "edge_betweenness_centrality": (of("edge_betweenness_centrality"), UNDIRECTED),
    "edge_betweenness_centrality, directed": (
        of("edge_betweenness_centrality", normalized=False),
        DIRECTED,
    ),
    "degree_centrality": (of("degree_centrality"), UNDIRECTED),
    "clustering": (of("clustering"), UNDIRECTED),
    "global_efficiency": (lambda graph, backend: {0: _efficiency(graph, backend)}, UNDIRECTED),
}


def _efficiency(graph: Any, backend: str) -> float:
    return float(nx.global_efficiency(graph, backend=backend))


@pytest.mark.parametrize("name", NEAR)
def test_numbers_are_near_those_of_networkx(name: str) -> None:
    call, graph = NEAR[name]
    found, expected = call(graph, "tegula"), call(graph, "networkx")
    assert list(found) == list(expected) or set(found) == set(expected)
    values = [found[key] for key in expected]
    assert values == pytest.approx(list(expected.values()), rel=1e-4, abs=1e-7)


@pytest.mark.parametrize(
    "name",
    ["jaccard_coefficient", "adamic_adar_index", "resource_allocation_index"],
)
def test_scores_of_pairs_equal_those_of_networkx(name: str) -> None:
    graph = UNDIRECTED.copy()
    graph.add_edge("n3", "n3")
    pairs = [("n1", "n2"), ("n3", "n4"), ("n5", "n9"), ("n3", "n7"), *list(graph.edges)[:20]]
    call = of(name, pairs)
    found, expected = list(call(graph, "tegula")), list(call(graph, "networkx"))
    assert [row[:2] for row in found] == [row[:2] for row in expected]
    assert [row[2] for row in found] == pytest.approx([row[2] for row in expected])


@pytest.mark.parametrize(
    "call",
    [
        of("k_core", 3),
        of("minimum_spanning_tree"),
        of("ego_graph", "n1", 2),
        of("relabel_nodes", lambda name: name[1:]),
        of("convert_node_labels_to_integers", label_attribute="name"),
    ],
)
def test_graphs_keep_their_attributes(call: Callable[..., Any]) -> None:
    graph = UNDIRECTED.copy()
    graph.graph["name"] = "random"
    graph.nodes["n1"]["colour"] = "red"
    found, expected = call(graph, "tegula"), call(graph, "networkx")
    backend = nx.utils.backends._load_backend("tegula")
    converted = backend.convert_to_nx(found)
    assert converted.graph == expected.graph
    assert converted._node == expected._node
    assert converted._adj == expected._adj


def signature_of(name: str) -> inspect.Signature:
    """Return the parameters of a function in the installed NetworkX."""
    return inspect.signature(_registered_algorithms[name].orig_func)


def test_communities_are_a_partition_of_high_modularity() -> None:
    graph = nx.planted_partition_graph(4, 25, 0.5, 0.02, seed=1)
    # Without `metric`, NetworkX 3.7 means another quality.
    has_metric = "metric" in signature_of("leiden_communities").parameters
    options = {"leiden_communities": {"metric": "modularity"} if has_metric else {}}
    for name in ("louvain_communities", "leiden_communities"):
        found = getattr(nx.community, name)(
            graph, seed=1, backend="tegula", **options.get(name, {})
        )
        assert sorted(map(sorted, found)) == [list(range(at, at + 25)) for at in (0, 25, 50, 75)]
        expected = nx.community.modularity(graph, found)
        assert nx.community.modularity(graph, found, backend="tegula") == pytest.approx(expected)


def test_errors_are_those_of_networkx() -> None:
    with pytest.raises(nx.NodeNotFound):
        nx.shortest_path(UNDIRECTED, "n1", "nowhere", backend="tegula")
    with pytest.raises(nx.NetworkXNoPath):
        nx.dijkstra_path(UNDIRECTED, "n1", "n59", backend="tegula")
    with pytest.raises(nx.PowerIterationFailedConvergence):
        nx.pagerank(DIRECTED, max_iter=1, backend="tegula")
    with pytest.raises(nx.NetworkXUnfeasible):
        list(nx.topological_sort(nx.cycle_graph(3, nx.DiGraph), backend="tegula"))
    with pytest.raises(nx.NetworkXPointlessConcept):
        nx.is_connected(nx.Graph(), backend="tegula")


@pytest.mark.parametrize(
    ("name", "kwargs"),
    [
        ("pagerank", {"nstart": {"n1": 1}}),
        ("dijkstra_path_length", {"source": "n1", "target": "n2", "weight": lambda u, v, d: 1}),
        ("betweenness_centrality", {"endpoints": True}),
    ],
)
def test_calls_that_tegula_cannot_run_are_refused_with_a_reason(name: str, kwargs: Any) -> None:
    backend = nx.utils.backends._load_backend("tegula")
    assert isinstance(backend.can_run(name, (UNDIRECTED,), kwargs), str)
    with pytest.raises(NotImplementedError):
        _registered_algorithms[name](UNDIRECTED, backend="tegula", **kwargs)


@pytest.mark.parametrize("weight", [-1, float("nan"), "1", 10**30, 1e200])
def test_weights_that_do_not_fit_are_left_to_networkx(weight: Any) -> None:
    graph = nx.Graph()
    graph.add_edge(0, 1, weight=weight)
    with pytest.raises(NotImplementedError):
        nx.single_source_dijkstra_path_length(graph, 0, backend="tegula")


def test_small_graphs_are_left_to_networkx() -> None:
    backend = nx.utils.backends._load_backend("tegula")
    small, large = nx.path_graph(10), nx.gnm_random_graph(100, 1000, seed=1)
    assert "fewer than" in backend.should_run("pagerank", (small,), {})
    with nx.config.backends.tegula(edges_min=500):
        assert backend.should_run("pagerank", (large,), {}) is True
        assert isinstance(backend.should_run("degree_centrality", (large,), {}), str)
        assert isinstance(backend.should_run("connected_components", (large,), {}), str)
    list(nx.connected_components(small, backend="tegula"))
    assert backend.should_run("degree_centrality", (small,), {}) is True


def test_a_graph_is_converted_once_for_all_attributes() -> None:
    graph = UNDIRECTED.copy()
    nx.pagerank(graph, backend="tegula")
    list(nx.connected_components(graph, backend="tegula"))
    nx.minimum_spanning_tree(graph, backend="tegula")
    kept = graph.__networkx_cache__["backends"]["tegula"].values()
    assert len(set(map(id, kept))) == 1
    graph.add_edge("n1", "new")
    assert nx.has_path(graph, "n1", "new", backend="tegula")


def test_the_log_says_what_ran(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, logger="tegula.nx"):
        nx.is_connected(CONNECTED, backend="tegula")
    assert "tegula runs `is_connected`" in caplog.text


def test_a_graph_directory_is_a_graph(tmp_path: Path) -> None:
    edges = [("a", "b"), ("b", "c"), ("c", "a"), ("c", "d"), ("e", "f")]
    tg.from_edges(edges, path=tmp_path / "g.tegula", undirected=True).close()
    graph = tg.nx.open(tmp_path / "g.tegula", memory="256MiB")
    expected = nx.Graph(edges)
    assert sorted(map(sorted, nx.connected_components(graph))) == [list("abcd"), list("ef")]
    assert nx.shortest_path(graph, "a", "d") == ["a", "c", "d"]
    assert nx.triangles(graph) == nx.triangles(expected)
    assert nx.pagerank(graph) == pytest.approx(nx.pagerank(expected), rel=1e-4)
    assert nx.core_number(graph) == nx.core_number(expected)
    assert dict(nx.single_source_shortest_path_length(graph, "d"))["b"] == 2
    backend = nx.utils.backends._load_backend("tegula")
    assert nx.utils.graphs_equal(backend.convert_to_nx(graph), expected)
    with nx.config.backends.tegula(edges_max=3), pytest.raises(tg.OverBudget, match="at most 3"):
        backend.convert_to_nx(graph)


def stored(graph: Any, path: Path) -> tg.nx.StoredGraph:
    """Return a graph of NetworkX as a graph directory, with its weights if it has any."""
    weight = "weight" if nx.is_weighted(graph) else None
    tg.from_edges(graph, path=path, weight=weight).close()
    return tg.nx.open(path)


def test_paths_of_a_directed_graph_directory_keep_its_direction(tmp_path: Path) -> None:
    graph = stored(nx.DiGraph([(0, 1), (2, 1)]), tmp_path / "g.tegula")
    found = [(u, v) for u in range(3) for v in range(3) if nx.has_path(graph, u, v)]
    assert found == [(0, 0), (0, 1), (1, 1), (2, 1), (2, 2)]


def test_spanning_edges_of_a_graph_directory_have_their_weights(tmp_path: Path) -> None:
    weights = nx.Graph()
    weights.add_weighted_edges_from([(0, 1, 5), (1, 2, 2), (2, 0, 7)])
    graph = stored(weights, tmp_path / "g.tegula")
    for name in ("minimum_spanning_edges", "maximum_spanning_edges"):
        found = list(_registered_algorithms[name](graph))
        assert found == list(_registered_algorithms[name](weights, backend="networkx"))


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.float32])
def test_weights_of_small_types_are_those_of_networkx(dtype: type[np.generic]) -> None:
    graph = nx.Graph()
    weights = [(0, 1, 100), (1, 2, 0), (2, 3, 120), (3, 0, 90), (3, 4, 110)]
    graph.add_weighted_edges_from((u, v, dtype(weight)) for u, v, weight in weights)
    found = nx.maximum_spanning_tree(graph, backend="tegula")
    assert nx.utils.edges_equal(found.edges, nx.maximum_spanning_tree(graph).edges)
    plain = nx.Graph()
    plain.add_weighted_edges_from(weights)
    lengths = nx.single_source_dijkstra_path_length(graph, 1, backend="tegula")
    assert dict(lengths) == dict(nx.single_source_dijkstra_path_length(plain, 1))


def test_degrees_of_a_weighted_graph_directory_give_no_warning(
    tmp_path: Path, recwarn: pytest.WarningsRecorder
) -> None:
    graph = stored(UNDIRECTED.edge_subgraph(UNDIRECTED.edges), tmp_path / "g.tegula")
    found = nx.degree_centrality(graph)
    assert len(found) == len(graph)
    assert [warning for warning in recwarn if issubclass(warning.category, tg.TegulaWarning)] == []


@pytest.mark.parametrize("cutoff", [1.5, 0, -1, 2, 0.1, float("inf"), float("nan"), 1e30])
def test_a_cutoff_reaches_as_far_as_in_networkx(cutoff: float, tmp_path: Path) -> None:
    path = nx.path_graph(6)
    graph = stored(path, tmp_path / "g.tegula")
    for name in ("single_source_shortest_path_length", "single_source_shortest_path"):
        call = of(name, 0, cutoff=cutoff)
        expected = call(path, "networkx")
        assert call(path, "tegula") == expected
        assert call(graph, "tegula") == expected
    call = of("single_source_dijkstra_path_length", 0, cutoff=cutoff)
    assert call(path, "tegula") == call(path, "networkx")


@pytest.mark.parametrize(
    ("name", "kwargs"),
    [
        ("louvain_communities", {"resolution": -1, "seed": 1}),
        ("pagerank", {"tol": float("inf")}),
        ("pagerank", {"max_iter": 10**20}),
        ("eigenvector_centrality", {"max_iter": 10**20}),
        ("katz_centrality", {"tol": float("inf")}),
    ],
)
def test_options_that_tegula_refuses_are_left_to_networkx(name: str, kwargs: Any) -> None:
    graph, call = CONNECTED.copy(), _registered_algorithms[name]
    with pytest.raises(NotImplementedError):
        call(graph, backend="tegula", **kwargs)
    with nx.config.backends.tegula(edges_min=0), nx.config(backend_priority=["tegula"]):
        found = call(graph, **kwargs)
    assert found == call(graph, backend="networkx", **kwargs)


def test_iterators_leave_to_networkx_what_tegula_cannot_run() -> None:
    graph = nx.DiGraph()
    graph.add_weighted_edges_from([(0, 1, -1), (1, 2, 4)])
    with nx.config.backends.tegula(edges_min=0), nx.config(backend_priority=["tegula"]):
        found = dict(nx.all_pairs_bellman_ford_path_length(graph))
    assert found[0] == {0: 0, 1: -1, 2: 3}
    edges = nx.bfs_edges(graph, "nowhere", backend="tegula")
    with pytest.raises(nx.NetworkXError, match="nowhere"):
        next(edges)


@pytest.mark.parametrize("name", ["pagerank", "eigenvector_centrality", "katz_centrality"])
@pytest.mark.parametrize("tolerance", [0, -1, float("nan")])
def test_nothing_converges_to_a_tolerance_of_0(name: str, tolerance: float) -> None:
    for backend in ("tegula", "networkx"):
        with pytest.raises(nx.PowerIterationFailedConvergence):
            _registered_algorithms[name](CONNECTED, tol=tolerance, backend=backend)


def test_the_only_neighbour_of_a_node_has_no_adamic_adar_index() -> None:
    for backend in ("tegula", "networkx"):
        with pytest.raises(ZeroDivisionError):
            list(nx.adamic_adar_index(nx.path_graph(3), [(1, 1)], backend=backend))


@pytest.mark.parametrize("value", ["lots", -5, float("nan"), True, None])
def test_a_setting_that_is_no_number_of_edges_is_refused(value: Any, tmp_path: Path) -> None:
    settings, graph = nx.config.backends.tegula, stored(CONNECTED, tmp_path / "g.tegula")
    with settings(edges_max=value), pytest.raises(tg.UsageError, match="edges_max is"):
        nx.k_core(graph, 1)
    with (
        settings(edges_min=value),
        nx.config(backend_priority=["tegula"]),
        pytest.raises(tg.UsageError, match="edges_min is"),
    ):
        nx.pagerank(CONNECTED.copy())


def test_a_graph_of_tegula_has_edges_and_degrees_and_becomes_one_of_networkx() -> None:
    graph = nx.Graph([("a", "b"), ("b", "c"), ("c", "c")])
    found = nx.ego_graph(graph, "b", backend="tegula")
    assert (found.edges, found.degree("c")) == ([("a", "b"), ("b", "c"), ("c", "c")], 3)
    assert nx.utils.graphs_equal(tg.nx.to_networkx(found), graph)
    with pytest.raises(AttributeError, match=r"no `neighbors`; .*tegula\.nx\.to_networkx"):
        found.neighbors("b")
    with pytest.raises(AttributeError, match=r"no `colour`$"):
        _ = found.colour
    with pytest.raises(TypeError, match=r"tegula\.nx\.to_networkx"):
        found["b"]


@pytest.mark.parametrize("name", ["eigenvector_centrality", "katz_centrality", "hits", "triangles"])
def test_parallel_edges_count_as_in_networkx(name: str) -> None:
    graph = nx.MultiGraph([(0, 1), (0, 1), (1, 2), (2, 0), (2, 3)])
    call = _registered_algorithms[name]
    found, expected = call(graph, backend="tegula"), call(graph, backend="networkx")
    if name == "hits":
        found, expected = found[0], expected[0]
    assert found == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize(
    "name",
    ["clustering", "jaccard_coefficient", "k_core", "edge_betweenness_centrality", "bridges"],
)
def test_a_graph_directory_with_parallel_edges_is_a_multigraph(name: str, tmp_path: Path) -> None:
    edges = [(0, 1), (0, 1), (1, 2), (2, 0), (2, 3)]
    tg.from_edges(edges, path=tmp_path / "g.tegula", undirected=True).close()
    graph = tg.nx.open(tmp_path / "g.tegula")
    with pytest.raises(NotImplementedError):
        list(_registered_algorithms[name](graph))
    assert nx.utils.graphs_equal(tg.nx.to_networkx(graph), nx.MultiGraph(edges))
    assert nx.pagerank(graph) == pytest.approx(nx.pagerank(nx.MultiGraph(edges)), rel=1e-4)


@pytest.mark.parametrize("name", ["jaccard_coefficient", "preferential_attachment"])
def test_scores_of_pairs_in_directed_graphs_are_left_to_networkx(name: str) -> None:
    with pytest.raises(NotImplementedError):
        _registered_algorithms[name](DIRECTED, backend="tegula")


def test_matrices_and_data_frames_become_graphs() -> None:
    pd = pytest.importorskip("pandas")
    sparse = pytest.importorskip("scipy.sparse")
    frame = pd.DataFrame({"source": ["a", "b", "a"], "target": ["b", "c", "b"], "w": [1, 2, 3]})
    backend = nx.utils.backends._load_backend("tegula")
    found = nx.from_pandas_edgelist(frame, edge_attr="w", backend="tegula")
    expected = nx.from_pandas_edgelist(frame, edge_attr="w", backend="networkx")
    assert backend.convert_to_nx(found)._adj == expected._adj
    matrix = nx.adjacency_matrix(UNDIRECTED, backend="tegula")
    assert (matrix != nx.adjacency_matrix(UNDIRECTED, backend="networkx")).nnz == 0
    directed = nx.from_scipy_sparse_array(
        sparse.csr_array(matrix), create_using=nx.DiGraph, backend="tegula"
    )
    assert backend.convert_to_nx(directed).number_of_edges() == matrix.nnz


def test_graphs_of_the_backend_have_the_order_of_neighbours_of_networkx() -> None:
    pd = pytest.importorskip("pandas")
    ends = [("a", "b"), ("c", "a"), ("a", "d"), ("d", "b"), ("b", "a"), ("c", "c"), ("d", "c")]
    frame = pd.DataFrame(ends, columns=["source", "target"])

    def searches(backend: str) -> list[Any]:
        graph = nx.from_pandas_edgelist(frame, backend=backend)
        tree = nx.minimum_spanning_tree(graph, backend=backend)
        calls = [(which, node) for which in (graph, tree) for node in "abcd"]
        return [list(nx.bfs_edges(which, node, backend=backend)) for which, node in calls]

    assert searches("tegula") == searches("networkx")


def test_the_description_names_the_functions() -> None:
    assert set(tegula_networkx.FUNCTIONS) == set(FUNCTIONS)
    assert len(FUNCTIONS) >= 70
    assert len(KNOWN_FAILURES) <= 25


def test_the_description_imports_nothing() -> None:
    program = (
        "import sys; before = set(sys.modules); import tegula_networkx;"
        "tegula_networkx.get_info(); print(set(sys.modules) - before - {'tegula_networkx'})"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == "set()"


def test_parameters_are_those_of_networkx() -> None:
    for name, function in FUNCTIONS.items():
        parameters = signature_of(name).parameters.values()
        expected = [of for of in parameters if of.name not in function.newer]
        found = function.signature.parameters.values()
        # NetworkX 3.7 takes those of leiden by name only.
        parts = ("name", "default") if name == "leiden_communities" else ("name", "default", "kind")
        assert list(map(attrgetter(*parts), found)) == list(map(attrgetter(*parts), expected)), name


def test_leiden_without_a_metric_is_left_to_networkx(monkeypatch: pytest.MonkeyPatch) -> None:
    def with_metric(graph: Any, *, metric: str = "cpm", theta: float = 0.01) -> None:
        """Stands for the function of NetworkX 3.7."""

    function = FUNCTIONS["leiden_communities"]
    parameters = inspect.signature(with_metric).parameters
    monkeypatch.setattr(function, "of_networkx", parameters)
    assert function.refusal((UNDIRECTED,), {}) == "`metric` is not 'modularity'"
    assert function.refusal((UNDIRECTED,), {"metric": "cpm"}) == "`metric` is not 'modularity'"
    assert function.refusal((UNDIRECTED,), {"metric": "modularity"}) is None
    installed = signature_of("leiden_communities").parameters
    monkeypatch.setattr(function, "of_networkx", installed)
    assert (function.refusal((UNDIRECTED,), {}) is None) == ("metric" not in installed)


def test_parameters_of_newer_versions_are_taken_with_one_value() -> None:
    for name, newer in [
        ("hits", {"method": "power_iteration"}),
        ("closeness_centrality", {"sp": None}),
    ]:
        function = FUNCTIONS[name]
        assert function.newer == newer
        assert function.refusal((UNDIRECTED,), newer) is None
        assert function.refusal((UNDIRECTED,), dict.fromkeys(newer, "another")) is not None


def test_deprecations_of_networkx_are_told_at_the_line_of_the_caller() -> None:
    places = []
    for backend in ("tegula", "networkx"):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            list(nx.bfs_predecessors(CONNECTED, 0, backend=backend))
        deprecated = [warning for warning in told if warning.category is DeprecationWarning]
        places.append([warning.filename for warning in deprecated])
    assert places[0] == places[1]
    assert set(places[0]) <= {__file__}


def test_the_page_names_the_functions() -> None:
    page = (Path(__file__).parents[2] / "docs" / "python" / "backend.md").read_text()
    assert [name for name in FUNCTIONS if f"`{name}`" not in page] == []


def test_sums_of_weights_beyond_64_bits_are_left_to_networkx() -> None:
    graph = nx.Graph()
    graph.add_weighted_edges_from([(i, i + 1, 1 << 62) for i in range(3)])
    with pytest.raises(NotImplementedError):
        nx.cut_size(graph, [0, 2], [1, 3], weight="weight", backend="tegula")
    with nx.config(backend_priority=["tegula"]):
        assert nx.cut_size(graph, [0, 2], [1, 3], weight="weight") == 3 << 62


@pytest.mark.filterwarnings("ignore:Note. conversions to backend graphs")
def test_conversions_are_not_kept_where_networkx_keeps_none() -> None:
    graph = nx.Graph()
    graph.add_edge(0, 1, weight=1)
    assert nx.dijkstra_path_length(graph, 0, 1, backend="tegula") == 1
    graph[0][1]["weight"] = 9
    with nx.config(cache_converted_graphs=False):
        assert nx.dijkstra_path_length(graph, 0, 1, backend="tegula") == 9


def test_graphs_without_nodes_are_left_to_networkx() -> None:
    for name in ("eccentricity", "diameter", "radius", "periphery", "center"):
        assert "no nodes" in (FUNCTIONS[name].refusal((nx.Graph(),), {}) or "")
        assert FUNCTIONS[name].refusal((UNDIRECTED,), {}) is None
