"""Pictures, by what they hold, and what notebooks show."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator

import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.axes import Axes

import tegula as tg

from .conftest import random_edges

matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def drawn() -> Iterator[None]:
    """Every figure of a test can be drawn."""
    yield
    for number in pyplot.get_fignums():
        pyplot.figure(number).canvas.draw()
    pyplot.close("all")


def points(axes: Axes) -> list[list[tuple[float, float]]]:
    """Return the points of each series."""
    series = [list(map(tuple, found.get_offsets().tolist())) for found in axes.collections]
    return [found for found in series if found]


def bars(axes: Axes) -> dict[float, float]:
    """Return the heights of bars by their middles."""
    return {
        round(bar.get_x() + bar.get_width() / 2, 6): bar.get_height()
        for bar in axes.patches
        if bar.get_height() > 0
    }


def test_degrees_are_drawn_for_each_direction(graph: tg.Graph) -> None:
    axes = graph.plot.degrees()
    # 1 -> 2, 2 -> 3, 3 -> 1, 3 -> 4, 5 -> 6
    assert points(axes) == [[(1, 3), (2, 1)], [(1, 5)]]
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels == [
        "out-degree (2 vertices of degree 0 not shown)",
        "in-degree (1 vertex of degree 0 not shown)",
    ]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("degree (edges)", "vertices")
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")


def test_an_undirected_graph_has_one_degree() -> None:
    _, mine = pyplot.subplots()
    with tg.from_edges([(1, 2), (2, 3)], undirected=True) as graph:
        assert graph.plot.degrees(ax=mine) is mine
    assert points(mine) == [[(1, 2), (2, 1)]]


def test_values_are_drawn_as_bars_or_in_bins(graph: tg.Graph) -> None:
    axes = graph.bfs(source=1).plot()
    assert bars(axes) == {0: 1, 1: 1, 2: 1, 3: 1}
    assert axes.get_xlabel() == "distance: hops from the source"
    assert axes.get_ylabel() == "vertices (without 2 that have no value)"
    axes = graph.degrees().plot("out_degree")
    assert bars(axes) == {0: 2, 1: 3, 2: 1}
    with tg.from_edges(random_edges(20_000, 500)) as random:
        ranks = random.pagerank()
        axes = ranks.plot()
        heights = [bar.get_height() for bar in axes.patches]
        expected, _ = np.histogram(ranks.to_numpy()["rank"], bins=50)
        assert heights == expected.tolist()
        assert axes.get_title() == "pagerank: rank"
        assert axes.get_xlabel().startswith("rank: the probability")


def test_values_of_many_sizes_have_logarithmic_bins() -> None:
    star = [(hub, hub) for hub in (1, 2)] + [(leaf, 1) for leaf in range(3, 2000)]
    with tg.from_edges(star) as graph:
        axes = graph.pagerank().plot()
    assert axes.get_xscale() == "log"
    assert sum(bar.get_height() for bar in axes.patches) == 1999


def test_groups_are_drawn_by_their_sizes(graph: tg.Graph, named: tg.Graph) -> None:
    for result in (graph.wcc(), named.wcc()):
        axes = result.plot()
        assert points(axes) == [[(2, 1), (4, 1)]]
        assert axes.get_xlabel() == "vertices of a component"
        assert axes.get_ylabel() == "components of that size"
    walks = graph.random_walks(length=2, walks=1)
    assert walks.plot("vertex").get_xlabel() == "rows of a vertex"


def labels_of(axis) -> list[str]:
    """Return the labels within the limits of an axis."""
    axis.figure.canvas.draw()
    least, most = axis.get_view_interval()
    marks = zip(axis.get_majorticklocs(), axis.get_majorticklabels(), strict=True)
    return [label.get_text() for at, label in marks if least <= at <= most]


def test_counts_are_labelled_as_whole_numbers() -> None:
    star = [(hub, 0) for hub in range(1, 3000)]
    with tg.from_edges(star) as graph:
        axes = graph.plot.degrees()
        assert labels_of(axes.yaxis) == ["1", "10", "100", "1,000"]
        assert axes.get_ylim()[0] >= 0.5
        axes = graph.bfs(source=1, direction="both").plot()
        assert axes.get_yscale() == "log"
        assert labels_of(axes.yaxis) == ["1", "10", "100", "1,000"]
        assert labels_of(axes.xaxis) == ["0", "1", "2"]


def test_integers_with_a_long_tail_have_logarithmic_scales() -> None:
    # A clique, and a path that is in no triangle.
    clique = [(source, target) for source in range(30) for target in range(source)]
    with tg.from_edges([*clique, (29, 30), (30, 31)], undirected=True) as graph:
        axes = graph.triangles().plot()
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert points(axes) == [[(29 * 28 / 2, 30)]]
    (label,) = axes.get_legend().get_texts()
    assert label.get_text() == "2 vertices with triangles = 0 not shown"


def test_truth_values_are_drawn_as_two_bars() -> None:
    with tg.from_edges([(1, 2), (2, 3)], undirected=True) as graph:
        axes = graph.mis(seed=1).plot()
    assert sum(bars(axes).values()) == 3
    assert [label.get_text() for label in axes.get_xticklabels()] == ["False", "True"]


def test_values_that_cannot_be_drawn_are_refused(graph: tg.Graph, monkeypatch) -> None:
    with pytest.raises(tg.UsageError, match="column='x' is none of vertex, rank"):
        graph.pagerank().plot("x")
    with pytest.raises(tg.UsageError, match="subgraph has no column to draw"):
        graph.subgraph(vertices=[1, 2]).plot()
    with pytest.raises(tg.UsageError, match="hops=0"):
        graph.plot.neighbourhood(1, hops=0)
    with pytest.raises(tg.UsageError, match="limit=True"):
        graph.plot.neighbourhood(1, limit=True)
    with pytest.raises(tg.UsageError, match="more than limit=2 vertices are within 2 hops of 1"):
        graph.plot.neighbourhood(1, limit=2)
    for missing in (99, "x", "007"):
        with pytest.raises(tg.NoSuchVertex):
            graph.plot.neighbourhood(missing)
    with pytest.raises(tg.UsageError, match="vertex: None"):
        graph.plot.neighbourhood(None)
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    with pytest.raises(tg.UsageError, match="pictures need matplotlib"):
        graph.plot.degrees()


def test_a_neighbourhood_stands_on_rings(named: tg.Graph) -> None:
    # b -> a -> c -> b, c -> d
    axes = named.plot.neighbourhood("b", hops=2)
    edges, *rings = axes.collections
    assert [len(ring.get_offsets()) for ring in rings] == [1, 1, 1]
    distances = [np.hypot(*ring.get_offsets().T).tolist() for ring in rings]
    assert distances == [pytest.approx([0]), pytest.approx([1]), pytest.approx([2])]
    labels = {text.get_text() for text in axes.texts}
    assert {"a", "b", "c"} <= labels
    assert "d" not in labels
    assert len(edges.get_segments()) == 3
    assert [text.get_text() for text in axes.get_legend().get_texts()] == [
        "b",
        "1 hop: 1",
        "2 hops: 1",
    ]
    with tg.from_edges(random_edges(8000, 500), undirected=True) as graph:
        start = graph.degrees().to_numpy()["vertex"][0]
        axes = graph.plot.neighbourhood(start, hops=2)
    assert "Within 2 hops of" in axes.get_title()
    # Too many for names and arrows.
    assert len(axes.texts) == 0


def html_of(shown) -> ET.Element:
    html = shown._repr_html_()
    return ET.fromstring(html)


def test_a_notebook_shows_counts_and_degrees_of_a_graph(graph: tg.Graph) -> None:
    html = html_of(graph)
    text = "".join(html.itertext())
    assert "vertices6" in text
    assert "5 stored, directed, not weighted" in text
    pictures = html.findall("{http://www.w3.org/2000/svg}svg")
    assert len(pictures) == 2
    titles = [found.text for found in pictures[0].iter("{http://www.w3.org/2000/svg}title")]
    assert titles == [
        "out-degree 0: 2 vertices",
        "out-degree 1: 3 vertices",
        "out-degree 2 to 3: 1 vertices",
    ]
    colours = set(re.findall(r'(?:fill|stroke)="([^"]+)"', graph._repr_html_()))
    assert colours == {"currentColor", "#4a90d9", "none"}
    with tg.from_edges([("<b>", "a&b")], undirected=True) as odd:
        assert len(html_of(odd).findall("{http://www.w3.org/2000/svg}svg")) == 1
        assert "&lt;b&gt;" in odd.wcc()._repr_html_()
    with pytest.warns(tg.TegulaWarning, match="no edges"):
        empty = tg.from_edges([], allow_empty=True, vertices=0)
    with empty:
        html_of(empty)
    graph.close()
    assert graph._repr_html_() is None


def test_a_notebook_shows_the_summary_and_first_rows_of_a_result(graph: tg.Graph) -> None:
    html = html_of(graph.pagerank())
    text = "".join(html.itertext())
    assert "convergedTrue" in text
    facts, top = html.findall("table")
    assert [head.text for head in top.iter("th")] == ["vertex", "rank"]
    assert len(top.findall("tbody/tr")) == 6
    assert facts.find("tbody/tr/td").text == "6"
    for result in (graph.bfs(source=1), graph.wcc(), graph.degrees(), graph.random_walks(length=2)):
        html_of(result)


def test_degrees_are_counted_by_powers_of_two(graph: tg.Graph) -> None:
    assert graph.info().out_degree.histogram == [2, 3, 1]
    with tg.from_edges([(1, 2)], vertices=10) as sparse:
        assert sparse.info().in_degree.histogram == [9, 1]
    with tg.from_edges(random_edges(5000, 40)) as dense:
        info, degrees = dense.info(), dense.degrees().to_numpy()["out_degree"]
        bits = [int(degree).bit_length() for degree in degrees]
        assert info.out_degree.histogram == np.bincount(bits).tolist()
