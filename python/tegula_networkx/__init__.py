"""What NetworkX reads of the backend when it is imported.

It imports nothing, so `import networkx` stays as quick as it is.
"""

FUNCTIONS = ()


def get_info() -> dict[str, object]:
    """Return the description of the backend."""
    return {
        "backend_name": "tegula",
        "project": "tegula",
        "package": "tegula",
        "short_summary": "Graph algorithms on graphs of any size, within a memory budget",
        "default_config": {
            # The fewest edges with which it pays to convert a graph.
            "edges_min": 5_000,
            # The most edges of a graph directory that are taken into memory.
            "edges_max": 10_000_000,
        },
        "functions": {name: {} for name in FUNCTIONS},
    }
