"""What notebooks show of graphs and results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from math import log10
from typing import Any

from ._records import Record

# One blue that stands out from light and from dark backgrounds; text has the colour of the page.
_BAR = "#4a90d9"
_WIDTH, _HEIGHT = 440, 150
_LEFT, _TOP, _BOTTOM = 66, 28, 34


def of_graph(path: str, info: Record) -> str:
    """Return a graph: counts, and histograms of the degrees."""
    kind = "undirected" if info.undirected else "directed"
    facts = {
        "vertices": f"{info.vertices:,}",
        "edges": f"{info.edges:,} stored, {kind}, {'' if info.weighted else 'not '}weighted",
        "ids": f"{info.ids}",
        "layouts": ", ".join(info.layouts),
        "size": f"{info.bytes:,} bytes",
        "isolated": f"{info.isolated:,} vertices",
    }
    parts = [_caption("tegula.Graph", path), _facts(facts)]
    if info.undirected:
        parts.append(_histogram("degree", info.out_degree.histogram))
    else:
        parts.append(_histogram("out-degree", info.out_degree.histogram))
        parts.append(_histogram("in-degree", info.in_degree.histogram))
    return f"<div>{''.join(parts)}</div>"


def of_result(algorithm: str, rows: int, summary: Record, top: Sequence[Record]) -> str:
    """Return a result: its summary, and its first or greatest entries."""
    figures = {name: value for name, value in summary.items() if _is_plain(value)}
    facts = {"rows": f"{rows:,}"} | {name: _shown(value) for name, value in figures.items()}
    parts = [_caption("tegula.Result", algorithm), _facts(facts)]
    if top:
        parts.append(_table(list(top[0]), [entry.values() for entry in top]))
    return f"<div>{''.join(parts)}</div>"


def _is_plain(value: Any) -> bool:
    return isinstance(value, bool | int | float | str)


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _caption(kind: str, name: str) -> str:
    return f"<div><strong>{escape(kind)}</strong> <code>{escape(name)}</code></div>"


def _facts(facts: Mapping[str, str]) -> str:
    return _rows(([f"<th>{escape(name)}</th>", _cell(text)] for name, text in facts.items()), "")


def _table(names: Sequence[str], rows: Iterable[Iterable[Any]]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    # Integers may be ids, which have no separators.
    cells = (
        [_cell(_shown(cell) if isinstance(cell, float) else str(cell)) for cell in row]
        for row in rows
    )
    return _rows(cells, f"<thead><tr>{head}</tr></thead>")


def _cell(text: str) -> str:
    return f"<td>{escape(text)}</td>"


def _rows(rows: Iterable[Iterable[str]], head: str) -> str:
    body = "".join(f"<tr>{''.join(cells)}</tr>" for cells in rows)
    return f"<table>{head}<tbody>{body}</tbody></table>"


def _histogram(name: str, counts: Sequence[int]) -> str:
    """Return how many vertices have which degree: 0, 1, 2 to 3, 4 to 7 and so on, as a picture.

    Heights are logarithmic: a bar for one vertex can still be seen beside one for a million.
    """
    most = log10(max(counts) + 1) or 1.0
    step = (_WIDTH - _LEFT) / len(counts)
    floor = _HEIGHT - _BOTTOM
    bars = []
    for bar, count in enumerate(counts):
        left = _LEFT + bar * step
        height = (floor - _TOP) * log10(count + 1) / most
        first, last = (1 << bar) // 2, max((1 << bar) - 1, 0)
        range_ = f"{first}" if first == last else f"{first} to {last}"
        bars.append(
            f'<rect x="{left + 1:.1f}" y="{floor - height:.1f}" width="{max(step - 2, 1):.1f}" '
            f'height="{height:.1f}" fill="{_BAR}"><title>{name} {range_}: {count:,} vertices'
            "</title></rect>"
        )
        if bar % (len(counts) // 10 + 1) == 0:
            bars.append(_text(left + step / 2, floor + 12, f"{first:,}", "middle"))
    labels = [
        _text((_LEFT + _WIDTH) / 2, _HEIGHT - 6, f"{name}, from (edges)", "middle"),
        _text(_LEFT - 4, _TOP + 6, f"{max(counts):,}", "end"),
        _text(_LEFT - 4, floor, "0", "end"),
        _text(2, 10, "vertices (logarithmic)", "start"),
    ]
    axis = (
        f'<path d="M{_LEFT} {floor}H{_WIDTH}" stroke="currentColor" stroke-opacity="0.5" '
        'fill="none"/>'
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{_WIDTH}" height="{_HEIGHT}" '
        f'viewBox="0 0 {_WIDTH} {_HEIGHT}" font-size="10" font-family="sans-serif" '
        f'fill="currentColor" aria-label="{name} of the vertices">'
        f"{''.join(bars)}{axis}{''.join(labels)}</svg>"
    )


def _text(x: float, y: float, words: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'
