"""The command comes with the package, and results have its bits."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
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


@pytest.fixture
def script() -> Path:
    """The command of the package."""
    return Path(sys.executable).with_name("tegula")


def test_the_package_brings_the_command(made: tg.Graph, script: Path, folder: Path) -> None:
    told = subprocess.run([script, "--version"], capture_output=True, text=True, check=True)
    assert told.stdout == f"tegula {tg.__version__}\n"
    output = folder / "ranks.npy"
    line = [script, "run", "pagerank", made.path, "-o", output, "--json"]
    ran = json.loads(subprocess.run(line, capture_output=True, check=True).stdout)
    assert ran["schema"] == "tegula.run.v1"
    assert output.exists()


def test_the_exit_codes_are_those_of_the_command(script: Path, folder: Path) -> None:
    line = [script, "info", folder / "missing.tegula", "--json"]
    failed = subprocess.run(line, capture_output=True, text=True)
    assert failed.returncode == 3
    assert json.loads(failed.stdout)["kind"] == "not_a_graph"
    assert "Traceback" not in failed.stderr
    assert subprocess.run([script, "fly"], capture_output=True).returncode == 2


def test_an_interrupt_ends_the_command_without_a_trace(
    made: tg.Graph, script: Path, folder: Path
) -> None:
    output = folder / "ranks.csv"
    line = [script, "run", "pagerank", made.path, "--iterations", "1000000", "-o", output, "-v"]
    with subprocess.Popen(line, stderr=subprocess.PIPE, text=True) as running:
        assert running.stderr is not None
        # Its log begins when it listens for interrupts.
        assert running.stderr.readline() != ""
        os.kill(running.pid, signal.SIGINT)
        told = running.stderr.read()
    assert running.returncode == 130
    assert "Traceback" not in told
    assert list(folder.iterdir()) == []
