"""Searches for shortest paths, and their results as NetworkX gives them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import networkx as nx
import numpy as np

from ._adjacency import Array, Search
from ._graph import Graph
from ._tables import table


def require(G: Graph, node: Any, message: str) -> int:
    """Return the position of a node.

    Raises:
        NodeNotFound: It is not in the graph.
    """
    if node not in G:
        raise nx.NodeNotFound(message)
    return G.position(node)


def by_hops(
    G: Graph, sources: Sequence[int], cutoff: float | None = None, *, reverse: bool = False
) -> Search:
    """Search by hops from positions, or to them."""
    return G.search(np.array(sources, np.int64), reverse=reverse, cutoff=cutoff)


def by_weight(
    G: Graph,
    sources: Sequence[int],
    weight: str,
    cutoff: float | None = None,
    *,
    reverse: bool = False,
) -> Search:
    """Search by the sums of weights from positions, or to them.

    tegula finds the paths with weights as 32-bit floats. Their lengths are then added up as
    NetworkX does it, with all digits. So a length is off by the choice of the path at most, which
    is a relative 1e-7.
    """
    places = np.array(sources, np.int64)
    result = G.run(
        "sssp",
        weight=weight,
        parallel="min",
        sources=table(vertex=G.ids(places)),
        direction="in" if reverse else "out",
        parents=True,
    )
    found = G.found_search(result, places)
    exact = _exact(G, found, weight, reverse)
    if cutoff is None:
        return exact
    # NetworkX leaves out what is farther than `cutoff`, but never a source.
    is_near = ~(exact.distance[exact.order] > cutoff) | (exact.parent[exact.order] < 0)
    order = exact.order[is_near]
    parent = np.full_like(exact.parent, -1)
    parent[order] = exact.parent[order]
    return Search(order, exact.distance, parent)


def _exact(G: Graph, found: Search, weight: str, reverse: bool) -> Search:
    """Return a search with distances that are added up from the weights as they are."""
    order, parent = _parents_first(found), found.parent
    step = _steps(G, parent, weight, reverse)
    sums = dict.fromkeys(order[parent[order] < 0].tolist(), 0)
    heads = order[parent[order] >= 0]
    rows = zip(heads.tolist(), parent[heads].tolist(), step[heads].tolist(), strict=True)
    for head, before, length in rows:
        sums[head] = sums[before] + length
    distance = np.zeros(len(parent), step.dtype)
    distance[list(sums)] = list(sums.values())
    by_distance = order[np.argsort(distance[order], kind="stable")]
    return Search(by_distance, distance, parent)


def _parents_first(found: Search) -> Array:
    """Return what was reached in an order in which each vertex comes after the one before it.

    That is the order by distance, except where a weight of 0 makes distances equal.
    """
    order, parent = found.order, found.parent
    place = np.empty(len(parent), np.int64)
    place[order] = np.arange(len(order))
    heads = order[parent[order] >= 0]
    if (place[parent[heads]] < place[heads]).all():
        return order
    return _by_depth(order, parent)


def _by_depth(order: Array, parent: Array) -> Array:
    """Return vertices by their number of steps from a source."""
    steps = np.zeros(len(parent), np.int64)
    at = np.arange(len(parent))
    while (is_on := parent[at] >= 0).any():
        steps += is_on
        at = np.where(is_on, parent[at], at)
    return order[np.argsort(steps[order], kind="stable")]


def _steps(G: Graph, parent: Array, weight: str, reverse: bool) -> Array:
    """Return for each vertex the least weight of an edge that joins it to the one before."""
    adjacency, weights = G.adjacency, G.weights(weight)
    before, after = adjacency.sources, adjacency.targets
    if reverse and G.is_directed():
        before, after = after, before
    arcs = np.flatnonzero(parent[after] == before)
    # Of several writes, the last one stays, which is the least weight.
    arcs = arcs[np.argsort(-weights[arcs], kind="stable")]
    step = np.zeros(len(parent), weights.dtype)
    step[after[arcs]] = weights[arcs]
    return step


def lengths(G: Graph, found: Search) -> dict[Any, Any]:
    """Return the distance of each node that was reached."""
    distances = found.distance[found.order].tolist()
    return dict(zip(G.named(found.order), distances, strict=True))


def paths(G: Graph, found: Search, *, reverse: bool = False) -> dict[Any, list[Any]]:
    """Return the path of each node that was reached: from a source, or to a target."""
    order = _parents_first(found)
    made: dict[int, list[Any]] = {}
    for place, before, node in zip(
        order.tolist(), found.parent[order].tolist(), G.named(order), strict=True
    ):
        if before < 0:
            made[place] = [node]
        else:
            made[place] = [node, *made[before]] if reverse else [*made[before], node]
    nodes = G.named(found.order)
    return {node: made[at] for node, at in zip(nodes, found.order.tolist(), strict=True)}


def path_to(G: Graph, found: Search, target: int) -> list[Any]:
    """Return the path to a vertex."""
    places = [target]
    while (before := int(found.parent[places[-1]])) >= 0:
        places.append(before)
    return G.named(np.array(places[::-1]))
