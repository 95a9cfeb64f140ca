"""Triangles and clustering."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._adjacency import Array
from ._graph import Graph
from ._registry import directed, function, multigraph, weighted


def _triangles(G: Graph) -> Array:
    if len(G) == 0:
        return np.zeros(0, np.int64)
    return G.column(G.run("triangles"), "triangles").astype(np.int64)


def _wedges(G: Graph) -> Array:
    """Return for each vertex the ordered pairs of its neighbours."""
    counts = G.out_degrees - 2 * G.loops if G.has_loops() else G.out_degrees
    wedges: Array = counts * (counts - 1)
    return wedges


def _of(G: Graph, values: dict[Any, Any], nodes: Any) -> Any:
    if nodes is None:
        return values
    if nodes in G:
        return values[nodes]
    return {node: values[node] for node in G.nbunch_iter(nodes)}


@function(directed)
def triangles(G: Graph, nodes: Any = None) -> Any:
    """The triangles with a corner at each node."""
    return _of(G, G.by_node(_triangles(G)), nodes)


def _coefficients(G: Graph) -> dict[Any, float]:
    found, wedges = 2 * _triangles(G), _wedges(G)
    values = found / np.maximum(wedges, 1)
    return {
        node: value if count else 0
        for node, value, count in zip(G, values.tolist(), found.tolist(), strict=True)
    }


@function(directed, multigraph, weighted)
def clustering(G: Graph, nodes: Any = None, weight: Any = None) -> Any:
    """The share of the pairs of neighbours of each node that are neighbours."""
    return _of(G, _coefficients(G), nodes)


@function(directed, multigraph, weighted)
def average_clustering(
    G: Graph, nodes: Any = None, weight: Any = None, count_zeros: bool = True
) -> float:
    """The mean of the clustering coefficients."""
    values = list(_of(G, _coefficients(G), nodes).values())
    kept = values if count_zeros else [value for value in values if abs(value) > 0]
    return float(sum(kept) / len(kept))


@function(directed, multigraph)
def transitivity(G: Graph) -> float:
    """The share of the pairs of edges with a common end that are in a triangle."""
    closed = 2 * int(_triangles(G).sum())
    return closed / int(_wedges(G).sum()) if closed else 0
