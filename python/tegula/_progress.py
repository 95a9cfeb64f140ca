"""How far work is: shown by tqdm, or told to a function of the caller."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

from .errors import UsageError

Callback: TypeAlias = Callable[[str, int, int | None, str], object]
"""Gets the name of the stage, what is done of it, its total if that is known, and the unit."""

Progress: TypeAlias = bool | Callback
"""Whether to show a bar of tqdm, or a function to call instead."""

# Seconds before a bar appears that was not asked for: most runs have ended by then.
_PATIENCE = 0.5


@contextmanager
def shown(progress: Progress | None) -> Iterator[Callback | None]:
    """Yield the function that libraries tell how far they are; None if nobody wants to know.

    Without a choice, a bar is shown where somebody sees it: on a terminal and in notebooks.

    Raises:
        UsageError: `progress` is neither a truth value nor a function, or tqdm is missing.
    """
    delay = 0.0
    if progress is None:
        progress = _has_tqdm() and (sys.stderr.isatty() or _is_notebook())
        delay = _PATIENCE
    elif progress is True and not _has_tqdm():
        raise UsageError("progress=True needs tqdm", "install it with pip install tqdm")
    if progress is False:
        yield None
    elif progress is not True:
        if not callable(progress):
            raise UsageError(f"progress={progress!r} is neither True, False nor a function")
        yield progress
    else:
        bars = _Bars(delay)
        try:
            yield bars.show
        finally:
            bars.close()


class _Bars:
    """A bar for each stage, of which the last one is seen."""

    def __init__(self, delay: float) -> None:
        self._delay = delay
        self._stage = ""
        self._bar: Any = None

    def show(self, stage: str, done: int, total: int | None, unit: str) -> None:
        if self._bar is None or stage != self._stage or done < self._bar.n:
            self.close()
            self._stage, self._bar = stage, self._new_bar(stage, total, unit)
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None

    def _new_bar(self, stage: str, total: int | None, unit: str) -> Any:
        from tqdm.auto import tqdm

        return tqdm(
            desc=stage,
            total=total,
            unit="B" if unit == "bytes" else f" {unit}",
            unit_scale=unit != "iterations",
            unit_divisor=1024 if unit == "bytes" else 1000,
            leave=False,
            delay=self._delay,
        )


def _has_tqdm() -> bool:
    # It is not imported with the package: that takes time.
    from importlib.util import find_spec

    return find_spec("tqdm") is not None


def _is_notebook() -> bool:
    """Whether a notebook shows what this process prints."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return hasattr(shell, "kernel")
