"""Runs one graph library on one graph, on request, and times it.

    peers.py PEER GRAPH.bin32 VERTICES [undirected]

PEER is graphblas, scipy, networkit, igraph or graphx; the graph is pairs of little-endian 32-bit ids. With
`undirected`, which networkit and igraph know, it lists each edge of a simple undirected graph once. Once it is loaded,
one line of JSON says what the library has loaded. Every line on standard input is then a request, answered by one line
of JSON with its time and with figures by which the answer can be checked:

    pagerank ITERATIONS, bfs SOURCE, wcc, scc: of the graph
    kcore, triangles, bridges, diameter, betweenness SAMPLES [SOURCES.txt]: of the simple undirected graph
        (`betweenness 0` is exact: from all vertices)
    louvain, label-propagation, leiden ITERATIONS, each with [SEED [ANSWER.npy]]: of the simple undirected graph
    simple-edges: how many edges the simple undirected graph has (networkit, igraph)
    judge ANSWER.npy [TRUTH.npy]: how good communities are, whoever found them (igraph)

The simple undirected graph is made before the first request for it is timed. `leiden 0` iterates until nothing changes.

Times are those of the algorithm alone: the graph lies in memory in the library's own form.
"""

import json
import random
import resource
import shutil
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

DAMPING = 0.85


def read_pairs(path):
    """Sources and targets, one array each."""
    pairs = np.fromfile(path, dtype="<u4").reshape(-1, 2)
    return np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1])


def power_iteration(vertices, out_degrees, iterations, pull):
    """PageRank by Graphalytics' rule; `pull(weights, base)` is, for each vertex, `base` and the weights of its
    in-neighbours."""
    inverse = np.zeros(vertices, np.float32)
    np.divide(DAMPING, out_degrees, out=inverse, where=out_degrees > 0)
    is_dangling = out_degrees == 0
    ranks = np.full(vertices, 1 / vertices, np.float32)
    seconds = []
    for _ in range(iterations):
        started = time.perf_counter()
        dangling = float(ranks.sum(where=is_dangling, dtype=np.float64))
        base = (1 - DAMPING + DAMPING * dangling) / vertices
        ranks = pull(ranks * inverse, np.float32(base))
        seconds.append(time.perf_counter() - started)
    return {"iteration_seconds": seconds, **checks_of_ranks(ranks)}


def checks_of_ranks(ranks):
    ranks = np.asarray(ranks)
    return {"sum": float(ranks.sum(dtype=np.float64)), "top": int(ranks.argmax())}


def timed(work):
    started = time.perf_counter()
    result = work()
    return time.perf_counter() - started, result


def found_communities(seconds, membership, modularity, answer):
    """The answer to a request for communities, which are written to the file `answer` if there is one."""
    if answer is not None:
        np.save(answer, np.asarray(membership, np.int64))
    return {"seconds": seconds, "modularity": modularity}


def read_labels(path):
    """The communities of a file as numbers from 0 on, by vertex: an array, or a table of vertices and labels."""
    table = np.load(path)
    if table.dtype.names:
        table = np.sort(table, order=table.dtype.names[0])[table.dtype.names[1]]
    return np.unique(table, return_inverse=True)[1]


