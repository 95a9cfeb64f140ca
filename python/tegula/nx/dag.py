"""Directed acyclic graphs, and what comes before and after a node."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx

from ._adjacency import Array, generations
from ._graph import Graph
from ._registry import function
from .traversal import search_from


@function(cheap=True)
def descendants(G: Graph, source: Any) -> set[Any]:
    """The nodes that a node leads to."""
    return set(G.named(search_from(G, source).order[1:]))


@function(cheap=True)
def ancestors(G: Graph, source: Any) -> set[Any]:
    """The nodes that lead to a node."""
    return set(G.named(search_from(G, source, reverse=True).order[1:]))


def _generations(G: Graph) -> Iterator[Array]:
    """Yield the vertices without edges from others but earlier ones.

    Raises:
        NetworkXUnfeasible: Some are left, as there is a cycle.
    """
    if not G.is_directed():
        raise nx.NetworkXError("Topological sort not defined on undirected graphs.")
    left = len(G)
    for generation in generations(G.adjacency):
        left -= len(generation)
        yield generation
    if left > 0:
        raise nx.NetworkXUnfeasible("Graph contains a cycle or graph changed during iteration")


@function(cheap=True)
def topological_generations(G: Graph) -> Iterator[list[Any]]:
    """The nodes by the length of the longest path to them."""
    yield from map(G.named, _generations(G))


@function(cheap=True)
def topological_sort(G: Graph) -> Iterator[Any]:
    """The nodes, each behind all that have an edge to it."""
    for generation in _generations(G):
        yield from G.named(generation)


@function(cheap=True)
def is_directed_acyclic_graph(G: Graph) -> bool:
    """Whether the edges have a direction and there is no cycle."""
    return G.is_directed() and not _has_cycle(G)


@function(cheap=True)
def has_cycle(G: Graph) -> bool:
    """Whether there is a cycle."""
    return _has_cycle(G)


def _has_cycle(G: Graph) -> bool:
    try:
        for _ in _generations(G):
            pass
    except nx.NetworkXUnfeasible:
        return True
    return False
