"""Communities, and how good they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import numpy as np
from networkx.algorithms.community.quality import NotAPartition
from networkx.utils import create_py_random_state

from ._graph import Graph
from ._registry import directed, function, given, other_than, weight_is_called, weighted

_THRESHOLD = 1e-7


def _seed(seed: Any) -> int:
    return int(create_py_random_state(seed).randint(0, (1 << 31) - 1))


def _of_high_modularity(
    G: Graph, algorithm: str, weight: str | None, resolution: float, seed: Any
) -> list[set[Any]]:
    if G.number_of_edges() == 0:
        return [{node} for node in G]
    varies = weight is not None and G.weights_vary(weight)
    result = G.run(
        algorithm, weight=weight if varies else None, resolution=resolution, seed=_seed(seed)
    )
    return G.groups(G.found_positions(G.column(result, "community")))


@function(directed, weight_is_called, given("max_level"), other_than("threshold", _THRESHOLD))
def louvain_communities(
    G: Graph,
    weight: str | None = "weight",
    resolution: float = 1,
    threshold: float = _THRESHOLD,
    max_level: int | None = None,
    seed: Any = None,
) -> list[set[Any]]:
    """Communities of high modularity, which are others than those of NetworkX."""
    return _of_high_modularity(G, "louvain", weight, resolution, seed)


@function(
    directed,
    weight_is_called,
    given("max_level"),
    newer={"metric": "modularity", "theta": 0.01},
)
def leiden_communities(
    G: Graph,
    weight: str | None = "weight",
    resolution: float = 1,
    max_level: int | None = None,
    seed: Any = None,
) -> list[set[Any]]:
    """Connected communities of high modularity."""
    return _of_high_modularity(G, "leiden", weight, resolution, seed)


def _by_labels(G: Graph, seed: int) -> list[set[Any]]:
    if len(G) == 0:
        return []
    result = G.run("label-propagation", parallel="each", max_iterations=1 << 20, seed=seed)
    return G.groups(G.found_positions(G.column(result, "label")))


@function()
def label_propagation_communities(G: Graph) -> Any:
    """Communities in which each node has a most frequent label of its neighbours."""
    return _by_labels(G, 0)


@function(directed, weighted)
def asyn_lpa_communities(
    G: Graph, weight: str | None = None, seed: Any = None
) -> Iterator[set[Any]]:
    """Communities in which each node has a most frequent label of its neighbours."""
    yield from _by_labels(G, _seed(seed))


@function(directed, weighted)
def fast_label_propagation_communities(
    G: Graph, *, weight: str | None = None, seed: Any = None
) -> Iterator[set[Any]]:
    """Communities in which each node has a most frequent label of its neighbours."""
    yield from _by_labels(G, _seed(seed))


@function(weight_is_called)
def modularity(
    G: Graph, communities: Any, weight: str | None = "weight", resolution: float = 1
) -> float:
    """The share of weights within communities, less the expected one."""
    parts = list(communities)
    label = np.full(len(G), -1)
    for number, part in enumerate(parts):
        label[[G.positions[node] for node in part if node in G]] = number
    if sum(map(len, parts)) != len(G) or (label < 0).any():
        raise NotAPartition(cast(Any, G), parts)
    weights, sources, targets = G.weights(weight), G.adjacency.sources, G.adjacency.targets
    # An undirected loop has one arc, but two ends.
    ends = weights * (1 if G.is_directed() else 1 + G.is_loop)
    is_within = label[sources] == label[targets]
    total = ends.sum().item()
    if total == 0:
        raise ZeroDivisionError("the weights of the graph add up to 0")
    leaving = np.bincount(label[sources], ends, len(parts))
    entering = np.bincount(label[targets], ends, len(parts))
    expected = resolution * (leaving * entering).sum() / total**2
    return float(ends[is_within].sum() / total - expected)
