"""Components, bridges and articulation points."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np

from ._adjacency import Adjacency, Array, firsts, generations
from ._graph import Graph
from ._registry import function, given


def labels(G: Graph, algorithm: str = "wcc") -> Array:
    """Return for each vertex the first one of its component."""
    if len(G) == 0:
        return np.zeros(0, np.int64)
    # In a graph directory, the smallest id need not be that of the first vertex.
    return firsts(G.found_positions(G.column(G.run(algorithm), "component")))


def count(found: Array) -> int:
    """Return how many labels there are; a label is the first position that has it."""
    return int(np.count_nonzero(found == np.arange(len(found))))


def is_one(G: Graph, found: Array) -> bool:
    """Return whether all vertices have one label."""
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    return bool((found == found[0]).all())


@function(cheap=True)
def connected_components(G: Graph) -> Iterator[set[Any]]:
    """The components, ordered by their first nodes."""
    yield from G.groups(labels(G))


@function(cheap=True)
def number_connected_components(G: Graph) -> int:
    """How many components there are."""
    return count(labels(G))


@function(cheap=True)
def is_connected(G: Graph) -> bool:
    """Whether there is one component."""
    return is_one(G, labels(G))


@function(cheap=True)
def node_connected_component(G: Graph, n: Any) -> set[Any]:
    """The component of a node."""
    if n not in G:
        raise KeyError(n)
    return set(G.named(G.search(np.array([G.position(n)])).order))


@function(cheap=True)
def weakly_connected_components(G: Graph) -> Iterator[set[Any]]:
    """The weak components, ordered by their first nodes."""
    yield from G.groups(labels(G))


@function(cheap=True)
def number_weakly_connected_components(G: Graph) -> int:
    """How many weak components there are."""
    return count(labels(G))


@function(cheap=True)
def is_weakly_connected(G: Graph) -> bool:
    """Whether there is one weak component."""
    return is_one(G, labels(G))


@function()
def strongly_connected_components(G: Graph) -> Iterator[set[Any]]:
    """The strong components, each behind those that it leads to."""
    found = labels(G, "scc")
    components = G.groups(found)
    for number in reversed(_topological_order(G, found)):
        yield components[number]


def _topological_order(G: Graph, found: Array) -> list[int]:
    """Return the components, numbered by their first vertices, in the direction of edges."""
    number = np.unique(found, return_inverse=True)[1]
    sources, targets = number[G.adjacency.sources], number[G.adjacency.targets]
    crosses = sources != targets
    components = int(number.max(initial=-1)) + 1
    adjacency, _ = Adjacency.of_pairs(sources[crosses], targets[crosses], components)
    return [place for level in generations(adjacency) for place in level.tolist()]


@function()
def number_strongly_connected_components(G: Graph) -> int:
    """How many strong components there are."""
    return count(labels(G, "scc"))


@function()
def is_strongly_connected(G: Graph) -> bool:
    """Whether there is one strong component."""
    return is_one(G, labels(G, "scc"))


@function()
def attracting_components(G: Graph) -> Iterator[set[Any]]:
    """The strong components that no edge leaves."""
    found = labels(G, "scc")
    is_left = _is_left(G, found)
    components = G.groups(found)
    for first, component in zip(np.unique(found).tolist(), components, strict=True):
        if not is_left[first]:
            yield component


def _is_left(G: Graph, found: Array) -> Array:
    """Return for each label whether an edge leads to another one."""
    sources, targets = found[G.adjacency.sources], found[G.adjacency.targets]
    is_left = np.zeros(len(G), bool)
    is_left[sources[sources != targets]] = True
    return is_left


@function()
def number_attracting_components(G: Graph) -> int:
    """How many attracting components there are."""
    return sum(1 for _ in attracting_components(G))


@function()
def is_attracting_component(G: Graph) -> bool:
    """Whether the whole graph is the only attracting component."""
    return len(G) > 0 and is_one(G, labels(G, "scc"))


@function()
def articulation_points(G: Graph) -> Iterator[Any]:
    """The nodes without which their component falls apart."""
    yield from G.named(_articulation_points(G))


def _articulation_points(G: Graph) -> Array:
    if len(G) == 0:
        return np.zeros(0, np.int64)
    found = G.run("bridges", articulation_points=True).to_numpy()["vertex"]
    return np.sort(G.found_positions(found))


@function()
def is_biconnected(G: Graph) -> bool:
    """Whether the graph stays connected without any one node."""
    if len(G) < 2 or not is_one(G, labels(G)):
        return False
    return len(_articulation_points(G)) == 0


@function(given("root"))
def bridges(G: Graph, root: Any = None) -> Iterator[tuple[Any, Any]]:
    """The edges without which their component falls apart."""
    yield from _bridges(G)


def _bridges(G: Graph) -> list[tuple[Any, Any]]:
    if len(G) == 0:
        return []
    found = G.run("bridges", parallel="one").to_numpy()
    u, v = G.found_positions(found["u"]), G.found_positions(found["v"])
    first, last = np.minimum(u, v), np.maximum(u, v)
    if G.is_multigraph():
        is_single = _is_single(G, first, last)
        first, last = first[is_single], last[is_single]
    order = np.lexsort((last, first))
    return list(zip(G.named(first[order]), G.named(last[order]), strict=True))


def _is_single(G: Graph, sources: Array, targets: Array) -> Array:
    """Return whether one edge alone joins each of several pairs."""
    joined, counts = np.unique(
        G.adjacency.sources * len(G) + G.adjacency.targets, return_counts=True
    )
    places = np.searchsorted(joined, sources * len(G) + targets)
    return np.equal(counts[places], 1)


@function(given("root"))
def has_bridges(G: Graph, root: Any = None) -> bool:
    """Whether there is a bridge."""
    return len(_bridges(G)) > 0
