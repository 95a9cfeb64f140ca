"""What runs find, and how it leaves."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tegula as tg

from .conftest import random_edges


def test_a_result_is_a_table_of_every_library(graph: tg.Graph) -> None:
    result = graph.bfs(source=1)
    expected = {"vertex": [1, 2, 3, 4, 5, 6], "distance": [0, 1, 2, 3, None, None]}
    assert len(result) == 6
    assert result.table.column_names == ["vertex", "distance"]
    assert result.table.to_pyarrow().to_pydict() == expected
    assert pa.table(result).to_pydict() == expected
    assert result.to_polars().to_dict(as_series=False) == expected
    frame = result.to_pandas()
    assert frame["vertex"].tolist() == expected["vertex"]
    assert frame["distance"].dtype == pd.UInt32Dtype()
    assert frame["distance"].isna().tolist() == [False] * 4 + [True] * 2
    arrays = result.to_numpy()
    assert arrays["vertex"].dtype == np.uint64
    assert arrays["distance"].tolist() == expected["distance"]
    assert list(result.table)[1] == {"vertex": 2, "distance": 1}


def test_strings_and_truth_values_come_out(named: tg.Graph) -> None:
    with tg.from_edges([("a", "b")], undirected=True) as pair:
        result = pair.mis(seed=1)
        assert sorted(result.to_numpy()["in_set"].tolist()) == [False, True]
        assert result.to_pandas()["in_set"].dtype == np.bool_
    result = named.wcc()
    assert result.to_numpy()["vertex"].tolist() == ["a", "b", "c", "d", "f", "é"]
    assert result["é"] == "f"
    assert result.to_pandas()["component"].tolist() == ["a", "a", "a", "a", "f", "f"]


def test_a_vertex_is_looked_up_by_its_id(graph: tg.Graph, named: tg.Graph) -> None:
    distances = graph.bfs(source=1)
    assert [distances[1], distances[np.uint64(4)], distances["4"], distances[6]] == [0, 3, 3, None]
    degrees = graph.degrees()
    assert degrees[3].to_dict() == {"in_degree": 1, "out_degree": 2}
    assert degrees[3].out_degree == 2
    for missing in (7, "x", -1, "007", "+4", " 4", ""):
        with pytest.raises(tg.NoSuchVertex, match="no vertex"):
            distances[missing]
    for wrong in (None, 1.5, True, b"4", (4,)):
        with pytest.raises(tg.UsageError, match=r"^vertex: .* is no vertex"):
            distances[wrong]
    assert named.bfs(source="b")["d"] == 3
    with pytest.raises(LookupError):
        named.wcc()["x"]
    with pytest.raises(TypeError, match="no row for each vertex"):
        graph.random_walks(length=2)[1]


def test_the_first_entries_and_the_summary_have_names(graph: tg.Graph) -> None:
    ranks = graph.pagerank(damping=0.5, iterations=3)
    first, second = ranks.top(2)
    assert first.rank >= second.rank
    # A summary has the shortest decimal of a number.
    assert np.float32(ranks[first.vertex]) == np.float32(first.rank)
    assert ranks.summary.top[0].vertex == first.vertex
    components = graph.wcc()
    assert (components.summary.components, components.summary.largest) == (2, 4)
    assert components.top(1)[0].to_dict() == {"component": 1, "vertices": 4}
    assert components.top(0) == []
    levels = graph.bfs(source=1).top(2)
    assert [tuple(level.values()) for level in levels] == [(0, 1), (1, 1)]
    with pytest.raises(tg.UsageError, match="count=-1"):
        components.top(-1)
    assert ranks.statistics.iterations == 3
    assert ranks.statistics.threads == 2
    assert len(ranks.statistics.iteration_seconds) == 3
    with pytest.raises(AttributeError, match="there is no `groups`"):
        components.summary.groups  # noqa: B018


def test_numbers_are_not_copied_on_their_way_out() -> None:
    with tg.from_edges(random_edges(20_000, 5_000), memory="256MiB") as graph:
        table = graph.pagerank(iterations=1).table
        arrays, again = table.to_numpy(), table.to_numpy()
        assert not arrays["rank"].flags.writeable
        assert np.shares_memory(arrays["rank"], again["rank"])
        frame = pl.DataFrame(table)
        assert frame["rank"].to_numpy().tolist() == arrays["rank"].tolist()
    # They outlive the graph and the table.
    del table, graph
    assert abs(float(arrays["rank"].sum()) - 1) < 1e-5


def test_results_are_written_in_every_format(graph: tg.Graph, folder: Path) -> None:
    ranks = graph.pagerank(iterations=2)
    expected = ranks.table.to_pyarrow()
    for name in ["a.parquet", "a.csv", "a.tsv.gz", "a.npy", "a.arrows"]:
        path = folder / name
        assert ranks.write(path) == path.stat().st_size
    assert pq.read_table(folder / "a.parquet") == expected
    with pa.ipc.open_stream(folder / "a.arrows") as stream:
        assert stream.read_all() == expected
    assert np.load(folder / "a.npy")["rank"].tolist() == expected["rank"].to_pylist()
    assert ranks.write(folder / "b", format="csv") == (folder / "a.csv").stat().st_size
    assert (folder / "b").read_bytes() == (folder / "a.csv").read_bytes()
    with pytest.raises(tg.AlreadyExists):
        ranks.write(folder / "a.csv")
    ranks.write(folder / "a.csv", force=True)
    with pytest.raises(tg.UsageError, match="format="):
        ranks.write(folder / "a.docx")
    with pytest.raises(tg.UsageError, match="not one of"):
        ranks.write(folder / "c", format="docx")


def test_an_estimate_tells_the_needs_of_a_run(graph: tg.Graph) -> None:
    needs = graph.estimate("pagerank", iterations=20)
    assert needs.fits
    assert needs.needed_bytes <= needs.memory_bytes == 256 << 20
    assert graph.estimate("k-hop", source=1, hops=2).layout == "rows"
    with tg.open(graph.path, memory="1MiB") as small:
        assert not small.estimate("pagerank").fits


def test_neighbours_of_one_and_of_several(graph: tg.Graph) -> None:
    assert [row["neighbour"] for row in graph.neighbours(3)] == [1, 4]
    assert [row["neighbour"] for row in graph.neighbours(np.uint64(3))] == [1, 4]
    assert len(graph.neighbours([1, 2, 3])) == 4
    assert len(graph.neighbours([])) == 0
    for wrong in (None, 1.5, True, b"12", [None], [1.5], [True], [[1]], np.array([1.0])):
        with pytest.raises(tg.UsageError, match=r"^vertex: .* is no vertex"):
            graph.neighbours(wrong)
    with pytest.raises(tg.NoSuchVertex, match="no vertex `9`"):
        graph.neighbours(9)


def test_a_graph_tells_what_it_holds(graph: tg.Graph) -> None:
    info = graph.info()
    assert (info.vertices, info.edges, info.undirected, info.weighted) == (6, 5, False, False)
    assert (info.out_degree.min, info.out_degree.max, info.isolated) == (0, 2, 0)
    assert info["ids"] == "integer"
    assert set(info) >= {"bytes", "order", "layouts"}


def test_a_result_is_a_container_of_rows_by_vertex(named: tg.Graph) -> None:
    ranks = named.pagerank()
    assert "a" in ranks
    assert "zoe" not in ranks
    assert None not in ranks
    assert [row["vertex"] for row in ranks] == ranks.to_numpy()["vertex"].tolist()


def told_by(result: tg.Result) -> list:
    """Return what a result tells in all its ways."""
    return [
        *(result.table.to_pyarrow(), pa.table(result), pa.table(result.batches())),
        *(result.warnings, result.summary, result.statistics),
        *(result.top(2), result.top(), result["c"], result._repr_html_()),
    ]


@pytest.mark.parametrize("name", ["007", "1e5", "1_000"])
def test_first_entries_keep_names_that_look_like_numbers(name: str) -> None:
    with tg.from_edges([(name, "b"), ("b", name)]) as graph:
        first = graph.hits().top(2)
    assert [row["hub vertex"] for row in first] == sorted([name, "b"])
    assert all(isinstance(row["hub"], float) for row in first)


@pytest.mark.parametrize("algorithm", ["pagerank", "wcc", "bfs"])
def test_a_result_pickles_without_its_graph(named: tg.Graph, folder: Path, algorithm: str) -> None:
    options = {"source": "a"} if algorithm == "bfs" else {}
    result = named.run(algorithm, **options)
    result.write(folder / "live.parquet")
    expected, pickled = told_by(result), pickle.dumps(result)
    del result
    named.close()
    assert not Path(named.path).exists()
    again = pickle.loads(pickle.dumps(pickle.loads(pickled)))
    assert told_by(again) == expected
    assert (again.algorithm, len(again)) == (algorithm, 6)
    assert ("c" in again, "x" in again) == (True, False)
    again.write(folder / "kept.parquet")
    assert (folder / "kept.parquet").read_bytes() == (folder / "live.parquet").read_bytes()
    with pytest.raises(tg.AlreadyExists):
        again.write(folder / "kept.parquet")


def test_a_pickled_result_keeps_its_first_entries() -> None:
    with tg.from_edges(random_edges(2000, 500), memory="256MiB") as graph:
        ranks = graph.pagerank(iterations=3)
        again = pickle.loads(pickle.dumps(ranks))
        assert again.top(100) == ranks.top(100)
        with pytest.raises(tg.UsageError, match=r"count=101: .* keeps only its first 100 entries"):
            again.top(101)


def test_a_pickled_result_of_100_entries_has_all() -> None:
    with tg.from_edges([(i, (i + 1) % 100) for i in range(100)]) as ring:
        ranks = ring.pagerank(iterations=3)
        assert len(ranks) == 100
        assert pickle.loads(pickle.dumps(ranks)).top(101) == ranks.top(101)


def test_a_table_pickles(graph: tg.Graph) -> None:
    table = graph.neighbours([1, 2, 3])
    assert pickle.loads(pickle.dumps(table)).to_pyarrow() == table.to_pyarrow()
