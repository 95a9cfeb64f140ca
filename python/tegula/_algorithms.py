"""A method for each algorithm of the catalogue. `python/generate.py` writes this file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Never

if TYPE_CHECKING:
    from ._options import File, Vertex, VertexTable
    from ._progress import Progress
    from ._result import Result


class Algorithms:
    """The algorithms, as methods of a graph.

    Type checkers refuse a misspelt option. At run time `_run` refuses it, and its hint is the
    nearest name.
    """

    def _run(
        self,
        algorithm: str,
        options: Mapping[str, Any],
        progress: Progress | None,
    ) -> Result:
        raise NotImplementedError

    def pagerank(
        self,
        *,
        damping: float = 0.85,
        iterations: int | None = None,
        tolerance: float = 1e-06,
        max_iterations: int = 100,
        personalize: VertexTable | None = None,
        weighted: bool = False,
        header: bool = False,
        missing: Literal["refuse", "skip"] | None = None,
        progress: Progress | None = None,
        **misspelt: Never,
    ) -> Result:
        """PageRank: how likely a random walk stands on each vertex.

        Args:
            damping: Probability of following an edge, from 0 to below 1.
            iterations: Run exactly N iterations.
            tolerance: Stop when the ranks change by no more than this in an iteration (L1). If they
                never do, there is a warning.
            max_iterations: The most iterations towards the tolerance.
            personalize: Jump to the vertices of this table only. Each row has an id and, if it is
                not 1, a weight. Tables are read like inputs: text, also as .gz and .zst, Parquet,
                `-`. A header may name `vertex` and `weight` or `rank`, so the ranks of another run
                will do.
            weighted: Follow edges in proportion to their weights, all of at least 0.
            header: The first line of each table names its columns. Without this option a first line
                is a header only if it has known column names, such as `vertex`.
            missing: What to do with rows whose vertex is not in the graph [default: refuse; for
                coordinates: skip].
            progress: Whether to show how far the run is, by default on a terminal and in notebooks;
                or a function that is called with the stage, what is done of it, its total, and the
                unit.

        The table has the columns:
            vertex: the vertex.
            rank: the probability that the random walk stands there; all ranks sum to 1.

        Memory: 12 bytes a vertex; 16 personalized; 4 more weighted.
        Source: Page, Brin, Motwani, Winograd, The PageRank Citation Ranking, 1999, as LDBC
        Graphalytics defines it (Iosup et al., VLDB 2016)
        """
        options: dict[str, Any] = {
            "damping": damping,
            "iterations": iterations,
            "tolerance": tolerance,
            "max_iterations": max_iterations,
            "personalize": personalize,
            "weighted": weighted,
            "header": header,
            "missing": missing,
            **misspelt,
        }
        return self._run("pagerank", options, progress)

    def degree(
        self,
        *,
        progress: Progress | None = None,
        **misspelt: Never,
    ) -> Result:
        """Degrees: how many edges enter and leave each vertex.

        Args:
            progress: Whether to show how far the run is, by default on a terminal and in notebooks;
                or a function that is called with the stage, what is done of it, its total, and the
                unit.

        The table has the columns:
            vertex: the vertex.
            in_degree: edges that enter it.
            out_degree: edges that leave it.

        Memory: 8 bytes a vertex.
        """
        options: dict[str, Any] = {
            **misspelt,
        }
        return self._run("degree", options, progress)

    def eigenvector(
        self,
        *,
        tolerance: float = 1e-06,
        max_iterations: int = 100,
        progress: Progress | None = None,
        **misspelt: Never,
    ) -> Result:
        """Eigenvector centrality: a vertex is central if its in-neighbours are.

        Args:
            tolerance: Stop when an iteration changes the values, whose Euclidean norm is 1, by at
                most T. If that never happens, there is a warning.
            max_iterations: The maximum number of iterations.
            progress: Whether to show how far the run is, by default on a terminal and in notebooks;
                or a function that is called with the stage, what is done of it, its total, and the
                unit.

        The table has the columns:
            vertex: the vertex.
            centrality: the centrality; the squares of all centralities sum to 1.

        Memory: 12 bytes a vertex.
        Source: Bonacich, Power and Centrality, American Journal of Sociology 92, 1987
        """
        options: dict[str, Any] = {
            "tolerance": tolerance,
            "max_iterations": max_iterations,
            **misspelt,
        }
        return self._run("eigenvector", options, progress)

    def katz(
        self,
        *,
        alpha: float | None = None,
        tolerance: float = 1e-06,
        max_iterations: int = 100,
        progress: Progress | None = None,
        **misspelt: Never,
    ) -> Result:
        """Katz centrality: walks that end at a vertex, of which longer ones count less.

        Args:
            alpha: The factor by which each further edge of a walk counts less [default: 0.85 over
                the greatest in-degree, with which the values always converge].
            tolerance: Stop when an iteration changes the values by at most this fraction of their
                sum. If that never happens, there is a warning.
            max_iterations: The maximum number of iterations.
            progress: Whether to show how far the run is, by default on a terminal and in notebooks;
                or a function that is called with the stage, what is done of it, its total, and the
                unit.

        The table has the columns:
            vertex: the vertex.
            centrality: the centrality; the squares of all add up to 1.

        Memory: 12 bytes a vertex.
        Source: Katz, Psychometrika 18, 1953
        """
        options: dict[str, Any] = {
            "alpha": alpha,
            "tolerance": tolerance,
            "max_iterations": max_iterations,
            **misspelt,
        }
        return self._run("katz", options, progress)

    def betweenness(
        self,
        *,
        samples: int | None = None,
        sources: VertexTable | None = None,
        seed: int = 0,
        normalized: bool = False,
        weighted: bool = False,
        header: bool = False,
        missing: Literal["refuse", "skip"] | None = None,
        progress: Progress | None = None,
        **misspelt: Never,
    ) -> Result:
        """Betweenness: on how many shortest paths each vertex lies.

        Args:
            samples: Estimate from K sources drawn at random [default: exact, from all]. In an
                undirected graph each pair of ends counts once: the sum over both directions is
                halved.
            sources: Count only the paths from these vertices: a table with an id in each row.
                Tables are read as inputs are: text, also as .gz and .zst, Parquet, `-`. In an
                undirected graph each path counts one half, so with all vertices as sources the
                result is exact.
            seed: Seed of the random samples.
            normalized: Divide by the number of pairs of other vertices.
            weighted: Use the weights of edges, all above 0, as their lengths.
            header: The first line of each table names its columns. Without this option a first line
                is a header only if it has known column names, such as `vertex`.
            missing: What to do with rows whose vertex is not in the graph [default: refuse; for
                coordinates: skip].
            progress: Whether to show how far the run is, by default on a terminal and in notebooks;
                or a function that is called with the stage, what is done of it, its total, and the
                unit.

        The table has the columns:
            vertex: the vertex.
            centrality: the sum, over pairs of other vertices, of the fraction of their shortest
                paths that lead through it.

        Memory: 8 bytes a vertex, 36 more for each thread (57 weighted), and rows.
        Source: Freeman, Sociometry 40, 1977; Brandes, Journal of Mathematical Sociology 25, 2001
        """
        options: dict[str, Any] = {
            "samples": samples,
            "sources": sources,
            "seed": seed,
            "normalized": normalized,
            "weighted": weighted,
            "header": header,
            "missing": missing,
            **misspelt,
        }
        return self._run("betweenness", options, progress)

    def closeness(
        self,
        *,
        samples: int | None = None,
        seed: int = 0,
        progress: Progress | None = None,
        **misspelt: Never,
    ) -> Result:
        """Closeness: the inverse of the average number of hops to each vertex.

        Args:
            samples: Estimate from K vertices drawn at random [default: exact, from all].
            seed: Seed of the random samples.
            progress: Whether to show how far the run is, by default on a terminal and in notebooks;
                or a function that is called with the stage, what is done of it, its total, and the
                unit.

        The table has the columns:
            vertex: the vertex.
            centrality: the closeness; 0 for a vertex that no other reaches.

        Memory: 37 bytes a vertex.
        Source: Wasserman, Faust, Social Network Analysis, 1994; Eppstein, Wang, Journal of Graph
        Algorithms and Applications 8, 2004
        """
        options: dict[str, Any] = {
            "samples": samples,
            "seed": seed,
            **misspelt,
        }
        return self._run("closeness", options, progress)

    def harmonic(
        self,
        *,
        samples: int | None = None,
        seed: int = 0,
        progress: Progress | None = None,
        **misspelt: Never,
    ) -> Result:
        """Harmonic centrality: the sum of the inverse distances to each vertex.

        Args:
            samples: Estimate from K vertices drawn at random [default: exact, from all].
            seed: Seed of the random samples.
            progress: Whether to show how far the run is, by default on a terminal and in notebooks;
                or a function that is called with the stage, what is done of it, its total, and the
                unit.

        The table has the columns:
            vertex: the vertex.
            centrality: the sum of the inverse distances.

        Memory: 33 bytes a vertex.
        Source: Marchiori, Latora, Harmony in the Small-World, Physica A 285, 2000
        """
        options: dict[str, Any] = {
            "samples": samples,
            "seed": seed,
            **misspelt,
        }
        return self._run("harmonic", options, progress)

    def hits(
        self,
        *,
        tolerance: float = 1e-06,
        max_iterations: int = 100,
        method: Literal["rows", "passes"] = "rows",
        progress: Progress | None = None,
        **misspelt: Never,
    ) -> Result:
        """Hubs and authorities: good hubs lead to good authorities, and the other way round.

        Args:
            tolerance: Stop when an iteration changes the hubs, whose sum is 1, by at most T in sum.
                If that never happens, there is a warning.
            max_iterations: The maximum number of iterations.
            method: Where the edges come from.
            progress: Whether to show how far the run is, by default on a terminal and in notebooks;
                or a function that is called with the stage, what is done of it, its total, and the
                unit.

        The table has the columns:
            vertex: the vertex.
            hub: how good a hub it is; all together 1.
            authority: how good an authority it is; all together 1.

        Memory: 24 bytes a vertex, and rows of both directions; less in passes.
        Source: Kleinberg, Authoritative Sources in a Hyperlinked Environment, Journal of the ACM
        46, 1999
        """
        options: dict[str, Any] = {
            "tolerance": tolerance,
            "max_iterations": max_iterations,
            "method": method,
            **misspelt,
        }
        return self._run("hits", options, progress)

    def bfs(
        self,
        *,
        source: Vertex | None = None,
        sources: VertexTable | None = None,
        direction: Literal["out", "in", "both"] = "out",
        parents: bool = False,
        targets: VertexTable | None = None,
        cutoff: int | None = None,
        header: bool = False,
        missing: Literal["refuse", "skip"] | None = None,
        progress: Progress | None = None,
        **misspelt: Never,
    ) -> Result:
        """Breadth-first search: hops from a source to each vertex.

        Args:
            source: The vertex to start from, as the edge list names it.
            sources: The vertices to start from, all at once: a table with an id in each row. Tables
                are read as inputs are: text, also as .gz and .zst, Parquet, `-`.
            direction: Which edges to follow: those out of a vertex, those into it, or both. In an
                undirected graph all three are the same. In a directed graph, `in` needs rows by
                target, and `both` needs rows by source and by target.
            parents: Also find the vertex before each vertex on a shortest path.
            targets: Output the shortest paths to these vertices only: a table with an id in each
                row. The nearest target comes first. A target without a path has no row.
            cutoff: The greatest number of hops to go. Vertices beyond it are not reached.
            header: The first line of each table names its columns. Without this option a first line
                is a header only if it has known column names, such as `vertex`.
            missing: What to do with rows whose vertex is not in the graph [default: refuse; for
                coordinates: skip].
            progress: Whether to show how far the run is, by default on a terminal and in notebooks;
                or a function that is called with the stage, what is done of it, its total, and the
                unit.

        The table has the columns:
            vertex: the vertex (without `targets`).
            target: the end of the path (with `targets`).
            position: the place on the path, from 0 (with `targets`).
            vertex: the vertex at that place (with `targets`).
            distance: hops from the source; null where there is no path.
            parent: the vertex before it on a shortest path; for a source, the source itself; null
                where there is no path (with `parents`).

        Memory: 12 bytes a vertex; 16 with parents; 20 more with paths to targets.
        Source: Beamer, Asanovic, Patterson, Direction-Optimizing Breadth-First Search, SC 2012;
        distances as LDBC Graphalytics defines them
        """
        options: dict[str, Any] = {
            "source": source,
            "sources": sources,
            "direction": direction,
            "parents": parents,
            "targets": targets,
            "cutoff": cutoff,
            "header": header,
            "missing": missing,
            **misspelt,
        }
        return self._run("bfs", options, progress)

    def sssp(
        self,
        *,
        source: Vertex | None = None,
        sources: VertexTable | None = None,
        direction: Literal["out", "in", "both"] = "out",
        parents: bool = False,
        targets: VertexTable | None = None,
        cutoff: float | None = None,
        method: Literal["delta-stepping", "dijkstra"] = "delta-stepping",
        delta: float | None = None,
        header: bool = False,
        missing: Literal["refuse", "skip"] | None = None,
        progress: Progress | None = None,
        **misspelt: Never,
    ) -> Result:
        """Shortest paths: the smallest sum of weights from a source to each vertex. Without weights
        every edge counts 1.

        Args:
            source: The vertex to start from, as the edge list names it.
            sources: The vertices to start from, all at once: a table with an id in each row. Tables
                are read as inputs are: text, also as .gz and .zst, Parquet, `-`.
            direction: Which edges to follow: those out of a vertex, those into it, or both. In an
                undirected graph all three are the same. In a directed graph, `in` needs rows by
                target, and `both` needs rows by source and by target.
            parents: Also find the vertex before each vertex on a shortest path.
            targets: Output the shortest paths to these vertices only: a table with an id in each
                row. The nearest target comes first. A target without a path has no row.
            cutoff: The greatest distance to go. Vertices beyond it are not reached.
            method: How distances are found. The distances are the same for all methods.
            delta: Width of the buckets of delta-stepping, which works on the nearest bucket first
                [default: from the weights, degrees and memory]. Distances do not depend on it.
            header: The first line of each table names its columns. Without this option a first line
                is a header only if it has known column names, such as `vertex`.
            missing: What to do with rows whose vertex is not in the graph [default: refuse; for
                coordinates: skip].
            progress: Whether to show how far the run is, by default on a terminal and in notebooks;
                or a function that is called with the stage, what is done of it, its total, and the
                unit.

        The table has the columns:
            vertex: the vertex (without `targets`).
            target: the end of the path (with `targets`).
            position: the place on the path, from 0 (with `targets`).
            vertex: the vertex at that place (with `targets`).
            distance: the sum of weights from the source; null where there is no path.
            parent: the vertex before it on a shortest path; for a source, the source itself; null
                where there is no path (with `parents`).

        Memory: 16 bytes a vertex; 32 with parents; 20 more with paths to targets; 33 and rows by
        Dijkstra's method.
        Source: Meyer, Sanders, Delta-stepping, Journal of Algorithms 49, 2003; Dijkstra, Numerische
        Mathematik 1, 1959
        """
        options: dict[str, Any] = {
            "source": source,
            "sources": sources,
            "direction": direction,
            "parents": parents,
            "targets": targets,
            "cutoff": cutoff,
            "method": method,
            "delta": delta,
            "header": header,
            "missing": missing,
            **misspelt,
        }
        return self._run("sssp", options, progress)

    def astar(
        self,
        *,
        source: Vertex,
        target: Vertex,
        coordinates: VertexTable | None = None,
        heuristic_scale: float | None = None,
        header: bool = False,
        missing: Literal["refuse", "skip"] | None = None,
        progress: Progress | None = None,
        **misspelt: Never,
    ) -> Result:
        """A shortest path between two vertices. Without weights every edge counts 1.

        Args:
            source: The vertex to start from, as the edge list names it.
            target: The vertex to reach.
            coordinates: A table with a row for every vertex, its id, x and y, or a DIMACS
                coordinates file (.co). The search then heads for the target along the straight
                line; the path does not depend on it. Tables are read as inputs are: text, also as
                .gz and .zst, Parquet, `-`. A header may name `vertex`, `x` and `y`, or `lon` and
                `lat`.
            heuristic_scale: The factor that makes a straight line no longer than any path [default:
                the greatest such factor, found in a pass over all edges]. A greater factor is an
                error when the search meets an edge that is too short for it; if it meets none, the
                path may be a detour.
            header: The first line of each table names its columns. Without this option a first line
                is a header only if it has known column names, such as `vertex`.
            missing: What to do with rows whose vertex is not in the graph [default: refuse; for
                coordinates: skip].
            progress: Whether to show how far the run is, by default on a terminal and in notebooks;
                or a function that is called with the stage, what is done of it, its total, and the
                unit.

        The table has the columns:
            position: the place on the path, from 0.
            vertex: the vertex.
            distance: the sum of weights from the source.

        Memory: 53 to 73 bytes a vertex, and rows.
        Source: Hart, Nilsson, Raphael, IEEE Transactions on Systems Science and Cybernetics 4, 1968
        """
        options: dict[str, Any] = {
            "source": source,
            "target": target,
            "coordinates": coordinates,
            "heuristic_scale": heuristic_scale,
            "header": header,
            "missing": missing,
            **misspelt,
        }
        return self._run("astar", options, progress)

    def diameter(
        self,
        *,
        max_searches: int = 10000,
        progress: Progress | None = None,
        **misspelt: Never,
    ) -> Result:
        """Diameter: the greatest distance between two vertices of the largest component, whatever
        the direction of edges.

        Args:
            max_searches: The maximum number of searches. If it does not suffice, the result is a
                lower and an upper bound.
            progress: Whether to show how far the run is, by default on a terminal and in notebooks;
                or a function that is called with the stage, what is done of it, its total, and the
                unit.

        The table has the columns:
            source: one end of a longest shortest path.
            target: the other end.
            distance: the hops between them.

        Memory: 44 bytes a vertex, and rows of both directions.
        Source: Takes, Kosters, Determining the Diameter of Small World Networks, CIKM 2011
        """
        options: dict[str, Any] = {
            "max_searches": max_searches,
            **misspelt,
        }
        return self._run("diameter", options, progress)

    def k_hop(
        self,
        *,
        hops: int,
        source: Vertex | None = None,
        sources: VertexTable | None = None,
        direction: Literal["out", "in", "both"] = "out",
        header: bool = False,
        missing: Literal["refuse", "skip"] | None = None,
        progress: Progress | None = None,
        **misspelt: Never,
    ) -> Result:
        """The vertices within K hops of a vertex, or of any of several.

        Args:
            hops: The greatest number of hops to go.
            source: The vertex to start from, as the edge list names it.
            sources: The vertices to start from, all at once: a table with an id in each row. Tables
                are read as inputs are: text, also as .gz and .zst, Parquet, `-`.
            direction: Which edges to follow: those out of a vertex, those into it, or both. In an
                undirected graph all three are the same. In a directed graph, `in` needs rows by
                target, and `both` needs rows by source and by target.
            header: The first line of each table names its columns. Without this option a first line
                is a header only if it has known column names, such as `vertex`.
            missing: What to do with rows whose vertex is not in the graph [default: refuse; for
                coordinates: skip].
            progress: Whether to show how far the run is, by default on a terminal and in notebooks;
                or a function that is called with the stage, what is done of it, its total, and the
                unit.

        The table has the columns:
            vertex: a vertex that is reached.
            hops: hops from the source.

        Memory: 24 to 36 bytes a vertex, and rows.
        """
        options: dict[str, Any] = {
            "hops": hops,
            "source": source,
            "sources": sources,
            "direction": direction,
            "header": header,
            "missing": missing,
            **misspelt,
        }
        return self._run("k-hop", options, progress)

    def wcc(
        self,
        *,
        method: Literal["union-find", "propagation", "traversal"] = "union-find",
        max_iterations: int | None = None,
        progress: Progress | None = None,
        **misspelt: Never,
    ) -> Result:
        """Weakly connected components: the smallest vertex in the component of each.

        Args:
            method: How components are found.
            max_iterations: The most iterations of `propagation`. If the last of them changes a
                label, there is a warning, and the answer is no partition into components: N
                iterations find the smallest id within N hops of each vertex.
            progress: Whether to show how far the run is, by default on a terminal and in notebooks;
                or a function that is called with the stage, what is done of it, its total, and the
                unit.

        The table has the columns:
            vertex: the vertex.
            component: the vertex of its component with the smallest id.

        Memory: 4 bytes a vertex; less with labels on disk.
        Source: Patwary, Refsnes, Manne, Multi-core Spanning Forest Algorithms using the
        Disjoint-set Data Structure, IPDPS 2012
        """
        options: dict[str, Any] = {
            "method": method,
            "max_iterations": max_iterations,
            **misspelt,
        }
        return self._run("wcc", options, progress)

    def scc(
        self,
        *,
        progress: Progress | None = None,
        **misspelt: Never,
    ) -> Result:
        """Strongly connected components: vertices that reach each other along the direction of
        edges.

        Args:
            progress: Whether to show how far the run is, by default on a terminal and in notebooks;
                or a function that is called with the stage, what is done of it, its total, and the
                unit.

        The table has the columns:
            vertex: the vertex.
            component: the vertex of its component with the smallest id.

        Memory: 17 bytes a vertex, 16 an edge of the longest row, and rows.
        Source: Tarjan, SIAM Journal on Computing 1, 1972; Pearce, Information Processing Letters
        116, 2016
        """
        options: dict[str, Any] = {
            **misspelt,
        }
        return self._run("scc", options, progress)

    def bridges(
        self,
        *,
        articulation_points: bool = False,
        progress: Progress | None = None,
        **misspelt: Never,
    ) -> Result:
        """Bridges and articulation points: edges and vertices without which a component falls
        apart.

        Args:
            articulation_points: Output the articulation points and the number of blocks that meet
                in each, instead of the bridges.
            progress: Whether to show how far the run is, by default on a terminal and in notebooks;
                or a function that is called with the stage, what is done of it, its total, and the
                unit.

        The table has the columns:
            u: one end of a bridge (without `articulation_points`).
            v: the other end (without `articulation_points`).
            vertex: the articulation point (with `articulation_points`).
            blocks: blocks that meet in it (with `articulation_points`).

        Memory: 48 bytes a vertex.
        Source: Tarjan, Vishkin, SIAM Journal on Computing 14, 1985
        """
        options: dict[str, Any] = {
            "articulation_points": articulation_points,
            **misspelt,
        }
        return self._run("bridges", options, progress)

    def conductance(
        self,
        *,
        sets: VertexTable,
        weighted: bool = False,
        header: bool = False,
        missing: Literal["refuse", "skip"] | None = None,
        progress: Progress | None = None,
        **misspelt: Never,
    ) -> Result:
        """Conductance of sets of vertices: how well they are separated from the rest, whatever the
        direction of edges.

        Args:
            sets: The sets, as a table: each row has the id of a vertex and the name of a set. A
                vertex may be in several sets. Vertices without a row or with an empty cell are in
                none. Tables are read like inputs: text, also as .gz and .zst, Parquet, `-`. A
                header may name `vertex` and `set`, `component`, `community` or `label`, so the
                table of another run, such as wcc, will do.
            weighted: Add up the weights of edges, all of at least 0, instead of counting them.
            header: The first line of each table names its columns. Without this option a first line
                is a header only if it has known column names, such as `vertex`.
            missing: What to do with rows whose vertex is not in the graph [default: refuse; for
                coordinates: skip].
            progress: Whether to show how far the run is, by default on a terminal and in notebooks;
                or a function that is called with the stage, what is done of it, its total, and the
                unit.

        The table has the columns:
            set: the name of the set.
            vertices: vertices in the set.
            volume: the sum of their degrees, or of their weights.
            cut: edges between the set and the rest, or their weights.
            conductance: the cut over the smaller of the volumes of the set and the rest; null where
                that is 0.

        Memory: 8 bytes a vertex, 4 for each set that it is in, and rows; 32 bytes a set (168
        weighted) and its name.
        Source: Leskovec, Lang, Dasgupta, Mahoney, Statistical Properties of Community Structure,
        WWW 2008
        """
        options: dict[str, Any] = {
            "sets": sets,
            "weighted": weighted,
            "header": header,
            "missing": missing,
            **misspelt,
        }
        return self._run("conductance", options, progress)

    def cdlp(
        self,
        *,
        iterations: int = 10,
        progress: Progress | None = None,
        **misspelt: Never,
    ) -> Result:
        """Communities by label propagation: each vertex takes the label that most of its neighbours
        have.

        Args:
            iterations: The most iterations to run: it ends early when no label changes.
            progress: Whether to show how far the run is, by default on a terminal and in notebooks;
                or a function that is called with the stage, what is done of it, its total, and the
                unit.

        The table has the columns:
            vertex: the vertex.
            label: the label, which is the id of some vertex.

        Memory: 8 bytes a vertex, and rows of both directions.
        Source: Raghavan, Albert, Kumara, Physical Review E 76, 2007, as LDBC Graphalytics defines
        it
        """
        options: dict[str, Any] = {
            "iterations": iterations,
            **misspelt,
        }
        return self._run("cdlp", options, progress)

    def louvain(
        self,
        *,
        resolution: float = 1.0,
        seed: int = 0,
        progress: Progress | None = None,
        **misspelt: Never,
    ) -> Result:
        """Communities of high modularity, by the method of Louvain, whatever the direction of
        edges.

        Args:
            resolution: The resolution of modularity (gamma): above 1 there are more and smaller
                communities, below 1 fewer and larger ones.
            seed: Decides in which order vertices are looked at, and which of equally good
                communities is chosen.
            progress: Whether to show how far the run is, by default on a terminal and in notebooks;
                or a function that is called with the stage, what is done of it, its total, and the
                unit.

        The table has the columns:
            vertex: the vertex.
            community: the vertex of its community with the smallest id.

        Memory: 92 bytes a vertex, 16 more for each thread, at most 32 MiB for links, and rows of
        both directions.
        Source: Blondel, Guillaume, Lambiotte, Lefebvre, Journal of Statistical Mechanics, 2008
        """
        options: dict[str, Any] = {
            "resolution": resolution,
            "seed": seed,
            **misspelt,
        }
        return self._run("louvain", options, progress)

    def leiden(
        self,
        *,
        resolution: float = 1.0,
        seed: int = 0,
        iterations: int = 3,
        progress: Progress | None = None,
        **misspelt: Never,
    ) -> Result:
        """Connected communities of high modularity, by the method of Leiden, whatever the direction
        of edges.

        Args:
            resolution: The resolution of modularity (gamma): above 1 there are more and smaller
                communities, below 1 fewer and larger ones.
            seed: Decides in which order vertices are looked at, and which of equally good
                communities is chosen.
            iterations: The most iterations. Each begins with the communities of the one before.
                With 0, they go on while modularity rises.
            progress: Whether to show how far the run is, by default on a terminal and in notebooks;
                or a function that is called with the stage, what is done of it, its total, and the
                unit.

        The table has the columns:
            vertex: the vertex.
            community: the vertex of its community with the smallest id.

        Memory: 112 bytes a vertex, 16 more for each thread, at most 32 MiB for links, and rows of
        both directions.
        Source: Traag, Waltman, van Eck, From Louvain to Leiden, Scientific Reports 9, 2019
        """
        options: dict[str, Any] = {
            "resolution": resolution,
            "seed": seed,
            "iterations": iterations,
            **misspelt,
        }
        return self._run("leiden", options, progress)

    def label_propagation(
        self,
        *,
        max_iterations: int = 100,
        tolerance: float = 0.0,
        seed: int = 0,
        progress: Progress | None = None,
        **misspelt: Never,
    ) -> Result:
        """Communities by label propagation until every vertex has a label that is the most frequent
        one around it.

        Args:
            max_iterations: The most iterations. If vertices would still change then, there is a
                warning.
            tolerance: Stop when at most this share of the vertices might still take another label.
            seed: Chooses between equally frequent labels, and the vertices that may change in an
                iteration.
            progress: Whether to show how far the run is, by default on a terminal and in notebooks;
                or a function that is called with the stage, what is done of it, its total, and the
                unit.

        The table has the columns:
            vertex: the vertex.
            label: the label, which is the id of some vertex.

        Memory: 13 bytes a vertex, 4 more where vertices have an order, and rows of both directions.
        Source: Raghavan, Albert, Kumara, Physical Review E 76, 2007
        """
        options: dict[str, Any] = {
            "max_iterations": max_iterations,
            "tolerance": tolerance,
            "seed": seed,
            **misspelt,
        }
        return self._run("label-propagation", options, progress)

    def triangles(
        self,
        *,
        approximate: bool = False,
        hashes: int | None = None,
        seed: int = 0,
        progress: Progress | None = None,
        **misspelt: Never,
    ) -> Result:
        """Triangles at each vertex and in all, of the simple undirected graph beneath the stored
        one.

        Args:
            approximate: Estimate them, which pays where an exact count takes long: with some
                hundred million edges, vertices of very high degree, or little memory. A small graph
                is counted exactly in less time.
            hashes: The number of hashes, 1 to 1024 [default: 64]: four times the hashes halve the
                error. With fewer than 16 no error is reported, and fewer than 8 find too few
                triangles.
            seed: The seed from which the hashes are drawn.
            progress: Whether to show how far the run is, by default on a terminal and in notebooks;
                or a function that is called with the stage, what is done of it, its total, and the
                unit.

        The table has the columns:
            vertex: the vertex.
            triangles: triangles with this corner; an estimate may have a fraction.

        Memory: 28 bytes a vertex, 4 more for each thread, rows of both directions, and 4 bytes an
        edge where the budget has room; estimated: 12 bytes a vertex, and 2 for each hash where the
        budget has room.
        Source: Latapy, Theoretical Computer Science 407, 2008; Hu, Tao, Chung, SIGMOD 2013;
        estimated: minimum-wise hashes, Becchetti et al., KDD 2008
        """
        options: dict[str, Any] = {
            "approximate": approximate,
            "hashes": hashes,
            "seed": seed,
            **misspelt,
        }
        return self._run("triangles", options, progress)

    def lcc(
        self,
        *,
        progress: Progress | None = None,
        **misspelt: Never,
    ) -> Result:
        """Local clustering coefficients: the fraction of possible edges that exist between the
        neighbours of each vertex.

        Args:
            progress: Whether to show how far the run is, by default on a terminal and in notebooks;
                or a function that is called with the stage, what is done of it, its total, and the
                unit.

        The table has the columns:
            vertex: the vertex.
            coefficient: the fraction of the ordered pairs of its neighbours that an edge joins,
                from the first to the second.

        Memory: as triangles.
        Source: Iosup et al., LDBC Graphalytics, VLDB 2016
        """
        options: dict[str, Any] = {
            **misspelt,
        }
        return self._run("lcc", options, progress)

    def kcore(
        self,
        *,
        method: Literal["rows", "passes"] = "rows",
        progress: Progress | None = None,
        **misspelt: Never,
    ) -> Result:
        """Core numbers: the largest k for which a vertex is in a subgraph where all have k
        neighbours, of the simple undirected graph beneath the stored one.

        Args:
            method: Where the edges come from.
            progress: Whether to show how far the run is, by default on a terminal and in notebooks;
                or a function that is called with the stage, what is done of it, its total, and the
                unit.

        The table has the columns:
            vertex: the vertex.
            core: the core number.

        Memory: 20 bytes a vertex, and rows of both directions; less in passes.
        Source: Seidman, Social Networks 5, 1983; Batagelj, Zaversnik 2003; Dasari, Ranjan, Zubair,
        ParK, IEEE Big Data 2014
        """
        options: dict[str, Any] = {
            "method": method,
            **misspelt,
        }
        return self._run("kcore", options, progress)

    def mis(
        self,
        *,
        seed: int = 1,
        progress: Progress | None = None,
        **misspelt: Never,
    ) -> Result:
        """A maximal independent set of an undirected graph: no two of its vertices are neighbours,
        and none can be added.

        Args:
            seed: Seed of the vertex priorities; another seed gives another set.
            progress: Whether to show how far the run is, by default on a terminal and in notebooks;
                or a function that is called with the stage, what is done of it, its total, and the
                unit.

        The table has the columns:
            vertex: the vertex.
            in_set: whether the set has the vertex.

        Memory: 2 to 6 bytes a vertex, and rows.
        Source: Luby, STOC 1985; Blelloch, Fineman, Shun, SPAA 2012
        """
        options: dict[str, Any] = {
            "seed": seed,
            **misspelt,
        }
        return self._run("mis", options, progress)

    def mst(
        self,
        *,
        maximum: bool = False,
        progress: Progress | None = None,
        **misspelt: Never,
    ) -> Result:
        """Minimum or maximum spanning forest: the edges of least or greatest total weight that
        connect every component of an undirected graph. Without weights every edge counts 1.

        Args:
            maximum: Find the forest of greatest weight.
            progress: Whether to show how far the run is, by default on a terminal and in notebooks;
                or a function that is called with the stage, what is done of it, its total, and the
                unit.

        The table has the columns:
            u: one end of an edge of the forest.
            v: the other end.
            weight: its weight.

        Memory: 28 to 32 bytes a vertex, and rows.
        Source: Boruvka 1926; Nesetril, Milkova, Nesetrilova, Discrete Mathematics 233, 2001
        """
        options: dict[str, Any] = {
            "maximum": maximum,
            **misspelt,
        }
        return self._run("mst", options, progress)

    def subgraph(
        self,
        *,
        vertices: VertexTable | None = None,
        component: Vertex | None = None,
        header: bool = False,
        missing: Literal["refuse", "skip"] | None = None,
        progress: Progress | None = None,
        **misspelt: Never,
    ) -> Result:
        """Induced subgraph: given vertices, or a component, and the edges between them, as a graph
        or a table.

        Args:
            vertices: The vertices: a table with an id in each row. Tables are read as inputs are:
                text, also as .gz and .zst, Parquet, `-`.
            component: The weakly connected component of this vertex.
            header: The first line of each table names its columns. Without this option a first line
                is a header only if it has known column names, such as `vertex`.
            missing: What to do with rows whose vertex is not in the graph [default: refuse; for
                coordinates: skip].
            progress: Whether to show how far the run is, by default on a terminal and in notebooks;
                or a function that is called with the stage, what is done of it, its total, and the
                unit.

        The table has the columns:
            source: the source of an edge.
            target: its target.
            weight: its weight (in a graph with weights).

        Memory: 1 to 5 bytes a vertex; 9 with a component.
        """
        options: dict[str, Any] = {
            "vertices": vertices,
            "component": component,
            "header": header,
            "missing": missing,
            **misspelt,
        }
        return self._run("subgraph", options, progress)

    def topological_order(
        self,
        *,
        progress: Progress | None = None,
        **misspelt: Never,
    ) -> Result:
        """Topological order: each vertex behind all that have an edge to it.

        Args:
            progress: Whether to show how far the run is, by default on a terminal and in notebooks;
                or a function that is called with the stage, what is done of it, its total, and the
                unit.

        The table has the columns:
            vertex: the vertex.
            position: the place in the order, from 0.

        Memory: 16 to 20 bytes a vertex, and rows.
        Source: Kahn, Topological Sorting of Large Networks, Communications of the ACM 5, 1962
        """
        options: dict[str, Any] = {
            **misspelt,
        }
        return self._run("topological-order", options, progress)

    def random_walks(
        self,
        *,
        length: int = 80,
        walks: int = 10,
        p: float = 1.0,
        q: float = 1.0,
        seed: int = 0,
        sources: VertexTable | None = None,
        header: bool = False,
        missing: Literal["refuse", "skip"] | None = None,
        progress: Progress | None = None,
        **misspelt: Never,
    ) -> Result:
        """Random walks from each vertex, or from some; with p and q those of node2vec.

        Args:
            length: Number of steps of a walk.
            walks: Number of walks from each vertex.
            p: The greater P is, the less likely is a step back.
            q: The greater Q is, the less likely is a step to a vertex that has no edge from the
                vertex before.
            seed: Seed of the random walks.
            sources: The vertices where walks begin: a table with an id in each row [default: every
                vertex]. Tables are read as inputs are: text, also as .gz and .zst, Parquet, `-`.
            header: The first line of each table names its columns. Without this option a first line
                is a header only if it has known column names, such as `vertex`.
            missing: What to do with rows whose vertex is not in the graph [default: refuse; for
                coordinates: skip].
            progress: Whether to show how far the run is, by default on a terminal and in notebooks;
                or a function that is called with the stage, what is done of it, its total, and the
                unit.

        The table has the columns:
            walk: the number of the walk, from 0.
            step: the number of the step, from 0.
            vertex: the vertex after that step.

        Memory: 4 bytes for each vertex of a walk, 144 for each walk, and rows.
        Source: Grover, Leskovec, node2vec, KDD 2016; Yang et al., KnightKing, SOSP 2019
        """
        options: dict[str, Any] = {
            "length": length,
            "walks": walks,
            "p": p,
            "q": q,
            "seed": seed,
            "sources": sources,
            "header": header,
            "missing": missing,
            **misspelt,
        }
        return self._run("random-walks", options, progress)

    def similarity(
        self,
        *,
        pairs: VertexTable | None = None,
        sources: VertexTable | None = None,
        top: int | None = None,
        measure: Literal["jaccard", "overlap", "adamic-adar"] = "jaccard",
        header: bool = False,
        missing: Literal["refuse", "skip"] | None = None,
        progress: Progress | None = None,
        **misspelt: Never,
    ) -> Result:
        """Similarity by common neighbours: of given pairs, or the vertices most similar to given
        ones.

        Args:
            pairs: The pairs: a table with two ids in each row. Tables are read as inputs are: text,
                also as .gz and .zst, Parquet, `-`.
            sources: The vertices for which to find the most similar ones: a table with an id in
                each row.
            top: How many similar vertices to find for each source [default: 10].
            measure: The measure of similarity.
            header: The first line of each table names its columns. Without this option a first line
                is a header only if it has known column names, such as `vertex`.
            missing: What to do with rows whose vertex is not in the graph [default: refuse; for
                coordinates: skip].
            progress: Whether to show how far the run is, by default on a terminal and in notebooks;
                or a function that is called with the stage, what is done of it, its total, and the
                unit.

        The table has the columns:
            u: the first vertex of the pair.
            v: the second.
            similarity: the similarity of their neighbourhoods.

        Memory: 8 bytes a vertex, 20 more for each thread, 24 for each given pair, some 50 for each
        found pair, and rows of both directions.
        Source: Jaccard, New Phytologist 11, 1912; Adamic, Adar, Social Networks 25, 2003
        """
        options: dict[str, Any] = {
            "pairs": pairs,
            "sources": sources,
            "top": top,
            "measure": measure,
            "header": header,
            "missing": missing,
            **misspelt,
        }
        return self._run("similarity", options, progress)

    def spmv(
        self,
        *,
        vector: VertexTable | None = None,
        iterations: int = 1,
        header: bool = False,
        missing: Literal["refuse", "skip"] | None = None,
        progress: Progress | None = None,
        **misspelt: Never,
    ) -> Result:
        """Sparse matrix-vector product: sums of values times weights along edges. Without weights
        every edge counts 1.

        Args:
            vector: The vector, as a table: each row has an id and a value [default: all values are
                1]. Vertices that are not in the table have the value 0. Several values of one
                vertex are added up.
            iterations: The number of multiplications.
            header: The first line of each table names its columns. Without this option a first line
                is a header only if it has known column names, such as `vertex`.
            missing: What to do with rows whose vertex is not in the graph [default: refuse; for
                coordinates: skip].
            progress: Whether to show how far the run is, by default on a terminal and in notebooks;
                or a function that is called with the stage, what is done of it, its total, and the
                unit.

        The table has the columns:
            vertex: the vertex.
            value: the element of the product.

        Memory: 12 bytes a vertex; 16 with a vector.
        Source: the kernel of Maass et al., MOSAIC, EuroSys 2017, section 6
        """
        options: dict[str, Any] = {
            "vector": vector,
            "iterations": iterations,
            "header": header,
            "missing": missing,
            **misspelt,
        }
        return self._run("spmv", options, progress)

    def belief_propagation(
        self,
        *,
        model: File | None = None,
        potential: File | None = None,
        priors: VertexTable | None = None,
        prior: Sequence[float] | None = None,
        state: int | None = None,
        iterations: int = 100,
        tolerance: float = 1e-06,
        damping: float = 0.0,
        header: bool = False,
        missing: Literal["refuse", "skip"] | None = None,
        progress: Progress | None = None,
        **misspelt: Never,
    ) -> Result:
        """Belief propagation: how likely each vertex is in each state, given how well states go
        together (sum-product).

        Args:
            model: A model in the text format of the UAI competitions, in the place of a graph.
                Variables are vertices, named by their numbers. Factors have at most two variables.
            potential: How well a state of a vertex goes with a state of its neighbour: a symmetric
                matrix of weights, a row in each line. Its size is the number of states. Loops,
                which join a vertex to itself, are ignored.
            priors: What is known about vertices: a table with an id, a state (from 0) and its
                weight in each row. If a vertex has rows, its states without a row weigh 0. Vertices
                without any row have the prior of the option `prior`.
            prior: What is known about a vertex without a row in the table of priors: a weight for
                each state, such as 0.99,0.01 [default: all states weigh the same].
            state: List the vertices that are most likely in this state (from 0) [default: those
                whose state is most certain].
            iterations: The most iterations.
            tolerance: Stop when an iteration changes no belief by more than this. If none does so,
                there is a warning.
            damping: How much of a message stays as it was, from 0 to below 1. If values swing, 0.5
                may make them converge.
            header: The first line of each table names its columns. Without this option a first line
                is a header only if it has known column names, such as `vertex`.
            missing: What to do with rows whose vertex is not in the graph [default: refuse; for
                coordinates: skip].
            progress: Whether to show how far the run is, by default on a terminal and in notebooks;
                or a function that is called with the stage, what is done of it, its total, and the
                unit.

        The table has the columns:
            vertex: the vertex.
            state_0, ..: the probability that it is in that state; null for a state that it does not
                have.

        Memory: 16 bytes a vertex for each state but one; 12 for two states with one potential; 8
        more with priors; rows of both directions.
        Source: Pearl, Probabilistic Reasoning in Intelligent Systems, 1988
        """
        options: dict[str, Any] = {
            "model": model,
            "potential": potential,
            "priors": priors,
            "prior": prior,
            "state": state,
            "iterations": iterations,
            "tolerance": tolerance,
            "damping": damping,
            "header": header,
            "missing": missing,
            **misspelt,
        }
        return self._run("belief-propagation", options, progress)
