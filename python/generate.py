"""Writes `tegula/_algorithms.py` from the catalogue of the built module.

python python/generate.py          writes it
python python/generate.py --check  fails if it is stale
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import keyword
import re
import sys
import textwrap
from pathlib import Path
from typing import Any

WIDTH = 100
TARGET = Path(__file__).parent / "tegula" / "_algorithms.py"

PROGRESS = (
    "Whether to show how far the run is, by default on a terminal and in notebooks; or a function "
    "that is called with the stage, what is done of it, its total, and the unit."
)

HEAD = '''"""A method for each algorithm of the catalogue. `python/generate.py` writes this file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Never

if TYPE_CHECKING:
    from ._options import File, Vertex, VertexTable
    from ._progress import Progress
    from ._result import Result


class Algorithms:
    """The algorithms, as methods of a graph.

    Type checkers refuse a misspelt option. At run time `_run` refuses it, and its hint is the
    nearest name.
    """
'''

RUN = """
    def _run(
        self,
        algorithm: str,
        options: Mapping[str, Any],
        progress: Progress | None,
    ) -> Result:
        raise NotImplementedError
"""


def catalogue() -> list[dict[str, Any]]:
    """Return the catalogue of the built module, without the package around it."""
    found = next(iter(sorted((TARGET.parent).glob("_internal*.so"))), None)
    if found is None:
        sys.exit("the module is not built; `make python` builds it")
    spec = importlib.util.spec_from_file_location("_internal", found)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return json.loads(module.catalogue())


def kinds(option: dict[str, Any]) -> list[str]:
    """Return the types of a JSON Schema, without null."""
    kind = option.get("type", [])
    kind = [kind] if isinstance(kind, str) else kind
    return [name for name in kind if name != "null"]


def choices(option: dict[str, Any]) -> list[str]:
    """Return the words of which an option takes one, if it does."""
    words = []
    for part in [option, *option.get("oneOf", []), *option.get("anyOf", [])]:
        words += [word for word in part.get("enum", []) if word is not None]
        words += [part["const"]] if "const" in part else []
        if part is not option:
            words += [word for word in choices(part) if word not in words]
    return words


def formats(option: dict[str, Any]) -> set[str]:
    """Return the formats that a schema names."""
    parts = [option, *option.get("oneOf", []), *option.get("anyOf", [])]
    return {part["format"] for part in parts if "format" in part}


def annotation(option: dict[str, Any]) -> str:
    """Return the type of an option in Python."""
    words = choices(option)
    named = formats(option)
    if "vertex" in named:
        return "Vertex"
    if "table" in named:
        return "VertexTable"
    if "file" in named:
        return "File"
    if words:
        return f"Literal[{', '.join(json.dumps(word) for word in words)}]"
    of_json = {"boolean": "bool", "integer": "int", "number": "float", "string": "str"}
    found = [kind for part in [option, *option.get("anyOf", [])] for kind in kinds(part)]
    names = {of_json[kind] for kind in found if kind in of_json}
    if "array" in found:
        names.add(f"Sequence[{annotation(option['items'])}]")
    if not names:
        sys.exit(f"no type in Python for {option}")
    return " | ".join(sorted(names))


def help_of(option: dict[str, Any]) -> str:
    """Return what an option does, with names as Python has them."""
    text = " ".join(option.get("description", "").split())
    return re.sub(r"--([a-z]+(?:-[a-z]+)*)", lambda match: match[1].replace("-", "_"), text)


def parameter(name: str, option: dict[str, Any], is_required: bool) -> str:
    """Return the parameter of an option, with its default."""
    kind, default = annotation(option), option.get("default")
    if is_required:
        return f"{name}: {kind}"
    if default is None:
        return f"{name}: {kind} | None = None"
    shown = json.dumps(default) if isinstance(default, str) else repr(default)
    return f"{name}: {kind} = {shown}"


def wrapped(text: str, indent: int, further: int | None = None) -> list[str]:
    """Return a paragraph as lines."""
    below = indent if further is None else further
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=" " * indent,
        subsequent_indent=" " * below,
        break_on_hyphens=False,
        break_long_words=False,
    )


def documentation(entry: dict[str, Any], names: list[str]) -> list[str]:
    """Return the docstring of a method."""
    schema = entry["schema"]
    lines = wrapped(f'"""{entry["summary"]}.', 8)
    lines.append("")
    options = schema["properties"]
    lines.append("        Args:")
    for name in names:
        lines += wrapped(f"{name}: {help_of(options[name])}", 12, 16)
    lines += wrapped(f"progress: {PROGRESS}", 12, 16)
    lines += ["", "        The table has the columns:"]
    for column in schema["columns"]:
        name = column["name"] + ("0, .." if column["repeats"] else "")
        when = f" ({column['when']})" if column["when"] else ""
        lines += wrapped(f"{name}: {column['about']}{when}.", 12, 16)
    lines += ["", *wrapped(f"Memory: {entry['memory']}.", 8)]
    if entry["source"]:
        lines += wrapped(f"Source: {entry['source']}", 8)
    return [*(line.replace("\\", "\\\\") for line in lines), '        """']


def method(entry: dict[str, Any]) -> str:
    """Return the method of an algorithm."""
    schema = entry["schema"]
    options, required = schema["properties"], schema.get("required", [])
    names = sorted(entry["options"], key=lambda name: name not in required)
    python = entry["name"].replace("-", "_")
    for name in [python, *names]:
        if keyword.iskeyword(name) or not name.isidentifier():
            sys.exit(f"{name} is no name in Python")
    parameters = [parameter(name, options[name], name in required) for name in names]
    lines = [f"    def {python}(", "        self,", "        *,"]
    parameters += ["progress: Progress | None = None", "**misspelt: Never"]
    lines += [f"        {text}," for text in parameters]
    lines += ["    ) -> Result:", *documentation(entry, names)]
    lines.append("        options: dict[str, Any] = {")
    lines += [f'            "{name}": {name},' for name in names]
    lines += ["            **misspelt,", "        }"]
    lines.append(f'        return self._run("{entry["name"]}", options, progress)')
    return "\n".join(lines) + "\n"


def text(entries: list[dict[str, Any]]) -> str:
    """Return the text of the file."""
    methods = "\n".join(method(entry) for entry in entries)
    return HEAD + RUN + "\n" + methods


def main() -> None:
    """Write the file, or check it."""
    parser = argparse.ArgumentParser(description="Writes the methods of all algorithms.")
    parser.add_argument("--check", action="store_true", help="fail if the file is stale")
    made = text(catalogue())
    if parser.parse_args().check:
        if TARGET.read_text() != made:
            sys.exit(f"{TARGET} is stale; run {__file__}")
    else:
        TARGET.write_text(made)


if __name__ == "__main__":
    main()