class GraphBlas:
    """SuiteSparse:GraphBLAS through python-graphblas: one vector-matrix product an iteration.

    Values are one for all entries, as in LAGraph, so that only the pattern is read; edges that repeat
    are one entry.
    """

    algorithms = ("pagerank", "bfs")

    def __init__(self, sources, targets, vertices):
        import graphblas as gb

        gb.init("suitesparse", blocking=True)
        self.gb = gb
        self.version = ".".join(map(str, gb.ss.about["library_version"]))
        self.threads = int(gb.ss.config["nthreads"])
        size = {"nrows": vertices, "ncols": vertices}
        # In-edges of a vertex side by side: the fastest form for a product with a dense vector.
        self.into = gb.Matrix.from_coo(
            targets, sources, np.float32(1), dtype="FP32", **size
        )
        self.out_degrees = self.into.reduce_columnwise(gb.agg.count).new(dtype="FP32")
        self.out_degrees = self.out_degrees.to_dense(fill_value=0)
        self.edges = int(self.into.nvals)
        self.merges_duplicates = True
        self.out = None

    def pagerank(self, iterations):
        gb = self.gb

        def pull(weights, base):
            weights = gb.Vector.from_dense(weights)
            ranks = gb.Vector.from_dense(np.full(self.into.nrows, base))
            ranks(gb.binary.plus) << self.into.mxv(weights, gb.semiring.plus_second)
            return ranks.to_dense()

        return power_iteration(self.into.nrows, self.out_degrees, iterations, pull)

    def bfs(self, source):
        gb = self.gb
        if self.out is None:
            self.out = self.into.T.new()

        def search():
            levels = gb.Vector("INT32", self.out.nrows)
            frontier = gb.Vector("BOOL", self.out.nrows)
            frontier[source] = True
            level = 0
            while frontier.nvals:
                levels(frontier.S)[:] = level
                frontier(~levels.S, replace=True) << frontier.vxm(self.out, gb.semiring.any_pair)
                level += 1
            return int(levels.nvals)

        seconds, reached = timed(search)
        return {"seconds": seconds, "reached": reached}


class SciPy:
    """SciPy's compressed sparse rows. Edges that repeat are one entry with their number as value."""

    algorithms = ("pagerank", "bfs", "wcc")
    threads = 1

    def __init__(self, sources, targets, vertices):
        import scipy
        from scipy import sparse

        self.version = scipy.__version__
        ones = np.ones(len(sources), np.float32)
        sources, targets = sources.view(np.int32), targets.view(np.int32)
        self.out_degrees = np.bincount(sources, minlength=vertices).astype(np.float32)
        entries = (ones, (targets, sources))
        self.into = sparse.coo_matrix(entries, shape=(vertices, vertices)).tocsr()
        self.edges = int(self.into.data.sum(dtype=np.float64))
        self.merges_duplicates = False
        self.out = None

    def pagerank(self, iterations):
        def pull(weights, base):
            ranks = self.into @ weights
            ranks += base
            return ranks

        return power_iteration(self.into.shape[0], self.out_degrees, iterations, pull)

    def forward(self):
        if self.out is None:
            # What csgraph works on; converted here, so that no search is charged for it.
            self.out = self.into.T.tocsr().astype(np.float64)
        return self.out

    def bfs(self, source):
        from scipy.sparse.csgraph import breadth_first_order

        graph = self.forward()
        search = lambda: breadth_first_order(graph, source, return_predecessors=False)
        seconds, order = timed(search)
        return {"seconds": seconds, "reached": len(order)}

    def wcc(self):
        from scipy.sparse.csgraph import connected_components

        graph = self.forward()
        seconds, (count, _) = timed(lambda: connected_components(graph, connection="weak"))
        return {"seconds": seconds, "components": int(count)}


