"""Errors: a tree under `Error`, with one class for each kind that the command line prints."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ._wording import in_python

__all__ = [
    "AlreadyExists",
    "BadInput",
    "Cancelled",
    "Corrupt",
    "Error",
    "InputOutputError",
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
    "Replaced",
    "RowsNotAdded",
    "TegulaWarning",
    "UnfitGraph",
    "UnsupportedVersion",
    "UsageError",
    "WorkerFailed",
]


class TegulaWarning(UserWarning):
    """A result falls short of what may have been expected."""


class Error(Exception):
    """Why something failed.

    `kind` is its name for programs, `message` says what happened, and `hint` what to do instead,
    where that is known.
    """

    kind = "error"

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message, hint)
        self.message = message
        self.hint = hint

    def rename(self, names: Mapping[str, str]) -> None:
        """Put names that the user knows into the message, each in the place of a path."""
        for path, name in names.items():
            self.message = self.message.replace(path, name)
        self.args = (self.message, self.hint)

    def __str__(self) -> str:
        return self.message if not self.hint else f"{self.message}\n  hint: {self.hint}"


class UsageError(Error, ValueError):
    """A call asks for something that makes no sense."""

    kind = "usage"


class BadInput(Error, ValueError):
    """An input is malformed; the message names the file or column, and the row."""

    kind = "bad_input"


class NoSuchVertex(Error, LookupError):
    """The graph has no vertex with this id."""

    kind = "no_such_vertex"


class UnfitGraph(Error, ValueError):
    """The algorithm has no answer for this graph."""

    kind = "unfit_graph"


class NotAGraph(Error):
    """The path is not a graph directory."""

    kind = "not_a_graph"


class MissingLayout(Error):
    """The graph lacks a layout that the work needs."""

    kind = "missing_layout"


class Replaced(Error):
    """The open graph was replaced by another one."""

    kind = "replaced"


class NotReplaced(Error):
    """To replace the output would destroy something in it."""

    kind = "not_replaced"


class AlreadyExists(Error):
    """The output exists, and is not to be replaced."""

    kind = "already_exists"


class OutputTaken(Error):
    """Something took the name of the output during the work."""

    kind = "output_taken"


class _OfSystem(Error, OSError):
    """The operating system is the reason. `errno` is its number, where it gave one."""

    def __init__(self, message: str, hint: str | None = None, errno: int | None = None) -> None:
        super().__init__(message, hint)
        # OSError takes the first two of its arguments for these.
        self.errno = errno
        self.strerror = message if errno is None else os.strerror(errno)

    def __reduce__(self) -> tuple[type[Error], tuple[Any, ...]]:
        return type(self), (self.message, self.hint, self.errno)


class InputOutputError(_OfSystem):
    """The operating system refused an operation on a file."""

    kind = "io"


class RowsNotAdded(_OfSystem):
    """Rows must be built, but the folder takes no more files."""

    kind = "rows_not_added"


class Corrupt(Error):
    """A file does not hold what was written to it."""

    kind = "corrupt"


class UnsupportedVersion(Error):
    """A tegula of another format version wrote the graph."""

    kind = "unsupported_version"


class NotResumable(Error):
    """A run cannot go on from a checkpoint."""

    kind = "not_resumable"


class OverBudget(Error, MemoryError):
    """The work does not fit the memory budget; the message gives both numbers."""

    kind = "over_budget"


class OverLimit(Error, MemoryError):
    """The budget is more memory than the process can ever have."""

    kind = "over_limit"


class LimitExceeded(Error):
    """A number exceeds what the format can hold."""

    kind = "limit"


class Cancelled(Error):
    """The work was cancelled."""

    kind = "cancelled"


class WorkerFailed(Error):
    """A worker died, so its work cannot be completed."""

    kind = "worker_failed"


class Panicked(Error):
    """A fault of tegula itself."""

    kind = "panicked"


def _all_below(base: type[Error]) -> dict[str, type[Error]]:
    classes = {}
    for below in base.__subclasses__():
        if "kind" in vars(below):
            classes[below.kind] = below
        classes |= _all_below(below)
    return classes


_OF_KIND = _all_below(Error)


def of_kind(kind: str, message: str, hint: str | None, errno: int | None) -> Error:
    """Return the error of a kind."""
    below = _OF_KIND.get(kind, Error)
    if below is UsageError:
        message = in_python(message)
    return below(message, hint, errno) if issubclass(below, _OfSystem) else below(message, hint)
