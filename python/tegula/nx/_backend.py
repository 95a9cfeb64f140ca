"""The object that NetworkX loads: the functions, conversions, and what can and should run."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Generator, Iterator
from itertools import islice
from typing import Any

import networkx as nx

# Each of these modules registers its functions.
from . import (  # noqa: F401
    centrality,
    cluster,
    community,
    components,
    convert,
    core,
    cuts,
    dag,
    distance_measures,
    isolate,
    link_analysis,
    link_prediction,
    operators,
    shortest_paths,
    traversal,
    tree,
)
from ._convert import from_networkx, to_networkx
from ._graph import Graph
from ._known_failures import mark_known_failures
from ._registry import FUNCTIONS, Function
from ._settings import setting

logger = logging.getLogger("tegula.nx")


class Backend:
    """What NetworkX asks of a backend. The functions are attributes."""

    convert_from_nx = staticmethod(from_networkx)
    convert_to_nx = staticmethod(to_networkx)
    on_start_tests = staticmethod(mark_known_failures)

    def __init__(self) -> None:
        for name, function in FUNCTIONS.items():
            setattr(self, name, _logged(name, function))

    @staticmethod
    def can_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
        """Return whether tegula can run a call, or why it cannot."""
        return FUNCTIONS[name].refusal(args, kwargs) or True

    @staticmethod
    def should_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
        """Return whether tegula is quicker with a call, or why it is not."""
        function = FUNCTIONS[name]
        graph = next(
            (value for value in function.arguments(args, kwargs).values() if _is_graph(value)), None
        )
        if graph is None or isinstance(graph, Graph) or _is_converted(graph):
            return True
        if function.is_cheap:
            return "the conversion of the graph takes longer than NetworkX"
        edges, least = graph.number_of_edges(), setting("edges_min")
        if edges < least:
            return f"NetworkX is quicker: the graph has {edges:,} edges, fewer than {least:,.0f}"
        return True


def _logged(name: str, function: Function) -> Callable[..., Any]:
    @functools.wraps(function.call)
    def run(*args: Any, **kwargs: Any) -> Any:
        logger.debug("tegula runs `%s`", name)
        result = function.call(*args, **function.known(kwargs))
        return _begun(result) if isinstance(result, Generator) else result

    return run


def _begun(results: Iterator[Any]) -> Iterator[Any]:
    """Find the first of several results at once.

    So what tegula cannot run is refused during the call, while NetworkX can still take over. Other
    errors come with the first result, as in NetworkX.
    """
    found: list[Any] = []
    failure: Exception | None = None
    try:
        found.extend(islice(results, 1))
    except NotImplementedError:
        raise
    except Exception as error:
        failure = error
    return _resumed(found, failure, results)


def _resumed(
    found: list[Any], failure: Exception | None, results: Iterator[Any]
) -> Generator[Any, None, None]:
    if failure is not None:
        raise failure
    yield from found
    yield from results


def _is_graph(value: object) -> bool:
    return isinstance(value, nx.Graph | Graph)


def _is_converted(graph: Any) -> bool:
    cache = getattr(graph, "__networkx_cache__", None) or {}
    return bool(cache.get("backends", {}).get("tegula"))


backend = Backend()
