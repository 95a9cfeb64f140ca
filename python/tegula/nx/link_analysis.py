"""PageRank, and hubs and authorities."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import networkx as nx
import numpy as np

import tegula as tg

from ._graph import Graph
from ._registry import function, given, weight_is_called
from ._tables import table


def converged(result: tg.Result, iterations: int) -> tg.Result:
    """Return a result of iterations that reached their tolerance.

    Raises:
        PowerIterationFailedConvergence: They did not.
    """
    if not result.summary.converged:
        raise nx.PowerIterationFailedConvergence(iterations)
    return result


def require_convergence(tolerance: float, iterations: int) -> None:
    """Refuse a tolerance that no change is below, such as 0: NetworkX never reaches it.

    Raises:
        PowerIterationFailedConvergence: The tolerance is not above 0, or there are no iterations.
    """
    if not tolerance > 0 or iterations < 1:
        raise nx.PowerIterationFailedConvergence(iterations)


@function(weight_is_called, given("nstart", "dangling"))
def pagerank(
    G: Graph,
    alpha: float = 0.85,
    personalization: Mapping[Any, float] | None = None,
    max_iter: int = 100,
    tol: float = 1e-6,
    nstart: Any = None,
    weight: str | None = "weight",
    dangling: Any = None,
) -> dict[Any, float]:
    """Ranks as 32-bit floats, with a relative error of at most 1e-5 and the sum 1."""
    if len(G) == 0:
        return {}
    if not 0 <= alpha < 1:
        raise NotImplementedError(f"`alpha` is {alpha}")
    personalize = None
    if personalization is not None:
        jumps = np.array([personalization.get(node, 0) for node in G], np.float64)
        if jumps.sum() == 0:
            raise ZeroDivisionError
        if not np.isfinite(jumps).all() or (jumps < 0).any():
            raise NotImplementedError("a weight of `personalization` is not from 0")
        seeds = np.flatnonzero(jumps)
        personalize = table(vertex=G.ids(seeds), weight=jumps[seeds])
    require_convergence(tol, max_iter)
    varies = weight is not None and G.weights_vary(weight)
    result = G.run(
        "pagerank",
        weight=weight if varies else None,
        weighted=varies,
        damping=alpha,
        personalize=personalize,
        tolerance=len(G) * tol,
        max_iterations=max_iter,
    )
    ranks = G.column(converged(result, max_iter), "rank").astype(np.float64)
    return G.by_node(ranks / ranks.sum())


@function(given("nstart"), newer={"method": "power_iteration"})
def hits(
    G: Graph,
    max_iter: int = 100,
    tol: float = 1e-8,
    nstart: Any = None,
    normalized: bool = True,
) -> tuple[dict[Any, float], dict[Any, float]]:
    """Hubs and authorities, by the power method."""
    if len(G) == 0:
        return {}, {}
    if max_iter <= 0:
        raise nx.PowerIterationFailedConvergence(max_iter)
    if not normalized or G.weights_vary("weight") or G.number_of_edges() == 0:
        raise NotImplementedError("tegula's values have the sum 1, and edges count once")
    # NetworkX counts restarts of Lanczos' method, each of which does more than one multiplication.
    result = G.run("hits", tolerance=tol, max_iterations=100 * max_iter)
    converged(result, max_iter)
    hubs, authorities = G.column(result, "hub"), G.column(result, "authority")
    return G.by_node(hubs), G.by_node(authorities)
