"""Run NetworkX's own tests with tegula as the backend, and tell which functions ran there.

`python python/networkx_tests.py [ARGUMENT ..]` passes its arguments to pytest; without any, all
tests of the installed NetworkX run. Where tegula cannot run a call, NetworkX does.
"""

from __future__ import annotations

import logging
import os
import sys
from collections import Counter
from pathlib import Path

# NetworkX reads them when it is imported.
os.environ["NETWORKX_TEST_BACKEND"] = "tegula"
os.environ["NETWORKX_FALLBACK_TO_NX"] = "True"

import networkx
import pytest

# The 500 cases of this test make some million small graphs, each of which is converted.
TOO_LONG = "not test_use_bounds_on_off_consistency"


class Calls(logging.Handler):
    """Counts the calls that the log of the backend tells."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.counts: Counter[str] = Counter()

    def emit(self, record: logging.LogRecord) -> None:
        """Count a call."""
        self.counts[str(record.args[0] if isinstance(record.args, tuple) else "")] += 1


def main(arguments: list[str]) -> int:
    """Run the tests, and print the functions that ran in tegula."""
    calls = Calls()
    logger = logging.getLogger("tegula.nx")
    logger.setLevel(logging.DEBUG)
    logger.propagate = False
    logger.addHandler(calls)
    folder = Path(networkx.__file__).parent
    os.chdir(folder)
    # The settings of tegula's own tests do not hold here.
    settings = ["-c", os.devnull, f"--rootdir={folder}", "-p", "no:cacheprovider"]
    result = pytest.main([*settings, "-k", TOO_LONG, *(arguments or [str(folder)])])
    print(f"{sum(calls.counts.values()):,} calls of {len(calls.counts)} functions ran in tegula:")
    print(", ".join(f"{name} {count}" for name, count in sorted(calls.counts.items())))
    return int(result)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
