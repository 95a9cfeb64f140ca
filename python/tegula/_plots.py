"""Pictures of graphs and results, with matplotlib."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ._catalogue import columns as _columns
from ._options import Vertex, id_text, name_text
from .errors import UsageError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ._graph import Graph
    from ._result import Result

# Integers have bars if there are at most this many different ones, all below `_WIDE`; else points.
_BARS = 60
# A scale is logarithmic if the greatest value is at least this many times the least.
_WIDE = 100
# The most vertices with a label, and the most edges with an arrow.
_LABELS = 40
_ARROWS = 300


class Plots:
    """Pictures of a graph. Each method returns the axes of matplotlib that it drew on."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def degrees(self, *, ax: Axes | None = None) -> Axes:
        """Draw how many vertices have which degree, both on logarithmic scales."""
        axes = _axes(ax)
        columns = ["out_degree", "in_degree"]
        counted: dict[str, Counter[int]] = {name: Counter() for name in columns}
        for table in self._graph.degrees().batches():
            for name, degrees in table.to_numpy().items():
                if name in counted:
                    counted[name].update(_counts(degrees))
        if self._graph.info().undirected:
            counted = {"degree": counted["out_degree"]}
        for (name, counts), marker in zip(counted.items(), "ox", strict=False):
            _draw_counts(axes, counts, name.replace("_", "-"), "of degree 0", marker)
        _log_log(axes)
        axes.set(xlabel="degree (edges)", ylabel="vertices", title="Degrees")
        axes.legend()
        return axes

    def neighbourhood(
        self, vertex: Vertex, *, hops: int = 2, limit: int = 2000, ax: Axes | None = None
    ) -> Axes:
        """Draw the vertices within some hops of one, on a ring for each hop, and their edges.

        More than `limit` vertices are refused. Hops follow the direction of edges.
        """
        for name, number in {"hops": hops, "limit": limit}.items():
            if isinstance(number, bool) or not isinstance(number, int) or number < 1:
                raise UsageError(f"{name}={number!r} is no number of at least 1")
        axes = _axes(ax)
        rings, first = self._rings(vertex, hops, limit)
        place = _on_rings(rings, first)
        edges = self._graph.subgraph(vertices=list(place)).to_numpy()
        ends = list(zip(edges["source"].tolist(), edges["target"].tolist(), strict=True))
        _draw_edges(axes, ends, place, not self._graph.info().undirected)
        for hop, ring in enumerate(rings):
            points = np.array([place[vertex] for vertex in ring])
            hops_away = "1 hop" if hop == 1 else f"{hop} hops"
            label = f"{hops_away}: {len(ring):,}" if hop > 0 else f"{vertex}"
            size = 90 if len(place) <= _LABELS else 20
            axes.scatter(points[:, 0], points[:, 1], size, zorder=2, label=label)
        if len(place) <= _LABELS:
            for id, at in place.items():
                axes.annotate(str(id), at, (6, 6), textcoords="offset points", zorder=3)
        axes.set_title(f"Within {hops} hops of {vertex}: {len(place):,} vertices")
        axes.set_aspect("equal")
        axes.set_axis_off()
        reach = len(rings) - 1 + 0.2
        axes.set(xlim=(-reach, reach), ylim=(-reach, reach))
        axes.legend(loc="upper left", bbox_to_anchor=(1, 1))
        return axes

    def _rings(
        self, vertex: Vertex, hops: int, limit: int
    ) -> tuple[list[list[Vertex]], dict[Vertex, Vertex]]:
        """Return the vertices at each distance, and the vertex that led to each."""
        text = id_text("vertex", vertex)
        is_number = text.isdecimal() and self._graph.info().ids != "string"
        start: Vertex = int(text) if is_number else text
        rings: list[list[Vertex]] = [[start]]
        led: dict[Vertex, Vertex] = {start: start}
        for _ in range(hops):
            ring: list[Vertex] = []
            for row in self._graph.neighbours(rings[-1]):
                if row["neighbour"] not in led:
                    led[row["neighbour"]] = row["vertex"]
                    ring.append(row["neighbour"])
            if len(led) > limit:
                message = f"more than limit={limit} vertices are within {hops} hops of {vertex}"
                raise UsageError(message, "give fewer hops, or raise limit=")
            if not ring:
                break
            rings.append(ring)
        return rings, led


def of_result(result: Result, column: str | None, ax: Axes | None) -> Axes:
    """Draw how the values of a column are distributed, or how large its groups are."""
    about = _columns(result.algorithm)
    names = result.table.column_names
    drawable = [name for name in names[1:] if about.get(name, {}).get("type") != "name"]
    numbers = [name for name in drawable if about.get(name, {}).get("type") != "id"]
    if column is None:
        chosen = (drawable if names[0] == "vertex" else numbers)[:1]
        if not chosen:
            raise UsageError(f"{result.algorithm} has no column to draw: {', '.join(names)}")
        column = chosen[0]
    elif name_text("column", column) not in names:
        raise UsageError(f"column={column!r} is none of {', '.join(names)}")
    values = result.to_numpy()[column]
    axes = _axes(ax)
    of = "vertices" if names[0] == "vertex" else "rows"
    kind = about.get(column, {"type": "number", "about": ""})
    if kind["type"] in ("id", "name"):
        _draw_sizes(axes, values, column, of)
    else:
        label = kind["about"].split(";")[0]
        axes.set_xlabel("\n".join(textwrap.wrap(f"{column}: {label}", 70)))
        _draw_values(axes, values, column, of)
    axes.set_title(f"{result.algorithm}: {column}")
    return axes


