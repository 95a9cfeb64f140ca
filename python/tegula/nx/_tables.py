"""Tables that options of algorithms name."""

from __future__ import annotations

from .._columns import cells
from .._internal import Table
from ._adjacency import Array


def table(**columns: Array) -> Table:
    """Return a table with these columns; ids are integers or strings."""
    return Table(list(columns), [cells(name, column) for name, column in columns.items()])
