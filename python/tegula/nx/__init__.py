"""NetworkX's functions on graphs of tegula.

`networkx.pagerank(G, backend="tegula")` runs a function on a graph of NetworkX. `open` opens a
graph directory as a graph that the functions of NetworkX take:

    G = tegula.nx.open("web.tegula")
    ranks = networkx.pagerank(G)

`to_networkx` converts a graph of tegula to one of NetworkX.
"""

from __future__ import annotations

from ._convert import to_networkx
from ._graph import Graph
from ._stored import StoredGraph, open

__all__ = ["Graph", "StoredGraph", "open", "to_networkx"]
