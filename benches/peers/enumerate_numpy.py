"""Enumerate a fully connected machine of 20 units: isinglass against NumPy."""

import json
import subprocess
import sys

from peer import WORK, inside_environment, isinglass, seconds

inside_environment("numpy")

import numpy as np  # noqa: E402  (installed inside the environment)

UNITS = 20


def with_numpy(weights, biases):
    """All states in one matrix; energies and moments by matrix products, the fastest simple way in NumPy."""
    n = len(biases)
    states = ((np.arange(2**n)[:, None] >> np.arange(n)) & 1) * 2.0 - 1.0
    log = 0.5 * np.einsum("ij,ij->i", states @ weights, states) + states @ biases
    top = log.max()
    p = np.exp(log - top)
    z = p.sum()
    p /= z
    return top + np.log(z), p @ states, (states * p[:, None]).T @ states


def main():
    program = isinglass()
    model = WORK / "full20.json"
    subprocess.run(
        [program, "make", "full", "-n", str(UNITS), "--coupling", "uniform:-1,1", "--bias", "uniform:-1,1", "-o", model, "--quiet"],
        check=True,
    )
    machine = json.loads(model.read_text())
    biases = np.array([unit["bias"] for unit in machine["units"]])
    weights = np.zeros((UNITS, UNITS))
    for a, b, w in machine["edges"]:
        weights[a, b] = weights[b, a] = w

    command = [program, "infer", model, "--pairs", "all", "--json", "--quiet"]
    ours, answer = seconds(lambda: subprocess.run(command, check=True, capture_output=True).stdout, 20)
    peers, (log_z, means, pairs) = seconds(lambda: with_numpy(weights, biases), 5)

    answer = json.loads(answer)
    names = {name: k for k, name in enumerate(answer["means"])}
    worst = max(
        abs(answer["log_z"] - log_z),
        max(abs(m - means[names[name]]) for name, m in answer["means"].items()),
        max(abs(c - pairs[names[a], names[b]]) for a, b, c in answer["correlations"]),
    )
    print(f"{UNITS} units, log Z, means and {len(answer['correlations'])} moments; largest difference {worst:.1e}")
    print(f"isinglass, whole program   {ours * 1e3:9.2f} ms")
    print(f"NumPy, computation alone   {peers * 1e3:9.2f} ms")
    print(f"ratio                      {peers / ours:9.1f}")
    return 0 if worst < 1e-9 else 1


if __name__ == "__main__":
    sys.exit(main())
