"""Results have the bits of the command line."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import tegula as tg

from .conftest import random_edges

DATA = Path(__file__).parents[2] / "data"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory):
    """A random graph."""
    path = tmp_path_factory.mktemp("graph") / "g.tegula"
    with tg.from_edges(random_edges(40_000, 4_000), path=path, memory="256MiB") as graph:
        yield graph


@pytest.fixture(scope="module", params=["random", "wiki-Vote"])
def graph(request, made: tg.Graph):
    """A random graph, and a real one."""
    if request.param == "random":
        yield made
        return
    with tg.read(DATA / "wiki-Vote.txt.zst", memory="256MiB") as graph:
        yield graph


@pytest.mark.parametrize(
    ("algorithm", "options", "words"),
    [
        ("pagerank", {}, []),
        ("pagerank", {"damping": 0.5, "iterations": 9}, ["--damping", "0.5", "--iterations", "9"]),
        ("bfs", {"source": 2565, "parents": True}, ["--source", "2565", "--parents"]),
        ("wcc", {}, []),
        ("scc", {}, []),
        ("kcore", {}, []),
    ],
)
def test_a_run_writes_the_file_that_the_command_writes(
    graph: tg.Graph, command: Path, tmp_path: Path, algorithm: str, options, words
) -> None:
    theirs, ours = tmp_path / "theirs.parquet", tmp_path / "ours.parquet"
    line = [command, "run", algorithm, graph.path, *words, "-o", theirs, "--quiet"]
    subprocess.run(line, check=True)
    graph.run(algorithm, **options).write(ours)
    assert ours.read_bytes() == theirs.read_bytes()


def test_an_import_makes_the_directory_that_the_command_makes(
    made: tg.Graph, command: Path, tmp_path: Path
) -> None:
    pairs, theirs = tmp_path / "edges.bin64", tmp_path / "theirs.tegula"
    pairs.write_bytes(random_edges(40_000, 4_000).tobytes())
    subprocess.run([command, "import", pairs, "-o", theirs, "--quiet"], check=True)
    ours = Path(made.path)
    # The manifest has an id of its own.
    names = sorted(path.name for path in theirs.iterdir() if path.name != "manifest.json")
    assert len(names) > 2
    for name in names:
        assert (ours / name).read_bytes() == (theirs / name).read_bytes(), name
