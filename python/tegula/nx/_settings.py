"""The settings of the backend: `networkx.config.backends.tegula`."""

from __future__ import annotations

from numbers import Real

import networkx as nx

from ..errors import OverBudget, UsageError


def setting(name: str) -> float:
    """Return a number of edges, which NetworkX keeps under a name.

    Raises:
        UsageError: It is no number from 0.
    """
    value: float = nx.config.backends["tegula"][name]
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if not is_number or not value >= 0:
        raise UsageError(f"networkx.config.backends.tegula.{name} is {value!r}, no number from 0")
    return value


def refuse_above_limit(edges: int, name: str) -> None:
    """Refuse to take more edges into memory than `edges_max` allows.

    Raises:
        OverBudget: There are more.
    """
    limit = setting("edges_max")
    if edges > limit:
        raise OverBudget(
            f"{name} has {edges:,} edges; at most {limit:,} are taken into memory",
            "set networkx.config.backends.tegula.edges_max",
        )
