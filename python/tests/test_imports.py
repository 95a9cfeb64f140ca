"""Edge lists and tables that become graphs."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse

import tegula as tg

from .conftest import EDGES, NAMED, random_edges


def pairs_of(graph: tg.Graph, vertices: list) -> list[tuple]:
    table = graph.neighbours(vertices)
    return [tuple(row.values()) for row in table]


def columns(edges: list[tuple]) -> tuple[list, list]:
    return [edge[0] for edge in edges], [edge[1] for edge in edges]


@pytest.mark.parametrize("edges", [EDGES, NAMED], ids=["integers", "strings"])
@pytest.mark.parametrize(
    "made",
    [
        lambda edges: edges,
        lambda edges: tuple(np.array(column) for column in columns(edges)),
        lambda edges: pa.table(dict(zip(("src", "dst"), columns(edges), strict=True))),
        lambda edges: pl.DataFrame(dict(zip(("from", "to"), columns(edges), strict=True))),
        lambda edges: pd.DataFrame(dict(zip(("a", "b"), columns(edges), strict=True))),
        lambda edges: pa.table(dict(zip("ab", columns(edges), strict=True))).to_batches(1),
        lambda edges: iter(pa.table(dict(zip("ab", columns(edges), strict=True))).to_batches(2)),
        lambda edges: pa.table(dict(zip("ab", columns(edges), strict=True))).to_reader(),
    ],
    ids=["list", "numpy", "pyarrow", "polars", "pandas", "batches", "iterator", "reader"],
)
def test_edges_of_every_kind_become_the_same_graph(made, edges) -> None:
    with tg.from_edges(made(edges)) as graph:
        ends = sorted({end for edge in edges for end in edge}, key=lambda id: str(id).encode())
        assert graph.info().vertices == len(ends)
        assert sorted(pairs_of(graph, ends)) == sorted(edges)
        assert graph.import_report is not None
        assert graph.import_report.edges == len(edges)


def test_an_array_of_two_columns_is_a_list_of_edges() -> None:
    edges = random_edges(1000, 50)
    with tg.from_edges(edges) as graph:
        assert graph.info().edges == 1000
        assert len(graph.neighbours(list(range(50)))) == 1000


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_a_tuple_of_pairs_is_a_list_of_edges(count: int) -> None:
    edges = tuple(EDGES[:count])
    with tg.from_edges(edges) as graph:
        assert pairs_of(graph, sorted({source for source, _ in edges})) == sorted(edges)


def test_a_tuple_of_arrays_has_columns() -> None:
    columns = (pd.Series([1, 3]), np.array([2, 4]))
    with tg.from_edges(columns) as graph:
        assert pairs_of(graph, [1, 3]) == [(1, 2), (3, 4)]


def test_columns_are_chosen_by_name_or_position() -> None:
    table = pa.table({"w": [0.5, 2.0], "to": [2, 3], "from": [1, 2]})
    with tg.from_edges(table, weight="w") as graph:
        assert graph.info().weighted
        rows = list(graph.neighbours([1, 2]))
    assert rows == [
        {"vertex": 1, "neighbour": 2, "weight": 0.5},
        {"vertex": 2, "neighbour": 3, "weight": 2.0},
    ]
    with pytest.warns(tg.TegulaWarning, match="column `w` was not read"):
        unweighted = tg.from_edges(table, source=1, target="from")
    with unweighted as graph:
        assert not graph.info().weighted
        assert [row["vertex"] for row in graph.neighbours([2, 3])] == [2, 3]


def test_a_table_whose_names_say_nothing_is_refused() -> None:
    table = pa.table({"day": [1, 2], "caller": [3, 4], "callee": [4, 5]})
    with pytest.raises(tg.BadInput, match="the columns are `day`, `caller`, `callee`") as error:
        tg.from_edges(table)
    assert error.value.hint == "choose columns with source=, target= and weight="
    with tg.from_edges(table, source="caller", target="callee") as graph:
        assert pairs_of(graph, [3, 4]) == [(3, 4), (4, 5)]
    with tg.from_edges(table, source="caller", weight="day") as graph:
        assert pairs_of(graph, [3, 4]) == [(3, 4, 1.0), (4, 5, 2.0)]
    with pytest.raises(tg.BadInput, match="column `day` would be both"):
        tg.from_edges(table, source="day", target=0)


def test_columns_are_found_as_in_a_file(folder: Path) -> None:
    frame = pl.DataFrame({"ToNodeId": [2, 3], "FromNodeId": [1, 2], "note": ["x", "y"]})
    frame.write_csv(folder / "edges.csv")
    with tg.from_edges(frame) as graph, tg.read(folder / "edges.csv") as read:
        assert pairs_of(graph, [1, 2]) == pairs_of(read, [1, 2]) == [(1, 2), (2, 3)]


def test_few_tables_of_a_stream_are_in_memory_at_a_time() -> None:
    pool = pa.default_memory_pool()
    before, rows = pool.bytes_allocated(), 10_000
    held: list[int] = []

    def batches() -> Iterator[pa.RecordBatch]:
        for start in range(0, 50 * rows, rows):
            ids = pa.array(range(start, start + rows), pa.uint64())
            yield pa.record_batch({"source": ids, "target": ids})
            held.append(pool.bytes_allocated() - before)

    with tg.from_edges(batches(), threads=2) as graph:
        assert graph.info().edges == 50 * rows
    assert len(held) == 50
    # This generator has one table, each thread has one, and one waits.
    assert max(held) < 5 * rows * 8


def test_a_generator_is_asked_for_all_tables_on_one_thread() -> None:
    threads = set()

    def batches() -> Iterator[pa.RecordBatch]:
        for start in range(0, 300_000, 1000):
            threads.add(threading.get_ident())
            ids = pa.array(range(start, start + 1000), pa.uint64())
            yield pa.record_batch({"source": ids, "target": ids})

    tg.from_edges(batches(), threads=4).close()
    assert len(threads) == 1


@pytest.mark.parametrize("wrong", [None, -1])
def test_the_first_fault_of_a_stream_is_told(wrong: int | None) -> None:
    def batches() -> Iterator[pa.RecordBatch]:
        ids = pa.array([1] * 70_000 + [wrong])
        yield pa.record_batch({"source": ids, "target": ids})
        raise LookupError("there is no second table")

    for _ in range(5):
        with pytest.raises(tg.BadInput, match="data, row 70000"):
            tg.from_edges(batches(), threads=4)


def test_an_exception_of_a_stream_is_raised() -> None:
    def batches() -> Iterator[pa.RecordBatch]:
        ids = pa.array(range(70_000))
        yield pa.record_batch({"source": ids, "target": ids})
        raise LookupError("there is no second table")

    with pytest.raises(LookupError, match="no second table"):
        tg.from_edges(batches(), threads=4)


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
def test_a_list_of_tables_is_one_table(kind) -> None:
    tables = [kind({"source": [first], "target": [first + 1]}) for first in (1, 2, 3)]
    with tg.from_edges(tables) as graph:
        assert pairs_of(graph, [1, 2, 3]) == [(1, 2), (2, 3), (3, 4)]
    tables.append(kind({"source": [1]}))
    with pytest.raises(tg.BadInput, match="data, row 3: this table has the columns `source`, but"):
        tg.from_edges(tables)


def test_categories_are_strings() -> None:
    frame = pd.DataFrame({"source": ["a", "b", "a"], "target": ["b", "c", "c"]}, dtype="category")
    with tg.from_edges(frame) as graph, tg.from_edges(iter([frame]), ids="string") as stream:
        assert pairs_of(graph, ["a", "b"]) == pairs_of(stream, ["a", "b"])
        assert pairs_of(graph, ["a", "b"]) == [("a", "b"), ("a", "c"), ("b", "c")]


@pytest.mark.parametrize("force", [False, True])
def test_an_output_that_cannot_be_made_is_refused_before_a_stream_is_read(
    folder: Path, force: bool
) -> None:
    def batches() -> Iterator[pa.RecordBatch]:
        raise AssertionError("the stream was read")
        yield

    kept = folder / "g.tegula"
    kept.mkdir()
    (kept / "letter.txt").write_text("no graph")
    with pytest.raises(tg.NotReplaced):
        tg.from_edges(batches(), path=kept, force=force)
    (kept / "letter.txt").unlink()
    tg.from_edges(EDGES, path=kept, force=True).close()
    if not force:
        with pytest.raises(tg.AlreadyExists, match="force=True to replace it"):
            tg.from_edges(batches(), path=kept)


@pytest.mark.parametrize(
    ("later", "message"),
    [
        (
            {"target": [3], "source": [4]},
            "data, row 1: this table has the columns `target`, `source`, "
            "but the first one has `source`, `target`",
        ),
        ({"source": [3], "to": [4]}, "the columns `source`, `to`"),
        ({"source": [3]}, "the columns `source`, but"),
        (
            {"source": [3.0], "target": [4]},
            "column `source` is Float64; ids are integers or strings",
        ),
        (
            {"source": [3], "target": ["4"]},
            "column `target` is Utf8; ids of the first table are integers",
        ),
    ],
)
def test_later_tables_have_the_columns_of_the_first(later, message: str, folder: Path) -> None:
    tables = [pa.table({"source": [1], "target": [2]}), pa.table(later)]
    with pytest.raises(tg.BadInput) as error:
        tg.from_edges(iter(tables), path=folder / "g.tegula")
    assert message in str(error.value)
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    ("data", "names", "message"),
    [
        ({"a": [1, None], "b": [2, 3]}, {}, "data, row 1: column `a` is null"),
        ({"a": [1, 2], "b": [2, -3]}, {}, "data, row 1: the id -3 in column `b` is negative"),
        (
            {"a": [1.5, 2.0], "b": [2, 3]},
            {},
            "data: column `a` is Float64; ids are integers or strings",
        ),
        ({"a": ["x", ""], "b": ["y", "z"]}, {}, "data, row 1: the id in column `a` is empty"),
        ({"a": [1, 2], "b": [2, 3]}, {"source": "c"}, "source: there is no column `c`"),
        ({"a": [1, 2], "b": [2, 3]}, {"target": 2}, "target: there is no column 2"),
        (
            {"a": [1, 2], "b": [2, 3], "w": [1.0, float("nan")]},
            {"weight": "w"},
            "data, row 1: the weight NaN is not finite",
        ),
        ({"a": [1], "b": [2], "w": ["x"]}, {"weight": "w"}, "weights are numbers"),
    ],
)
def test_bad_rows_are_refused_by_column_and_row(data, names, message: str, folder: Path) -> None:
    with pytest.raises(tg.BadInput) as error:
        tg.from_edges(pa.table(data), path=folder / "g.tegula", **names)
    assert message in str(error.value)
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    "data",
    [
        5,
        "edges.csv",
        {"a": [1]},
        [(1, 2), (3,)],
        [1, 2],
        [("a", 1), ("b", 2)],
        np.zeros((3, 4)),
        iter([5]),
    ],
)
def test_data_without_edges_is_refused(data) -> None:
    with pytest.raises(tg.BadInput):
        tg.from_edges(data)


def test_files_are_read_with_the_settings_of_the_command(folder: Path) -> None:
    (folder / "a.csv").write_text("from,to,cost\na,b,2\nb,a,3\nb,b,1\n")
    (folder / "b.csv").write_text("from,to,cost\na,b,5\n")
    output = folder / "g.tegula"
    with tg.read(
        [folder / "a.csv", folder / "b.csv"],
        path=output,
        weighted=True,
        weight_column="cost",
        combine="sum",
        drop_loops=True,
        layouts=["tiles", "rows"],
        order="given",
    ) as graph:
        assert graph.info().layouts == ["tiles", "rows"]
        rows = [tuple(row.values()) for row in graph.neighbours(["a", "b"])]
        assert rows == [("a", "b", 7.0), ("b", "a", 3.0)]
        assert graph.import_report is not None
        assert graph.import_report.dropped_loops == 1
    with pytest.raises(tg.AlreadyExists, match="force=True to replace it"):
        tg.read(folder / "a.csv", path=output)
    with tg.read(folder / "b.csv", path=output, undirected=True, force=True) as graph:
        assert graph.info().undirected
        assert graph.path == os.fspath(output)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"order": "best"}, 'order: it must be "auto", "given", "degree" or "dfs", not "best"'),
        ({"format": "docx"}, "format: unknown format `docx`"),
        ({"combine": "sum"}, "combine= needs weighted=True"),
        ({"source_column": 0}, "counted from 1"),
        ({"skip_bad_rows": -1}, "skip_bad_rows: it must be an integer from 0"),
        ({"memory": "lots"}, 'memory="lots"'),
        ({"threads": 0}, "threads must be at least 1"),
        ({"delimiter": "ab"}, "delimiter: `ab`"),
        ({"undirected": float("nan")}, "undirected"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, message: str, folder: Path) -> None:
    (folder / "a.csv").write_text("1,2\n")
    with pytest.raises(tg.UsageError) as error:
        tg.read(folder / "a.csv", **settings)
    assert message in str(error.value)


def test_a_temporary_graph_goes_with_its_object() -> None:
    graph = tg.from_edges(EDGES)
    folder = Path(graph.path)
    assert folder.is_dir()
    graph.close()
    assert not folder.exists()
    graph = tg.from_edges(EDGES)
    folder = Path(graph.path)
    del graph
    assert not folder.exists()


def test_remarks_about_the_input_are_warnings(folder: Path) -> None:
    (folder / "a.txt").write_text("1 2\n2 1\n3 4\n4 3\n")
    with pytest.warns(tg.TegulaWarning, match="drop_duplicates=True to keep one edge"):
        tg.read(folder / "a.txt", undirected=True).close()


def test_graphs_of_networkx_and_matrices_become_graphs() -> None:
    nx = pytest.importorskip("networkx")
    sparse = pytest.importorskip("scipy.sparse")
    named = nx.Graph([("a", "b", {"w": 2.5}), ("b", "c")])
    with tg.from_edges(named, weight="w") as graph:
        assert graph.info().undirected
        assert graph.sssp(source="a")["c"] == 3.5
    with tg.from_edges(nx.DiGraph([(1, 2), (2, 3)])) as graph:
        assert not graph.info().undirected
        assert graph.bfs(source=1)["3"] == 2
    matrix = sparse.coo_array(([1.5, 2.0], ([0, 1], [1, 2])), shape=(3, 3))
    with tg.from_edges(matrix, weight=2) as graph:
        assert graph.sssp(source=0)["2"] == 3.5
    with pytest.raises(tg.BadInput):
        tg.from_edges(nx.Graph([((1, 2), 3)]))


@pytest.mark.parametrize("nodes", [(1, 2, 7, 8), ("a", "b", "lone", "other")])
@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph])
def test_nodes_of_networkx_without_edges_are_vertices(kind, nodes) -> None:
    given = kind()
    given.add_nodes_from(nodes)
    given.add_edge(nodes[0], nodes[1], w=2.0)
    with tg.from_edges(given, weight="w") as graph:
        assert graph.wcc().to_numpy()["vertex"].tolist() == list(nodes)
        assert graph.info().isolated == 2
    with tg.from_edges(given, vertices=nodes[:2]) as graph:
        assert graph.info().vertices == 2
    given.remove_edge(nodes[0], nodes[1])
    with pytest.warns(tg.TegulaWarning, match="no edges"):
        graph = tg.from_edges(given, allow_empty=True)
    assert graph.wcc().to_numpy()["vertex"].tolist() == list(nodes)
    graph.close()


def test_rows_of_a_matrix_without_entries_are_vertices() -> None:
    matrix = scipy.sparse.csr_array(([1.0], ([1], [2])), shape=(5, 5))
    with tg.from_edges(matrix, weight="weight") as graph:
        assert graph.wcc().to_numpy()["vertex"].tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    "vertices",
    [[1, 2, 9], np.array([1, 2, 9]), pd.Series([1, 2, 9]), pl.DataFrame({"vertex": [1, 2, 9]})],
    ids=["list", "array", "series", "frame"],
)
def test_vertices_are_declared_by_a_table(vertices, folder: Path) -> None:
    (folder / "edges.txt").write_text("1 2\n")
    with tg.from_edges([(1, 2)], vertices=vertices) as graph:
        assert graph.wcc().to_numpy()["vertex"].tolist() == [1, 2, 9]
    with tg.read(folder / "edges.txt", vertices=vertices) as graph:
        assert graph.info().vertices == 3
    with pytest.raises(tg.BadInput, match="the vertex 3 that is not listed in vertices"):
        tg.from_edges([(1, 2), (2, 3)], vertices=vertices)


def test_no_edges_with_declared_vertices_make_a_graph() -> None:
    none = np.empty(0, np.uint64)
    with pytest.warns(tg.TegulaWarning, match="no edges"):
        graph = tg.from_edges((none, none), vertices=3, allow_empty=True)
    assert graph.info().vertices == 3
    graph.close()


def test_pairs_come_from_iterators_too() -> None:
    with tg.from_edges(zip([1, 2], [2, 3], strict=True)) as graph:
        assert graph.info().edges == 2


def test_a_column_of_weights_that_is_not_read_is_told() -> None:
    frame = pd.DataFrame({"source": [1], "target": [2], "weight": [5.0]})
    with pytest.warns(tg.TegulaWarning, match="column `weight` was not read"):
        tg.from_edges(frame).close()


def test_a_matrix_of_edges_is_square() -> None:
    with pytest.raises(tg.BadInput, match="square"):
        tg.from_edges(scipy.sparse.coo_array((2, 3)))


def test_nodes_that_are_no_ids_are_named() -> None:
    with pytest.raises(tg.BadInput, match="neither an integer nor a string"):
        tg.from_edges(nx.grid_2d_graph(2, 2))
    with pytest.raises(tg.BadInput, match="no edge of the graph has this attribute"):
        tg.from_edges(nx.karate_club_graph(), weight="wieght")


@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.uint32, np.int64, np.uint64])
def test_the_greatest_ids_of_every_type_of_integer_are_kept(dtype: type[np.integer]) -> None:
    greatest = min(int(np.iinfo(dtype).max), 2**63)
    ends = np.array([greatest, 1], dtype)
    weights = np.array([0.5, 0.25], np.float32)
    with tg.from_edges((ends, ends[::-1].copy(), weights), weight=2) as graph:
        rows = pa.table(graph.edges()).to_pydict()
    found = set(zip(rows["source"], rows["target"], rows["weight"], strict=True))
    assert found == {(greatest, 1, 0.5), (1, greatest, 0.25)}


def test_ids_on_both_sides_of_2_to_the_63_are_kept() -> None:
    with tg.from_edges([(1, 2**63), (2**64 - 1, 3)]) as graph:
        rows = pa.table(graph.edges()).to_pydict()
    assert set(zip(rows["source"], rows["target"], strict=True)) == {(1, 2**63), (2**64 - 1, 3)}


def test_the_index_of_a_filtered_data_frame_is_no_column() -> None:
    frame = pd.DataFrame({"who": [1, 2, 3], "whom": [2, 3, 1], "keep": [True, False, True]})
    with tg.from_edges(frame[frame.keep][["who", "whom"]]) as graph:
        rows = pa.table(graph.edges()).to_pydict()
        assert set(zip(rows["source"], rows["target"], strict=True)) == {(1, 2), (3, 1)}
        near = graph.k_hop(sources=frame[frame.keep][["who"]], hops=1)
        assert sorted(pa.table(near)["vertex"].to_pylist()) == [1, 2, 3]


def test_a_wrong_row_far_down_in_a_table_is_named() -> None:
    ends = pa.array([*range(70_000), None])
    with pytest.raises(tg.BadInput, match="row 70000: column `source` is null"):
        tg.from_edges(pa.table({"source": ends, "target": ends}))


@pytest.mark.long
def test_a_large_table_in_one_piece_is_imported_within_the_budget(tmp_path: Path) -> None:
    code = f"""
import numpy as np, pyarrow as pa, tegula as tg
def resident(name):
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith(name))
ends = np.random.default_rng(1).integers(0, 1 << 18, (2, 4_000_000), dtype=np.uint32)
edges = pa.table(dict(zip(("source", "target"), map(pa.array, ends))))
# The peak begins anew.
open("/proc/self/clear_refs", "w").write("5")
before = resident("VmRSS")
tg.from_edges(edges, path={str(tmp_path / "g.tegula")!r}, memory="64MiB").close()
print(resident("VmHWM") - before)
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(ran.stdout) <= 64 << 20