class NetworKit:
    """NetworKit's adjacency arrays."""

    algorithms = ("pagerank", "bfs", "wcc", "scc", "kcore", "triangles", "diameter", "betweenness")
    algorithms += ("louvain", "label-propagation")

    def __init__(self, sources, targets, vertices, directed=True):
        import networkit as nk

        self.nk = nk
        self.version = nk.__version__
        self.threads = nk.getMaxNumberOfThreads()
        # Its reader of arrays takes 64-bit ids; narrower ones crash it.
        ends = sources.astype(np.uint64), targets.astype(np.uint64)
        self.graph = nk.GraphFromCoo(ends, n=vertices, directed=directed)
        self.edges = self.graph.numberOfEdges()
        self.merges_duplicates = False
        self.undirected = None
        self.largest = None

    def simple(self):
        if self.undirected is None:
            tools = self.nk.graphtools
            graph = tools.toUndirected(self.graph)
            graph.removeSelfLoops()
            graph.removeMultiEdges()
            # The number of edges is wrong after that, until the graph is made anew.
            self.undirected = tools.getCompactedGraph(graph, tools.getContinuousNodeIds(graph))
        return self.undirected

    def simple_edges(self):
        return {"edges": self.simple().numberOfEdges()}

    def pagerank(self, iterations):
        nk = self.nk
        sinks = nk.centrality.SinkHandling.DistributeSinks
        rank = nk.centrality.PageRank(self.graph, DAMPING, 1e-30, distributeSinks=sinks)
        rank.maxIterations = iterations
        seconds, _ = timed(rank.run)
        done = max(rank.numberOfIterations(), 1)
        return {"iteration_seconds": [seconds / done] * done, **checks_of_ranks(rank.scores())}

    def bfs(self, source):
        search = self.nk.distance.BFS(self.graph, source, storePaths=False)
        seconds, _ = timed(search.run)
        # Vertices out of reach are at the largest float.
        distances = np.asarray(search.getDistances())
        distances = distances[distances < 1e300]
        return {"seconds": seconds, "reached": len(distances), "depth": int(distances.max())}

    def wcc(self):
        components = self.nk.components
        is_directed = self.graph.isDirected()
        kind = components.WeaklyConnectedComponents if is_directed else components.ConnectedComponents
        found = kind(self.graph)
        seconds, _ = timed(found.run)
        return {"seconds": seconds, "components": found.numberOfComponents()}

    def scc(self):
        components = self.nk.components.StronglyConnectedComponents(self.graph)
        seconds, _ = timed(components.run)
        return {"seconds": seconds, "components": components.numberOfComponents()}

    def kcore(self):
        cores = self.nk.centrality.CoreDecomposition(self.simple())
        seconds, _ = timed(cores.run)
        return {"seconds": seconds, "degeneracy": int(cores.maxCoreNumber())}

    def triangles(self):
        graph = self.simple()
        clustering = self.nk.centrality.LocalClusteringCoefficient(graph, True)
        seconds, _ = timed(clustering.run)
        degrees = np.array([graph.degree(vertex) for vertex in graph.iterNodes()], np.float64)
        corners = np.asarray(clustering.scores()) @ (degrees * (degrees - 1) / 2)
        return {"seconds": seconds, "triangles": round(corners / 3)}

    def diameter(self):
        nk = self.nk
        if self.largest is None:
            extract = nk.components.ConnectedComponents.extractLargestConnectedComponent
            self.largest = extract(self.simple(), True)
        diameter = nk.distance.Diameter(self.largest, algo=nk.distance.DiameterAlgo.EXACT)
        seconds, _ = timed(diameter.run)
        return {"seconds": seconds, "diameter": diameter.getDiameter()[0]}

    def betweenness(self, samples, _sources=None):
        graph, centrality = self.simple(), self.nk.centrality
        if samples == 0:
            exact = centrality.Betweenness(graph)
            seconds, _ = timed(exact.run)
            # NetworKit counts each pair of vertices in both directions.
            return {"seconds": seconds, "centrality": max(exact.scores()) / 2}
        estimate = centrality.EstimateBetweenness(graph, samples, parallel=True)
        seconds, _ = timed(estimate.run)
        return {"seconds": seconds, "sources": samples}

    def louvain(self, seed=0, answer=None):
        return self.communities(self.nk.community.PLM, seed, answer)

    def label_propagation(self, seed=0, answer=None):
        return self.communities(self.nk.community.PLP, seed, answer)

    def communities(self, kind, seed, answer):
        graph = self.simple()
        self.nk.setSeed(seed, False)
        method = kind(graph)
        seconds, _ = timed(method.run)
        partition = method.getPartition()
        modularity = self.nk.community.Modularity().getQuality(partition, graph)
        return found_communities(seconds, partition.getVector(), modularity, answer)


