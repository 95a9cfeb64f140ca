"""The settings of the backend: `networkx.config.backends.tegula`."""

from __future__ import annotations

from typing import Any

import networkx as nx

from ..errors import OverBudget


def settings() -> Any:
    """Return the settings, which NetworkX keeps."""
    return nx.config.backends["tegula"]


def refuse_above_limit(edges: int, name: str) -> None:
    """Refuse to take more edges into memory than `edges_max` allows.

    Raises:
        OverBudget: There are more.
    """
    limit = settings().edges_max
    if edges > limit:
        raise OverBudget(
            f"{name} has {edges:,} edges; at most {limit:,} are taken into memory",
            "set networkx.config.backends.tegula.edges_max",
        )
