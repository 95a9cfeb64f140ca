"""A method for each algorithm of the catalogue, with each of its options."""

from __future__ import annotations

import importlib.util
import inspect
import json
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tegula as tg
from tegula import _internal
from tegula._algorithms import Algorithms
from tegula._options import table_of

CATALOGUE = json.loads(_internal.catalogue())
NAMES = [entry["name"] for entry in CATALOGUE]


def generator():
    path = Path(__file__).parents[1] / "generate.py"
    spec = importlib.util.spec_from_file_location("generate", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_methods_are_those_of_the_catalogue() -> None:
    generate = generator()
    # `python python/generate.py` writes it again.
    assert generate.TARGET.read_text() == generate.text(CATALOGUE)


@pytest.mark.parametrize("entry", CATALOGUE, ids=NAMES)
def test_an_algorithm_has_a_method_with_its_options(entry) -> None:
    method = getattr(Algorithms, entry["name"].replace("-", "_"))
    parameters = dict(inspect.signature(method).parameters)
    assert next(iter(parameters)) == "self"
    options = entry["schema"]["properties"]
    assert set(parameters) == {"self", "progress", "misspelt", *options}
    for name, option in options.items():
        parameter = parameters[name]
        assert parameter.kind is inspect.Parameter.KEYWORD_ONLY
        is_required = name in entry["schema"].get("required", [])
        assert (parameter.default is inspect.Parameter.empty) == is_required
        if not is_required:
            assert parameter.default == option.get("default")
        assert f"{name}: " in method.__doc__
    assert entry["summary"].split()[0] in method.__doc__


# Options without which an algorithm has no answer.
WITH_OPTIONS = {
    "bfs": {"source": 1},
    "sssp": {"source": 1},
    "astar": {"source": 1, "target": 4, "coordinates": [(v, 0, 0) for v in range(1, 7)]},
    "k-hop": {"sources": [1, 5], "hops": 2},
    "conductance": {"sets": {1: "x", 2: "x", 5: "y"}},
    "similarity": {"pairs": [(1, 2), (2, 3)]},
    "subgraph": {"vertices": [1, 2, 3]},
    "topological-order": None,
    "belief-propagation": None,
}


@pytest.fixture(scope="module")
def undirected():
    edges = [(1, 2), (2, 3), (3, 1), (3, 4), (5, 6)]
    with tg.from_edges(edges, undirected=True, memory="256MiB", threads=2) as graph:
        yield graph


@pytest.mark.parametrize("entry", CATALOGUE, ids=NAMES)
def test_an_algorithm_runs(undirected: tg.Graph, entry) -> None:
    options = WITH_OPTIONS.get(entry["name"], {})
    if options is None:
        pytest.skip("it needs an input of its own")
    result = undirected.run(entry["name"], **options)
    assert result.algorithm == entry["name"]
    names = [column["name"] for column in entry["schema"]["columns"]]
    assert result.table.column_names[0] == names[0]
    assert len(result.table) == len(result)
    assert result.summary is not None


def test_an_order_exists_only_without_cycles(graph: tg.Graph) -> None:
    with tg.from_edges([(1, 2), (2, 3)]) as path:
        assert path.topological_order().to_numpy()["position"].tolist() == [0, 1, 2]
    with pytest.raises(tg.UnfitGraph, match="has a cycle"):
        graph.topological_order()


def test_tables_are_given_as_files_frames_dictionaries_and_lists(
    graph: tg.Graph, tmp_path: Path
) -> None:
    (tmp_path / "seeds.csv").write_text("vertex,weight\n1,1\n5,3\n")
    given = [
        tmp_path / "seeds.csv",
        str(tmp_path / "seeds.csv"),
        pl.DataFrame({"vertex": [1, 5], "weight": [1.0, 3.0]}),
        {1: 1, 5: 3.0},
        {"1": 1, "5": 3},
        [(1, 1), (5, 3)],
    ]
    ranks = [graph.pagerank(personalize=seeds).to_numpy()["rank"].tolist() for seeds in given]
    assert all(other == ranks[0] for other in ranks)
    assert ranks[0][4] > ranks[0][0]
    with pytest.raises(tg.BadInput, match="no vertex `9`"):
        graph.pagerank(personalize={9: 1})
    with pytest.raises(tg.UsageError, match="personalize: a row has at most 2 cells"):
        graph.pagerank(personalize=[(1, 2, 3)])
    with pytest.raises(tg.UsageError, match="personalize: None is neither"):
        graph.pagerank(personalize={1: None})


def by_vertex(vertices: list, values: list) -> dict:
    return dict(zip(vertices, values, strict=True))


@pytest.mark.parametrize(
    "seeds",
    [
        pd.Series({1: 1, 5: 3}),
        pd.Series([1, 3], index=["1", "5"]),
        np.array([[1, 1], [5, 3]]),
        [np.array([1, 1]), np.array([5, 3])],
        by_vertex(np.array([1, 5]), np.array([1.0, 3.0])),
        iter([(1, 1), (5, 3)]),
    ],
    ids=["series", "text", "array", "rows", "dictionary", "iterator"],
)
def test_weights_of_vertices_come_from_series_arrays_and_dictionaries(graph, seeds) -> None:
    ranks = graph.pagerank(personalize=seeds)
    assert ranks.to_numpy()["rank"].tobytes() == (
        graph.pagerank(personalize={1: 1, 5: 3}).to_numpy()["rank"].tobytes()
    )


@pytest.mark.parametrize(
    "sources",
    [
        pd.Series([1, 5]),
        pd.Index([1, 5]),
        pl.Series([1, 5]),
        pa.array([1, 5]),
        pa.chunked_array([[1], [5]]),
        np.array([1, 5], np.int32),
        {1, 5},
        range(1, 6, 4),
        (id for id in (1, 5)),
    ],
    ids=["pandas", "index", "polars", "arrow", "chunks", "numpy", "set", "range", "generator"],
)
def test_vertices_come_from_whatever_lists_them(graph: tg.Graph, sources) -> None:
    hops = graph.k_hop(sources=sources, hops=1).to_numpy()
    assert by_vertex(hops["vertex"].tolist(), hops["hops"].tolist()) == {1: 0, 2: 1, 5: 0, 6: 1}


@pytest.mark.parametrize("kind", [np.array, pd.Series, pl.Series, pa.array, pa.chunked_array])
def test_arrays_of_integers_become_no_texts(kind) -> None:
    ids = kind([[1, 5]]) if kind is pa.chunked_array else kind([1, 5])
    table = pa.table(table_of("sources", ids))
    assert table.to_pydict() == {"vertex": [1, 5]}


def test_ids_that_are_no_integers_are_refused(graph: tg.Graph) -> None:
    wrong = [
        np.array([-1, 1]),
        np.array([1.0]),
        np.array([True]),
        np.ma.masked_array([1, 5], [False, True]),
        pd.Series([1, None]),
        pl.Series([1, None]),
        pa.array([1, None]),
    ]
    for sources in wrong:
        with pytest.raises(tg.Error, match=r"^sources"):
            graph.k_hop(sources=sources, hops=1)


def test_integers_name_vertices_whose_ids_are_texts() -> None:
    with tg.from_edges([("1", "2"), ("5", "6")]) as texts:
        assert texts.wcc().to_numpy()["vertex"].tolist() == ["1", "2", "5", "6"]
        hops = texts.k_hop(sources=np.array([1, 5]), hops=1).to_numpy()
    found = by_vertex(hops["vertex"].tolist(), hops["hops"].tolist())
    assert found == {"1": 0, "2": 1, "5": 0, "6": 1}


def test_priors_are_weights_of_states_by_vertex(undirected: tg.Graph, tmp_path: Path) -> None:
    potential = tmp_path / "potential.txt"
    potential.write_text("0.9 0.1\n0.1 0.9\n")
    given = [
        {1: [0.8, 0.2], 5: np.array([0, 1])},
        {1: {0: 0.8, 1: 0.2}, 5: {1: 1}},
        [(1, 0, 0.8), (1, 1, 0.2), (5, 0, 0), (5, 1, 1)],
        pd.Series({(1, 0): 0.8, (1, 1): 0.2, (5, 1): 1.0}),
    ]
    found = [
        undirected.belief_propagation(priors=priors, potential=potential).to_numpy()["state_0"]
        for priors in given
    ]
    assert found[0][0] > 0.5 > found[0][4]
    assert all(beliefs.tobytes() == found[0].tobytes() for beliefs in found)


@pytest.mark.parametrize(
    "wrong",
    [5, b"ab", {1: None}, {1: b"x"}, [(1, 1, 1)], pd.Series([1.0], index=[1.5]), [[1], [2, 3]]],
)
def test_a_value_that_is_no_table_is_refused_by_the_name_of_its_option(graph, wrong) -> None:
    with pytest.raises(tg.UsageError, match="personalize"):
        graph.pagerank(personalize=wrong)


def test_errors_about_a_table_in_memory_name_its_option(graph: tg.Graph) -> None:
    for wrong in ({9: 1}, {1: -1}, {1: "x"}, pl.DataFrame({"vertex": [9], "weight": [1.0]})):
        with pytest.raises(tg.Error, match="personalize") as error:
            graph.pagerank(personalize=wrong)
        assert "/" not in error.value.message.replace(graph.path, "")
    with graph.jobs() as jobs:
        job = jobs.submit("pagerank", personalize={9: 1})
    for failure in (job.exception(), job.exception()):
        assert isinstance(failure, tg.BadInput)
        assert failure.message.startswith("personalize, row 1: ")


class Stream:
    """A table whose rows are made when a library asks for them."""

    def __init__(self, batches) -> None:
        self._batches = batches

    def __arrow_c_stream__(self, requested_schema=None) -> object:
        schema = pa.schema([("vertex", pa.int64()), ("weight", pa.float64())])
        reader = pa.RecordBatchReader.from_batches(schema, self._batches())
        return reader.__arrow_c_stream__()


class ShortStream(Stream):
    """Such a table that tells its length."""

    def __len__(self) -> int:
        return 2


def test_a_table_may_be_a_stream_that_uses_the_graph(graph: tg.Graph) -> None:
    def batches():
        for vertex, weight in [(1, 1), (5, 3)]:
            assert len(graph.degrees()) == 6
            yield pa.record_batch({"vertex": [vertex], "weight": [float(weight)]})

    expected = graph.pagerank(personalize={1: 1, 5: 3}).to_numpy()["rank"].tobytes()
    for seeds in (Stream(batches), ShortStream(batches)):
        assert graph.pagerank(personalize=seeds).to_numpy()["rank"].tobytes() == expected
    seeds = Stream(batches)
    assert graph.estimate("pagerank", personalize=seeds).needed_bytes > 0
    with graph.jobs() as jobs:
        job = jobs.submit("pagerank", personalize=seeds)
    assert job.result().to_numpy()["rank"].tobytes() == expected


def test_a_stream_that_fails_is_refused_by_the_name_of_its_option(graph: tg.Graph) -> None:
    def batches():
        yield pa.record_batch({"vertex": [1], "weight": [1.0]})
        raise RuntimeError("the source went away")

    for call in (graph.pagerank, lambda **options: graph.estimate("pagerank", **options)):
        for seeds in (Stream(batches), ShortStream(batches)):
            with pytest.raises(tg.BadInput, match=r"^personalize: .*the source went away"):
                call(personalize=seeds)


def test_only_a_long_table_in_memory_needs_a_folder_for_a_run(graph, monkeypatch) -> None:
    monkeypatch.setattr("tempfile.mkdtemp", lambda **_: pytest.fail("a folder"))
    result = graph.pagerank(personalize={1: 1.0})
    graph.estimate("pagerank", personalize=pl.DataFrame({"vertex": [1]}))
    # The result of a run on the same graph is read before the next run begins.
    graph.pagerank(personalize=result)
    short = pl.DataFrame({"vertex": [1] * (1 << 16)})
    graph.pagerank(personalize=short)
    with pytest.raises(pytest.fail.Exception, match="a folder"):
        graph.pagerank(personalize=short.vstack(short[:1]))


def test_a_short_table_counts_against_the_memory(graph: tg.Graph) -> None:
    names = pl.DataFrame({"vertex": ["1"] * 60_000, "weight": ["1" + "0" * 2_000] * 60_000})
    with (
        tg.open(graph.path, memory="64MiB") as small,
        pytest.raises(tg.OverBudget, match="seeds so far"),
    ):
        small.pagerank(personalize=names)


def test_the_hint_for_a_misspelt_name_is_the_nearest_one(graph: tg.Graph) -> None:
    calls = [
        lambda: graph.pagerank(dampng=0.5),
        lambda: graph.run("pagerank", dampng=0.5),
        lambda: graph.estimate("pagerank", dampng=0.5),
        lambda: graph.jobs().submit("pagerank", dampng=0.5),
    ]
    for call in calls:
        with pytest.raises(tg.UsageError, match="pagerank has no option dampng=") as error:
            call()
        assert error.value.hint == "did you mean damping=?"
    for call in (graph.run, graph.estimate, graph.jobs().submit):
        with pytest.raises(tg.UsageError, match="no algorithm `betweeness`") as error:
            call("betweeness")
        assert error.value.hint == "did you mean betweenness?"
    with pytest.raises(tg.UsageError, match=r"choose one of .*damping=, "):
        graph.pagerank(q=1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"damping": "x"}, 'damping: it must be a number, not "x"'),
        ({"iterations": 1.5}, "iterations: it must be an integer from 0 to 2**64 - 1, not 1.5"),
        ({"weighted": [1]}, "weighted: it must be True or False, not a list"),
        ({"missing": "x"}, 'missing: it must be "refuse" or "skip", not "x"'),
        ({"damping": float("inf")}, "damping: inf is no value of an option (it is not finite)"),
    ],
)
def test_messages_use_the_words_of_python(graph: tg.Graph, options, message: str) -> None:
    with pytest.raises(tg.UsageError) as error:
        graph.pagerank(**options)
    assert message in error.value.message


