"""Tables that other libraries take without a copy: in memory, or a batch of rows at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _internal
from ._options import Vertex, id_text

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from numpy.typing import NDArray

    from ._kept import Batch


class Table:
    """A table in memory, with the Arrow PyCapsule interface.

    `polars.DataFrame(table)`, `pyarrow.table(table)` and DuckDB take it without a copy.
    """

    __slots__ = ("_columns", "_table")

    def __init__(self, table: _internal.Table) -> None:
        self._table = table
        self._columns: dict[str, _internal.Column] = {}

    def __len__(self) -> int:
        return len(self._table)

    @property
    def num_rows(self) -> int:
        """The number of rows."""
        return len(self._table)

    @property
    def column_names(self) -> list[str]:
        """The names of the columns."""
        return self._table.column_names

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self._table.__arrow_c_schema__()

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Iterate over the rows, each a dictionary."""
        step = 4096
        for start in range(0, len(self), step):
            yield from self._table.rows(start, step)

    def row(self, number: int) -> dict[str, Any]:
        """Return a row as a dictionary."""
        count = len(self)
        if not -count <= number < count:
            raise IndexError(f"there is no row {number}; there are {count}")
        return self._table.rows(number % count, 1)[0]

    def find(self, vertex: Vertex) -> int | None:
        """Return the number of the first row whose first cell is this id."""
        return self._table.find(id_text("vertex", vertex))

    def to_numpy(self) -> dict[str, NDArray[Any]]:
        """Return an array for each column.

        Numbers are copied only where the table has several batches. A column with empty cells is a
        masked array; strings are objects.
        """
        return {name: self._array(name) for name in self.column_names}

    def to_pandas(self) -> pd.DataFrame:
        """Return a data frame of pandas; columns with empty cells have its nullable types."""
        import pandas as pd

        return pd.DataFrame({name: self._series(name) for name in self.column_names}, copy=False)

    def to_polars(self) -> pl.DataFrame:
        """Return a data frame of polars, without a copy."""
        import polars as pl

        return pl.DataFrame(self)

    def to_pyarrow(self) -> pa.Table:
        """Return a table of pyarrow, without a copy."""
        import pyarrow as pa

        return pa.table(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (self._table.to_bytes(),)

    def __repr__(self) -> str:
        rows = f"{len(self):,} rows" if len(self) != 1 else "1 row"
        return f"<tegula.Table of {rows}: {', '.join(self.column_names)}>"

    def _column(self, name: str) -> _internal.Column:
        # Joined once: cells of one place can be shared by all arrays.
        if name not in self._columns:
            self._columns[name] = self._table.column(name)
        return self._columns[name]

    def _array(self, name: str) -> NDArray[Any]:
        column = self._column(name)
        if column.is_text:
            return np.array(column.strings(), dtype=object)
        numbers = _numbers(column)
        if column.null_count == 0:
            return numbers
        return np.ma.masked_array(numbers, _nulls(column))

    def _series(self, name: str) -> Any:
        import pandas as pd

        column = self._column(name)
        if column.is_text:
            return column.strings()
        numbers = _numbers(column)
        if column.null_count == 0:
            return numbers
        arrays = {
            "u": pd.arrays.IntegerArray,
            "f": pd.arrays.FloatingArray,
            "b": pd.arrays.BooleanArray,
        }
        return arrays[numbers.dtype.kind](numbers, _nulls(column))


class Batches:
    """An iterator of tables, for one that may be larger than memory.

    It can be read once. It has the Arrow PyCapsule interface too, so `pyarrow`, polars and DuckDB
    read it as a stream. Meanwhile it takes some of the memory of its graph. `close`, the end of a
    `with` block and the last table give that back.
    """

    __slots__ = ("_batches",)

    def __init__(self, batches: _internal.Batches | Batch) -> None:
        self._batches = batches

    @property
    def column_names(self) -> list[str]:
        """The names of the columns."""
        return self._batches.column_names

    def __iter__(self) -> Iterator[Table]:
        return self

    def __next__(self) -> Table:
        table = self._batches.next()
        if table is None:
            raise StopIteration
        return Table(table)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._batches.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self._batches.__arrow_c_schema__()

    def close(self) -> None:
        """Read no further."""
        self._batches.close()

    def __enter__(self) -> Batches:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<tegula.Batches of {', '.join(self.column_names)}>"


def _unpickled(stream: bytes) -> Table:
    return Table(_internal.Table.of_bytes(stream))


def _numbers(column: _internal.Column) -> NDArray[Any]:
    numbers = np.asarray(column.numbers())
    return numbers.view(np.bool_) if numbers.dtype == np.uint8 else numbers


def _nulls(column: _internal.Column) -> NDArray[np.bool_]:
    return np.asarray(column.nulls()).view(np.bool_)
