"""How options cross to the libraries: as JSON, and tables as Arrow streams or as files."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sized
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import numpy as np

from . import _internal
from ._columns import as_integers, as_list, cells
from .errors import BadInput, Error, UsageError


class ArrowStream(Protocol):
    """Anything with the Arrow PyCapsule interface: data frames, tables, streams."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...


Vertex: TypeAlias = int | str
"""The id of a vertex, as in the edge list."""

File: TypeAlias = str | os.PathLike[str]
"""The path of a file."""

VertexTable: TypeAlias = (
    File | ArrowStream | Mapping[Any, Any] | Iterable[Vertex] | Iterable[tuple[Any, ...]]
)
"""A table of vertices: a path, a data frame, a dictionary by vertex, or ids or rows of cells."""

# The known names of the columns beside the ids, by the option that names the table.
_VALUE_NAMES = {
    "personalize": ["weight"],
    "vector": ["value"],
    "sets": ["set"],
    "pairs": ["other"],
    "coordinates": ["x", "y"],
    "priors": ["state", "prior"],
}
# A table of more rows goes through a file: it may not fit in memory beside the run.
_ROWS_IN_MEMORY = 1 << 16

# The columns that hold ids of vertices.
_ID_NAMES = ("vertex", "other")


def to_json(options: Mapping[str, Any]) -> str:
    """Return options as a JSON object, without those that are None."""
    given = {name: value for name, value in options.items() if value is not None}
    for name, value in given.items():
        try:
            json.dumps(value, allow_nan=False, default=_plain)
        except (TypeError, ValueError) as error:
            why = error if isinstance(error, TypeError) else "it is not finite"
            raise UsageError(f"{name}: {value!r} is no value of an option ({why})") from None
    return json.dumps(given, default=_plain)


def id_text(argument: str, vertex: object) -> str:
    """Return the id of a vertex as text.

    Raises:
        UsageError: It is neither an integer nor a string. The error names the argument.
    """
    if isinstance(vertex, np.generic):
        vertex = vertex.item()
    if isinstance(vertex, bool) or not isinstance(vertex, int | str):
        raise UsageError(f"{argument}: {vertex!r} is no vertex; ids are integers or strings")
    return str(vertex)


def path_text(argument: str, path: object) -> str:
    """Return a path as text.

    Raises:
        UsageError: It is no path. The error names the argument.
    """
    text = os.fsdecode(path) if isinstance(path, str | bytes | os.PathLike) else ""
    if text == "" or "\0" in text:
        raise UsageError(f"{argument}: {path!r} is no path")
    return text


def name_text(argument: str, name: object) -> str:
    """Return the name of something.

    Raises:
        UsageError: It is no text. The error names the argument.
    """
    if not isinstance(name, str):
        raise UsageError(f"{argument}: {name!r} is no name")
    return name


def _plain(value: object) -> Any:
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    raise TypeError(f"a {type(value).__name__} is neither a number nor text")


def check_resources(memory: object, threads: object) -> None:
    """Refuse values that are no memory and no number of threads.

    Raises:
        UsageError: It names the argument.
    """
    is_size = isinstance(memory, int | str | None) and not isinstance(memory, bool)
    if not is_size or (isinstance(memory, int) and not 0 <= memory < 1 << 64):
        raise UsageError(f"memory={memory!r} is neither a number of bytes nor text such as '4GiB'")
    is_count = isinstance(threads, int | None) and not isinstance(threads, bool)
    if not is_count or (isinstance(threads, int) and not 0 < threads < 1 << 31):
        raise UsageError(f"threads={threads!r}: threads must be at least 1")


@contextmanager
def as_streams(
    options: Mapping[str, Any], tables: Iterable[str]
) -> Iterator[tuple[dict[str, Any], dict[str, ArrowStream]]]:
    """Yield the options, and their short tables in memory by option.

    Among the options, the name of an option stands for its short table. A longer table becomes a
    file. Errors of the block name the option instead of the file.
    """
    given, made = _made(options, tables)
    short = {name: table for name, table in made.items() if _is_short(table)}
    long = {name: table for name, table in made.items() if name not in short}
    with _written(long) as files:
        yield {**given, **_paths(files), **{name: name for name in short}}, short


@contextmanager
def as_files(
    options: Mapping[str, Any], tables: Iterable[str]
) -> Iterator[tuple[dict[str, Any], dict[str, str]]]:
    """Yield the options, in which tables are files, and the option of each temporary file.

    Jobs need files, since the caller may change a table while they wait. An import reads lists of
    vertices more than once. Errors of the block name the option instead of the file.
    """
    given, made = _made(options, tables)
    with _written(made) as files:
        yield {**given, **_paths(files)}, files


