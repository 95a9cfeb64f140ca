"""Measures the Python package beside the command line, and its NetworkX backend beside other libraries.

    cargo build --release --bin tegula
    python bench/python.py [--scale 22] [--pairs 100000000] [--peer-edges 1000000] [--rounds 5] > bench/python.md

It runs in an environment with the package, built with optimisation, and the libraries of bench/requirements-python.txt.
Libraries of the last table that are missing are left out and named. Graphs are R-MAT of `tegula generate`. The import of
the package and the functions are medians of all rounds, and what is compared runs in turn; but NetworkX, which is slow,
takes one or three rounds by itself. Memory, results and conversions of other libraries are measured once. TEGULA names
another program than target/release/tegula.
"""

import argparse
import datetime
import importlib
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import tegula as tg

# The program itself, not the script of the package, which starts Python first.
TEGULA = os.path.abspath(os.environ.get("TEGULA", "target/release/tegula"))


def timed(work):
    started = time.perf_counter()
    result = work()
    return time.perf_counter() - started, result


def in_turn(rounds, *works):
    """The median times of some works, each done once a round."""
    times = [[timed(work)[0] for work in works] for _ in range(rounds)]
    return [statistics.median(column) for column in zip(*times)]


def command(*arguments):
    subprocess.run([TEGULA, *map(str, arguments)], check=True, stdout=subprocess.DEVNULL)


def in_child(code):
    """What a new interpreter prints."""
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout


def words(seconds):
    for unit, size in (("s", 1), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e6:.3g} µs"


def grown(work):
    """By how many bytes the peak of this process lies above its memory before the work, and what the work returns."""

    def resident(name):
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) << 10 for line in lines if line.startswith(name))

    # The peak begins anew.
    Path("/proc/self/clear_refs").write_text("5")
    before = resident("VmRSS")
    result = work()
    return resident("VmHWM") - before, result


class Table:
    """Rows of the first table: a figure, what it stands beside, their ratio, and the target."""

    def __init__(self):
        print("| figure | tegula | beside | ratio | target |\n| --- | --: | --: | --: | --- |")

    def row(self, figure, value, beside, ratio, target, is_reached):
        mark = "✓" if is_reached else "✗ missed"
        print(f"| {figure} | {value} | {beside} | {ratio} | {target} {mark} |", flush=True)

    def ratio(self, figure, ours, other, least=None, most=None):
        """`least`: how often `ours` must fit into `other`; `most`: how many `other` it may take."""
        if least is not None:
            value, target, is_reached = other / ours, f"≥ {least}", other / ours >= least
        else:
            value, target, is_reached = ours / other, f"≤ {most}", ours / other <= most
        self.row(figure, words(ours), words(other), f"{value:.3g}x", target, is_reached)


def measure_import(table, rounds):
    code = """
import time, numpy
def resident():
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmRSS"))
before, started = resident(), time.perf_counter()
import tegula
print(time.perf_counter() - started, resident() - before)
"""
    figures = [tuple(map(float, in_child(code).split())) for _ in range(2 * rounds + 1)]
    seconds, kibibytes = (statistics.median(column) for column in zip(*figures))
    table.row("`import tegula`, beyond numpy", words(seconds), "", "", "≤ 60 ms", seconds <= 0.06)
    mebibytes = kibibytes / 1024
    table.row("memory of `import tegula`", f"{mebibytes:.1f} MiB", "", "", "≤ 20 MB", mebibytes <= 19.07)


def measure_pagerank(table, scale, rounds):
    command("generate", "rmat", "--scale", scale, "-o", "g.bin32", "--force", "-q")
    command("import", "g.bin32", "-o", "g.tegula", "--force", "-q")

    def here():
        with tg.open("g.tegula") as g:
            g.pagerank(progress=False).write("here.parquet", force=True)

    def there():
        command("run", "pagerank", "g.tegula", "-o", "there.parquet", "--force", "-q")

    here(), there()
    assert Path("here.parquet").read_bytes() == Path("there.parquet").read_bytes()
    table.ratio(f"`g.pagerank()` and its table, R-MAT {scale}, beside the command", *in_turn(rounds, here, there), most=1.03)