class IGraph:
    """igraph. Its PageRank solves to convergence and knows no iterations."""

    algorithms = ("pagerank", "bfs", "wcc", "scc", "kcore", "triangles", "bridges", "betweenness")
    algorithms += ("louvain", "label-propagation", "leiden", "judge")
    threads = 1

    def __init__(self, sources, targets, vertices, directed=True):
        import igraph

        self.igraph = igraph
        self.version = igraph.__version__
        edges = np.empty((len(sources), 2), np.int64)
        edges[:, 0], edges[:, 1] = sources, targets
        self.graph = igraph.Graph(n=vertices, edges=edges, directed=directed)
        self.edges = self.graph.ecount()
        self.merges_duplicates = False
        self.undirected = None

    def simple(self):
        if self.undirected is None:
            self.undirected = self.graph.as_undirected(mode="collapse").simplify()
        return self.undirected

    def simple_edges(self):
        return {"edges": self.simple().ecount()}

    def pagerank(self, _iterations):
        seconds, ranks = timed(lambda: self.graph.pagerank(damping=DAMPING))
        return {"seconds": seconds, **checks_of_ranks(ranks)}

    def bfs(self, source):
        seconds, distances = timed(lambda: self.graph.distances(source)[0])
        distances = np.asarray(distances)
        distances = distances[np.isfinite(distances)]
        return {"seconds": seconds, "reached": len(distances), "depth": int(distances.max())}

    def wcc(self):
        seconds, components = timed(lambda: self.graph.connected_components(mode="weak"))
        return {"seconds": seconds, "components": len(components)}

    def scc(self):
        seconds, components = timed(lambda: self.graph.connected_components(mode="strong"))
        return {"seconds": seconds, "components": len(components)}

    def kcore(self):
        graph = self.simple()
        seconds, cores = timed(graph.coreness)
        return {"seconds": seconds, "degeneracy": max(cores, default=0)}

    def triangles(self):
        graph = self.simple()
        seconds, share = timed(graph.transitivity_undirected)
        degrees = np.asarray(graph.degree(), np.float64)
        return {"seconds": seconds, "triangles": round(share * (degrees @ (degrees - 1)) / 6)}

    def bridges(self):
        graph = self.simple()
        seconds, bridges = timed(graph.bridges)
        return {"seconds": seconds, "bridges": len(bridges)}

    def betweenness(self, samples, sources=None):
        graph = self.simple()
        if samples == 0:
            seconds, found = timed(graph.betweenness)
            return {"seconds": seconds, "centrality": max(found)}
        if sources is None:
            sources = np.random.default_rng(1).integers(graph.vcount(), size=samples)
        else:
            sources = np.loadtxt(sources, dtype=np.int64, ndmin=1)
        seconds, found = timed(lambda: graph.betweenness(sources=sources.tolist()))
        first = int(np.argmax(found))
        return {"seconds": seconds, "sources": len(sources), "top": first, "centrality": found[first]}

    def louvain(self, seed=0, answer=None):
        return self.communities(self.simple().community_multilevel, seed, answer)

    def label_propagation(self, seed=0, answer=None):
        return self.communities(self.simple().community_label_propagation, seed, answer)

    def leiden(self, iterations, seed=0, answer=None):
        method = self.simple().community_leiden
        # A negative number iterates until nothing changes.
        options = {"objective_function": "modularity", "n_iterations": iterations or -1}
        return self.communities(lambda: method(**options), seed, answer)

    def communities(self, method, seed, answer):
        # igraph draws its random numbers from Python's generator.
        random.seed(seed)
        seconds, found = timed(method)
        return found_communities(seconds, found.membership, found.modularity, answer)

    def judge(self, answer, truth=None):
        membership = read_labels(answer)
        found = {
            "modularity": self.simple().modularity(membership),
            "communities": int(membership.max()) + 1,
        }
        if truth is not None:
            compare = self.igraph.compare_communities
            found["nmi"] = compare(membership, read_labels(truth), method="nmi")
        return found


