"""Makes the graphs of `cargo xtask bench-peers`, as pairs of little-endian 32-bit ids.

    graphs.py compact PAIRS.bin64 GRAPH.bin32
    graphs.py lfr VERTICES MIXING SEED GRAPH.bin32 TRUTH.npy

`compact` numbers the vertices with an edge from 0 on, in the order of their ids: libraries have a vertex for every
number below the greatest. `lfr` draws a benchmark graph with known communities (Lancichinetti, Fortunato, Radicchi,
Physical Review E 78, 2008) by NetworKit; each vertex has the share MIXING of its edges, in percent, to other
communities.
"""

import sys

import numpy as np

# The graphs of the authors' comparison of methods (Physical Review E 80, 2009), with their larger communities.
DEGREE_MEAN, DEGREE_MAX, DEGREE_EXPONENT = 20, 50, -2
COMMUNITY_MIN, COMMUNITY_MAX, COMMUNITY_EXPONENT = 20, 100, -1


def write(edges, path):
    """Writes edges with new numbers for their vertices; returns the old numbers."""
    ids, numbers = np.unique(edges, return_inverse=True)
    numbers.astype("<u4").tofile(path)
    return ids


def compact(pairs, path):
    write(np.fromfile(pairs, "<u8"), path)


def lfr(vertices, mixing, seed, path, truth):
    import networkit as nk

    # With more threads, the same seed makes other graphs.
    nk.setNumberOfThreads(1)
    nk.setSeed(int(seed), False)
    generator = nk.generators.LFRGenerator(int(vertices))
    generator.generatePowerlawDegreeSequence(DEGREE_MEAN, DEGREE_MAX, DEGREE_EXPONENT)
    sizes = COMMUNITY_MIN, COMMUNITY_MAX, COMMUNITY_EXPONENT
    generator.generatePowerlawCommunitySizeSequence(*sizes)
    generator.setMu(int(mixing) / 100)
    graph = generator.run().getGraph()
    edges = np.array(list(graph.iterEdges()))
    ids = write(edges, path)
    np.save(truth, np.asarray(generator.getPartition().getVector())[ids])


TASKS = {"compact": (compact, 2), "lfr": (lfr, 5)}


def main():
    name, arguments = (sys.argv[1], sys.argv[2:]) if len(sys.argv) > 1 else ("", [])
    task, count = TASKS.get(name, (None, 0))
    if task is None or len(arguments) != count:
        sys.exit(__doc__)
    task(*arguments)


if __name__ == "__main__":
    main()
