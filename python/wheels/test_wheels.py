"""The wheels that `make wheels` has built: their names, and how they install."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(os.environ.get("TEGULA_WHEELS", Path(__file__).parents[2] / "target" / "wheels"))
CONSTRAINTS = Path(__file__).parents[1] / "constraints.txt"
NAME = re.compile(r"tegula-[0-9.]+-cp311-abi3-manylinux2014_\w+\.manylinux_2_17_\w+\.whl")
# Every interpreter of the machine that the wheel is for.
INTERPRETERS = sorted(
    {path for minor in range(11, 20) if (path := shutil.which(f"python3.{minor}")) is not None}
    | {sys.executable}
)

CODE = """
import sys, tegula as tg
assert tg.__file__.startswith(sys.prefix), tg.__file__
with tg.from_edges([("a", "b"), ("b", "c"), ("c", "a")]) as graph:
    assert round(graph.pagerank()["a"], 3) == 0.333
    with graph.jobs() as jobs:
        assert jobs.submit("bfs", source="a").result()["c"] == 2
"""


def wheel() -> Path:
    """Return the wheel for all versions of Python."""
    found = [path for path in FOLDER.glob("*.whl") if "abi3" in path.name]
    assert len(found) == 1, f"{FOLDER} has {len(found)} wheels; `make wheels` builds one"
    return found[0]


def test_the_name_tells_of_old_systems_and_all_versions() -> None:
    assert NAME.fullmatch(wheel().name), wheel().name


def works(interpreter: str) -> bool:
    """Return whether an interpreter starts, and makes environments."""
    line = [interpreter, "-c", "import ensurepip, venv"]
    return subprocess.run(line, capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize("interpreter", INTERPRETERS)
def test_it_installs_in_an_empty_environment_without_a_compiler(
    interpreter: str, tmp_path: Path
) -> None:
    if not works(interpreter):
        pytest.skip(f"{interpreter} makes no environments")
    subprocess.run([interpreter, "-m", "venv", tmp_path / "venv"], check=True)
    python = tmp_path / "venv" / "bin" / "python"
    kept = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_"))}
    # No folder of compilers.
    place = {**kept, "HOME": str(tmp_path), "PATH": str(python.parent), "CC": "/no/compiler"}
    line = [python, "-m", "pip", "install", "--quiet", "--only-binary", ":all:"]
    line += ["--constraint", CONSTRAINTS, wheel()]
    subprocess.run(line, check=True, env=place)
    ran = subprocess.run(
        [python, "-W", "error", "-c", CODE], capture_output=True, text=True, env=place, check=False
    )
    assert ran.returncode == 0, ran.stderr
