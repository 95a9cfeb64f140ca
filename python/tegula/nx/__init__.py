"""NetworkX's functions on graphs of tegula.

`networkx.pagerank(G, backend="tegula")` runs a function on a graph of NetworkX. `open` opens a
graph directory as a graph that the functions of NetworkX take:

    G = tegula.nx.open("web.tegula")
    ranks = networkx.pagerank(G)
"""

from __future__ import annotations

from ._graph import Graph
from ._stored import StoredGraph, open

__all__ = ["Graph", "StoredGraph", "open"]
