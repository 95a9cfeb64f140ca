"""Core numbers, and the subgraphs that they tell apart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import networkx as nx
import numpy as np

from ._adjacency import Array
from ._graph import Graph
from ._registry import directed, function, multigraph
from .operators import induced


@function(directed)
def core_number(G: Graph) -> dict[Any, int]:
    """The largest k for which each node is in a k-core."""
    return G.by_node(_cores(G))


def _cores(G: Graph, given: Mapping[Any, int] | None = None) -> Array:
    if given is not None:
        return np.array([given[node] for node in G], np.int64)
    if len(G) == 0:
        return np.zeros(0, np.int64)
    if G.has_loops():
        raise nx.NetworkXNotImplemented(
            "Input graph has self loops which is not permitted; "
            "Consider using G.remove_edges_from(nx.selfloop_edges(G))."
        )
    return G.column(G.run("kcore"), "core").astype(np.int64)


def _greatest(cores: Array) -> int:
    return int(cores.max())


@function(directed, multigraph)
def k_core(G: Graph, k: int | None = None, core_number: Mapping[Any, int] | None = None) -> Graph:
    """The nodes with a core number of at least k."""
    cores = _cores(G, core_number)
    return induced(G, cores >= (_greatest(cores) if k is None else k))


@function(directed, multigraph)
def k_shell(G: Graph, k: int | None = None, core_number: Mapping[Any, int] | None = None) -> Graph:
    """The nodes with the core number k."""
    cores = _cores(G, core_number)
    return induced(G, cores == (_greatest(cores) if k is None else k))


@function(directed, multigraph)
def k_crust(G: Graph, k: int | None = None, core_number: Mapping[Any, int] | None = None) -> Graph:
    """The nodes with a core number of at most k."""
    cores = _cores(G, core_number)
    return induced(G, cores <= (_greatest(cores) - 1 if k is None else k))


@function(directed, multigraph)
def k_corona(G: Graph, k: int, core_number: Mapping[Any, int] | None = None) -> Graph:
    """The nodes with the core number k and exactly k neighbours in the k-core."""
    cores = _cores(G, core_number)
    is_inside = cores[G.adjacency.targets] >= k
    inside = np.bincount(G.adjacency.sources[is_inside], minlength=len(G))
    return induced(G, (cores == k) & (inside == k))
