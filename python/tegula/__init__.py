"""tegula: graph algorithms on graphs of any size, within a memory budget.

>>> import tegula as tg
>>> g = tg.from_edges([("a", "b"), ("b", "c"), ("c", "a")])
>>> r = g.pagerank(damping=0.85)
>>> round(r["a"], 3)
0.333
"""

from __future__ import annotations

import importlib
from typing import Any

from ._graph import Graph
from ._imports import from_edges, open, read
from ._internal import __version__
from ._jobs import Job, Jobs
from ._records import Record
from ._result import Result
from ._table import Batches, Table
from .errors import (
    AlreadyExists,
    BadInput,
    Cancelled,
    Corrupt,
    Error,
    InputOutputError,
    LimitExceeded,
    MissingLayout,
    NoSuchVertex,
    NotAGraph,
    NotReplaced,
    NotResumable,
    OutputTaken,
    OverBudget,
    OverLimit,
    Panicked,
    Replaced,
    RowsNotAdded,
    TegulaWarning,
    UnfitGraph,
    UnsupportedVersion,
    UsageError,
    WorkerFailed,
)

__all__ = [
    "AlreadyExists",
    "BadInput",
    "Batches",
    "Cancelled",
    "Corrupt",
    "Error",
    "Graph",
    "InputOutputError",
    "Job",
    "Jobs",
    "LimitExceeded",
    "MissingLayout",
    "NoSuchVertex",
    "NotAGraph",
    "NotReplaced",
    "NotResumable",
    "OutputTaken",
    "OverBudget",
    "OverLimit",
    "Panicked",
    "Record",
    "Replaced",
    "Result",
    "RowsNotAdded",
    "Table",
    "TegulaWarning",
    "UnfitGraph",
    "UnsupportedVersion",
    "UsageError",
    "WorkerFailed",
    "__version__",
    "from_edges",
    "open",
    "read",
]


def __getattr__(name: str) -> Any:
    # NetworkX is needed by this module alone, so it is imported when it is first asked for.
    if name == "nx":
        return importlib.import_module("tegula.nx")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