def _draw_sizes(axes: Axes, groups: NDArray[Any], name: str, of: str) -> None:
    _, sizes = np.unique(np.asarray(groups), return_counts=True)
    _draw_counts(axes, _counts(sizes), None, None)
    _log_log(axes)
    plurals = {"vertex": "vertices", "community": "communities"}
    axes.set(xlabel=f"{of} of a {name}", ylabel=f"{plurals.get(name, f'{name}s')} of that size")


def _draw_counts(
    axes: Axes, counts: Mapping[int, int], name: str | None, zero: str | None, marker: str = "o"
) -> None:
    """Draw how often each integer occurs, for logarithmic scales. The legend tells of zeros."""
    shown = sorted(value for value in counts if value > 0)
    if counts.get(0, 0) > 0:
        vertices = "1 vertex" if counts[0] == 1 else f"{counts[0]:,} vertices"
        hidden = f"{vertices} {zero} not shown"
        name = f"{name} ({hidden})" if name else hidden
    axes.scatter(shown, [counts[value] for value in shown], 16, marker=marker, label=name)


def _draw_values(axes: Axes, column: NDArray[Any], name: str, of: str) -> None:
    """Draw bars for few small integers, points for other integers, and a histogram for floats."""
    values = column.compressed() if isinstance(column, np.ma.MaskedArray) else column
    missing = len(column) - len(values)
    axes.set_ylabel(f"{of} (without {missing:,} that have no value)" if missing else of)
    if values.dtype.kind in "bui":
        counts = _counts(values)
        if len(counts) <= _BARS and max(counts, default=0) < _WIDE:
            _draw_bars(axes, counts, values.dtype.kind == "b")
        else:
            _draw_counts(axes, counts, None, f"with {name} = 0")
            _log_log(axes)
            if counts.get(0, 0) > 0:
                axes.legend()
    else:
        _draw_bins(axes, values)


def _draw_bars(axes: Axes, counts: dict[int, int], are_truths: bool) -> None:
    """Draw a bar for each value."""
    from ._ticks import count_on

    axes.bar([int(value) for value in counts], list(counts.values()))
    if counts and max(counts.values()) >= _WIDE * min(counts.values()):
        # One vertex can still be seen beside thousands.
        axes.set_yscale("log")
        axes.set_ylim(bottom=0.5)
    count_on(axes.yaxis)
    if are_truths:
        axes.set_xticks([0, 1], ["False", "True"])
    elif counts:
        axes.set_xlim(min(counts) - 0.8, max(counts) + 0.8)
        count_on(axes.xaxis)


def _draw_bins(axes: Axes, values: NDArray[Any]) -> None:
    """Draw a histogram, whose bins are logarithmic where values differ by much."""
    from ._ticks import count_on

    if len(values) == 0:
        return
    least, most = float(values.min()), float(values.max())
    bins: Any = 50
    if least > 0 and most / least >= _WIDE:
        bins = np.geomspace(least, most, 50)
        axes.set_xscale("log")
    axes.hist(values, bins=bins)
    axes.set_yscale("log")
    axes.set_ylim(bottom=0.5)
    count_on(axes.yaxis)


def _on_rings(
    rings: list[list[Vertex]], led: dict[Vertex, Vertex]
) -> dict[Vertex, tuple[float, float]]:
    """Place vertices on circles, near the vertices that led to them."""
    angle: dict[Vertex, float] = {rings[0][0]: 0.0}
    place: dict[Vertex, tuple[float, float]] = {rings[0][0]: (0.0, 0.0)}
    for radius, ring in enumerate(rings[1:], 1):
        ring.sort(key=lambda vertex: angle[led[vertex]])
        for number, vertex in enumerate(ring):
            # Rings begin at different angles, so that few vertices do not stand in one line.
            turn = angle[vertex] = 2 * np.pi * (number + radius / 4) / len(ring)
            place[vertex] = (float(radius * np.cos(turn)), float(radius * np.sin(turn)))
    return place


def _draw_edges(
    axes: Axes,
    edges: list[tuple[Vertex, Vertex]],
    place: dict[Vertex, tuple[float, float]],
    is_directed: bool,
) -> None:
    from matplotlib.collections import LineCollection

    lines = [(place[source], place[target]) for source, target in edges]
    alpha = min(1.0, max(0.03, 1000 / max(len(lines), 1)))
    axes.add_collection(LineCollection(lines, colors="0.6", linewidths=0.6, alpha=alpha, zorder=1))
    if is_directed and len(edges) <= _ARROWS:
        style = {"arrowstyle": "-|>", "color": "0.5", "shrinkA": 5, "shrinkB": 5, "lw": 0.6}
        for start, end in lines:
            if start != end:
                axes.annotate("", end, start, arrowprops=style, zorder=1)


def _axes(ax: Axes | None) -> Axes:
    try:
        from matplotlib import pyplot
    except ImportError:
        hint = "install it with pip install matplotlib"
        raise UsageError("pictures need matplotlib", hint) from None
    return pyplot.subplots()[1] if ax is None else ax


def _log_log(axes: Axes) -> None:
    from ._ticks import count_on

    axes.set(xscale="log", yscale="log")
    axes.grid(True, alpha=0.3)
    count_on(axes.xaxis)
    count_on(axes.yaxis)
    # A scale of one count would begin with a tenth.
    axes.set_ylim(bottom=max(axes.get_ylim()[0], 0.5))


def _counts(values: NDArray[Any]) -> dict[int, int]:
    """Return how often each value occurs."""
    found, counts = np.unique(np.asarray(values), return_counts=True)
    return dict(zip(found.tolist(), counts.tolist(), strict=True))