def _made(
    options: Mapping[str, Any], tables: Iterable[str]
) -> tuple[dict[str, Any], dict[str, ArrowStream]]:
    """Return options with the paths of files as text, and the tables that are no files."""
    given = dict(options)
    made: dict[str, ArrowStream] = {}
    for name in tables:
        if isinstance(given.get(name), str | os.PathLike):
            given[name] = path_text(name, given[name])
        elif given.get(name) is not None:
            with _about(name):
                made[name] = table_of(name, given[name])
    return given, made


@contextmanager
def _about(name: str) -> Iterator[None]:
    """Name the option in the error of a bad table."""
    try:
        yield
    except BadInput as error:
        raise BadInput(f"{name}: {error.message}", error.hint) from None


def _is_short(table: ArrowStream) -> bool:
    """Whether a table has few rows. A stream without a length may have any number of them."""
    return isinstance(table, Sized) and len(table) <= _ROWS_IN_MEMORY


def _paths(files: Mapping[str, str]) -> dict[str, str]:
    """Return the file of each option."""
    return {name: path for path, name in files.items()}


@contextmanager
def _written(tables: Mapping[str, ArrowStream]) -> Iterator[dict[str, str]]:
    """Write tables to a temporary folder, and yield the option of each file."""
    if not tables:
        yield {}
        return
    folder, process = tempfile.mkdtemp(prefix="tegula-tables-"), os.getpid()
    files: dict[str, str] = {}
    try:
        for name, table in tables.items():
            path = os.fspath(Path(folder, f"{name}.parquet"))
            with _about(name):
                _internal.write_table(table, path)
            files[path] = name
        yield files
    except Error as error:
        error.rename(files)
        raise
    finally:
        # The tables belong to the process that made them, and not to its forks.
        if os.getpid() == process:
            shutil.rmtree(folder, ignore_errors=True)


def table_of(name: str, value: Any) -> ArrowStream:
    """Return the table that an option is given as an object."""
    if isinstance(value, Mapping) or _has_index(name, value):
        return _of_rows(name, _rows_by_vertex(name, value.items()))
    ids = as_integers(value)
    if ids is not None:
        return _internal.Table(["vertex"], [cells("vertex", ids)])
    items = as_list(value)
    if items is not None:
        return _of_rows(name, items)
    if hasattr(value, "__arrow_c_stream__"):
        stream: ArrowStream = value
        return stream
    if isinstance(value, bytes) or not isinstance(value, Iterable):
        raise UsageError(f"{name}: {value!r} is no table of vertices")
    return _of_rows(name, list(value))


def _has_index(name: str, value: Any) -> bool:
    """Whether it is a series whose index has the vertices, since the option takes values too."""
    return name in _VALUE_NAMES and hasattr(value, "items") and hasattr(value, "to_frame")


def _of_rows(name: str, items: list[Any]) -> ArrowStream:
    """Return the table of the rows or the ids that an option is given."""
    names = ["vertex", *_VALUE_NAMES.get(name, [])]
    rows = [_cells(row) for row in items]
    width = len(rows[0]) if rows else 1
    if any(len(row) != width for row in rows):
        raise UsageError(f"{name}: not all rows have as many cells as the first one")
    if not 0 < width <= len(names):
        raise UsageError(f"{name}: a row has at most {len(names)} cells: {', '.join(names)}")
    columns = []
    for at, column in enumerate(names[:width]):
        text = id_text if column in _ID_NAMES else _text
        columns.append([text(name, row[at]) for row in rows])
    return _internal.Table(names[:width], columns)


def _rows_by_vertex(name: str, items: Iterable[tuple[Any, Any]]) -> list[tuple[Any, ...]]:
    """Return the rows of a dictionary by vertex, or of a series whose index has the vertices."""
    if name != "priors":
        return [(*_cells(key), *_cells(value)) for key, value in items]
    rows: list[tuple[Any, ...]] = []
    for key, weights in items:
        # Weights by the number of the state, or in the order of the states.
        by_state = weights.items() if isinstance(weights, Mapping) else enumerate(_cells(weights))
        has_state = len(_cells(key)) > 1
        rows += [(*key, weights)] if has_state else [(key, *cells) for cells in by_state]
    return rows


def _cells(row: Any) -> tuple[Any, ...]:
    """Return the cells of a row, which may be one cell."""
    return tuple(row) if isinstance(row, tuple | list | np.ndarray) else (row,)


def _text(name: str, cell: object) -> str:
    if isinstance(cell, np.generic):
        cell = cell.item()
    if isinstance(cell, bool) or not isinstance(cell, int | float | str):
        raise UsageError(f"{name}: {cell!r} is neither a number nor text")
    return cell if isinstance(cell, str) else repr(cell)