def test_options_reach_the_algorithm(graph: tg.Graph) -> None:
    result = graph.bfs(source=1, parents=True)
    assert result.table.column_names == ["vertex", "distance", "parent"]
    assert graph.bfs(source="1").to_numpy()["distance"][3] == 3
    assert graph.pagerank(iterations=7).statistics.iterations == 7


@pytest.mark.parametrize(
    ("algorithm", "options", "kind", "message"),
    [
        ("pagerank", {"damping": 2}, tg.UsageError, "damping"),
        ("pagerank", {"damping": "x"}, tg.UsageError, "damping"),
        ("pagerank", {"damping": float("nan")}, tg.UsageError, "damping"),
        ("pagerank", {"iterations": -1}, tg.UsageError, "iterations"),
        ("pagerank", {"iterations": 1 << 70}, tg.UsageError, "iterations"),
        ("pagerank", {"iterations": object()}, tg.UsageError, "iterations"),
        ("pagerank", {"dampening": 0.5}, tg.UsageError, "dampening"),
        ("bfs", {"source": 99}, tg.NoSuchVertex, "no vertex `99`"),
        ("bfs", {"source": -1}, tg.NoSuchVertex, "no vertex `-1`"),
        ("bfs", {"source": 1.5}, tg.UsageError, "source"),
        ("bfs", {"source": "x"}, tg.NoSuchVertex, "no vertex `x`"),
        ("fly", {}, tg.UsageError, "no algorithm `fly`"),
        ("subgraph", {}, tg.UsageError, "subgraph"),
    ],
)
def test_wrong_options_are_refused_by_name(graph, algorithm, options, kind, message) -> None:
    with pytest.raises(kind) as error:
        graph.run(algorithm, **options)
    assert message in str(error.value)
