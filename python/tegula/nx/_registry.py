"""The functions of NetworkX that tegula runs, and the arguments for which it cannot."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, TypeAlias, TypeVar

# The stubs of NetworkX have no private names.
from networkx.utils.backends import (
    _registered_algorithms,  # pyright: ignore[reportAttributeAccessIssue]
)

Arguments: TypeAlias = Mapping[str, Any]
Refusal: TypeAlias = Callable[[Arguments], str | None]
"""Tells why tegula cannot run a function with some arguments; None if it can."""

Call = TypeVar("Call", bound=Callable[..., Any])


class Function:
    """A function of NetworkX as tegula runs it."""

    def __init__(
        self,
        name: str,
        call: Callable[..., Any],
        refusals: tuple[Refusal, ...],
        is_cheap: bool,
        newer: Mapping[str, Any],
    ):
        self.name = name
        self.call = call
        self.refusals = refusals
        self.is_cheap = is_cheap
        self.newer = newer

    @cached_property
    def signature(self) -> inspect.Signature:
        """The parameters, which are those of NetworkX."""
        return inspect.signature(self.call)

    @cached_property
    def of_networkx(self) -> Mapping[str, inspect.Parameter]:
        """The parameters in the version of NetworkX that is installed."""
        return inspect.signature(_registered_algorithms[self.name].orig_func).parameters

    def arguments(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Arguments:
        """Return all arguments of a call by name."""
        bound = self.signature.bind(*args, **self.known(kwargs))
        bound.apply_defaults()
        return bound.arguments

    def known(self, kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments without those of newer versions of NetworkX."""
        return {name: value for name, value in kwargs.items() if name not in self.newer}

    def refusal(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str | None:
        """Return why tegula cannot run a call."""
        try:
            arguments = self.arguments(args, kwargs)
        except TypeError as error:
            return str(error)
        for name, value in self.newer.items():
            # Without it, NetworkX means its own default, which may be another value.
            default = self.of_networkx[name].default if name in self.of_networkx else value
            if kwargs.get(name, default) != value:
                return f"`{name}` is not {value!r}"
        reasons = (refuse(arguments) for refuse in self.refusals)
        return next((reason for reason in reasons if reason is not None), None)


FUNCTIONS: dict[str, Function] = {}
"""The functions by the name by which NetworkX dispatches them."""


def function(
    *refusals: Refusal,
    cheap: bool = False,
    name: str | None = None,
    newer: Mapping[str, Any] | None = None,
) -> Callable[[Call], Call]:
    """Register a function of the same name and parameters as the one of NetworkX.

    Args:
        refusals: When tegula cannot run it.
        cheap: It takes less time than the conversion of a graph.
        name: The name by which NetworkX dispatches it, if that is another one.
        newer: Parameters that newer versions of NetworkX have, each with the only value that tegula
            takes.
    """

    def register(call: Call) -> Call:
        dispatched = name or call.__name__
        FUNCTIONS[dispatched] = Function(dispatched, call, refusals, cheap, newer or {})
        return call

    return register


def given(*names: str, why: str = "tegula does not take it") -> Refusal:
    """Refuse an argument that is not None."""

    def refuse(arguments: Arguments) -> str | None:
        found = [name for name in names if arguments[name] is not None]
        return f"`{found[0]}` is given, and {why}" if found else None

    return refuse


def other_than(name: str, value: Any) -> Refusal:
    """Refuse an argument that is not its default."""

    def refuse(arguments: Arguments) -> str | None:
        has_value = arguments[name] is value or arguments[name] == value
        return None if has_value else f"`{name}` is not {value!r}"

    return refuse


def weighted(arguments: Arguments) -> str | None:
    """Refuse a weight, which tegula would ignore."""
    names = [name for name in ("weight", "distance") if arguments.get(name) is not None]
    return f"`{names[0]}` is given, and tegula counts edges" if names else None


def weight_is_called(arguments: Arguments) -> str | None:
    """Refuse a weight that is a function."""
    names = [name for name in ("weight", "distance") if callable(arguments.get(name))]
    return f"`{names[0]}` is a function" if names else None


def directed(arguments: Arguments) -> str | None:
    """Refuse a directed graph."""
    return "the graph is directed" if arguments["G"].is_directed() else None


def empty(arguments: Arguments) -> str | None:
    """Refuse a graph without nodes, of which versions of NetworkX say different things."""
    return None if len(arguments["G"]) > 0 else "the graph has no nodes"


def multigraph(arguments: Arguments) -> str | None:
    """Refuse a graph with parallel edges."""
    return "the graph is a multigraph" if arguments["G"].is_multigraph() else None
