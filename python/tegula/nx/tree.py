"""Trees, forests and spanning trees."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np

import tegula as tg

from ._adjacency import Array
from ._graph import Graph
from ._registry import Arguments, function
from .components import count, is_one, labels
from .operators import with_edges

# Weights are 32-bit floats, which hold all integers up to this one.
_RANKS_MAX = 1 << 24


def _require_nodes(G: Graph) -> None:
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("G has no nodes.")


@function()
def is_tree(G: Graph) -> bool:
    """Whether the graph is connected and has no cycle."""
    _require_nodes(G)
    return G.number_of_edges() == len(G) - 1 and is_one(G, labels(G))


@function()
def is_forest(G: Graph) -> bool:
    """Whether every component is a tree."""
    _require_nodes(G)
    return G.number_of_edges() == len(G) - count(labels(G))


@function()
def is_arborescence(G: Graph) -> bool:
    """Whether the graph is a tree in which at most one edge enters each node."""
    return is_tree(G) and int(G.in_degrees.max()) <= 1


@function()
def is_branching(G: Graph) -> bool:
    """Whether the graph is a forest in which at most one edge enters each node."""
    return is_forest(G) and int(G.in_degrees.max()) <= 1


def _not_kruskal(arguments: Arguments) -> str | None:
    found = arguments["algorithm"]
    return None if found == "kruskal" else f"tegula finds the tree of kruskal, not of {found!r}"


def _spanning_arcs(G: Graph, weight: str, is_maximum: bool) -> Array:
    """Return the arcs that Kruskal's method takes, in its order.

    The weight of an edge becomes its rank, as only the order counts. So weights of 64 bits are
    compared as they are, and of equal ones the first edge is taken.
    """
    if G.is_directed():
        raise nx.NetworkXNotImplemented("not implemented for directed type")
    edges = np.flatnonzero(G.is_edge)
    if len(edges) == 0:
        return edges
    if len(edges) > _RANKS_MAX:
        raise NotImplementedError(f"there are more than {_RANKS_MAX:,} edges")
    weights = G.weights(weight)[edges]
    by_weight = edges[np.argsort(-weights if is_maximum else weights, kind="stable")]
    sources, targets = G.adjacency.sources[by_weight], G.adjacency.targets[by_weight]
    ranks = np.arange(len(edges), dtype=np.float32)
    with tg.from_edges(
        (sources, targets, ranks),
        weight=2,
        vertices=len(G),
        ids="integer",
        undirected=True,
        allow_empty=True,
        order="given",
    ) as ranked:
        found = ranked.mst().to_numpy()["weight"].astype(np.int64)
    return by_weight[np.sort(found)]


def _spanning_edges(
    G: Graph, weight: str, keys: bool, data: bool, is_maximum: bool
) -> Iterator[tuple[Any, ...]]:
    arcs = _spanning_arcs(G, weight, is_maximum)
    columns = [G.named(G.adjacency.sources[arcs]), G.named(G.adjacency.targets[arcs])]
    whole = G.with_data()
    edge_keys, edge_data = whole.edge_keys, whole.edge_data
    if keys and edge_keys is not None:
        columns.append([edge_keys[arc] for arc in arcs.tolist()])
    if data:
        columns.append([edge_data[arc] if edge_data else {} for arc in arcs.tolist()])
    return zip(*columns, strict=True)


@function(_not_kruskal)
def minimum_spanning_edges(
    G: Graph,
    algorithm: str = "kruskal",
    weight: str = "weight",
    keys: bool = True,
    data: bool = True,
    ignore_nan: bool = False,
) -> Iterator[tuple[Any, ...]]:
    """The edges of a spanning forest of least weight."""
    return _spanning_edges(G, weight, keys, data, is_maximum=False)


@function(_not_kruskal)
def maximum_spanning_edges(
    G: Graph,
    algorithm: str = "kruskal",
    weight: str = "weight",
    keys: bool = True,
    data: bool = True,
    ignore_nan: bool = False,
) -> Iterator[tuple[Any, ...]]:
    """The edges of a spanning forest of greatest weight."""
    return _spanning_edges(G, weight, keys, data, is_maximum=True)


@function(_not_kruskal)
def minimum_spanning_tree(
    G: Graph, weight: str = "weight", algorithm: str = "kruskal", ignore_nan: bool = False
) -> Graph:
    """A spanning forest of least weight."""
    return with_edges(G, _spanning_arcs(G, weight, is_maximum=False))


@function(_not_kruskal)
def maximum_spanning_tree(
    G: Graph, weight: str = "weight", algorithm: str = "kruskal", ignore_nan: bool = False
) -> Graph:
    """A spanning forest of greatest weight."""
    return with_edges(G, _spanning_arcs(G, weight, is_maximum=True))
