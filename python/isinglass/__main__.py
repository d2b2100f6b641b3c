"""The command ``isinglass``, as ``python -m isinglass`` and as the installed script."""

from __future__ import annotations

import sys

from isinglass import _native


def main() -> int:
    """Runs the command with the arguments of the process and returns its exit code."""
    return _native.main(["isinglass", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
