"""The code in the documentation runs, and its types are right."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGES = sorted((Path(__file__).parents[2] / "docs" / "python").glob("*.md"))


def code_of(page: Path) -> list[str]:
    """Return the blocks of code of a page."""
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
    assert blocks
    return blocks


@pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])
@pytest.mark.filterwarnings("ignore:Note. conversions to backend graphs")
def test_the_code_of_a_page_runs(page: Path, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in code_of(page):
        exec(compile(block, page.name, "exec"), names)


@pytest.mark.long
@pytest.mark.parametrize("checker", ["mypy", "basedpyright"])
def test_the_types_of_all_pages_are_right(checker: str, tmp_path: Path) -> None:
    for page in PAGES:
        (tmp_path / f"{page.stem.lower()}.py").write_text("\n".join(code_of(page)))
    (tmp_path / "pyrightconfig.json").write_text('{"typeCheckingMode": "standard"}')
    options = {
        # Not all libraries have types.
        "mypy": [
            "--disable-error-code=import-untyped",
            f"--cache-dir={PAGES[0].parents[2] / '.mypy_cache'}",
        ],
        "basedpyright": ["--level=error", "--pythonpath", sys.executable],
    }
    files = [str(tmp_path)] if checker == "mypy" else []
    line = [sys.executable, "-m", checker, *options[checker], *files]
    checked = subprocess.run(line, capture_output=True, text=True, cwd=tmp_path)
    assert checked.returncode == 0, checked.stdout + checked.stderr