class GraphX:
    """GraphX of Apache Spark, called through PySpark: Spark has no Python interface for it.

    GraphX reads its graph as text. Vertices without out-edges give nothing to others, and at the end all ranks are
    scaled to the right sum; they converge to the ranks of the other libraries.
    """

    algorithms = ("pagerank",)
    threads = 2
    memory = "4g"
    # Edges that are written as text at a time.
    chunk = 1 << 20

    def __init__(self, sources, targets, _vertices):
        import pyspark

        self.version = pyspark.__version__
        self.folder = tempfile.TemporaryDirectory(prefix="tegula-graphx-")
        settings = pyspark.SparkConf().setMaster(f"local[{self.threads}]")
        settings.set("spark.driver.memory", self.memory).set("spark.local.dir", self.folder.name)
        settings.set("spark.ui.enabled", "false")
        self.context = pyspark.SparkContext(conf=settings)
        edges = Path(self.folder.name, "edges.txt")
        self.write_text(edges, sources, targets)
        java = self.context._jvm.org.apache.spark
        level = java.api.java.StorageLevels.MEMORY_AND_DISK
        self.graph = java.graphx.GraphLoader.edgeListFile(
            self.context._jsc.sc(), str(edges), False, self.threads, level, level
        )
        self.edges = self.graph.ops().numEdges()
        self.vertices = self.graph.ops().numVertices()
        self.merges_duplicates = False

    def write_text(self, path, sources, targets):
        with path.open("w") as file:
            for first in range(0, len(sources), self.chunk):
                ends = (ids[first : first + self.chunk].tolist() for ids in (sources, targets))
                file.writelines(f"{source} {target}\n" for source, target in zip(*ends))

    def pagerank(self, iterations):
        def rank():
            ranked = self.graph.ops().staticPageRank(iterations, 1 - DAMPING)
            # Spark computes the last ranks once something asks for them.
            ranked.vertices().count()
            return ranked

        seconds, ranked = timed(rank)
        vertices, ranks = self.table(ranked)
        ranked.unpersist(True)
        return {
            "iteration_seconds": [seconds / iterations] * iterations,
            "sum": float(ranks.sum() / self.vertices),
            "top": int(vertices[ranks.argmax()]),
        }

    def table(self, ranked):
        """The vertices and their ranks, which Spark writes as lines of `(vertex,rank)`."""
        folder = Path(self.folder.name, "ranks")
        ranked.vertices().saveAsTextFile(str(folder))
        lines = [line for part in folder.glob("part-*") for line in part.read_text().split()]
        shutil.rmtree(folder)
        pairs = [line.strip("()").split(",") for line in lines]
        vertices = np.array([int(vertex) for vertex, _ in pairs])
        return vertices, np.array([float(rank) for _, rank in pairs])


PEERS = {
    "graphblas": GraphBlas,
    "scipy": SciPy,
    "networkit": NetworKit,
    "igraph": IGraph,
    "graphx": GraphX,
}


def say(answer):
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({**answer, "peak_memory_bytes": peak}), flush=True)


def main():
    is_undirected = sys.argv[4:] == ["undirected"]
    if len(sys.argv) != 4 + is_undirected or sys.argv[1] not in PEERS:
        sys.exit(__doc__)
    name, path, vertices = sys.argv[1], sys.argv[2], int(sys.argv[3])
    options = {"directed": False} if is_undirected else {}
    sources, targets = read_pairs(path)
    used = np.zeros(vertices, bool)
    used[sources] = used[targets] = True
    seconds, peer = timed(lambda: PEERS[name](sources, targets, vertices, **options))
    del sources, targets
    about = {
        "peer": name,
        "version": peer.version,
        "threads": peer.threads,
        "vertices": vertices,
        "vertices_with_edges": int(used.sum()),
        "edges": peer.edges,
        "merges_duplicates": peer.merges_duplicates,
        "algorithms": peer.algorithms,
        "load_seconds": seconds,
    }
    say(about)
    for request in sys.stdin:
        algorithm, *arguments = request.split()
        arguments = [int(word) if word.isdigit() else word for word in arguments]
        answer = getattr(peer, algorithm.replace("-", "_"))(*arguments)
        say({"peer": name, "graph": path, "algorithm": algorithm, **answer})


if __name__ == "__main__":
    main()
