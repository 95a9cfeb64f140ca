"""Lists, arrays and series as columns of tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import BadInput


def as_list(value: Any) -> list[Any] | None:
    """Return the items of a list, a range, an array or a series; None if it is none of them."""
    if isinstance(value, list | tuple | range):
        return list(value)
    method = _list_method(value)
    items = method() if method is not None else None
    return items if isinstance(items, list) else None


def as_integers(value: Any) -> NDArray[Any] | None:
    """Return an array or a series of integers as an array; None if it is anything else."""
    is_series = hasattr(value, "to_numpy") and _list_method(value) is not None
    # A masked array may lack integers.
    if isinstance(value, np.ma.MaskedArray) or not (is_series or isinstance(value, np.ndarray)):
        return None
    array = np.asarray(value)
    return array if array.ndim == 1 and array.dtype.kind in "iu" else None


def _list_method(value: Any) -> Callable[[], Any] | None:
    """Return the method that lists the items of an array or a series; None without one."""
    if isinstance(value, np.generic) or hasattr(value, "column_names"):
        return None
    methods = (getattr(value, name, None) for name in ("tolist", "to_list", "to_pylist"))
    return next((method for method in methods if method is not None), None)


def cells(name: str, column: np.ndarray[Any, Any]) -> Any:
    """Return an array as the libraries take it: strings, integers of 64 bits, or floats."""
    if name == "weight":
        if column.dtype.kind not in "iufb":
            raise BadInput(f"column `{name}` has the type {column.dtype}; weights are numbers")
        return np.ascontiguousarray(column, dtype=np.float64)
    if column.dtype.kind == "i" and len(column) > 0 and column.min() < 0:
        row = int(np.argmax(column < 0))
        raise BadInput(f"column `{name}`, row {row}: the id {column[row]} is negative")
    if column.dtype.kind in "iu":
        return np.ascontiguousarray(column, dtype=np.uint64)
    if column.dtype.kind in "OUT":
        cells = column.tolist()
        for row, cell in enumerate(cells):
            if not isinstance(cell, str):
                raise BadInput(f"column `{name}`, row {row}: the id {cell!r} is no string")
        return cells
    raise BadInput(f"column `{name}` has the type {column.dtype}; ids are integers or strings")
