"""Reads the catalogue of algorithms, and checks calls against it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from . import _internal
from ._options import id_text, name_text
from .errors import UsageError


@cache
def entries() -> dict[str, dict[str, Any]]:
    """Return the entry of each algorithm, by its name."""
    return {entry["name"]: entry for entry in json.loads(_internal.catalogue())}


@cache
def columns(algorithm: str) -> dict[str, dict[str, Any]]:
    """Return the type of each column of an algorithm, and what it is about."""
    return {column["name"]: column for column in entries()[algorithm]["schema"]["columns"]}


def algorithm_name(algorithm: object) -> str:
    """Return the name of an algorithm, which may be written as its method is.

    Raises:
        UsageError: There is no such algorithm.
    """
    name = name_text("algorithm", algorithm).replace("_", "-")
    if name not in entries():
        raise UsageError(f"there is no algorithm `{algorithm}`", _choose(name, entries(), ""))
    return name


def checked(algorithm: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of an algorithm, with ids of vertices as text.

    Raises:
        UsageError: The algorithm has no such option, or a vertex is no id.
    """
    formats = _formats(algorithm)
    given = dict(options)
    for name, value in options.items():
        if name not in formats:
            raise UsageError(f"{algorithm} has no option {name}=", _choose(name, formats, "="))
        if formats[name] == "vertex" and value is not None:
            given[name] = id_text(name, value)
    return given


@cache
def tables(algorithm: str) -> tuple[str, ...]:
    """Return the options of an algorithm that name a table of vertices."""
    return tuple(name for name, format in _formats(algorithm).items() if format == "table")


@cache
def _formats(algorithm: str) -> dict[str, str | None]:
    """Return the format of each option, such as a vertex, where it has one."""
    entry = entries()[algorithm]
    properties = entry["schema"]["properties"]
    return {name: _format(properties[name]) for name in entry["options"]}


def _format(schema: Mapping[str, Any]) -> str | None:
    parts = [schema, *schema.get("anyOf", []), *schema.get("oneOf", [])]
    return next((part["format"] for part in parts if "format" in part), None)


def _choose(name: str, names: Iterable[str], ending: str) -> str:
    """Return a hint: the nearest name, or all names if none is near."""
    # Few calls need it, and it takes a part of the time of `import tegula`.
    from difflib import get_close_matches

    near = get_close_matches(name, names, 1)
    if near:
        return f"did you mean {near[0]}{ending}?"
    return f"choose one of {', '.join(f'{name}{ending}' for name in names)}"
