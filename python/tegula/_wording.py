"""Puts into Python's words what the libraries say of values that they cannot read."""

from __future__ import annotations

import re

# Types as the libraries name them, and as Python users do.
_EXPECTED = {
    "f64": "a number",
    "u16": "an integer from 0 to 2**16 - 1",
    "u32": "an integer from 0 to 2**32 - 1",
    "u64": "an integer from 0 to 2**64 - 1",
    "usize": "an integer from 0 to 2**64 - 1",
    "a nonzero u64": "an integer from 1 to 2**64 - 1",
    "a boolean": "True or False",
    "a string": "text",
    "string or map": "text",
    "path string": "a path",
    "a sequence": "a list",
}
_FOUND = {
    "sequence": "a list",
    "map": "a dictionary",
    "boolean `true`": "True",
    "boolean `false`": "False",
    "null": "None",
}
_INVALID = re.compile(r"invalid (?:type|value): (.*), expected (.*)", re.DOTALL)
_VARIANT = re.compile(r"unknown variant `(.*)`, expected (?:one of )?(`.*`)", re.DOTALL)
_MISSING = re.compile(r"missing field `(.*)`")
_NUMBER = re.compile(r"(?:integer|floating point) `(.*)`")
_STRING = re.compile(r"string (\".*\")", re.DOTALL)


def in_python(message: str) -> str:
    """Return a message in Python's words."""
    message = _INVALID.sub(_of_invalid, message, 1)
    message = _VARIANT.sub(_of_variant, message, 1)
    return _MISSING.sub(r"\1= is missing", message, 1)


def _of_invalid(match: re.Match[str]) -> str:
    found, expected = match.groups()
    named = _NUMBER.fullmatch(found) or _STRING.fullmatch(found)
    found = named[1] if named else _FOUND.get(found, found)
    return f"it must be {_EXPECTED.get(expected, expected)}, not {found}"


def _of_variant(match: re.Match[str]) -> str:
    words = [f'"{word}"' for word in re.findall("`(.*?)`", match[2])]
    *others, last = words
    choice = f"{', '.join(others)} or {last}" if others else last
    return f'it must be {choice}, not "{match[1]}"'
