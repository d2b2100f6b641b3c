"""Couplings of 1,000 units from 20,000 rows in closed form: isinglass against NumPy.

What is timed:

isinglass    the whole program: start, reading the CSV, counting, the inverse, writing the .npz file
its library  one fit with the table in memory: counting, the inverse, weights and biases; from the
             benchmarks, on rows made in the same way
NumPy        `cov` of a matrix of doubles in memory and `linalg.inv`: no weights, no biases, no file
"""

import subprocess
import sys

from peer import WORK, benchmark_seconds, inside_environment, isinglass, seconds

inside_environment("numpy")

import numpy as np  # noqa: E402  (installed inside the environment)

UNITS = 1000
ROWS = 20_000
# The aim: no more than twice NumPy's time, library against library.
AIM = 2.0
TOLERANCE = 1e-8


def table():
    """Rows in which each column equals the one before with probability 3/4."""
    flips = np.random.default_rng(1).random((ROWS, UNITS)) < 0.25
    return np.where(np.cumsum(flips, axis=1) % 2 == 1, -1.0, 1.0)


def main():
    library = benchmark_seconds("closed form/formula")
    cells = table()
    path = WORK / "rows.csv"
    names = ",".join(f"x{k}" for k in range(UNITS))
    np.savetxt(path, cells, fmt="%d", delimiter=",", header=names, comments="")
    model = WORK / "closed.npz"
    command = [isinglass(), "fit", path, "--learner", "closed-form", "-o", model, "--quiet"]
    program, _ = seconds(lambda: subprocess.run(command, check=True, capture_output=True), 5)
    covariances, _ = seconds(lambda: np.cov(cells, rowvar=False, bias=True), 5)
    peers, inverse = seconds(lambda: np.linalg.inv(np.cov(cells, rowvar=False, bias=True)), 5)

    means = cells.mean(axis=0)
    weights = np.diag(1 / (1 - means**2)) - inverse
    biases = np.arctanh(means) - weights @ means
    np.fill_diagonal(weights, 0.0)
    found = np.load(model)
    worst = max(np.abs(found["weights"] - weights).max(), np.abs(found["bias"] - biases).max())

    ours = library[f"closed form/formula, {ROWS} rows, units/{UNITS}"]
    print(f"{UNITS} units, {ROWS} rows; largest difference {worst:.1e}")
    print(f"isinglass, whole program   {program * 1e3:9.1f} ms   {program / peers:5.2f} × NumPy")
    print(f"its library                {ours * 1e3:9.1f} ms   {ours / peers:5.2f} × NumPy (aim: at most {AIM})")
    print(f"NumPy, cov and inv         {peers * 1e3:9.1f} ms   (of which cov {covariances * 1e3:.1f} ms)")
    return 0 if worst < TOLERANCE and ours <= AIM * peers else 1


if __name__ == "__main__":
    sys.exit(main())
