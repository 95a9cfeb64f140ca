"""Figures with names: what a graph holds, what a run did."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any


class Record(Mapping[str, Any]):
    """Figures, each an attribute and an item by its name."""

    __slots__ = ("_fields",)

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self._fields = {name: _wrapped(value) for name, value in fields.items()}

    @classmethod
    def of_json(cls, text: str) -> Record:
        """Return the figures of a JSON object."""
        return cls(json.loads(text))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "_fields":
            raise AttributeError(name)
        try:
            return self._fields[name]
        except KeyError:
            names = ", ".join(self._fields)
            raise AttributeError(f"there is no `{name}`; there are {names}") from None

    def __getitem__(self, name: str) -> Any:
        return self._fields[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._fields]

    def __reduce__(self) -> tuple[type[Record], tuple[dict[str, Any]]]:
        return Record, (self.to_dict(),)

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={value!r}" for name, value in self._fields.items())
        return f"Record({fields})"

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as dictionaries and lists."""
        return {name: _plain(value) for name, value in self._fields.items()}


def _wrapped(value: Any) -> Any:
    if isinstance(value, Mapping):
        return value if isinstance(value, Record) else Record(value)
    if isinstance(value, list):
        return [_wrapped(item) for item in value]
    return value


def _plain(value: Any) -> Any:
    if isinstance(value, Record):
        return value.to_dict()
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value
