"""Scores of pairs of nodes by the neighbours that they have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, combinations, islice
from typing import Any, TypeAlias

import networkx as nx
import numpy as np

from ._adjacency import Array
from ._graph import Graph
from ._registry import directed, function, multigraph

Scores: TypeAlias = Callable[[Graph, Array, Array], Array]

# The pairs that are scored at once.
_PAIRS = 1 << 16


def _predictions(G: Graph, ebunch: Any, scores: Scores) -> Iterator[tuple[Any, Any, Any]]:
    """Yield the score of each pair; without any, of those that no edge joins."""
    if ebunch is None:
        return chain.from_iterable(_scored(G, pairs, scores) for pairs in _chunks(_non_edges(G)))
    pairs = list(ebunch)
    for node in chain.from_iterable(pairs):
        if node not in G:
            raise nx.NodeNotFound(f"Node {node} not in G.")
    return chain.from_iterable(_scored(G, chunk, scores) for chunk in _chunks(iter(pairs)))


def _non_edges(G: Graph) -> Iterator[tuple[Any, Any]]:
    joined = set(zip(G.adjacency.sources.tolist(), G.adjacency.targets.tolist(), strict=True))
    nodes = G.nodes
    for u, v in combinations(range(len(G)), 2):
        if (u, v) not in joined:
            yield nodes[u], nodes[v]


def _chunks(pairs: Iterator[tuple[Any, Any]]) -> Iterator[list[tuple[Any, Any]]]:
    while chunk := list(islice(pairs, _PAIRS)):
        yield chunk


def _scored(
    G: Graph, pairs: Iterable[tuple[Any, Any]], scores: Scores
) -> Iterator[tuple[Any, Any, Any]]:
    first, second = zip(*pairs, strict=True)
    found = scores(G, G.places(first), G.places(second))
    return zip(first, second, found.tolist(), strict=True)


def _common(G: Graph, u: Array, v: Array) -> tuple[Array, Array]:
    """Return the common neighbours of pairs, each with the place of its pair."""
    adjacency, n = G.adjacency, len(G)
    pairs, arcs = adjacency.rows(u)
    middle = adjacency.targets[arcs]
    is_between = (middle != u[pairs]) & (middle != v[pairs])
    pairs, middle = pairs[is_between], middle[is_between]
    wanted = v[pairs] * n + middle
    known = np.sort(adjacency.sources * n + adjacency.targets)
    at = np.minimum(np.searchsorted(known, wanted), max(len(known) - 1, 0))
    is_common = known[at] == wanted if len(known) else np.zeros(0, bool)
    return pairs[is_common], middle[is_common]


def _sums(G: Graph, u: Array, v: Array, worth: Callable[[Array], Array]) -> Array:
    pairs, middle = _common(G, u, v)
    return np.bincount(pairs, worth(G.degrees[middle]), len(u))


def _resource_allocation(G: Graph, u: Array, v: Array) -> Array:
    return _sums(G, u, v, lambda degrees: 1 / degrees)


def _adamic_adar(G: Graph, u: Array, v: Array) -> Array:
    return _sums(G, u, v, _inverse_logarithms)


def _inverse_logarithms(degrees: Array) -> Array:
    # The only neighbour of a node is common where both nodes of a pair are that neighbour.
    if (degrees == 1).any():
        raise ZeroDivisionError("the logarithm of a degree of 1 is 0")
    inverse: Array = 1 / np.log(degrees)
    return inverse


def _jaccard(G: Graph, u: Array, v: Array) -> Array:
    adjacency, n = G.adjacency, len(G)
    common = np.bincount(_common(G, u, v)[0], minlength=len(u))
    # The ends of a pair may be neighbours of both, which counts for the union alone.
    joined = np.isin(u * n + v, adjacency.sources * n + adjacency.targets)
    has_loop = G.loops > 0
    shared = common + (joined & has_loop[u]) + (joined & has_loop[v] & (u != v))
    shared = np.where(u == v, adjacency.counts[u], shared)
    union = adjacency.counts[u] + adjacency.counts[v] - shared
    found: Array = common / np.maximum(union, 1)
    return found


def _preferential_attachment(G: Graph, u: Array, v: Array) -> Array:
    return G.degrees[u] * G.degrees[v]


@function(directed)
def resource_allocation_index(G: Graph, ebunch: Any = None) -> Iterator[tuple[Any, Any, float]]:
    """The sum of the inverse degrees of common neighbours."""
    return _predictions(G, ebunch, _resource_allocation)


@function(directed, multigraph)
def jaccard_coefficient(G: Graph, ebunch: Any = None) -> Iterator[tuple[Any, Any, float]]:
    """The share of neighbours that are common."""
    return _predictions(G, ebunch, _jaccard)


@function(directed)
def adamic_adar_index(G: Graph, ebunch: Any = None) -> Iterator[tuple[Any, Any, float]]:
    """The sum of the inverse logarithms of the degrees of common neighbours."""
    return _predictions(G, ebunch, _adamic_adar)


@function(directed)
def preferential_attachment(G: Graph, ebunch: Any = None) -> Iterator[tuple[Any, Any, int]]:
    """The product of the degrees."""
    return _predictions(G, ebunch, _preferential_attachment)
