"""Graphs: open graph directories."""

from __future__ import annotations

import logging
import os
import shutil
import warnings
import weakref
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _internal
from ._algorithms import Algorithms
from ._catalogue import algorithm_name, checked, tables
from ._jobs import Jobs
from ._options import (
    Vertex,
    as_streams,
    check_resources,
    id_text,
    path_text,
    to_json,
)
from ._progress import Progress, shown
from ._records import Record
from ._result import Result
from ._table import Batches, Table
from .errors import TegulaWarning

if TYPE_CHECKING:
    from ._plots import Plots

_log = logging.getLogger(__package__)


class Graph(Algorithms):
    """An open graph directory, with a method for each algorithm.

    `tegula.open`, `tegula.read` and `tegula.from_edges` make one. Runs of several threads on one
    graph come one after the other, so that they keep to its memory. A graph is a context manager,
    and pickles as its path.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        memory: int | str | None = None,
        threads: int | None = None,
    ) -> None:
        check_resources(memory, threads)
        self._graph = _internal.Graph(path_text("path", path), memory, threads)
        self._removal: weakref.finalize[Any, Graph] | None = None
        self._import: Record | None = None

    @property
    def path(self) -> str:
        """The graph directory."""
        return str(self._graph.path)

    @property
    def memory(self) -> int:
        """Bytes that a run may take."""
        return self._graph.memory

    @property
    def threads(self) -> int:
        """The threads of a run."""
        return self._graph.threads

    @property
    def closed(self) -> bool:
        """Whether it is closed."""
        return self._graph.closed

    @property
    def import_report(self) -> Record | None:
        """What the import did that made it; None if it was opened."""
        return self._import

    def close(self) -> None:
        """Close it. Results stay. A temporary graph directory is removed."""
        self._graph.close()
        if self._removal is not None:
            self._removal()

    def __enter__(self) -> Graph:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def info(self) -> Record:
        """Return what the graph holds: vertices, edges, order, layouts, degrees."""
        return Record.of_json(self._graph.info())

    def run(self, algorithm: str, *, progress: Progress | None = None, **options: Any) -> Result:
        """Run an algorithm by its name; each has a method too."""
        name = algorithm_name(algorithm)
        return self._run(name, options, progress)

    def estimate(self, algorithm: str, **options: Any) -> Record:
        """Return what a run needs of memory and time, without the run."""
        name = algorithm_name(algorithm)
        self._graph.check()
        with as_streams(checked(name, options), tables(name)) as (given, short):
            return Record.of_json(self._graph.estimate(name, to_json(given), short))

    def jobs(self, *, concurrent: int | None = None, fuse: bool = True) -> Jobs:
        """Return a place for jobs: runs at the same time, which share what they read.

        At most `concurrent` run at a time, by default 16; those beyond it wait, and those that do
        not fit in the memory of the graph beside the others. Jobs of one algorithm may become one
        run if `fuse`, where that takes less time. Results have the bits of single runs.
        """
        return Jobs(self._graph, concurrent, fuse)

    def neighbours(self, vertex: Vertex | Iterable[Vertex]) -> Table:
        """Return a row for each edge that leaves a vertex, or one of several.

        In an undirected graph these are all its edges. A graph with rows is not read as a whole.
        """
        is_one = isinstance(vertex, str | bytes | np.generic) or not isinstance(vertex, Iterable)
        ids: Any = [vertex] if is_one else vertex
        return Table(self._graph.neighbours([id_text("vertex", id) for id in ids]))

    def edges(self) -> Batches:
        """Return an iterator over all edges, as tables of some 30,000 rows each.

        The columns are `source`, `target` and, if edges have weights, `weight`. The edges come as
        they are stored, in no particular order but always in the same. Each edge of an undirected
        graph comes once.
        """
        return Batches(self._graph.edges())

    def verify(self, *, progress: Progress | None = None) -> Record:
        """Read every byte, check every checksum and every id, and return what was checked.

        Raises:
            Corrupt: The first damage found.
        """
        with shown(progress) as callback:
            return Record.of_json(self._graph.verify(callback))

    @property
    def plot(self) -> Plots:
        """Pictures, which need matplotlib."""
        from ._plots import Plots

        return Plots(self)

    def degrees(self) -> Result:
        """Return how many edges enter and leave each vertex."""
        return self.degree()

    def _remove_at_end(self, folder: str) -> None:
        """Remove a folder when this is closed or forgotten, or when the process ends."""
        self._removal = weakref.finalize(self, _remove, folder, os.getpid())

    def _run(
        self,
        algorithm: str,
        options: Mapping[str, Any],
        progress: Progress | None,
    ) -> Result:
        result = self._run_quietly(algorithm, options, progress)
        for warning in result.warnings:
            warnings.warn(warning, TegulaWarning, stacklevel=3)
        return result

    def _run_quietly(
        self,
        algorithm: str,
        options: Mapping[str, Any],
        progress: Progress | None = None,
    ) -> Result:
        """Run an algorithm without the warnings, which the result keeps."""
        self._graph.check()
        named = as_streams(checked(algorithm, options), tables(algorithm))
        with shown(progress) as callback, named as (given, short):
            _log.debug("%s on %s with %s", algorithm, self.path, given)
            result = Result(self._graph.run(algorithm, to_json(given), short, callback))
        _log_run(self.path, result)
        return result

    def __reduce__(self) -> tuple[Any, ...]:
        # Another process may have another folder.
        return _opened, (os.path.abspath(self.path), self.memory, self.threads)

    def _repr_html_(self) -> str | None:
        from ._html import of_graph

        # Without it, a notebook shows the line below.
        return None if self.closed else of_graph(self.path, self.info())

    def __repr__(self) -> str:
        state = " (closed)" if self.closed else ""
        return f"<tegula.Graph {self.path!r}{state}>"


def _log_run(path: str, result: Result) -> None:
    if _log.isEnabledFor(logging.INFO):
        figures = result.statistics
        _log.info(
            "%s on %s: %.3f s, %d iterations, %d edges, %d bytes read, %d bytes written",
            result.algorithm,
            path,
            figures.seconds.run,
            figures.iterations,
            figures.edges_processed,
            figures.bytes_read,
            figures.bytes_written,
        )


def _remove(folder: str, process: int) -> None:
    # A fork has a copy of the object, but the folder belongs to the process that made it.
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


def _opened(path: str, memory: int, threads: int) -> Graph:
    return Graph(path, memory=memory, threads=threads)
