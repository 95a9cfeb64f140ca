"""Nodes without edges."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ._graph import Graph
from ._registry import function


@function(cheap=True)
def is_isolate(G: Graph, n: Any) -> bool:
    """Whether a node has no edge."""
    return bool(G.degrees[G.position(n)] == 0)


@function(cheap=True)
def isolates(G: Graph) -> Iterator[Any]:
    """The nodes without edges."""
    return iter(G.named(np.flatnonzero(G.degrees == 0)))


@function(cheap=True)
def number_of_isolates(G: Graph) -> int:
    """How many nodes have no edge."""
    return int(np.count_nonzero(G.degrees == 0))
