"""The wheels that `make wheels` has built: their names, and how they install."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

FOLDER = Path(os.environ.get("TEGULA_WHEELS", Path(__file__).parents[2] / "target" / "wheels"))
CONSTRAINTS = Path(__file__).parents[1] / "constraints.txt"
# For every Python from 3.11 on, and for free-threaded Python 3.14.
TAGS = ["cp311-abi3", "cp314-cp314t"]
NAME = r"tegula-[0-9.]+-{}-manylinux2014_\w+\.manylinux_2_17_\w+\.whl"
# Every interpreter of the machine, with the wheel that is for it.
PYTHONS = [(f"python3.{minor}", "cp311-abi3") for minor in range(11, 20)]
INTERPRETERS = sorted(
    {
        (path, tag)
        for name, tag in [*PYTHONS, ("python3.14t", "cp314-cp314t")]
        if (path := shutil.which(name)) is not None
    }
    | {(sys.executable, "cp311-abi3")}
)

CODE = """
import sys, tegula as tg
assert tg.__file__.startswith(sys.prefix), tg.__file__
with tg.from_edges([("a", "b"), ("b", "c"), ("c", "a")]) as graph:
    assert round(graph.pagerank()["a"], 3) == 0.333
    with graph.jobs() as jobs:
        assert jobs.submit("bfs", source="a").result()["c"] == 2
"""


def wheel(tag: str) -> Path:
    """Return the wheel with a tag."""
    found = list(FOLDER.glob(f"*-{tag}-*.whl"))
    assert len(found) == 1, f"{FOLDER} has {len(found)} wheels of {tag}; `make wheels` builds one"
    return found[0]


@pytest.mark.parametrize("tag", TAGS)
def test_the_name_tells_of_old_systems_and_of_versions(tag: str) -> None:
    assert re.fullmatch(NAME.format(tag), wheel(tag).name), wheel(tag).name


def test_the_free_threaded_wheel_has_one_module_with_its_abi_tag() -> None:
    with ZipFile(wheel("cp314-cp314t")) as files:
        modules = [name for name in files.namelist() if name.endswith(".so")]
    assert len(modules) == 1
    assert modules[0].startswith("tegula/_internal.cpython-314t-")


def works(interpreter: str) -> bool:
    """Return whether an interpreter starts, and makes environments."""
    line = [interpreter, "-c", "import ensurepip, venv"]
    return subprocess.run(line, capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize(("interpreter", "tag"), INTERPRETERS)
def test_it_installs_in_an_empty_environment_without_a_compiler(
    interpreter: str, tag: str, tmp_path: Path
) -> None:
    if not works(interpreter):
        pytest.skip(f"{interpreter} makes no environments")
    subprocess.run([interpreter, "-m", "venv", tmp_path / "venv"], check=True)
    python = tmp_path / "venv" / "bin" / "python"
    kept = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_"))}
    # No folder of compilers.
    place = {**kept, "HOME": str(tmp_path), "PATH": str(python.parent), "CC": "/no/compiler"}
    line = [python, "-m", "pip", "install", "--quiet", "--only-binary", ":all:"]
    line += ["--constraint", CONSTRAINTS, wheel(tag)]
    subprocess.run(line, check=True, env=place)
    ran = subprocess.run(
        [python, "-W", "error", "-c", CODE], capture_output=True, text=True, env=place, check=False
    )
    assert ran.returncode == 0, ran.stderr
