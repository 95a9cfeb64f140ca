"""What a run found."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _internal
from ._kept import Kept
from ._options import Vertex, name_text, path_text
from ._records import Record
from ._table import Batches, Table
from .errors import NoSuchVertex, UsageError

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

# The entries of a list in a summary.
_TOP = 10


class Result:
    """What an algorithm found: a table, and a summary of all of it.

    The table is read when it is first asked for, and then kept. `batches` reads it without keeping
    it, as do libraries that take the result as an Arrow stream. A result pickles without its graph:
    as its table, its summary and its statistics.
    """

    def __init__(self, found: _internal.Found | Kept) -> None:
        self._found = found

    @property
    def algorithm(self) -> str:
        """The name of the algorithm."""
        return self._found.algorithm

    @cached_property
    def table(self) -> Table:
        """The table, in original ids; Arrow takes it without a copy."""
        return Table(self._found.table())

    def batches(self) -> Batches:
        """Return an iterator over the rows, as tables of some 30,000 rows each.

        A pickled result yields one table.
        """
        return Batches(self._found.batches())

    @cached_property
    def summary(self) -> Record:
        """Figures about the whole result, each an attribute."""
        return Record.of_json(self._found.summary(_TOP))

    @cached_property
    def statistics(self) -> Record:
        """What the run did: iterations, seconds, edges, bytes."""
        return Record.of_json(self._found.statistics())

    @property
    def warnings(self) -> list[str]:
        """Where the result falls short of what may have been expected."""
        return self._found.warnings

    def top(self, count: int = _TOP) -> list[Record]:
        """Return the greatest, largest or first entries, at most `count`."""
        if isinstance(count, bool) or not isinstance(count, int) or count < 0:
            raise UsageError(f"count={count!r} is no number of at least 0")
        # A larger number is no number to the libraries.
        count = min(count, 1 << 32)
        summary = Record.of_json(self._found.summary(count))
        if "top" in summary:
            return list(summary["top"])
        names, are_text, rows = self._found.list(count)
        return [
            Record(
                {
                    name: cell if is_text else _number(cell)
                    for name, is_text, cell in zip(names, are_text, row, strict=True)
                }
            )
            for row in rows
        ]

    def __len__(self) -> int:
        return len(self._found)

    def __getitem__(self, vertex: Vertex) -> Any:
        """Return what was found for a vertex.

        That is the cell beside its id, or a record of the cells if there are several; None where
        there is nothing.
        """
        names = self.table.column_names
        if names[0] != "vertex":
            raise TypeError(f"{self.algorithm} has no row for each vertex, but {', '.join(names)}")
        number = self.table.find(vertex)
        if number is None:
            raise NoSuchVertex(f"there is no vertex {vertex!r} in the result")
        row = self.table.row(number)
        del row["vertex"]
        return next(iter(row.values())) if len(row) == 1 else Record(row)

    def __contains__(self, vertex: object) -> bool:
        """Return whether there is a row for a vertex."""
        if isinstance(vertex, np.generic):
            vertex = vertex.item()
        if isinstance(vertex, bool) or not isinstance(vertex, int | str):
            return False
        return self.table.column_names[0] == "vertex" and self.table.find(vertex) is not None

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Iterate over the rows, each a dictionary."""
        return iter(self.table)

    def to_numpy(self) -> dict[str, NDArray[Any]]:
        """Return an array for each column."""
        return self.table.to_numpy()

    def to_pandas(self) -> pd.DataFrame:
        """Return a data frame of pandas."""
        return self.table.to_pandas()

    def to_polars(self) -> pl.DataFrame:
        """Return a data frame of polars, without a copy."""
        return self.table.to_polars()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        kept: Table | None = vars(self).get("table")
        rows = self.batches() if kept is None else kept
        return rows.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self._found.__arrow_c_schema__()

    def write(
        self, path: str | os.PathLike[str], *, format: str | None = None, force: bool = False
    ) -> int:
        """Write the table to a file, and return its bytes.

        The ending tells the format: .parquet, .csv, .tsv, .npy or .arrows; text also as .gz or
        .zst. `format` overrides it: "parquet", "csv", "tsv", "npy" or "arrow". A file that exists
        is refused unless `force`.
        """
        if format is not None:
            format = name_text("format", format)
        return self._found.write(path_text("path", path), format, bool(force))

    def plot(self, column: str | None = None, *, ax: Axes | None = None) -> Axes:
        """Draw how the values of a column are distributed, or how large its groups are.

        The column is by default the first with values, or with components or communities. Returns
        the axes of matplotlib that it drew on.
        """
        from ._plots import of_result

        return of_result(self, column, ax)

    def __reduce__(self) -> tuple[type[Result], tuple[Kept]]:
        return Result, (Kept.of(self._found, self.table),)

    def _repr_html_(self) -> str:
        from ._html import of_result

        return of_result(self.algorithm, len(self), self.summary, self.top())

    def __repr__(self) -> str:
        rows = f"{len(self):,} rows" if len(self) != 1 else "1 row"
        return f"<tegula.Result of {self.algorithm}: {rows}>"


def _number(cell: str) -> int | float | str | None:
    if not cell:
        return None
    for kind in (int, float):
        try:
            return kind(cell)
        except ValueError:
            pass
    return cell
