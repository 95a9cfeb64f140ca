"""Graphs made from graphs: parts, the reverse, other names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import networkx as nx
import numpy as np

from ._adjacency import Adjacency, Array, both_ways, starts_of
from ._graph import Graph
from ._registry import Arguments, function, other_than, weighted
from .traversal import search_from


def _picked(values: list[Any] | None, places: Array) -> list[Any] | None:
    return None if values is None else [values[at] for at in places.tolist()]


def induced(G: Graph, keep: Array) -> Graph:
    """Return the marked vertices, and the edges between them."""
    G = G.with_data()
    adjacency = G.adjacency
    kept = np.flatnonzero(keep)
    place = np.cumsum(keep) - 1
    arcs = np.flatnonzero(keep[adjacency.sources] & keep[adjacency.targets])
    counts = np.bincount(place[adjacency.sources[arcs]], minlength=len(kept))
    return Graph(
        G.named(kept),
        Adjacency(starts_of(counts), place[adjacency.targets[arcs]]),
        directed=G.is_directed(),
        edge_keys=_picked(G.edge_keys, arcs),
        edge_data=_picked(G.edge_data, arcs),
        node_data=_picked(G.node_data, kept),
        attributes=G.graph,
    )


def with_edges(G: Graph, arcs: Array) -> Graph:
    """Return all vertices, and only the edges of some arcs, one for each edge."""
    G = G.with_data()
    sources, targets = G.adjacency.sources[arcs], G.adjacency.targets[arcs]
    if not G.is_directed():
        edges, sources, targets = both_ways(sources, targets)
        arcs = arcs[edges]
    adjacency, order = Adjacency.of_pairs(sources, targets, len(G))
    return Graph(
        G.nodes,
        adjacency,
        directed=G.is_directed(),
        edge_keys=_picked(G.edge_keys, arcs[order]),
        edge_data=_picked(G.edge_data, arcs[order]),
        node_data=G.node_data,
        attributes=G.graph,
    )


@function(other_than("copy", True), cheap=True)
def reverse(G: Graph, copy: bool = True) -> Graph:
    """The graph with every edge the other way round."""
    if not G.is_directed():
        raise nx.NetworkXError("Cannot reverse an undirected graph.")
    G = G.with_data()
    adjacency, order = Adjacency.of_pairs(G.adjacency.targets, G.adjacency.sources, len(G))
    return Graph(
        G.nodes,
        adjacency,
        directed=True,
        edge_keys=_picked(G.edge_keys, order),
        edge_data=_picked(G.edge_data, order),
        node_data=G.node_data,
        attributes=G.graph,
    )


def _renamed(G: Graph, names: list[Any], node_data: list[dict[str, Any]] | None) -> Graph:
    G = G.with_data()
    return Graph(
        names,
        G.adjacency,
        directed=G.is_directed(),
        edge_keys=G.edge_keys,
        edge_data=G.edge_data,
        node_data=node_data,
        attributes=G.graph,
    )


@function(other_than("copy", True), cheap=True)
def relabel_nodes(
    G: Graph, mapping: Mapping[Any, Any] | Callable[[Any], Any], copy: bool = True
) -> Graph:
    """The graph with other names of nodes."""
    if isinstance(mapping, Mapping):
        names = [mapping.get(node, node) for node in G]
    elif callable(mapping):
        names = [mapping(node) for node in G]
    else:
        raise NotImplementedError("`mapping` is neither a mapping nor a function")
    if len(set(names)) < len(names) or None in names:
        raise NotImplementedError("several nodes get one name, or the name is None")
    return _renamed(G, names, G.node_data)


def _is_sorted(arguments: Arguments) -> str | None:
    ordering = arguments["ordering"]
    return None if ordering == "default" else f"`ordering` is {ordering!r}"


@function(_is_sorted, cheap=True)
def convert_node_labels_to_integers(
    G: Graph, first_label: int = 0, ordering: str = "default", label_attribute: str | None = None
) -> Graph:
    """The graph with numbers as names of nodes."""
    names = list(range(first_label, first_label + len(G)))
    node_data = G.node_data
    if label_attribute is not None:
        known = node_data or [{} for _ in names]
        node_data = [{**data, label_attribute: node} for data, node in zip(known, G, strict=True)]
    return _renamed(G, names, node_data)


@function(weighted, cheap=True)
def ego_graph(
    G: Graph,
    n: Any,
    radius: float = 1,
    center: bool = True,
    undirected: bool = False,
    distance: Any = None,
) -> Graph:
    """The nodes within a distance of one, and the edges between them."""
    if undirected and G.is_directed():
        raise NotImplementedError("the direction of edges is to be ignored")
    if n not in G:
        raise nx.NodeNotFound(f"Source {n} is not in G")
    keep = np.zeros(len(G), bool)
    keep[search_from(G, n, cutoff=radius).order] = True
    keep[G.position(n)] = center
    return induced(G, keep)
