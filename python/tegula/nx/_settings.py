"""The settings of the backend: `networkx.config.backends.tegula`."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np

from ..errors import OverBudget, UsageError


def setting(name: str) -> float:
    """Return a number of edges, which NetworkX keeps under a name.

    Raises:
        UsageError: It is no number from 0.
    """
    value: Any = nx.config.backends["tegula"][name]
    if isinstance(value, int | float | np.integer) and not isinstance(value, bool) and value >= 0:
        return float(value)
    raise UsageError(f"networkx.config.backends.tegula.{name} is {value!r}, no number from 0")


def refuse_above_limit(edges: int, name: str) -> None:
    """Refuse to take more edges into memory than `edges_max` allows.

    Raises:
        OverBudget: There are more.
    """
    limit = setting("edges_max")
    if edges > limit:
        raise OverBudget(
            f"{name} has {edges:,} edges; at most {limit:,.0f} are taken into memory",
            "set networkx.config.backends.tegula.edges_max",
        )
