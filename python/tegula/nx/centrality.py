"""Centralities of nodes and edges."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np
from networkx.utils import create_py_random_state

from ._adjacency import Adjacency, Array
from ._graph import Graph, narrow
from ._registry import (
    function,
    given,
    multigraph,
    other_than,
    weight_is_called,
    weighted,
)
from ._tables import table
from .link_analysis import converged, require_convergence


@function(cheap=True)
def degree_centrality(G: Graph) -> dict[Any, float]:
    """Degrees over the number of other nodes."""
    return _share(G, G.degrees)


@function(cheap=True)
def in_degree_centrality(G: Graph) -> dict[Any, float]:
    """In-degrees over the number of other nodes."""
    return _share(G, G.in_degrees)


@function(cheap=True)
def out_degree_centrality(G: Graph) -> dict[Any, float]:
    """Out-degrees over the number of other nodes."""
    return _share(G, G.out_degrees)


def _share(G: Graph, degrees: Array) -> dict[Any, float]:
    if len(G) <= 1:
        return dict.fromkeys(G, 1)
    return G.by_node(degrees * (1.0 / (len(G) - 1.0)))


@function(given("nstart"), weighted)
def eigenvector_centrality(
    G: Graph, max_iter: int = 100, tol: float = 1e-6, nstart: Any = None, weight: Any = None
) -> dict[Any, float]:
    """Values of Euclidean norm 1, as 32-bit floats."""
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("cannot compute centrality for the null graph")
    require_convergence(tol, max_iter)
    tolerance = _norm(len(G) * tol, G)
    result = G.run("eigenvector", parallel="one", tolerance=tolerance, max_iterations=max_iter)
    values = G.column(converged(result, max_iter), "centrality").astype(np.float64)
    return G.by_node(values)


def _norm(tolerance: float, G: Graph) -> float:
    """Return a Euclidean norm that bounds the sum of absolute values by a tolerance."""
    return tolerance / math.sqrt(len(G))


@function(given("nstart"), weighted)
def katz_centrality(
    G: Graph,
    alpha: float = 0.1,
    beta: Any = 1.0,
    max_iter: int = 1000,
    tol: float = 1e-6,
    nstart: Any = None,
    normalized: bool = True,
    weight: Any = None,
) -> dict[Any, float]:
    """Values of Euclidean norm 1, as 32-bit floats."""
    if len(G) == 0:
        return {}
    is_number = isinstance(beta, int | float) and 0 < beta < math.inf
    if not normalized or not is_number or alpha < 0:
        raise NotImplementedError("tegula's values have the norm 1, and every node counts alike")
    require_convergence(tol, max_iter)
    # The sum of the values is at least their number times `beta`.
    result = G.run(
        "katz", parallel="one", alpha=alpha, tolerance=tol / beta, max_iterations=max_iter
    )
    values = G.column(converged(result, max_iter), "centrality").astype(np.float64)
    return G.by_node(values / np.linalg.norm(values))


@function(weighted, newer={"sp": None})
def closeness_centrality(
    G: Graph, u: Any = None, distance: Any = None, wf_improved: bool = True
) -> Any:
    """The inverse of the average distance from other nodes."""
    if u is not None:
        return _closeness_of(G, u, wf_improved)
    if len(G) == 0:
        return {}
    values = G.column(G.run("closeness"), "centrality")
    if not wf_improved:
        if G.is_directed():
            raise NotImplementedError("`wf_improved` is false, and the graph is directed")
        component = G.found_positions(G.column(G.run("wcc"), "component"))
        others = np.bincount(component, minlength=len(G))[component] - 1
        values = values * (len(G) - 1) / np.maximum(others, 1)
    return G.by_node(values)


def _closeness_of(G: Graph, node: Any, wf_improved: bool) -> float:
    found = G.search(np.array([_place(G, node)]), reverse=True)
    reached, total = len(found.order) - 1, int(found.distance[found.order].sum())
    if total == 0 or len(G) <= 1:
        return 0.0
    return reached / total * (reached / (len(G) - 1) if wf_improved else 1.0)


def _place(G: Graph, node: Any) -> int:
    if node not in G:
        raise nx.NodeNotFound(f"Source {node} is not in G")
    return G.position(node)


@function(weighted, given("sources"))
def harmonic_centrality(
    G: Graph, nbunch: Any = None, distance: Any = None, sources: Any = None
) -> dict[Any, float]:
    """The sum of the inverse distances from other nodes."""
    if nbunch is None:
        return {} if len(G) == 0 else G.by_node(G.column(G.run("harmonic"), "centrality"))
    centrality = {}
    for node in set(G.nbunch_iter(nbunch)):
        found = G.search(np.array([G.position(node)]), reverse=True)
        centrality[node] = float((1.0 / found.distance[found.order[1:]]).sum())
    return centrality


@function(weight_is_called, other_than("endpoints", False))
def betweenness_centrality(
    G: Graph,
    k: int | None = None,
    normalized: bool = True,
    weight: str | None = None,
    endpoints: bool = False,
    seed: Any = None,
) -> dict[Any, float]:
    """How many shortest paths lead through each node."""
    sampled = _sampled(G, None if k == len(G) else k, seed)
    if len(G) == 0:
        return {}
    if weight is not None:
        weights = G.weights(weight)
        if (weights <= 0).any() or (narrow(weights, weight) != weights).any():
            raise NotImplementedError(f"a weight {weight!r} is 0 or does not fit 32 bits")
    result = G.run(
        "betweenness",
        weight=weight,
        parallel="one" if weight is None else "min",
        weighted=weight is not None,
        sources=None if sampled is None else table(vertex=G.ids(sampled)),
    )
    both_ways = 1 if G.is_directed() else 2
    counts = G.column(result, "centrality") * both_ways
    return G.by_node(counts * _scales(G, sampled, normalized))


def _sampled(G: Graph, k: int | None, seed: Any) -> Array | None:
    if k is None:
        return None
    return G.places(create_py_random_state(seed).sample(G.nodes, k))


def _scales(G: Graph, sampled: Array | None, normalized: bool) -> Any:
    """Return the factor of each vertex: one for sources of paths, one for others."""
    others = len(G) - 1
    if others < 2:
        return 1
    both_ways = 1 if G.is_directed() else 2
    if sampled is None:
        return 1 / (others * (others - 1)) if normalized else 1 / both_ways
    whole = 1 / (others - 1) if normalized else others / both_ways
    sources = len(sampled)
    scales = np.full(len(G), whole / sources)
    scales[sampled] = whole / (sources - 1) if sources > 1 else math.nan
    return scales


@function(weighted, multigraph)
def edge_betweenness_centrality(
    G: Graph,
    k: int | None = None,
    normalized: bool = True,
    weight: Any = None,
    seed: Any = None,
) -> dict[Any, float]:
    """How many shortest paths lead along each edge."""
    sampled = _sampled(G, k, seed)
    places = range(len(G)) if sampled is None else sampled.tolist()
    adjacency, counts = G.adjacency, np.zeros(len(G.adjacency.targets))
    for place in places:
        _add_paths(adjacency, place, counts)
    sources, targets = adjacency.sources, adjacency.targets
    both_ways = 1 if G.is_directed() else 2
    if not G.is_directed():
        counts += counts[_backward(adjacency)] * (sources != targets)
    n, used = len(G), len(places)
    if n >= 2:
        counts *= 1 / (used * (n - 1)) if normalized else n / (used * both_ways)
    return dict(zip(G.edges, counts[G.is_edge].tolist(), strict=True))


def _backward(adjacency: Adjacency) -> Array:
    """Return for each arc of an undirected graph the one the other way."""
    sources, targets, n = adjacency.sources, adjacency.targets, adjacency.vertices
    backward = np.empty(len(sources), np.int64)
    backward[np.argsort(sources * n + targets)] = np.argsort(targets * n + sources)
    return backward


def _add_paths(adjacency: Adjacency, source: int, counts: Array) -> None:
    """Add to each arc the fractions of the shortest paths from a source that use it."""
    n = adjacency.vertices
    distance = adjacency.search(np.array([source])).distance
    paths, later = np.zeros(n), np.zeros(n)
    paths[source] = 1
    levels = list(_levels(adjacency, distance, source))
    for arcs in levels:
        tails, heads = adjacency.sources[arcs], adjacency.targets[arcs]
        paths += np.bincount(heads, paths[tails], n)
    for arcs in reversed(levels):
        tails, heads = adjacency.sources[arcs], adjacency.targets[arcs]
        shares = paths[tails] * (1 + later[heads]) / paths[heads]
        counts[arcs] += shares
        later += np.bincount(tails, shares, n)


def _levels(adjacency: Adjacency, distance: Array, source: int) -> Iterator[Array]:
    """Yield the arcs of shortest paths from a source, by distance."""
    level = np.array([source])
    while len(level) > 0:
        arcs = adjacency.rows(level).arcs
        heads = adjacency.targets[arcs]
        arcs = arcs[distance[heads] == distance[level[0]] + 1]
        yield arcs
        level = np.unique(adjacency.targets[arcs])
