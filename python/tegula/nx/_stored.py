"""Graph directories as graphs of NetworkX."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

import tegula as tg

from .._imports import open as open_graph
from .._options import File
from ._adjacency import Adjacency, Array, Search, most_hops
from ._graph import Attributes, Graph, Node, Parallel
from ._settings import refuse_above_limit
from ._tables import table

# They read the weights of a graph that has some.
_ALWAYS_WEIGHTED = ("leiden", "louvain", "mst", "sssp")


def open(path: File, *, memory: int | str | None = None, threads: int | None = None) -> StoredGraph:
    """Open a graph directory as a graph that functions of NetworkX take.

    Args:
        path: The graph directory.
        memory: The most memory of a run, in bytes or as "4GiB".
        threads: The threads of a run.
    """
    return StoredGraph(open_graph(path, memory=memory, threads=threads))


class StoredGraph(Graph):
    """A graph directory. Its edges are read into memory only by functions that cannot do without.

    Edges have the attribute "weight" if the graph has weights.
    """

    def __init__(self, source: tg.Graph) -> None:
        info = source.info()
        super().__init__(
            [],
            Adjacency(np.zeros(1, np.int64), np.zeros(0, np.int64)),
            directed=not info.undirected,
        )
        self._source = source
        self._info = info

    @cached_property
    def _ids(self) -> Array:
        return self.run("degree").to_numpy()["vertex"]

    @cached_property
    def _is_range(self) -> bool:
        """Whether the ids are the positions."""
        return self._ids.dtype.kind == "u" and np.array_equal(self._ids, np.arange(len(self)))

    @cached_property
    def nodes(self) -> list[Any]:
        """The ids of the vertices."""
        return list(self._ids.tolist())

    def is_multigraph(self) -> bool:
        """Whether there are several edges with the same ends."""
        return int(self._info.duplicates) > 0

    def __len__(self) -> int:
        return int(self._info.vertices)

    @cached_property
    def _edges(self) -> dict[str, Array]:
        refuse_above_limit(self.number_of_edges(), self._source.path)
        batches = [batch.to_numpy() for batch in self._source.edges()]

        def column(name: str) -> Array:
            # Without edges there are no batches.
            return np.concatenate([batch[name] for batch in batches] or [self._ids[:0]])

        sources = self.found_positions(column("source"))
        targets = self.found_positions(column("target"))
        weights = column("weight") if self._info.weighted else np.ones(len(sources))
        if not self._directed:
            back = sources != targets
            sources, targets = (
                np.concatenate([sources, targets[back]]),
                np.concatenate([targets, sources[back]]),
            )
            weights = np.concatenate([weights, weights[back]])
        return {"source": sources, "target": targets, "weight": weights}

    @cached_property
    def adjacency(self) -> Adjacency:
        """The arcs, read into memory."""
        edges = self._edges
        adjacency, order = Adjacency.of_pairs(edges["source"], edges["target"], len(self))
        self._weights["weight"] = edges["weight"][order].astype(np.float64)
        return adjacency

    def weights(self, name: str | None) -> Array:
        """Return the weight of each arc."""
        arcs = len(self.adjacency.targets)
        is_weight = name == "weight" and self._info.weighted
        return self._weights["weight"] if is_weight else np.ones(arcs, np.int64)

    def weights_vary(self, name: str) -> bool:
        """Whether a weight may not be 1."""
        return name == "weight" and bool(self._info.weighted)

    def with_data(self) -> Graph:
        """Return the same graph in memory, with weights as attributes."""
        adjacency = self.adjacency
        data: list[Attributes] | None = None
        if self._info.weighted:
            data = [{"weight": weight} for weight in self.weights("weight").tolist()]
        keys = adjacency.parallel_numbers().tolist() if self.is_multigraph() else None
        return Graph(self.nodes, adjacency, directed=self._directed, edge_keys=keys, edge_data=data)

    def number_of_edges(self) -> int:
        """Return how many edges there are."""
        edges, loops = int(self._info.edges), int(self._info.loops)
        return edges if self._directed else (edges + loops) // 2

    size = number_of_edges

    def has_loops(self) -> bool:
        """Whether there is a loop."""
        return int(self._info.loops) > 0

    @cached_property
    def out_degrees(self) -> Array:
        """How many edges leave each vertex."""
        if not self._directed and self.has_loops():
            return self.adjacency.counts + self.loops
        return self.column(self.run("degree"), "out_degree").astype(np.int64)

    @cached_property
    def in_degrees(self) -> Array:
        """How many edges enter each vertex."""
        if not self._directed:
            return self.out_degrees
        return self.column(self.run("degree"), "in_degree").astype(np.int64)

    def search(
        self, sources: Array, *, reverse: bool = False, cutoff: float | None = None
    ) -> Search:
        """Search breadth first; vertices at the same distance are in no certain order."""
        result = self.run(
            "bfs",
            sources=table(vertex=self.ids(sources)),
            direction="in" if reverse else "out",
            cutoff=most_hops(cutoff, len(self)),
            parents=True,
        )
        return self.found_search(result, sources)

    def run(
        self,
        algorithm: str,
        *,
        weight: str | None = None,
        parallel: Parallel = "each",
        **options: Any,
    ) -> tg.Result:
        """Run an algorithm of tegula; see `Graph.run`."""
        if algorithm in _ALWAYS_WEIGHTED and weight is None and self._info.weighted:
            raise NotImplementedError(f"{algorithm} reads the weights of the graph directory")
        return super().run(algorithm, weight=weight, parallel=parallel, **options)

    def column(self, result: tg.Result, name: str) -> Array:
        """Return a column of a result, by position."""
        columns = result.to_numpy()
        if np.array_equal(columns["vertex"], self._ids):
            return columns[name]
        by_position = np.empty_like(columns[name])
        by_position[self.found_positions(columns["vertex"])] = columns[name]
        return by_position

    def found_positions(self, ids: Array) -> Array:
        """Return the positions of the vertices in a column of a result."""
        if self._is_range:
            return super().found_positions(ids)
        return np.array([self.positions.get(id, 0) for id in ids.tolist()], np.int64)

    def id(self, node: Node) -> Any:
        """Return a node, which is its own id."""
        self.position(node)
        return node

    def ids(self, positions: Array) -> Array:
        """Return the ids of vertices, as a column."""
        return self._ids[positions]

    def stored(self, weight: str | None, parallel: Parallel) -> tg.Graph:
        """Return the graph directory."""
        if parallel != "each" and self.is_multigraph():
            raise NotImplementedError("the graph directory has parallel edges")
        if weight not in (None, "weight"):
            raise NotImplementedError(f"edges of a graph directory have no attribute {weight!r}")
        return self._source
