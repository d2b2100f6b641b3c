"""The command ``isinglass``, as ``python -m isinglass`` and as the installed script."""

from __future__ import annotations

import signal
import sys

from isinglass import _native


def main() -> int:
    """Runs the command with the arguments of the process and returns its exit code."""
    # The command answers signals itself; Python's handler would raise KeyboardInterrupt after it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _native.main(["isinglass", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
