"""Edges and results that are read a batch at a time."""

from __future__ import annotations

import ctypes
import multiprocessing
import time
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tegula as tg

from .conftest import EDGES, NAMED, random_edges

pytestmark = pytest.mark.long

# Some 16 batches of edges.
COUNT = 1 << 19


@pytest.fixture(scope="module")
def long() -> Iterator[tg.Graph]:
    """A graph whose edges are many batches."""
    with tg.from_edges(random_edges(COUNT, 1 << 17), memory="128MiB") as graph:
        yield graph


def pairs(batches: tg.Batches) -> list[tuple]:
    return [tuple(row.values()) for table in batches for row in table]


class Mallinfo(ctypes.Structure):
    """What the allocator of the C library tells of itself."""

    _fields_ = tuple(
        (name, ctypes.c_size_t)
        for name in (
            *("arena", "ordblks", "smblks", "hblks", "hblkhd"),
            *("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"),
        )
    )


def allocated() -> int:
    """Return the bytes that are in use, without those that the allocator keeps."""
    mallinfo = ctypes.CDLL(None).mallinfo2
    mallinfo.restype = Mallinfo
    info = mallinfo()
    return info.uordblks + info.hblkhd


@pytest.mark.parametrize("edges", [EDGES, NAMED], ids=["integers", "strings"])
def test_edges_come_back_in_original_ids(edges) -> None:
    with tg.from_edges(edges) as graph:
        batches = graph.edges()
        assert batches.column_names == ["source", "target"]
        assert sorted(pairs(batches)) == sorted(edges)
        assert list(batches) == []


def test_weights_come_back_and_an_undirected_edge_comes_once() -> None:
    weighted = [(1, 2, 0.5), (2, 3, 2.0), (4, 4, 1.0)]
    with tg.from_edges(weighted, weight=2, undirected=True) as graph:
        assert graph.info().edges == 5
        batches = graph.edges()
        assert batches.column_names == ["source", "target", "weight"]
        found = pairs(batches)
    assert sorted((*sorted(edge[:2]), edge[2]) for edge in found) == weighted


def test_other_libraries_read_edges_as_a_stream(long: tg.Graph, tmp_path: Path) -> None:
    frame = pl.DataFrame(long.edges())
    assert frame.schema == {"source": pl.UInt64, "target": pl.UInt64}
    expected = pl.DataFrame(random_edges(COUNT, 1 << 17), schema=frame.schema)
    assert frame.sort("source", "target").equals(expected.sort("source", "target"))
    with pa.RecordBatchReader.from_stream(long.edges()) as reader:
        path = tmp_path / "edges.parquet"
        with pq.ParquetWriter(path, reader.schema) as writer:
            for batch in reader:
                writer.write_batch(batch)
    assert pl.read_parquet(path).equals(frame)
    with tg.from_edges(long.edges()) as again:
        assert again.info().edges == COUNT


def test_batches_take_less_memory_than_the_table(long: tg.Graph) -> None:
    before = allocated()
    most = rows = 0
    for table in long.edges():
        rows += len(table)
        most = max(most, allocated() - before)
    kept = list(long.edges())
    all_of_it = allocated() - before
    assert rows == sum(len(table) for table in kept) == COUNT
    assert all_of_it >= COUNT * 16
    assert most < all_of_it / 2


def test_runs_go_on_while_batches_are_read(long: tg.Graph) -> None:
    with long.edges() as batches:
        next(batches)
        ranks = long.pagerank(iterations=2)
        for _ in zip(range(3), ranks.batches(), strict=False):
            assert long.wcc().summary.components == 1
            assert len(long.neighbours(0)) > 0
        assert sum(len(table) for table in batches) > 0


