"""The neighbours of vertices as arrays, and searches over them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]


class Rows(NamedTuple):
    """The arcs of several vertices, one vertex after the other."""

    owners: Array
    """For each arc, the place of its source in the list of vertices."""
    arcs: Array


class Search(NamedTuple):
    """What a search found; vertices are positions."""

    order: Array
    """The vertices that were reached, in the order in which that happened."""
    distance: Array
    """For each vertex of the graph the distance; undefined where it was not reached."""
    parent: Array
    """For each vertex of the graph the one before it; -1 for sources and what was not reached."""


class Adjacency:
    """The arcs of a graph, grouped by source, in the order in which NetworkX lists them.

    An undirected edge has an arc in either direction, a loop has one.
    """

    def __init__(self, starts: Array, targets: Array) -> None:
        self.starts = starts
        self.targets = targets

    @classmethod
    def of_pairs(cls, sources: Array, targets: Array, vertices: int) -> tuple[Adjacency, Array]:
        """Group pairs by source; also return their new order."""
        order = np.argsort(sources, kind="stable")
        counts = np.bincount(sources, minlength=vertices)
        return cls(starts_of(counts), targets[order]), order

    @property
    def vertices(self) -> int:
        """How many vertices there are."""
        return len(self.starts) - 1

    @cached_property
    def counts(self) -> Array:
        """How many arcs leave each vertex."""
        return np.diff(self.starts)

    @cached_property
    def sources(self) -> Array:
        """The source of each arc."""
        return np.repeat(np.arange(self.vertices), self.counts)

    @cached_property
    def transposed(self) -> Adjacency:
        """The same arcs, the other way round."""
        return Adjacency.of_pairs(self.targets, self.sources, self.vertices)[0]

    def rows(self, vertices: Array) -> Rows:
        """Return the arcs of vertices."""
        counts = self.counts[vertices]
        before = np.cumsum(counts) - counts
        owners = np.repeat(np.arange(len(vertices)), counts)
        arcs = np.arange(len(owners)) + (self.starts[vertices] - before)[owners]
        return Rows(owners, arcs)

    def parallel_numbers(self) -> Array:
        """Number the arcs with the same ends from 0, in their order."""
        pairs = self.sources * self.vertices + self.targets
        order = np.argsort(pairs, kind="stable")
        places = np.arange(len(pairs))
        is_first = np.diff(pairs[order], prepend=-1) != 0
        first = np.maximum.accumulate(np.where(is_first, places, 0))
        numbers = np.empty(len(pairs), np.int64)
        numbers[order] = places - first
        return numbers

    def search(self, sources: Array, cutoff: float | None = None) -> Search:
        """Search breadth first, a level at a time, in the order of a queue."""
        distance = np.full(self.vertices, -1)
        parent = np.full(self.vertices, -1)
        first = np.empty(self.vertices, np.int64)
        distance[sources] = 0
        levels = [sources]
        hops_max = most_hops(cutoff, self.vertices)
        while len(levels[-1]) > 0 and len(levels) <= hops_max:
            level = levels[-1]
            owners, arcs = self.rows(level)
            heads = self.targets[arcs]
            is_new = distance[heads] < 0
            heads, owners = heads[is_new], owners[is_new]
            # Only the first arc to a vertex counts: of several writes, the last one stays.
            places = np.arange(len(heads))
            first[heads[::-1]] = places[::-1]
            is_first = first[heads] == places
            heads = heads[is_first]
            distance[heads] = len(levels)
            parent[heads] = level[owners[is_first]]
            levels.append(heads)
        return Search(np.concatenate(levels), distance, parent)


def most_hops(cutoff: float | None, vertices: int) -> int:
    """Return the greatest distance that a search reaches.

    NetworkX starts the next level while `cutoff` exceeds the distance, so it rounds fractions up.
    """
    if cutoff is None or cutoff >= vertices:
        return vertices
    # NaN exceeds nothing.
    return math.ceil(cutoff) if cutoff > 0 else 0


def generations(adjacency: Adjacency) -> Iterator[Array]:
    """Yield the vertices without arcs from others but earlier ones, in the order of NetworkX.

    Vertices on a cycle, or behind one, never come.
    """
    vertices = adjacency.vertices
    left = np.bincount(adjacency.targets, minlength=vertices)
    last = np.empty(vertices, np.int64)
    generation = np.flatnonzero(left == 0)
    while len(generation) > 0:
        yield generation
        heads = adjacency.targets[adjacency.rows(generation).arcs]
        np.subtract.at(left, heads, 1)
        # A vertex follows when its last arc goes: of several writes, the last one stays.
        places = np.arange(len(heads))
        last[heads] = places
        generation = heads[(left[heads] == 0) & (last[heads] == places)]


def both_ways(sources: Array, targets: Array) -> tuple[Array, Array, Array]:
    """Return the arcs of undirected edges: the number of the edge, the source and the target.

    The two arcs of an edge stand together. So the neighbours of either end have the order of the
    edges, as in NetworkX.
    """
    edges = np.repeat(np.arange(len(sources)), 2)
    tails = np.stack([sources, targets], axis=1).ravel()
    heads = np.stack([targets, sources], axis=1).ravel()
    # A loop has one arc.
    kept = (tails != heads) | (np.arange(len(edges)) % 2 == 0)
    return edges[kept], tails[kept], heads[kept]


def starts_of(counts: Array) -> Array:
    """Return where each of several groups of these sizes starts, and where the last one ends."""
    starts = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=starts[1:])
    return starts


def firsts(labels: Array) -> Array:
    """Return for each position the first one with the same label; labels are positions."""
    first = np.empty(len(labels), np.int64)
    # Of several values for one place, the last one stays.
    first[labels[::-1]] = np.arange(len(labels))[::-1]
    return first[labels]
