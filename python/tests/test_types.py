"""Types: the package passes mypy, and the native module agrees with its stubs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mypy")
ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    "check",
    [["mypy", "--config-file", "pyproject.toml"], ["mypy.stubtest", "isinglass._native"]],
    ids=["package", "stubs"],
)
def test_types(check, tmp_path):
    line = [sys.executable, "-m", *check]
    if check[0] == "mypy":
        line += ["--cache-dir", str(tmp_path)]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
