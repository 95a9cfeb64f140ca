"""From graphs of NetworkX to graphs of the backend, and back."""

from __future__ import annotations

from itertools import chain
from typing import Any

import networkx as nx
import numpy as np

from ._adjacency import Adjacency, Array, starts_of
from ._graph import Graph
from ._settings import refuse_above_limit
from ._stored import StoredGraph


def from_networkx(graph: Any, **_: Any) -> Graph:
    """Convert a graph of NetworkX.

    The attributes are not copied: they are read when a function asks for them. So a conversion that
    NetworkX keeps serves all functions, whatever attributes they need.

    Raises:
        NotImplementedError: The class of the graph has neighbours that it does not store.
    """
    if isinstance(graph, Graph):
        return graph
    if type(graph).adjacency is not nx.Graph.adjacency:
        raise NotImplementedError(f"a {type(graph).__name__} does not store its neighbours")
    return _kept(graph) or _converted(graph)


def _kept(graph: Any) -> Graph | None:
    """Return a conversion that NetworkX keeps with the graph."""
    if not nx.config.cache_converted_graphs:
        return None
    cache = getattr(graph, "__networkx_cache__", None) or {}
    found = cache.get("backends", {}).get("tegula", {}).values()
    return next((kept for kept in found if isinstance(kept, Graph)), None)


def _converted(graph: Any) -> Graph:
    nodes = list(graph._node)
    rows = list(graph._adj.values())
    if not graph.is_multigraph():
        ends, data = chain.from_iterable(rows), list(chain.from_iterable(map(_values, rows)))
        counts = np.fromiter(map(len, rows), np.int64, len(rows))
        keys = None
    else:
        groups = [list(row.items()) for row in rows]
        parallel = list(chain.from_iterable(groups))
        ends = chain.from_iterable([node] * len(edges) for node, edges in parallel)
        data = [attributes for _, edges in parallel for attributes in edges.values()]
        keys = [key for _, edges in parallel for key in edges]
        sizes = (sum(len(edges) for _, edges in group) for group in groups)
        counts = np.fromiter(sizes, np.int64, len(rows))
    return Graph(
        nodes,
        Adjacency(starts_of(counts), _positions(nodes, ends, len(data))),
        directed=graph.is_directed(),
        edge_keys=keys,
        edge_data=data,
        node_data=list(graph._node.values()),
        attributes=graph.graph,
    )


def _values(row: Any) -> Any:
    return row.values()


def _positions(nodes: list[Any], ends: Any, count: int) -> Array:
    # True and 1.0 equal 1, so the types are compared as well.
    are_positions = nodes == list(range(len(nodes))) and set(map(type, nodes)) <= {int}
    if are_positions:
        return np.fromiter(ends, np.int64, count)
    positions = dict(zip(nodes, range(len(nodes)), strict=True))
    return np.fromiter(map(positions.__getitem__, ends), np.int64, count)


def to_networkx(result: Any, **_: Any) -> Any:
    """Convert a graph of tegula to one of NetworkX; return anything else as it is.

    Raises:
        OverBudget: It is a graph directory with more edges than `edges_max`.
    """
    if not isinstance(result, Graph):
        return result
    if isinstance(result, StoredGraph):
        refuse_above_limit(result.number_of_edges(), "the graph directory")
        result = result.with_data()
    made = _class_of(result)()
    made.graph.update(result.graph)
    attributes = result.node_data
    if attributes is None:
        made.add_nodes_from(result.nodes)
    else:
        made.add_nodes_from(zip(result.nodes, attributes, strict=True))
    made.add_edges_from(_edges(result))
    return made


def _class_of(graph: Graph) -> Any:
    if graph.is_multigraph():
        return nx.MultiDiGraph if graph.is_directed() else nx.MultiGraph
    return nx.DiGraph if graph.is_directed() else nx.Graph


def _edges(graph: Graph) -> Any:
    arcs = np.flatnonzero(graph.is_edge)
    sources = graph.named(graph.adjacency.sources[arcs])
    targets = graph.named(graph.adjacency.targets[arcs])
    columns = [sources, targets]
    for values in (graph.edge_keys, graph.edge_data):
        if values is not None:
            columns.append([values[arc] for arc in arcs.tolist()])
    if graph.edge_keys is not None and graph.edge_data is None:
        columns.append([{} for _ in sources])
    return zip(*columns, strict=True)
