"""Shortest paths by hops and by weights, in all their forms."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

import networkx as nx

from ._adjacency import Search
from ._graph import Graph
from ._paths import by_hops, by_weight, lengths, path_to, paths, require
from ._registry import Arguments, function, weight_is_called

Lengths: TypeAlias = dict[Any, Any]
Paths: TypeAlias = dict[Any, list[Any]]


def _source(G: Graph, node: Any) -> int:
    return require(G, node, f"Source {node} is not in G")


def _target(G: Graph, node: Any) -> int:
    return require(G, node, f"Target {node} is not in G")


def _no_path(source: Any, target: Any) -> nx.NetworkXNoPath:
    return nx.NetworkXNoPath(f"No path between {source} and {target}.")


# By hops.


@function(cheap=True)
def single_source_shortest_path_length(
    G: Graph, source: Any, cutoff: float | None = None
) -> Lengths:
    """The distance of each node from a source."""
    return lengths(G, by_hops(G, [_source(G, source)], cutoff))


@function()
def single_target_shortest_path_length(
    G: Graph, target: Any, cutoff: float | None = None
) -> Lengths:
    """The distance of each node to a target."""
    return lengths(G, by_hops(G, [_target(G, target)], cutoff, reverse=True))


@function()
def single_source_shortest_path(G: Graph, source: Any, cutoff: float | None = None) -> Paths:
    """A path from a source to each node."""
    place = require(G, source, f"Source {source} not in G")
    return paths(G, by_hops(G, [place], cutoff))


@function()
def single_target_shortest_path(G: Graph, target: Any, cutoff: float | None = None) -> Paths:
    """A path from each node to a target."""
    place = require(G, target, f"Target {target} not in G")
    return paths(G, by_hops(G, [place], cutoff, reverse=True), reverse=True)


@function()
def all_pairs_shortest_path_length(
    G: Graph, cutoff: float | None = None
) -> Iterator[tuple[Any, Lengths]]:
    """The distances from each node."""
    for place, node in enumerate(G):
        yield node, lengths(G, by_hops(G, [place], cutoff))


@function()
def all_pairs_shortest_path(G: Graph, cutoff: float | None = None) -> Iterator[tuple[Any, Paths]]:
    """The paths from each node."""
    for place, node in enumerate(G):
        yield node, paths(G, by_hops(G, [place], cutoff))


@function()
def bidirectional_shortest_path(G: Graph, source: Any, target: Any) -> list[Any]:
    """A path with the fewest edges."""
    return _path(G, source, target, None)


@function()
def has_path(G: Graph, source: Any, target: Any) -> bool:
    """Whether a node leads to another one."""
    start, end = _source(G, source), _target(G, target)
    return start == end or bool(by_hops(G, [start]).parent[end] >= 0)


# By weights.


def _found(G: Graph, sources: Iterable[Any], weight: str, cutoff: float | None = None) -> Search:
    places = [require(G, node, f"Node {node} not found in graph") for node in sources]
    return by_weight(G, places, weight, cutoff)


def _path(G: Graph, source: Any, target: Any, weight: str | None) -> list[Any]:
    start, end = _source(G, source), _target(G, target)
    found = by_hops(G, [start]) if weight is None else by_weight(G, [start], weight)
    if start != end and found.parent[end] < 0:
        raise _no_path(source, target)
    return path_to(G, found, end)


def _one_length(G: Graph, source: Any, target: Any, weight: str | None) -> Any:
    start = require(G, source, f"Node {source} not found in graph")
    if source == target:
        return 0
    found = by_hops(G, [start]) if weight is None else by_weight(G, [start], weight)
    if target not in G or found.parent[G.position(target)] < 0:
        raise nx.NetworkXNoPath(f"Node {target} not reachable from {source}")
    return found.distance[G.position(target)].item()


def _from_sources(
    G: Graph, sources: Iterable[Any], target: Any, weight: str, cutoff: float | None
) -> tuple[Any, Any]:
    """Return the distances and paths from several sources, or those of one target."""
    places = [require(G, node, f"Node {node} not found in graph") for node in sources]
    if target is not None and target in sources:
        return 0, [target]
    found = by_weight(G, places, weight, cutoff)
    if target is None:
        return lengths(G, found), paths(G, found)
    if target not in G or found.parent[G.position(target)] < 0:
        raise nx.NetworkXNoPath(f"No path to {target}.")
    end = G.position(target)
    return found.distance[end].item(), path_to(G, found, end)


def _require_sources(sources: Any) -> None:
    if not sources:
        raise ValueError("sources must not be empty")


def _register(call: Callable[..., Any], *names: str) -> None:
    for name in names:
        function(weight_is_called, name=name)(call)


def _path_by_weight(G: Graph, source: Any, target: Any, weight: str = "weight") -> list[Any]:
    found: list[Any] = _from_sources(G, [source], target, weight, None)[1]
    return found


_register(_path_by_weight, "dijkstra_path", "bellman_ford_path")


def _length_by_weight(G: Graph, source: Any, target: Any, weight: str = "weight") -> Any:
    return _one_length(G, source, target, weight)


_register(_length_by_weight, "dijkstra_path_length", "bellman_ford_path_length")


@function(weight_is_called)
def bidirectional_dijkstra(
    G: Graph, source: Any, target: Any, weight: str = "weight"
) -> tuple[Any, list[Any]]:
    """The length of a shortest path, and the path."""
    start, end = _source(G, source), _target(G, target)
    if start == end:
        return 0, [source]
    found = by_weight(G, [start], weight)
    if found.parent[end] < 0:
        raise _no_path(source, target)
    return found.distance[end].item(), path_to(G, found, end)


@function(weight_is_called)
def single_source_dijkstra(
    G: Graph, source: Any, target: Any = None, cutoff: Any = None, weight: str = "weight"
) -> tuple[Any, Any]:
    """The distances and paths from a source."""
    return _from_sources(G, [source], target, weight, cutoff)


@function(weight_is_called)
def single_source_dijkstra_path(
    G: Graph, source: Any, cutoff: Any = None, weight: str = "weight"
) -> Paths:
    """The paths from a source."""
    return paths(G, _found(G, [source], weight, cutoff))


@function(weight_is_called)
def single_source_dijkstra_path_length(
    G: Graph, source: Any, cutoff: Any = None, weight: str = "weight"
) -> Lengths:
    """The distances from a source."""
    return lengths(G, _found(G, [source], weight, cutoff))


@function(weight_is_called)
def multi_source_dijkstra(
    G: Graph, sources: Any, target: Any = None, cutoff: Any = None, weight: str = "weight"
) -> tuple[Any, Any]:
    """The distances and paths from the nearest of several sources."""
    _require_sources(sources)
    return _from_sources(G, sources, target, weight, cutoff)


@function(weight_is_called)
def multi_source_dijkstra_path(
    G: Graph, sources: Any, cutoff: Any = None, weight: str = "weight"
) -> Paths:
    """The paths from the nearest of several sources."""
    _require_sources(sources)
    return paths(G, _found(G, sources, weight, cutoff))


@function(weight_is_called)
def multi_source_dijkstra_path_length(
    G: Graph, sources: Any, cutoff: Any = None, weight: str = "weight"
) -> Lengths:
    """The distances from the nearest of several sources."""
    _require_sources(sources)
    return lengths(G, _found(G, sources, weight, cutoff))


@function(weight_is_called)
def all_pairs_dijkstra(
    G: Graph, cutoff: Any = None, weight: str = "weight"
) -> Iterator[tuple[Any, tuple[Lengths, Paths]]]:
    """The distances and paths from each node."""
    for place, node in enumerate(G):
        found = by_weight(G, [place], weight, cutoff)
        yield node, (lengths(G, found), paths(G, found))


@function(weight_is_called)
def all_pairs_dijkstra_path_length(
    G: Graph, cutoff: Any = None, weight: str = "weight"
) -> Iterator[tuple[Any, Lengths]]:
    """The distances from each node."""
    for place, node in enumerate(G):
        yield node, lengths(G, by_weight(G, [place], weight, cutoff))


@function(weight_is_called)
def all_pairs_dijkstra_path(
    G: Graph, cutoff: Any = None, weight: str = "weight"
) -> Iterator[tuple[Any, Paths]]:
    """The paths from each node."""
    for place, node in enumerate(G):
        yield node, paths(G, by_weight(G, [place], weight, cutoff))


@function(weight_is_called)
def single_source_bellman_ford(
    G: Graph, source: Any, target: Any = None, weight: str = "weight"
) -> tuple[Any, Any]:
    """The distances and paths from a source."""
    return _from_sources(G, [source], target, weight, None)


@function(weight_is_called)
def single_source_bellman_ford_path(G: Graph, source: Any, weight: str = "weight") -> Paths:
    """The paths from a source."""
    return paths(G, _found(G, [source], weight))


@function(weight_is_called)
def single_source_bellman_ford_path_length(
    G: Graph, source: Any, weight: str = "weight"
) -> Lengths:
    """The distances from a source."""
    return lengths(G, _found(G, [source], weight))


@function(weight_is_called)
def all_pairs_bellman_ford_path_length(
    G: Graph, weight: str = "weight"
) -> Iterator[tuple[Any, Lengths]]:
    """The distances from each node."""
    yield from all_pairs_dijkstra_path_length(G, weight=weight)


@function(weight_is_called)
def all_pairs_bellman_ford_path(G: Graph, weight: str = "weight") -> Iterator[tuple[Any, Paths]]:
    """The paths from each node."""
    yield from all_pairs_dijkstra_path(G, weight=weight)


def _has_heuristic(arguments: Arguments) -> str | None:
    names = [name for name in ("heuristic", "cutoff") if arguments[name] is not None]
    return f"`{names[0]}` is given" if names else None


@function(weight_is_called, _has_heuristic)
def astar_path(
    G: Graph,
    source: Any,
    target: Any,
    heuristic: Any = None,
    weight: str = "weight",
    *,
    cutoff: Any = None,
) -> list[Any]:
    """A shortest path."""
    return _path(G, source, target, weight)


@function(weight_is_called, _has_heuristic)
def astar_path_length(
    G: Graph,
    source: Any,
    target: Any,
    heuristic: Any = None,
    weight: str = "weight",
    *,
    cutoff: Any = None,
) -> Any:
    """The length of a shortest path."""
    if source not in G or target not in G:
        raise nx.NodeNotFound(f"Either source {source} or target {target} is not in G")
    return _one_length(G, source, target, weight)


# By hops or by weights.


def _check_method(method: str) -> None:
    if method not in ("dijkstra", "bellman-ford"):
        raise ValueError(f"method not supported: {method}")


def _any_found(G: Graph, node: Any, weight: str | None, reverse: bool = False) -> Search:
    if weight is None:
        return by_hops(G, [_source(G, node)], reverse=reverse)
    return by_weight(
        G, [require(G, node, f"Node {node} not found in graph")], weight, reverse=reverse
    )


@function(weight_is_called)
def shortest_path(
    G: Graph,
    source: Any = None,
    target: Any = None,
    weight: str | None = None,
    method: str = "dijkstra",
) -> Any:
    """A shortest path, or one for each node as source, target, or both."""
    _check_method(method)
    if source is not None and target is not None:
        return _path(G, source, target, weight)
    if source is not None:
        return paths(G, _any_found(G, source, weight))
    if target is not None:
        return paths(G, _any_found(G, target, weight, reverse=True), reverse=True)
    if weight is None:
        return all_pairs_shortest_path(G)
    return all_pairs_dijkstra_path(G, weight=weight)


@function(weight_is_called)
def shortest_path_length(
    G: Graph,
    source: Any = None,
    target: Any = None,
    weight: str | None = None,
    method: str = "dijkstra",
) -> Any:
    """The length of a shortest path, or one for each node as source, target, or both."""
    _check_method(method)
    if source is not None and target is not None:
        if weight is None:
            return len(_path(G, source, target, None)) - 1
        return _one_length(G, source, target, weight)
    if source is not None:
        return lengths(G, _any_found(G, source, weight))
    if target is not None:
        return lengths(G, _any_found(G, target, weight, reverse=True))
    if weight is None:
        return all_pairs_shortest_path_length(G)
    return all_pairs_dijkstra_path_length(G, weight=weight)