def measure_from_edges(table, count, rounds):
    import pyarrow as pa

    scale = 24
    factor = -(-count // (1 << scale))
    command("generate", "rmat", "--scale", scale, "--edge-factor", factor, "-o", "pairs.bin32", "--force", "-q")
    pairs = np.fromfile("pairs.bin32", dtype="<u4")[: 2 * count].reshape(-1, 2)
    pairs.tofile("pairs.bin32")
    columns = [pa.array(np.ascontiguousarray(column)) for column in pairs.T]
    edges = pa.table(columns, names=["source", "target"])
    del pairs

    def here():
        tg.from_edges(edges, path="here.tegula", force=True, memory="2GiB", progress=False).close()

    def there():
        command("import", "pairs.bin32", "-o", "there.tegula", "--force", "--memory", "2GiB", "-q")

    ours, others = in_turn(rounds, here, there)
    figure = f"`from_edges` of an Arrow table of {count:.0e} pairs, 2 GiB, beside `import` of raw pairs"
    table.ratio(figure, ours, others, most=1.1)
    del edges, columns
    figure = in_child(f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
import numpy as np, pyarrow as pa, tegula as tg
from python import grown
pairs = np.fromfile("pairs.bin32", dtype="<u4").reshape(-1, 2)
edges = pa.table([pa.array(np.ascontiguousarray(column)) for column in pairs.T], names=["source", "target"])
del pairs
print(grown(lambda: tg.from_edges(edges, path="here.tegula", force=True, memory="2GiB", progress=False).close())[0])
""")
    gibibytes = int(figure) / (1 << 30)
    table.row("its memory beside the table, with 2 GiB", f"{gibibytes:.2f} GiB", "", "", "≤ 2 GiB", gibibytes <= 2)


def measure_result(table):
    # Their import takes memory of its own.
    import pandas  # noqa: F401
    import polars  # noqa: F401

    vertices = 10_000_000
    ends = np.arange(vertices, dtype=np.uint32)
    with tg.from_edges((ends, np.roll(ends, 1)), progress=False) as g:
        result = g.pagerank(iterations=2, progress=False)
        # So that only the conversion counts.
        assert len(result.table) == vertices
        size = vertices * (8 + 4)
        for name, convert, most in ("polars", result.to_polars, 0), ("pandas", result.to_pandas, 1):
            more, (seconds, frame) = grown(lambda convert=convert: timed(convert))
            copies = more / size
            row = words(seconds), "", f"{copies:.2f} copies", f"≤ {most} copies", copies <= most + 0.1
            table.row(f"10^7 rows to {name}", *row)
            del frame


def rmat_pairs(edges):
    """The pairs of an R-MAT graph of about `edges` edges, without loops and parallel edges."""
    scale = max(4, (edges // 16).bit_length() - 1)
    factor = max(1, edges >> scale)
    command("generate", "rmat", "--scale", scale, "--edge-factor", factor, "-o", "peer.bin32", "--force", "-q")
    pairs = np.sort(np.fromfile("peer.bin32", dtype="<u4").reshape(-1, 2), axis=1)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    numbers = np.unique(pairs[:, 0].astype(np.uint64) << np.uint64(32) | pairs[:, 1])
    return np.stack([numbers >> np.uint64(32), numbers & np.uint64(0xFFFFFFFF)], axis=1).astype(np.uint32)


def measure_networkx(table, rounds):
    import networkx as nx

    graph = nx.Graph()
    # Some are parallel.
    graph.add_edges_from(rmat_pairs(1_200_000).tolist())

    def convert():
        graph.__networkx_cache__.clear()
        tg.nx.from_networkx(graph)

    size = f"{graph.number_of_edges():,} edges"
    seconds = in_turn(rounds, convert)[0]
    table.row(f"conversion of a NetworkX graph of {size}", words(seconds), "", "", "≤ 1.5 s", seconds <= 1.5)
    sources = 8
    calls = {
        "nx.pagerank": lambda **backend: nx.pagerank(graph, **backend),
        f"nx.betweenness_centrality(k={sources})": lambda **backend: nx.betweenness_centrality(
            graph, k=sources, seed=1, **backend
        ),
        "nx.connected_components": lambda **backend: list(nx.connected_components(graph, **backend)),
    }
    for name, call in calls.items():
        call(backend="tegula")
        ours = in_turn(rounds, lambda: call(backend="tegula"))[0]
        other = in_turn(1 if "between" in name else 3, lambda: call(backend="networkx"))[0]
        table.ratio(f"`{name}`, cached, {size}, beside NetworkX", ours, other, least=100)


class Tegula:
    def __init__(self, pairs):
        self.graph = tg.from_edges((pairs[:, 0], pairs[:, 1]), undirected=True, progress=False)

    def pagerank(self):
        return self.graph.pagerank(progress=False).to_numpy()

    def components(self):
        return self.graph.wcc(progress=False).to_numpy()

    def bfs(self, source):
        return self.graph.bfs(source=source, progress=False).to_numpy()


class Backend:
    def __init__(self, pairs):
        self.nx = importlib.import_module("networkx")
        graph = self.nx.Graph()
        graph.add_edges_from(pairs.tolist())
        self.seconds, self.graph = timed(lambda: tg.nx.from_networkx(graph))

    def pagerank(self):
        return self.nx.pagerank(self.graph)

    def components(self):
        return list(self.nx.connected_components(self.graph))

    def bfs(self, source):
        return self.nx.single_source_shortest_path_length(self.graph, source)


class NetworkX(Backend):
    def __init__(self, pairs):
        self.nx = importlib.import_module("networkx")
        self.graph = self.nx.Graph()
        self.graph.add_edges_from(pairs.tolist())


class Igraph:
    def __init__(self, pairs):
        igraph = importlib.import_module("igraph")
        self.graph = igraph.Graph(int(pairs.max()) + 1, pairs)

    def pagerank(self):
        return self.graph.pagerank()

    def components(self):
        return self.graph.connected_components().membership

    def bfs(self, source):
        return self.graph.distances(source)


class NetworKit:
    def __init__(self, pairs):
        self.nk = importlib.import_module("networkit")
        self.nk.setNumberOfThreads(os.cpu_count())
        coo = importlib.import_module("scipy.sparse").coo_matrix
        size = int(pairs.max()) + 1
        self.graph = self.nk.GraphFromCoo(coo((np.ones(len(pairs)), pairs.T.astype(np.uint64)), (size, size)))

    def pagerank(self):
        return self.nk.centrality.PageRank(self.graph, 0.85, 1e-6).run().scores()

    def components(self):
        return self.nk.components.ConnectedComponents(self.graph).run().getPartition().getVector()

    def bfs(self, source):
        return self.nk.distance.BFS(self.graph, source, storePaths=False).run().getDistances()


class Rustworkx:
    def __init__(self, pairs):
        self.rx = importlib.import_module("rustworkx")
        self.graph = self.rx.PyGraph()
        self.graph.add_nodes_from(range(int(pairs.max()) + 1))
        self.graph.add_edges_from_no_data(list(map(tuple, pairs.tolist())))
        self.directed = self.graph.to_directed()

    def pagerank(self):
        return self.rx.pagerank(self.directed)

    def components(self):
        return self.rx.connected_components(self.graph)

    def bfs(self, source):
        return self.rx.dijkstra_shortest_path_lengths(self.graph, source, lambda _: 1.0)


# The most edges with which each is measured; with more, a round takes minutes or all memory.
PEERS = {
    "tegula": (Tegula, 10**9),
    "NetworkX, backend tegula": (Backend, 10**6),
    "NetworkX": (NetworkX, 10**6),
    "igraph": (Igraph, 10**7),
    "NetworKit": (NetworKit, 10**8),
    "rustworkx": (Rustworkx, 10**6),
}


def measure_peers(edges_max, rounds):
    print("\n## Beside other libraries\n")
    print(
        "Undirected simple R-MAT graphs. Functions are timed without the conversion from an array of pairs; for the backend,\n"
        "that is from a NetworkX graph, and the first function stores its edges. Each library stops PageRank by its own rule.\n"
    )
    print("| edges | library | conversion | pagerank | components | bfs |\n| --: | --- | --: | --: | --: | --: |")
    edges = 1000
    while edges <= edges_max:
        pairs = rmat_pairs(edges)
        source = int(pairs[0, 0])
        for name, (peer, most) in PEERS.items():
            if edges > most:
                continue
            try:
                converted, of_peer = timed(lambda: peer(pairs))
            except ImportError as missing:
                print(f"{name} is left out: {missing}", file=sys.stderr)
                continue
            converted = getattr(of_peer, "seconds", converted)
            works = [of_peer.pagerank, of_peer.components, lambda: of_peer.bfs(source)]
            times = [in_turn(rounds, work)[0] for work in works]
            cells = " | ".join(map(words, [converted, *times]))
            print(f"| {len(pairs):,} | {name} | {cells} |", flush=True)
            del of_peer, works
        edges *= 10


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--scale", type=int, default=22)
    parser.add_argument("--pairs", type=int, default=10**8)
    parser.add_argument("--peer-edges", type=int, default=10**6)
    parser.add_argument("--rounds", type=int, default=5)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        print("# The Python package\n")
        today, load = datetime.date.today(), os.getloadavg()[0]
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        processor = next((line.split(": ")[1] for line in lines if line.startswith("model name")), "unknown")
        cores = f"{os.cpu_count()} cores of {processor}"
        print(f"{today}, {cores}, {chosen.rounds} rounds, load before the run {load:.2f}.\n")
        table = Table()
        measure_import(table, chosen.rounds)
        measure_pagerank(table, chosen.scale, chosen.rounds)
        measure_from_edges(table, chosen.pairs, chosen.rounds)
        measure_result(table)
        measure_networkx(table, chosen.rounds)
        measure_peers(chosen.peer_edges, chosen.rounds)


if __name__ == "__main__":
    main()
