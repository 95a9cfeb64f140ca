"""NetworkX's functions on graphs of tegula.

`networkx.pagerank(G, backend="tegula")` runs a function on a graph of NetworkX. `open` opens a
graph directory as a graph that the functions of NetworkX take:

    G = tegula.nx.open("web.tegula")
    ranks = networkx.pagerank(G)

`from_networkx` converts a graph of NetworkX. NetworkX does so by itself if it is asked for the
backend. `to_networkx` converts a graph of tegula back.
"""

from __future__ import annotations

from ._convert import from_networkx, to_networkx
from ._graph import Graph
from ._stored import StoredGraph, open

__all__ = ["Graph", "StoredGraph", "from_networkx", "open", "to_networkx"]
