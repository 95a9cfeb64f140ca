"""The command `tegula`, which comes with the package."""

from __future__ import annotations

import signal
import sys

from . import _internal


def main() -> None:
    """Run the command, and end the process with its exit code."""
    # The command ends on Ctrl-C by itself, in good order. Python's handler would raise afterwards.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(_internal.run_command(["tegula", *sys.argv[1:]]))
