"""Input that makes no sense raises an error that names the argument, whatever it is."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tegula as tg
from tegula import _internal

from .conftest import EDGES

pytestmark = pytest.mark.long

CATALOGUE = json.loads(_internal.catalogue())
OPTIONS = [(entry["name"], option) for entry in CATALOGUE for option in entry["options"]]

NUMBERS = st.one_of(
    st.sampled_from([-1, 0, 1, 2, 7, 1 << 31, 1 << 32, (1 << 63) - 1, 1 << 63, 1 << 64, 10**40]),
    st.integers(-5, 5),
    st.floats(),
    st.booleans(),
    st.sampled_from([np.float32("nan"), np.uint64(3), np.int8(-1), np.bool_(True)]),
)
TEXTS = st.one_of(st.text(max_size=5), st.sampled_from(["", "-1", "1", "007", "NaN", "\0", "a b"]))
CELLS = st.one_of(st.none(), NUMBERS, TEXTS, st.binary(max_size=3), st.builds(object))
ANYTHING = st.one_of(
    CELLS,
    st.lists(CELLS, max_size=3),
    st.lists(st.tuples(CELLS, CELLS), max_size=3),
    st.lists(st.lists(CELLS, max_size=4), max_size=2),
    st.dictionaries(st.one_of(st.integers(-2, 9), TEXTS), CELLS, max_size=3),
    st.lists(st.integers(0, 8), max_size=3).map(np.array),
    st.sampled_from([pa.table({}), pa.table({"vertex": [[1]]}), np.zeros((2, 2, 2))]),
)

bounded = settings(
    deadline=None,
    derandomize=True,
    max_examples=100,
    suppress_health_check=list(HealthCheck),
)


class EnoughError(Exception):
    """A run that makes sense takes longer than a test waits."""


def within_a_moment():
    """Return a callback that ends a run before long."""
    started = time.monotonic()

    def look(*_stage: object) -> None:
        if time.monotonic() - started > 0.1:
            raise EnoughError

    return look


def answered(call, names: list[str]) -> None:
    """Check that a call returns, or raises an error that names one of its arguments."""
    try:
        call()
    except tg.Panicked:
        raise
    except tg.Error as error:
        said = str(error)
        assert any(name in said for name in names), said
    except EnoughError:
        pass


@pytest.fixture(scope="module")
def small():
    """A graph with weights that has every layout."""
    edges = [(source, target, 1.5) for source, target in EDGES]
    layouts = ["tiles", "rows"]
    with tg.from_edges(
        edges, weight=2, undirected=True, layouts=layouts, memory="256MiB", threads=2
    ) as graph:
        yield graph


@pytest.mark.filterwarnings("ignore::tegula.TegulaWarning")
@settings(bounded, max_examples=800)
@given(chosen=st.sampled_from(OPTIONS), value=ANYTHING)
def test_a_wrong_option_is_named(small: tg.Graph, chosen, value) -> None:
    algorithm, option = chosen
    # A text may be the path of a table that is not there.
    names = [option, algorithm, "vertex", " file"]

    def run() -> None:
        small.run(algorithm, **{option: value}, progress=within_a_moment())

    answered(run, names)
    answered(lambda: small.estimate(algorithm, **{option: value}), names)


@bounded
@given(value=ANYTHING)
def test_a_wrong_vertex_is_named(small: tg.Graph, value) -> None:
    answered(lambda: small.neighbours(value), ["vertex"])
    answered(lambda: small.wcc()[value], ["vertex"])
    answered(lambda: small.wcc().top(value), ["count="])


@pytest.mark.filterwarnings("ignore::tegula.TegulaWarning")
@bounded
@given(value=ANYTHING)
def test_a_wrong_name_is_named(small: tg.Graph, folder: Path, value) -> None:
    ranks = small.degrees()
    answered(lambda: small.run(value, progress=False), ["algorithm"])
    answered(lambda: small.estimate(value), ["algorithm"])
    answered(lambda: ranks.write(folder / "a.csv", format=value, force=True), ["format"])
    answered(lambda: ranks.plot(value), ["column"])
    if not isinstance(value, str | bytes):
        answered(lambda: ranks.write(value), ["path"])
        answered(lambda: tg.open(value), ["path"])
        answered(lambda: tg.read(value), ["paths", "the input"])
        answered(lambda: tg.from_edges(EDGES, path=value).close(), ["path"])


@bounded
@given(data=ANYTHING, weight=st.sampled_from([None, 2, "w"]))
def test_wrong_edges_are_refused(data, weight) -> None:
    def make() -> None:
        tg.from_edges(data, weight=weight, memory="64MiB", threads=1).close()

    words = ["edges", "row", "column", "array", "weight", "table", "id"]
    answered(make, words)


FLOATS = st.one_of(st.floats(width=32), st.sampled_from([float("nan"), float("inf"), 1e300]))


@bounded
@given(weights=st.lists(FLOATS, min_size=1, max_size=3), is_array=st.booleans())
def test_a_weight_is_a_finite_float(weights, is_array: bool) -> None:
    ends = np.arange(len(weights), dtype=np.uint64)
    given = np.array(weights)
    data = (ends, ends + 1, given) if is_array else list(zip(ends, ends + 1, given, strict=True))
    with np.errstate(over="ignore"):
        is_sound = bool(np.isfinite(given.astype(np.float32)).all())

    def make() -> None:
        tg.from_edges(data, weight=2, memory="64MiB", threads=1).close()

    if is_sound:
        make()
    else:
        with pytest.raises(tg.BadInput, match=r"data, row \d: the weight .* finite"):
            make()


ARGUMENTS = st.sampled_from(
    [
        *("ids", "undirected", "drop_duplicates", "combine", "drop_loops", "allow_empty"),
        *("vertices", "order", "layouts", "row_encoding", "spill_directory", "force", "memory"),
        *("threads", "progress"),
    ]
)


@pytest.mark.filterwarnings("ignore::tegula.TegulaWarning")
@settings(bounded, max_examples=200)
@given(
    argument=st.one_of(ARGUMENTS, st.sampled_from(["source", "target", "weight"])), value=ANYTHING
)
def test_a_wrong_argument_of_an_import_is_named(argument: str, value) -> None:
    def make() -> None:
        given: dict[str, Any] = {"memory": "64MiB", "threads": 1, argument: value}
        tg.from_edges(EDGES, **given).close()

    answered(make, [argument, "order", "layouts", "column", "declared", "No such file", "budget"])


FORMATS = st.sampled_from(
    ["format", "source_column", "target_column", "weight_column", "no_header", "delimiter"]
)


@pytest.mark.filterwarnings("ignore::tegula.TegulaWarning")
@settings(bounded, max_examples=200)
@given(argument=st.one_of(ARGUMENTS, FORMATS, st.just("skip_bad_rows")), value=ANYTHING)
def test_a_wrong_setting_of_reading_is_named(
    tmp_path_factory: pytest.TempPathFactory, argument: str, value
) -> None:
    path = Path(tmp_path_factory.getbasetemp(), "edges.csv")
    path.write_text("1,2\n2,3\n")

    def make() -> None:
        given: dict[str, Any] = {"memory": "64MiB", "threads": 1, argument: value}
        tg.read(path, **given).close()

    answered(make, [argument, "edges.csv", "column", "declared", "No such file", "budget"])


@bounded
@given(value=ANYTHING)
def test_wrong_resources_are_named(small: tg.Graph, value) -> None:
    answered(lambda: tg.open(small.path, memory=value).close(), ["memory="])
    answered(lambda: tg.open(small.path, threads=value).close(), ["threads="])


@pytest.mark.parametrize("entry", CATALOGUE, ids=[entry["name"] for entry in CATALOGUE])
def test_a_closed_graph_refuses_every_algorithm(graph: tg.Graph, entry) -> None:
    graph.close()
    with pytest.raises(tg.UsageError, match="is closed"):
        graph.run(entry["name"])
