"""Breadth-first searches. Nodes come in the order of NetworkX."""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any

import networkx as nx
import numpy as np

from ._adjacency import Adjacency, Search
from ._graph import Graph
from ._registry import function, given

# How the files between a function and its caller begin. NetworkX compiles its decorators from text,
# under the name of their class.
_INNER = (os.path.dirname(nx.__file__), os.path.dirname(__file__), "<class 'networkx")
# The major and the minor number.
_VERSION = [int(number) for number in re.findall(r"\d+", nx.__version__)[:2]]

_sorted_neighbors = given("sort_neighbors", why="it is a function")


def search_from(
    G: Graph, source: Any, *, reverse: bool = False, cutoff: float | None = None
) -> Search:
    """Search from a node; see `Graph.position`."""
    return G.search(np.array([G.position(source)]), reverse=reverse, cutoff=cutoff)


def _tree_edges(
    G: Graph, source: Any, reverse: bool = False, depth_limit: float | None = None
) -> Iterator[tuple[Any, Any]]:
    found = search_from(G, source, reverse=reverse, cutoff=depth_limit)
    heads = found.order[1:]
    yield from zip(G.named(found.parent[heads]), G.named(heads), strict=True)


@function(given("neighbors", why="it is a function"), cheap=True)
def generic_bfs_edges(
    G: Graph, source: Any, neighbors: Any = None, depth_limit: int | None = None
) -> Iterator[tuple[Any, Any]]:
    """The edges of a tree of shortest paths."""
    yield from _tree_edges(G, source, depth_limit=depth_limit)


@function(_sorted_neighbors, cheap=True)
def bfs_edges(
    G: Graph,
    source: Any,
    reverse: bool = False,
    depth_limit: int | None = None,
    sort_neighbors: Any = None,
) -> Iterator[tuple[Any, Any]]:
    """The edges of a tree of shortest paths, from a source or to it."""
    yield from _tree_edges(G, source, reverse, depth_limit)


@function(_sorted_neighbors, cheap=True)
def bfs_tree(
    G: Graph,
    source: Any,
    reverse: bool = False,
    depth_limit: int | None = None,
    sort_neighbors: Any = None,
) -> Graph:
    """A tree of shortest paths as a directed graph."""
    found = search_from(G, source, reverse=reverse, cutoff=depth_limit)
    place = np.empty(len(G), np.int64)
    place[found.order] = np.arange(len(found.order))
    parents = place[found.parent[found.order[1:]]]
    heads = np.arange(1, len(found.order))
    adjacency, _ = Adjacency.of_pairs(parents, heads, len(found.order))
    return Graph(G.named(found.order), adjacency, directed=True)


@function(_sorted_neighbors, cheap=True)
def bfs_predecessors(
    G: Graph, source: Any, depth_limit: int | None = None, sort_neighbors: Any = None
) -> Iterator[tuple[Any, Any]]:
    """Each node with the one before it."""
    # NetworkX 3.7 needs Python 3.12.
    if sys.version_info >= (3, 12) and _VERSION >= [3, 7]:
        message = "bfs_predecessors is deprecated and will be removed in NetworkX 3.9"
        warnings.warn(message, DeprecationWarning, skip_file_prefixes=_INNER)
    edges = _tree_edges(G, source, depth_limit=depth_limit)
    yield from ((node, parent) for parent, node in edges)


@function(_sorted_neighbors, cheap=True)
def bfs_successors(
    G: Graph, source: Any, depth_limit: int | None = None, sort_neighbors: Any = None
) -> Iterator[tuple[Any, list[Any]]]:
    """Each node with those that it leads to, if there are any."""
    edges = list(_tree_edges(G, source, depth_limit=depth_limit))
    if not edges:
        yield source, []
    for parent, group in groupby(edges, key=itemgetter(0)):
        yield parent, [node for _, node in group]


def _layers(G: Graph, sources: Any) -> list[list[Any]]:
    names = [sources] if sources in G else list(set(sources))
    for node in names:
        if node not in G:
            raise nx.NetworkXError(f"The node {node} is not in the graph.")
    found = G.search(G.places(names))
    distance = found.distance[found.order]
    ends = np.flatnonzero(np.diff(distance)) + 1
    return [G.named(layer) for layer in np.split(found.order, ends) if len(layer) > 0]


@function(cheap=True)
def bfs_layers(G: Graph, sources: Any) -> Iterator[list[Any]]:
    """The nodes at each distance from the sources."""
    yield from _layers(G, sources)


@function(cheap=True)
def descendants_at_distance(G: Graph, source: Any, distance: int) -> set[Any]:
    """The nodes at one distance from a source."""
    if source not in G:
        raise nx.NetworkXError(f"The node {source} is not in the graph.")
    layers = enumerate(_layers(G, source))
    return next((set(layer) for hops, layer in layers if hops == distance), set())
