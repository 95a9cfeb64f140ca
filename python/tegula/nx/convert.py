"""From tables and matrices to graphs, and from graphs to matrices."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np

from ._adjacency import Adjacency, Array, both_ways
from ._graph import Attributes, Graph
from ._registry import Arguments, function, given, weight_is_called


def _is_plain(arguments: Arguments) -> str | None:
    made = arguments["create_using"]
    plain = (None, nx.Graph, nx.DiGraph)
    return None if any(made is kind for kind in plain) else "`create_using` is no plain class"


def _made(
    nodes: list[Any], ends: tuple[Array, Array], data: list[Attributes] | None, directed: bool
) -> Graph:
    """Return a graph.

    Of several edges with the same ends, the first one has the place among the neighbours and the
    last one the data, as in NetworkX.
    """
    sources, targets = ends
    if not directed:
        sources, targets = np.minimum(*ends), np.maximum(*ends)
    keys = sources * len(nodes) + targets
    first = np.unique(keys, return_index=True)[1]
    last = len(keys) - 1 - np.unique(keys[::-1], return_index=True)[1]
    last = last[np.argsort(first)]
    first = np.sort(first)
    sources, targets = ends[0][first], ends[1][first]
    if not directed:
        edges, sources, targets = both_ways(sources, targets)
        last = last[edges]
    adjacency, order = Adjacency.of_pairs(sources, targets, len(nodes))
    arcs = last[order].tolist()
    edge_data = None if data is None else [data[at] for at in arcs]
    return Graph(nodes, adjacency, directed=directed, edge_data=edge_data)


@function(_is_plain, given("edge_key"))
def from_pandas_edgelist(
    df: Any,
    source: Any = "source",
    target: Any = "target",
    edge_attr: Any = None,
    create_using: Any = None,
    edge_key: Any = None,
) -> Graph:
    """A graph of the rows of a data frame."""
    columns = _attribute_columns(df, source, target, edge_attr)
    sources, targets = df[source].tolist(), df[target].tolist()
    # NetworkX adds the ends of one row after the other.
    both = [node for pair in zip(sources, targets, strict=True) for node in pair]
    positions = {node: at for at, node in enumerate(dict.fromkeys(both))}
    ends = (
        np.array([positions[node] for node in sources], np.int64),
        np.array([positions[node] for node in targets], np.int64),
    )
    data = None
    if columns:
        rows = zip(*(df[column].tolist() for column in columns), strict=True)
        data = [dict(zip(columns, row, strict=True)) for row in rows]
    return _made(list(positions), ends, data, create_using is nx.DiGraph)


def _attribute_columns(df: Any, source: Any, target: Any, edge_attr: Any) -> list[Any]:
    if edge_attr is None:
        return []
    if edge_attr is True:
        return [column for column in df.columns if column not in (source, target)]
    columns = list(edge_attr) if isinstance(edge_attr, list | tuple) else [edge_attr]
    missing = [column for column in columns if column not in df.columns]
    if not columns or missing:
        raise nx.NetworkXError(f"Invalid edge_attr argument: {edge_attr}")
    return columns


def _has_parallel(arguments: Arguments) -> str | None:
    return "`parallel_edges` is true" if arguments["parallel_edges"] else None


@function(_is_plain, _has_parallel)
def from_scipy_sparse_array(
    A: Any,
    parallel_edges: bool = False,
    create_using: Any = None,
    edge_attribute: str | None = "weight",
) -> Graph:
    """A graph of the entries of a matrix."""
    rows, columns = A.shape
    if rows != columns:
        raise nx.NetworkXError(f"Adjacency matrix not square: nx,ny={A.shape}")
    entries = A.tocoo()
    ends = (entries.row.astype(np.int64), entries.col.astype(np.int64))
    data: list[Any] = [{edge_attribute: value} for value in entries.data.tolist()]
    return _made(list(range(rows)), ends, data, create_using is nx.DiGraph)


@function(weight_is_called)
def to_scipy_sparse_array(
    G: Graph,
    nodelist: Any = None,
    dtype: Any = None,
    weight: str | None = "weight",
    format: str = "csr",
) -> Any:
    """The adjacency matrix; parallel edges are added up."""
    return _matrix(G, nodelist, dtype, weight, format)


@function(weight_is_called, newer={"format": "csr"})
def adjacency_matrix(
    G: Graph, nodelist: Any = None, dtype: Any = None, weight: str | None = "weight"
) -> Any:
    """The adjacency matrix in the format CSR."""
    return _matrix(G, nodelist, dtype, weight, "csr")


def _matrix(G: Graph, nodelist: Any, dtype: Any, weight: str | None, format: str) -> Any:
    import scipy.sparse

    if len(G) == 0:
        raise nx.NetworkXError("Graph has no nodes or edges")
    nodes = G.nodes if nodelist is None else list(nodelist)
    if len(nodes) == 0:
        raise nx.NetworkXError("nodelist has no nodes")
    if nodelist is not None:
        _check_nodelist(G, nodes)
    place = np.full(len(G), -1)
    place[G.places(nodes)] = np.arange(len(nodes))
    sources, targets = place[G.adjacency.sources], place[G.adjacency.targets]
    kept = (sources >= 0) & (targets >= 0)
    weights = G.weights(weight)[kept]
    shape = (len(nodes), len(nodes))
    matrix = scipy.sparse.coo_array(
        (weights, (sources[kept], targets[kept])), shape=shape, dtype=dtype
    )
    try:
        return matrix.asformat(format)
    except ValueError as error:
        raise nx.NetworkXError(f"Unknown sparse matrix format: {format}") from error


def _check_nodelist(G: Graph, nodes: list[Any]) -> None:
    known = set(G.nbunch_iter(nodes))
    if len(known) < len(set(nodes)):
        missing = next(node for node in nodes if node not in known)
        raise nx.NetworkXError(f"Node {missing} in nodelist is not in G")
    if len(set(nodes)) < len(nodes):
        raise nx.NetworkXError("nodelist contains duplicates.")
