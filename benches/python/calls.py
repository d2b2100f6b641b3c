"""The overhead of a call from Python over its Rust call, and a fit compared with the command's.

Run in an environment that has the package: `target/python/venv/bin/python benches/python/calls.py`.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
import timeit
from pathlib import Path

import numpy as np

import isinglass
from isinglass import _native
from isinglass._calls import request

CALLS = 1000
RUNS = 7


def machine_of(units: int) -> isinglass.Machine:
    """All pairs coupled, with biases."""
    rng = np.random.default_rng(0)
    weights = np.triu(rng.normal(0, 0.2, (units, units)), 1)
    return isinglass.Machine(weights + weights.T, rng.normal(0, 0.2, units))


def calls() -> None:
    """`infer` on ten units: the fastest of several runs, from Python and from Rust."""
    machine = machine_of(10)
    for engine in ["auto", "enumerate", "mean-field", "bethe"]:
        ours = min(timeit.repeat(lambda engine=engine: machine.infer(engine=engine), number=CALLS, repeat=RUNS)) / CALLS
        core = min(_native.time_infer(machine._core, CALLS, request(engine)) for _ in range(RUNS))
        print(f"infer, 10 units, {engine}: {1e6 * ours:.1f} µs, in Rust {1e6 * core:.1f} µs, above it {1e6 * (ours - core):.1f} µs")


def fits() -> None:
    """100 columns × 20,000 rows by pseudo-likelihood: from an array, and by the command from a file."""
    rng = np.random.default_rng(1)
    hidden = rng.integers(0, 2, (20_000, 5))
    rows = (hidden[:, rng.integers(0, 5, 100)] ^ (rng.random((20_000, 100)) < 0.3)).astype(np.int8)
    ours, command, reading = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "rows.npy"
        np.save(table, 2 * rows - 1)
        for _ in range(3):
            start = time.perf_counter()
            isinglass.fit(rows, learner="pseudo-likelihood")
            ours.append(time.perf_counter() - start)
            line = [sys.executable, "-m", "isinglass", "fit", str(table), "-o", f"{folder}/m.json", "--json", "--quiet"]
            done = subprocess.run([*line, "--learner", "pseudo-likelihood"], capture_output=True, text=True, check=True)
            command.append(json.loads(done.stdout)["seconds"])
            done = subprocess.run([*line, "--learner", "factorized"], capture_output=True, text=True, check=True)
            reading.append(json.loads(done.stdout)["seconds"])
    print(
        f"fit, 100 × 20,000, pseudo-likelihood: {min(ours):.3f} s from an array, {min(command):.3f} s by the command, "
        f"of which reading and means take {min(reading):.3f} s"
    )


if __name__ == "__main__":
    calls()
    fits()
