"""Eccentricities, the diameter, and averages of distances."""

from __future__ import annotations

import math
from typing import Any

import networkx as nx
import numpy as np

from ._graph import Graph
from ._registry import empty, function, given, weighted
from .components import is_one, labels

# More searches than a graph has vertices.
_SEARCHES_MAX = 1 << 40


def _eccentricities(G: Graph, nodes: Any = None) -> dict[Any, int]:
    found = {}
    for node in G.nbunch_iter(nodes):
        search = G.search(np.array([G.position(node)]))
        if len(search.order) != len(G):
            raise nx.NetworkXError(_not_connected(G))
        found[node] = int(search.distance.max())
    return found


def _not_connected(G: Graph) -> str:
    reason = "digraph is not strongly" if G.is_directed() else "graph is not"
    return f"Found infinite path length because the {reason} connected"


@function(empty, weighted, given("sp"))
def eccentricity(G: Graph, v: Any = None, sp: Any = None, weight: Any = None) -> Any:
    """The greatest distance from each node."""
    found = _eccentricities(G, v)
    return found[v] if v in G else found


@function(empty, weighted)
def diameter(G: Graph, e: Any = None, usebounds: bool = False, weight: Any = None) -> int:
    """The greatest distance."""
    if e is not None or G.is_directed():
        return int(max((_eccentricities(G) if e is None else e).values()))
    if len(G) == 0 or not is_one(G, labels(G)):
        raise nx.NetworkXError(_not_connected(G))
    return int(G.run("diameter", max_searches=_SEARCHES_MAX).summary.upper)


@function(empty, weighted)
def radius(G: Graph, e: Any = None, usebounds: bool = False, weight: Any = None) -> int:
    """The least eccentricity."""
    return int(min((_eccentricities(G) if e is None else e).values()))


@function(empty, weighted)
def periphery(G: Graph, e: Any = None, usebounds: bool = False, weight: Any = None) -> list[Any]:
    """The nodes with the greatest eccentricity."""
    found = _eccentricities(G) if e is None else e
    greatest = max(found.values())
    return [node for node, value in found.items() if value == greatest]


@function(empty, weighted)
def center(G: Graph, e: Any = None, usebounds: bool = False, weight: Any = None) -> list[Any]:
    """The nodes with the least eccentricity."""
    found = _eccentricities(G) if e is None else e
    least = min(found.values())
    return [node for node, value in found.items() if value == least]


def _sum_of_distances(G: Graph) -> int | None:
    """Return the sum of the distances of all ordered pairs; None if one has no path."""
    if not is_one(G, labels(G, "scc" if G.is_directed() else "wcc")):
        return None
    if len(G) == 1:
        return 0
    closeness = G.column(G.run("closeness"), "centrality")
    return int(np.rint((len(G) - 1) / closeness).sum())


@function(weighted, given("method"))
def average_shortest_path_length(G: Graph, weight: Any = None, method: Any = None) -> float:
    """The average distance of two nodes."""
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept(
            "the null graph has no paths, thus there is no average shortest path length"
        )
    if len(G) == 1:
        return 0
    total = _sum_of_distances(G)
    if total is None:
        strongly = "strongly " if G.is_directed() else ""
        raise nx.NetworkXError(f"Graph is not {strongly}connected.")
    return total / (len(G) * (len(G) - 1))


@function(weighted)
def wiener_index(G: Graph, weight: Any = None) -> float:
    """The sum of the distances of all pairs."""
    total = _sum_of_distances(G)
    if total is None:
        return math.inf
    return total if G.is_directed() else total / 2


@function()
def global_efficiency(G: Graph) -> float:
    """The average of the inverse distances of two nodes."""
    pairs = len(G) * (len(G) - 1)
    if pairs == 0:
        return 0
    return float(G.column(G.run("harmonic"), "centrality").sum()) / pairs
