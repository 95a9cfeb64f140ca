"""From edge lists and tables to graphs."""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from typing import Any, Literal

import numpy as np

from . import _internal
from ._columns import cells
from ._graph import Graph
from ._options import (
    ArrowStream,
    File,
    Vertex,
    VertexTable,
    as_files,
    check_resources,
    path_text,
    to_json,
)
from ._progress import Callback, Progress, shown
from ._records import Record
from .errors import BadInput, TegulaWarning, UsageError

Ids = Literal["auto", "integer", "string"]
Order = Literal["auto", "given", "degree", "dfs"]
Layout = Literal["tiles", "rows", "reverse"]
RowEncoding = Literal["plain", "ceesor", "gap", "copy"]
Combine = Literal["sum", "min", "max"]

_log = logging.getLogger(__package__)


def open(path: File, *, memory: int | str | None = None, threads: int | None = None) -> Graph:
    """Open a graph directory.

    Args:
        path: The graph directory, by convention NAME.tegula.
        memory: The most memory of a run, in bytes or as "4GiB"; by default half of what the
            machine has, or of what the limits of the process leave.
        threads: The threads of a run, by default one for each core. Results do not depend on it.
    """
    return Graph(path, memory=memory, threads=threads)


def read(
    paths: File | Iterable[File],
    *,
    path: File | None = None,
    format: str | None = None,
    ids: Ids = "auto",
    undirected: bool = False,
    weighted: bool = False,
    drop_duplicates: bool = False,
    combine: Combine | None = None,
    drop_loops: bool = False,
    allow_empty: bool = False,
    source_column: str | int | None = None,
    target_column: str | int | None = None,
    weight_column: str | int | None = None,
    no_header: bool = False,
    delimiter: str | None = None,
    skip_bad_rows: int = 0,
    vertices: int | VertexTable | None = None,
    order: Order = "auto",
    layouts: Sequence[Layout] = ("tiles",),
    row_encoding: RowEncoding | None = None,
    spill_directory: File | None = None,
    force: bool = False,
    memory: int | str | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Graph:
    """Import edge lists, or folders of them, as one graph, and open it.

    Args:
        paths: Files or folders: text, CSV, Parquet, Matrix Market, METIS, DIMACS, GraphML, ..;
            text also as .gz and .zst.
        path: The new graph directory. Without it, a temporary one goes with the graph.
        format: The format of the files, instead of the one that endings and contents tell.
        ids: The kind of the vertex ids.
        undirected: Store each edge in both directions.
        weighted: Store the weights of edges, as 32-bit floats.
        drop_duplicates: Store only one of several edges with the same ends: the one with the least
            weight.
        combine: Store only one of several edges with the same ends, whose weight is the sum, the
            least or the greatest of their weights.
        drop_loops: Leave out edges from a vertex to itself.
        allow_empty: Make a graph without edges where no input has one.
        source_column: The column with the sources: a name, or a position from 1.
        target_column: The column with the targets.
        weight_column: The column with the weights.
        no_header: Read the first line of a text as an edge, even if it looks like a header.
        delimiter: The separator of the columns of a text.
        skip_bad_rows: The most lines of text that may be passed over as they cannot be understood.
        vertices: The vertices, with or without an edge: the ids 0 to N - 1, or those of a table: a
            file, a data frame, or a list of ids.
        order: How vertices are numbered.
        layouts: The layouts to store; "rows" serve runs that follow few edges at a time.
        row_encoding: How neighbours are coded in rows.
        spill_directory: Where temporary files go, by default beside the graph.
        force: Replace an existing graph.
        memory: The most memory of the import and of runs, in bytes or as "4GiB".
        threads: The threads of the import and of runs.
        progress: Whether to show how far the import is, by default on a terminal and in notebooks;
            or a function that is called with the stage, what is done of it, its total, and the
            unit.
    """
    check_resources(memory, threads)
    files = [paths] if isinstance(paths, str | os.PathLike) else _listed("paths", paths)
    names = [path_text("paths", file) for file in files]
    settings = {
        "format": format,
        "ids": ids,
        "undirected": undirected,
        "weighted": weighted,
        "drop_duplicates": drop_duplicates,
        "combine": combine,
        "drop_loops": drop_loops,
        "allow_empty": allow_empty,
        "source_column": source_column,
        "target_column": target_column,
        "weight_column": weight_column,
        "no_header": no_header,
        "delimiter": delimiter,
        "skip_bad_rows": skip_bad_rows,
        "vertices": vertices,
        "order": order,
        "layouts": _listed("layouts", layouts),
        "row_encoding": row_encoding,
        "spill_directory": spill_directory,
        "force": force,
    }

    def run(output: str, given: str, callback: Callback | None) -> str:
        return _internal.read(names, output, given, memory, threads, callback)

    return _imported(run, settings, path, memory, threads, progress)


def from_edges(
    data: Any,
    *,
    source: str | int | None = None,
    target: str | int | None = None,
    weight: str | int | None = None,
    path: File | None = None,
    ids: Ids = "auto",
    undirected: bool = False,
    drop_duplicates: bool = False,
    combine: Combine | None = None,
    drop_loops: bool = False,
    allow_empty: bool = False,
    vertices: int | VertexTable | None = None,
    order: Order = "auto",
    layouts: Sequence[Layout] = ("tiles",),
    row_encoding: RowEncoding | None = None,
    spill_directory: File | None = None,
    force: bool = False,
    memory: int | str | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Graph:
    """Import edges in memory, or from a stream of any length, as a graph, and open it.

    Args:
        data: Anything with the Arrow PyCapsule interface (a data frame of polars or pandas, a
            table of pyarrow, a result of DuckDB), an iterable of such tables, of which each thread
            has one at a time, an array of two or three columns, a pair or triple of arrays, a list
            of pairs or triples, a sparse matrix of SciPy, or a graph of NetworkX. Edges of a
            NetworkX graph have a direction if that graph is directed. All nodes of a graph of
            NetworkX and all rows of a matrix are vertices, unless `vertices` says otherwise.
            `memory` does not count the data itself.
        source: The column of sources: a name, or a position from 0. Without it, the column with a
            usual name, such as "source" or "src". If no name is usual, the column that is left is
            taken, if it is the only choice beside weights.
        target: The column of targets, likewise.
        weight: The column of weights; without it, edges have none.
        path: The new graph directory. Without it, a temporary one goes with the graph.

    The other arguments are those of `read`.
    """
    settings = {
        "ids": ids,
        "undirected": undirected or _is_undirected(data),
        "weighted": weight is not None,
        "drop_duplicates": drop_duplicates,
        "combine": combine,
        "drop_loops": drop_loops,
        "allow_empty": allow_empty,
        "vertices": _vertices(data) if vertices is None else vertices,
        "order": order,
        "layouts": _listed("layouts", layouts),
        "row_encoding": row_encoding,
        "spill_directory": spill_directory,
        "force": force,
    }
    check_resources(memory, threads)
    tables, are_held = _tables(data, weight)
    columns = (_column("source", source), _column("target", target), _column("weight", weight))

    def run(output: str, given: str, callback: Callback | None) -> str:
        return _internal.from_tables(
            tables, are_held, output, given, columns, memory, threads, callback
        )

    return _imported(run, settings, path, memory, threads, progress)


def _imported(
    run: Callable[[str, str, Callback | None], str],
    settings: Mapping[str, Any],
    path: File | None,
    memory: int | str | None,
    threads: int | None,
    progress: Progress | None,
) -> Graph:
    """Make a graph directory by `run` with settings, and open it."""
    folder = None
    if path is None:
        folder = tempfile.mkdtemp(prefix="tegula-")
        path = os.path.join(folder, "graph.tegula")
    output = path_text("path", path)
    started = time.monotonic()
    try:
        tables = () if isinstance(settings["vertices"], int | np.integer) else ("vertices",)
        files = as_files(settings, tables)
        with shown(progress) as callback, files as (given, _names):
            report = Record.of_json(run(output, to_json(given), callback))
        graph = Graph(output, memory=memory, threads=threads)
    except BaseException:
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
        raise
    if folder is not None:
        graph._remove_at_end(folder)
    graph._import = report
    seconds = time.monotonic() - started
    figures = (report.vertices, report.edges, report.bytes, seconds)
    _log.info("import of %s: %d vertices, %d edges, %d bytes, %.3f s", graph.path, *figures)
    for warning in report.warnings:
        warnings.warn(warning, TegulaWarning, stacklevel=3)
    return graph


def _listed(argument: str, values: object) -> list[Any]:
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise UsageError(f"{argument}: {values!r} is no list")
    return list(values)


def _column(argument: str, column: object) -> str | int | None:
    """Return a column, which is named, or counted from 0."""
    if isinstance(column, str | None):
        return column
    if isinstance(column, bool) or not isinstance(column, int) or not 0 <= column < 1 << 32:
        raise UsageError(f"{argument}: {column!r} is neither the name nor the number of a column")
    return column


def _tables(data: Any, weight: str | int | None = None) -> tuple[Iterator[ArrowStream], bool]:
    """Return the tables of edges that `data` has, and whether they can be read again."""
    if hasattr(data, "__arrow_c_stream__"):
        return iter([data]), _is_held(data)
    is_list = isinstance(data, Sequence) and not _are_columns(data) and len(data) > 0
    if is_list and hasattr(data[0], "__arrow_c_stream__"):
        return iter(data), all(map(_is_held, data))
    table = _table_of(data, weight)
    # A copy is let go once it was read.
    return iter([table]) if table is not None else _tables_of(iter(data)), False


def _is_held(table: Any) -> bool:
    """Whether all rows of a table are in memory, and stay there.

    A result of DuckDB has a length too, but its rows are not in memory.
    """
    library = type(table).__module__.partition(".")[0]
    return isinstance(table, Sized) and library in ("pandas", "polars", "pyarrow")


def _table_of(data: Any, weight: str | int | None) -> ArrowStream | None:
    """Make a table of a matrix, a graph of NetworkX, arrays or a list; None for an iterable."""
    if hasattr(data, "tocoo"):
        return _of_matrix(data)
    if hasattr(data, "is_directed"):
        return _of_networkx(data, weight)
    if isinstance(data, np.ndarray):
        if data.ndim != 2 or data.shape[1] not in (2, 3):
            raise BadInput(f"an array of edges has 2 or 3 columns, not the shape {data.shape}")
        return _of_arrays(list(data.T))
    if _are_columns(data):
        return _of_arrays([np.asarray(column) for column in data])
    if not isinstance(data, Iterable) or isinstance(data, str | bytes | dict):
        raise BadInput(f"a {type(data).__name__} has no edges")
    return _of_rows(data) if isinstance(data, Sequence) else None


def _tables_of(data: Iterator[Any]) -> Iterator[ArrowStream]:
    """Yield the tables of an iterator, or one table of the pairs that it yields."""
    for first in data:
        if hasattr(first, "__arrow_c_stream__") or not isinstance(first, tuple | list):
            yield first
            yield from data
        else:
            yield _of_rows([first, *data])


def _of_matrix(matrix: Any) -> ArrowStream:
    """Return the entries of a sparse matrix of SciPy: rows are sources, columns are targets."""
    if matrix.shape[0] != matrix.shape[1]:
        raise BadInput(f"a matrix of edges is square, and does not have the shape {matrix.shape}")
    entries = matrix.tocoo()
    return _of_arrays([entries.row, entries.col, entries.data])


def _of_networkx(graph: Any, weight: str | int | None) -> ArrowStream:
    """Return the edges of a graph of NetworkX, with an attribute as their weights."""
    if weight is None:
        rows = list(graph.edges())
    elif graph.size() > 0 and all(weight not in data for *_, data in graph.edges(data=True)):
        raise BadInput(f"weight={weight!r}: no edge of the graph has this attribute")
    else:
        rows = list(graph.edges(data=weight, default=1))
    has_text = any(isinstance(node, str) for node in graph)
    names = ["source", "target"]
    columns = [
        cells(name, _ids_of([row[at] for row in rows], has_text)) for at, name in enumerate(names)
    ]
    if weight is not None:
        names.append(str(weight))
        columns.append(np.asarray([row[2] for row in rows], np.float64))
    return _internal.Table(names, columns)


def _vertices(data: Any) -> Any:
    """Return the vertices that `data` has beside those of its edges, if it may have some."""
    if hasattr(data, "tocoo"):
        return data.shape[0]
    if hasattr(data, "is_directed") and any(degree == 0 for _, degree in data.degree()):
        return list(data)
    return None


def _is_undirected(data: Any) -> bool:
    """Whether it is a graph of NetworkX without directions."""
    return hasattr(data, "is_directed") and not data.is_directed()


def _are_columns(data: Any) -> bool:
    """Whether it is a tuple of arrays of sources, targets and weights, not of rows."""
    if not isinstance(data, tuple) or len(data) not in (2, 3):
        return False
    return all(hasattr(cells, "__array__") and not isinstance(cells, np.generic) for cells in data)


def _of_rows(rows: Sequence[Sequence[Any]]) -> ArrowStream:
    """Return the table of edges that are given one by one."""
    width = 0
    for number, row in enumerate(rows):
        width = width or (len(row) if isinstance(row, Sized) else 0)
        has_cells = isinstance(row, Sequence | np.ndarray) and not isinstance(row, str)
        if not has_cells or len(row) != width or width not in (2, 3):
            raise BadInput(f"row {number}: {row!r} is neither a pair nor, as the first, a triple")
    columns = [[row[at] for row in rows] for at in range(width or 2)]
    has_text = any(isinstance(cell, str) for column in columns[:2] for cell in column)
    ends = [_ids_of(column, has_text) for column in columns[:2]]
    return _of_arrays([*ends, *(np.asarray(column) for column in columns[2:])])


def _ids_of(column: list[Vertex], has_text: bool) -> np.ndarray[Any, Any]:
    if not has_text:
        ids: list[int] = []
        for number, cell in enumerate(column):
            if not isinstance(cell, int | np.integer):
                raise BadInput(f"row {number}: the id {cell!r} is neither an integer nor a string")
            ids.append(int(cell))
        # NumPy would join integers on both sides of 2**63 to floats.
        if ids and min(ids) >= 0 and 1 << 63 <= max(ids) < 1 << 64:
            return np.asarray(ids, np.uint64)
        return np.asarray(column) if column else np.empty(0, np.uint64)
    for number, cell in enumerate(column):
        if not isinstance(cell, str):
            raise BadInput(f"row {number}: the id {cell!r} is no string, as others are")
    return np.asarray(column, dtype=object)


def _of_arrays(columns: list[np.ndarray[Any, Any]]) -> ArrowStream:
    """Return the table of arrays of sources, targets and, if there are three, weights."""
    names = ["source", "target", "weight"][: len(columns)]
    if any(column.ndim != 1 or len(column) != len(columns[0]) for column in columns):
        raise BadInput(f"the arrays of {', '.join(names)} are not of one length")
    checked = [cells(name, column) for name, column in zip(names, columns, strict=True)]
    return _internal.Table(names, checked)
