"""A result without its graph, as it is pickled."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from . import _internal
from ._table import Table
from .errors import UsageError

# The most entries of a summary.
_ENTRIES = 100


@dataclass(frozen=True)
class Kept:
    """Stands for what a run found, with the methods that `Result` calls."""

    algorithm: str
    warnings: list[str]
    rows: Table
    summed_up: str
    listed: _internal.Listed
    figures: str

    @classmethod
    def of(cls, found: _internal.Found | Kept, rows: Table) -> Kept:
        """Read the rest of a result, with the first entries of its summary."""
        if isinstance(found, Kept):
            return found
        return cls(
            found.algorithm,
            found.warnings,
            rows,
            # One more entry tells whether any are missing.
            found.summary(_ENTRIES + 1),
            found.list(_ENTRIES + 1),
            found.statistics(),
        )

    def table(self) -> _internal.Table:
        """Return the table."""
        return self.rows._table

    def batches(self) -> Batch:
        """Return the table as the only one of an iterator."""
        return Batch(self.table())

    def summary(self, top: int) -> str:
        """Return the summary, as JSON."""
        summary: dict[str, Any] = json.loads(self.summed_up)
        if "top" in summary:
            summary["top"] = self._first(summary["top"], top)
        return json.dumps(summary)

    def list(self, count: int) -> _internal.Listed:
        """Return the first entries."""
        names, are_text, rows = self.listed
        return names, are_text, self._first(rows, count)

    def statistics(self) -> str:
        """Return what the run did, as JSON."""
        return self.figures

    def write(self, path: str, format: str | None = None, replace: bool = False) -> int:
        """Write the table to a file."""
        return self.table().write(path, format, replace)

    def __len__(self) -> int:
        return len(self.rows)

    def __arrow_c_schema__(self) -> object:
        return self.table().__arrow_c_schema__()

    def _first(self, entries: Any, count: int) -> Any:
        if count > _ENTRIES and len(entries) > _ENTRIES:
            message = f"count={count}: a pickled result keeps only its first {_ENTRIES} entries"
            raise UsageError(message, "sort its table")
        return entries[:count]


class Batch:
    """A table in the place of the batches of a result."""

    def __init__(self, table: _internal.Table) -> None:
        self._table: _internal.Table | None = table
        self.column_names = table.column_names
        self._schema = table.__arrow_c_schema__

    def next(self) -> _internal.Table | None:
        """Return the table once, and then None."""
        table, self._table = self._table, None
        return table

    def close(self) -> None:
        """Give no table any more."""
        self._table = None

    def __arrow_c_schema__(self) -> object:
        return self._schema()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        table = self.next()
        if table is None:
            raise UsageError("the batches have been read already, or closed")
        return table.__arrow_c_stream__(requested_schema)
