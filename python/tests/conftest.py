"""What the tests share: small graphs, and a longer run."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import tegula as tg

EDGES = [(1, 2), (2, 3), (3, 1), (3, 4), (5, 6)]
NAMED = [("b", "a"), ("a", "c"), ("c", "b"), ("c", "d"), ("é", "f")]


@pytest.fixture(autouse=True, scope="session")
def interrupts() -> None:
    """Let interrupts raise KeyboardInterrupt, also where a shell that works in the background has
    made its processes ignore them.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def graph() -> Iterator[tg.Graph]:
    """A graph of six vertices with integer ids."""
    with tg.from_edges(EDGES, memory="256MiB", threads=2) as graph:
        yield graph


@pytest.fixture
def named() -> Iterator[tg.Graph]:
    """A graph of six vertices with string ids."""
    with tg.from_edges(NAMED, memory="256MiB", threads=2) as graph:
        yield graph


def random_edges(count: int, vertices: int, seed: int = 1) -> np.ndarray:
    """Return random pairs."""
    return np.random.default_rng(seed).integers(0, vertices, (count, 2), dtype=np.uint64)


@pytest.fixture(scope="session")
def large() -> Iterator[tg.Graph]:
    """A graph with enough edges that a run can be interrupted."""
    with tg.from_edges(random_edges(1 << 18, 1 << 15), memory="512MiB") as graph:
        yield graph


@pytest.fixture(scope="session")
def command() -> Path:
    """The `tegula` command: the program where it has been built, or else that of the package."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", Path(__file__).parents[2] / "target"))
    named = os.environ.get("TEGULA_COMMAND")
    built = [target / profile / "tegula" for profile in ("debug", "release", "dist")]
    found = [Path(named)] if named else [path for path in built if path.exists()]
    return found[0] if found else Path(sys.executable).with_name("tegula")


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder that must hold nothing hidden at the end: no work leaves anything behind."""
    yield tmp_path
    left = [path.name for path in tmp_path.iterdir() if path.name.startswith(".")]
    assert left == []
    shutil.rmtree(tmp_path)
