"""Cuts between sets of nodes, and what surrounds them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ._adjacency import Array
from ._graph import Graph
from ._registry import function, weight_is_called


def marks(G: Graph, nodes: Iterable[Any]) -> Array:
    """Return whether each vertex is one of some nodes; those that the graph lacks do not count."""
    marked = np.zeros(len(G), bool)
    marked[[G.positions[node] for node in nodes if node in G]] = True
    return marked


def _sides(G: Graph, S: Any, T: Any) -> tuple[Array, Array]:
    is_in_s = marks(G, S)
    return is_in_s, ~is_in_s if T is None else marks(G, T)


def _cut(G: Graph, is_in_s: Array, is_in_t: Array, weight: str | None) -> Any:
    sources, targets = G.adjacency.sources, G.adjacency.targets
    crosses = is_in_s[sources] & is_in_t[targets]
    back = is_in_t[sources] & is_in_s[targets]
    weights = G.weights(weight)
    if not G.is_directed():
        return weights[(crosses | back) & G.is_edge].sum().item()
    return (weights[crosses].sum() + weights[back].sum()).item()


def _volume(G: Graph, is_in: Array, weight: str | None) -> Any:
    weights, sources = G.weights(weight), G.adjacency.sources
    total = weights[is_in[sources]].sum()
    if not G.is_directed():
        total += weights[is_in[sources] & G.is_loop].sum()
    return total.item()


@function(weight_is_called, cheap=True)
def cut_size(G: Graph, S: Any, T: Any = None, weight: str | None = None) -> Any:
    """The weight of the edges between two sets."""
    return _cut(G, *_sides(G, S, T), weight)


@function(weight_is_called, cheap=True)
def volume(G: Graph, S: Any, weight: str | None = None) -> Any:
    """The sum of the degrees of a set."""
    return _volume(G, marks(G, S), weight)


def _both_volumes(G: Graph, sides: tuple[Array, Array], weight: str | None) -> tuple[Any, Any]:
    return _volume(G, sides[0], weight), _volume(G, sides[1], weight)


@function(weight_is_called, cheap=True)
def normalized_cut_size(G: Graph, S: Any, T: Any = None, weight: str | None = None) -> float:
    """The cut over the volumes of both sides."""
    sides = _sides(G, S, T)
    inside, outside = _both_volumes(G, sides, weight)
    return float(_cut(G, *sides, weight) * (1 / inside + 1 / outside))


@function(weight_is_called, cheap=True)
def conductance(G: Graph, S: Any, T: Any = None, weight: str | None = None) -> float:
    """The cut over the smaller volume."""
    sides = _sides(G, S, T)
    return float(_cut(G, *sides, weight) / min(_both_volumes(G, sides, weight)))


@function(weight_is_called, cheap=True)
def edge_expansion(G: Graph, S: Any, T: Any = None, weight: str | None = None) -> float:
    """The cut over the size of the smaller set."""
    sides = _sides(G, S, T)
    return float(_cut(G, *sides, weight) / min(int(side.sum()) for side in sides))


@function(cheap=True)
def node_boundary(G: Graph, nbunch1: Any, nbunch2: Any = None) -> set[Any]:
    """The nodes outside of a set to which its edges lead."""
    is_inside = marks(G, nbunch1)
    is_near = np.zeros(len(G), bool)
    is_near[G.adjacency.targets[is_inside[G.adjacency.sources]]] = True
    is_near &= ~is_inside
    if nbunch2 is not None:
        is_near &= marks(G, nbunch2)
    return set(G.named(np.flatnonzero(is_near)))