def test_batches_take_their_memory_from_the_budget(long: tg.Graph) -> None:
    with tg.open(long.path, memory="80MiB") as small:
        opened = []
        with pytest.raises(tg.OverBudget, match=r"the edges needs .* budget is 80\.0 MiB"):
            while len(opened) < 80:
                opened.append(small.edges())
        assert opened
        with pytest.raises(tg.OverBudget, match=r"but the budget is 80\.0 MiB"):
            small.pagerank()
        for batches in opened:
            batches.close()
            assert list(batches) == []
        assert len(small.pagerank(iterations=1)) > 0
        assert sum(len(table) for table in small.edges()) == COUNT


def test_results_come_in_batches(long: tg.Graph) -> None:
    ranks = long.pagerank(iterations=2)
    batches = ranks.batches()
    assert batches.column_names == ["vertex", "rank"]
    tables = list(batches)
    assert len(tables) > 1
    assert pa.concat_tables([pa.table(table) for table in tables]) == ranks.table.to_pyarrow()
    # A stream reads the result again, without the table.
    assert pl.DataFrame(long.pagerank(iterations=2)).equals(ranks.to_polars())


@pytest.mark.parametrize("algorithm", ["bridges", "mst", "random_walks", "degree", "scc"])
def test_every_kind_of_result_comes_in_batches(algorithm: str) -> None:
    options = {"random_walks": {"length": 3}}.get(algorithm, {})
    with tg.from_edges([(1, 2), (2, 3)], undirected=True) as graph:
        result = graph.run(algorithm, **options)
        assert pa.table(result.batches()) == result.table.to_pyarrow()


def test_batches_outlive_their_graph_and_end_with_its_folder(long: tg.Graph) -> None:
    graph = tg.open(long.path, memory="96MiB")
    batches = graph.edges()
    graph.close()
    assert sum(len(table) for table in batches) == COUNT
    del batches
    with pytest.raises(tg.UsageError, match="is closed"):
        graph.edges()


def test_a_stream_is_handed_over_once(graph: tg.Graph) -> None:
    batches = graph.edges()
    pa.table(batches)
    with pytest.raises(tg.UsageError, match="have been read"):
        pa.table(batches)
    assert list(batches) == []


def test_closing_ends_the_thread_that_makes_rows(long: tg.Graph) -> None:
    def threads() -> int:
        return sum(
            path.read_text() == "tegula-rows\n" for path in Path("/proc/self/task").glob("*/comm")
        )

    batches = long.edges()
    next(batches)
    assert threads() == 1
    started = time.monotonic()
    batches.close()
    assert threads() == 0
    assert time.monotonic() - started < 5


def _read(batches: tg.Batches, found) -> None:
    try:
        found.put(len(list(batches)))
    except tg.Error as error:
        found.put(str(error))


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_cannot_read_batches(long: tg.Graph) -> None:
    context = multiprocessing.get_context("fork")
    found = context.Queue()
    with long.edges() as batches:
        process = context.Process(target=_read, args=(batches, found))
        process.start()
        assert "forked" in found.get(timeout=60)
        process.join()
        assert process.exitcode == 0
        assert len(next(batches)) > 0


def test_damage_ends_the_batches_with_its_error(tmp_path: Path) -> None:
    path = tmp_path / "g.tegula"
    tg.from_edges(random_edges(1 << 16, 1 << 12), path=path).close()
    tiles = path / "tiles.data"
    damaged = bytearray(tiles.read_bytes())
    damaged[len(damaged) // 2] ^= 0xFF
    tiles.write_bytes(damaged)
    with tg.open(path) as graph, pytest.raises(tg.Corrupt, match=r"tiles\.data is damaged"):
        list(graph.edges())
    with tg.open(path) as graph, pytest.raises(tg.Corrupt) as error:
        graph.verify()
    assert "import the graph again" in error.value.message


def test_a_sound_graph_is_verified(graph: tg.Graph) -> None:
    told: list[tuple] = []
    checked = graph.verify(progress=lambda *stage: told.append(stage))
    info = graph.info()
    assert (checked.edges, checked.bytes) == (5, info.bytes)
    assert checked.files == len(list(Path(graph.path).iterdir()))
    assert checked.tiles == info.tiles
    assert checked.seconds >= 0
    assert told[-1][0] == "verifying"
