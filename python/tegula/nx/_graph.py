"""Graphs of the backend: from NetworkX, from arrays, and graph directories."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable, Iterator
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal, NoReturn, TypeAlias

import networkx as nx
import numpy as np

import tegula as tg

from ._adjacency import Adjacency, Array, Search, firsts, starts_of

Node: TypeAlias = Hashable
Attributes: TypeAlias = dict[str, Any]

# Parallel edges: each counts, one stays, or the one with the least weight stays.
Parallel: TypeAlias = Literal["each", "one", "min"]

# Weights are stored as 32-bit floats. Those that are nearer to 0 lose digits.
_WEIGHT_MIN = 1e-30

_CONVERT = "; convert it to a graph of NetworkX with `tegula.nx.to_networkx`"


class Graph:
    """A graph that NetworkX hands to tegula.

    Vertices are positions, from 0, of the list of nodes. Edge and node data are the dictionaries of
    the graph that it was made from. What an algorithm of tegula reads is stored when it is first
    asked for.
    """

    __networkx_backend__ = "tegula"

    def __init__(
        self,
        nodes: list[Any],
        adjacency: Adjacency,
        *,
        directed: bool,
        edge_keys: list[Any] | None = None,
        edge_data: list[Attributes] | None = None,
        node_data: list[Attributes] | None = None,
        attributes: Attributes | None = None,
    ) -> None:
        """Make a graph.

        Args:
            nodes: The names of the vertices.
            adjacency: The arcs.
            directed: Whether the edges are directed; if not, each has arcs both ways.
            edge_keys: The key of each arc, for a multigraph.
            edge_data: The attributes of each arc.
            node_data: The attributes of each vertex.
            attributes: The attributes of the graph.
        """
        self._nodes = nodes
        self._adjacency = adjacency
        self._directed = directed
        self.edge_keys = edge_keys
        self.edge_data = edge_data
        self.node_data = node_data
        self.graph = attributes or {}
        self._weights: dict[str, Array] = {}
        self._stored: dict[tuple[str | None, Parallel], tg.Graph] = {}

    @cached_property
    def nodes(self) -> list[Any]:
        """The names of the vertices, by position."""
        return self._nodes

    @cached_property
    def adjacency(self) -> Adjacency:
        """The arcs in memory."""
        return self._adjacency

    @property
    def predecessors(self) -> Adjacency:
        """The arcs the other way round."""
        return self.adjacency.transposed if self._directed else self.adjacency

    @cached_property
    def positions(self) -> dict[Any, int]:
        """The position of each node."""
        return dict(zip(self.nodes, range(len(self.nodes)), strict=True))

    def is_directed(self) -> bool:
        """Whether edges have a direction."""
        return self._directed

    def is_multigraph(self) -> bool:
        """Whether there may be several edges with the same ends."""
        return self.edge_keys is not None

    def __len__(self) -> int:
        return len(self.nodes)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.nodes)

    def __contains__(self, node: object) -> bool:
        try:
            return node in self.positions
        except TypeError:
            return False

    def number_of_nodes(self) -> int:
        """Return how many nodes there are."""
        return len(self)

    order = number_of_nodes

    def number_of_edges(self) -> int:
        """Return how many edges there are."""
        if self._directed:
            return len(self.adjacency.targets)
        return int(np.count_nonzero(self.is_edge))

    size = number_of_edges

    @property
    def edges(self) -> list[tuple[Any, Any]]:
        """The ends of the edges, in the order of NetworkX."""
        sources = self.named(self.adjacency.sources[self.is_edge])
        targets = self.named(self.adjacency.targets[self.is_edge])
        return list(zip(sources, targets, strict=True))

    def degree(self, node: Node) -> int:
        """Return how many edges a node has; a loop counts twice."""
        return int(self.degrees[self.position(node)])

    def __getattr__(self, name: str) -> NoReturn:
        hint = _CONVERT if hasattr(nx.Graph, name) else ""
        raise AttributeError(f"a {type(self).__name__} of tegula has no `{name}`{hint}")

    def __getitem__(self, node: Node) -> NoReturn:
        raise TypeError(f"a {type(self).__name__} of tegula has no `[]`{_CONVERT}")

    def __repr__(self) -> str:
        kind = "directed" if self._directed else "undirected"
        return f"<tegula.nx.{type(self).__name__}: {len(self):,} nodes, {kind}>"

    @cached_property
    def is_edge(self) -> Array:
        """Whether an arc stands for its edge, in the order of NetworkX's `G.edges`."""
        adjacency = self.adjacency
        if self._directed:
            return np.ones(len(adjacency.targets), bool)
        return adjacency.sources <= adjacency.targets

    @cached_property
    def is_loop(self) -> Array:
        """Whether an arc joins a vertex to itself."""
        return np.equal(self.adjacency.sources, self.adjacency.targets)

    @cached_property
    def loops(self) -> Array:
        """How many loops each vertex has."""
        return np.bincount(self.adjacency.targets[self.is_loop], minlength=len(self))

    def has_loops(self) -> bool:
        """Whether there is a loop."""
        return bool(self.is_loop.any())

    @cached_property
    def out_degrees(self) -> Array:
        """How many edges leave each vertex; in an undirected graph a loop counts twice."""
        counts = self.adjacency.counts
        return counts if self._directed else counts + self.loops

    @cached_property
    def in_degrees(self) -> Array:
        """How many edges enter each vertex."""
        if not self._directed:
            return self.out_degrees
        return np.bincount(self.adjacency.targets, minlength=len(self))

    @property
    def degrees(self) -> Array:
        """How many edges each vertex has."""
        return self.out_degrees + self.in_degrees if self._directed else self.out_degrees

    def position(self, node: Node) -> int:
        """Return the position of a node.

        Raises:
            NetworkXError: It is not in the graph.
        """
        if node not in self:
            kind = "digraph" if self._directed else "graph"
            raise nx.NetworkXError(f"The node {node} is not in the {kind}.")
        return self.positions[node]

    def places(self, nodes: Iterable[Node]) -> Array:
        """Return the positions of nodes; see `position`."""
        return np.array([self.position(node) for node in nodes], np.int64)

    def nbunch_iter(self, nodes: Any = None) -> Iterator[Any]:
        """Yield all nodes, the one given, or those of several that are in the graph."""
        if nodes is None:
            yield from self.nodes
        elif nodes in self:
            yield nodes
        elif not isinstance(nodes, Iterable):
            raise nx.NetworkXError(f"Node {nodes} is not in the graph.")
        else:
            yield from (node for node in nodes if node in self)

    def named(self, positions: Array) -> list[Any]:
        """Return the nodes at positions."""
        return list(map(self.nodes.__getitem__, positions.tolist()))

    def by_node(self, values: Array) -> dict[Any, Any]:
        """Return the value of each node."""
        return dict(zip(self.nodes, values.tolist(), strict=True))

    def groups(self, labels: Array) -> list[set[Any]]:
        """Return the sets of nodes with the same label, ordered by their first nodes.

        Labels are positions.
        """
        first = firsts(labels)
        is_first = first == np.arange(len(first))
        group = (np.cumsum(is_first) - 1)[first]
        count = int(np.count_nonzero(is_first))
        # NumPy sorts short integers in one pass.
        key = group.astype(np.uint16) if count <= 1 << 16 else group
        members = np.argsort(key, kind="stable").tolist()
        starts = starts_of(np.bincount(group, minlength=count)).tolist()
        node = self.nodes.__getitem__
        return [set(map(node, members[start:end])) for start, end in pairwise(starts)]

    def with_data(self) -> Graph:
        """Return a graph in memory, with the attributes of edges."""
        return self

    def weights(self, name: str | None) -> Array:
        """Return the weight of each arc: an attribute, or 1 where there is none.

        Raises:
            NotImplementedError: A weight is no finite number, or sums may exceed 64 bits.
        """
        if name is None or self.edge_data is None:
            return np.ones(len(self.adjacency.targets), np.int64)
        if name not in self._weights:
            values = np.array([data.get(name, 1) for data in self.edge_data] or [1])
            if values.ndim != 1 or values.dtype.kind not in "iufb":
                raise NotImplementedError(f"not all weights {name!r} are numbers of 64 bits")
            values = values.astype(np.int64) if values.dtype.kind == "b" else values
            if not np.isfinite(values).all():
                raise NotImplementedError(f"not all weights {name!r} are finite")
            if values.dtype.kind in "iu":
                greatest = max(abs(int(values.min())), abs(int(values.max())))
                if greatest * len(values) >= 1 << 62:
                    raise NotImplementedError(f"sums of weights {name!r} may exceed 64 bits")
            # Sums would overflow a small type, and an unsigned one has no negative numbers.
            values = values.astype(np.float64 if values.dtype.kind == "f" else np.int64)
            self._weights[name] = values[: len(self.edge_data)]
        return self._weights[name]

    def weights_vary(self, name: str) -> bool:
        """Whether a weight is not 1."""
        return bool((self.weights(name) != 1).any())

    def search(
        self, sources: Array, *, reverse: bool = False, cutoff: float | None = None
    ) -> Search:
        """Search breadth first from sources, in the order of NetworkX."""
        adjacency = self.predecessors if reverse else self.adjacency
        return adjacency.search(sources, cutoff)

    def run(
        self,
        algorithm: str,
        *,
        weight: str | None = None,
        parallel: Parallel = "each",
        **options: Any,
    ) -> tg.Result:
        """Run an algorithm of tegula, without its warnings.

        Args:
            algorithm: Its name.
            weight: The attribute of edges that is their weight.
            parallel: What becomes of parallel edges.
            options: The options of the algorithm; vertices and tables have positions.

        Raises:
            NotImplementedError: tegula does not take an option that NetworkX may take.
        """
        stored = self.stored(weight, parallel)
        try:
            return stored._run_quietly(algorithm, options)
        except tg.UsageError as error:
            raise NotImplementedError(str(error)) from error

    def column(self, result: tg.Result, name: str) -> Array:
        """Return a column of a result with a row for each vertex, by position."""
        return result.to_numpy()[name]

    def found_search(self, result: tg.Result, sources: Array) -> Search:
        """Return the search that a result with distances and parents tells."""
        distance = self.column(result, "distance")
        reached = ~np.ma.getmaskarray(distance)
        parent = self.found_positions(self.column(result, "parent"))
        parent[~reached] = -1
        parent[sources] = -1
        filled = np.ma.filled(distance, 0)
        places = np.flatnonzero(reached)
        order = places[np.argsort(filled[places], kind="stable")]
        return Search(order, filled, parent)

    def found_positions(self, ids: Array) -> Array:
        """Return the positions of the vertices in a column of a result."""
        return np.ma.filled(ids, 0).astype(np.int64)

    def id(self, node: Node) -> Any:
        """Return the id by which an algorithm knows a node."""
        return self.position(node)

    def ids(self, positions: Array) -> Any:
        """Return the ids by which an algorithm knows vertices, as a column."""
        return np.ascontiguousarray(positions, np.uint64)

    def stored(self, weight: str | None, parallel: Parallel) -> tg.Graph:
        """Return the graph directory that an algorithm reads; it is made once."""
        parallel = parallel if self.is_multigraph() else "each"
        wanted = (weight, parallel)
        if wanted not in self._stored:
            self._stored[wanted] = self._store(weight, parallel)
        return self._stored[wanted]

    def _store(self, weight: str | None, parallel: Parallel) -> tg.Graph:
        kept = self.is_edge
        columns = [self.adjacency.sources[kept], self.adjacency.targets[kept]]
        if weight is not None:
            columns.append(narrow(self.weights(weight), weight)[kept])
        with warnings.catch_warnings():
            # A graph of NetworkX may well have no edges.
            warnings.simplefilter("ignore", tg.TegulaWarning)
            return self._stored_columns(columns, parallel)

    def _stored_columns(self, columns: list[Array], parallel: Parallel) -> tg.Graph:
        is_weighted = len(columns) == 3
        return tg.from_edges(
            tuple(columns),
            weight=2 if is_weighted else None,
            vertices=len(self),
            ids="integer",
            undirected=not self._directed,
            drop_duplicates=parallel == "one",
            combine="min" if parallel == "min" and is_weighted else None,
            allow_empty=True,
            order="given",
        )


def narrow(weights: Array, name: str) -> Array:
    """Return weights as 32-bit floats.

    Raises:
        NotImplementedError: One is negative, too great, or so near to 0 that it would lose digits.
    """
    if (weights < 0).any():
        raise NotImplementedError(f"a weight {name!r} is negative")
    with np.errstate(over="ignore"):
        narrowed = weights.astype(np.float32)
    if not np.isfinite(narrowed).all() or ((weights > 0) & (weights < _WEIGHT_MIN)).any():
        raise NotImplementedError(f"a weight {name!r} does not fit 32 bits")
    return narrowed
