"""The tests of NetworkX that the backend does not pass, each with the reason."""

from __future__ import annotations

from typing import Any

KNOWN_FAILURES: dict[str, str] = {}
"""The reason by the name of a test, `FILE::CLASS::TEST`; at most 25."""


def mark_known_failures(items: list[Any]) -> None:
    """Mark tests of NetworkX as expected to fail."""
    import pytest

    for item in items:
        name = "::".join([item.path.name, *item.nodeid.split("::")[1:]])
        reason = KNOWN_FAILURES.get(name)
        if reason is not None:
            item.add_marker(pytest.mark.xfail(reason=reason, strict=True))
