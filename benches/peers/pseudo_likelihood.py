"""Pseudo-likelihood of complete rows: isinglass against a logistic regression for each unit in scikit-learn.

What is timed, on one core each:

isinglass     its library: one fit of all couplings, symmetric, with the table in memory; from the
              benchmarks, on rows made in the same way
scikit-learn  `LogisticRegression` (lbfgs, no penalty) for each unit given all others, on doubles in
              memory: twice as many couplings, as w_ij and w_ji differ

Both end when no component of the gradient is larger than 1e-4, and than 1e-7.
"""

import sys
import warnings

from peer import benchmark_seconds, inside_environment, on_one_core, seconds

inside_environment("numpy", "scikit-learn")
on_one_core()

import numpy as np  # noqa: E402  (installed inside the environment)
from sklearn.linear_model import LogisticRegression  # noqa: E402

# Units, rows, largest coupling; the aim: this many times faster.
CASES = [(20, 5000, 0.3, 20.0), (100, 20_000, 0.05, 30.0)]
TOLERANCES = ["1e-4", "1e-7"]


def table(units, rows, strength):
    """Rows of a fully connected machine, each from a Gibbs chain of its own."""
    random = np.random.default_rng(1)
    upper = np.triu(random.uniform(-strength, strength, (units, units)), 1)
    weights = upper + upper.T
    state = np.ones((rows, units))
    for _ in range(200):
        for unit in range(units):
            up = 1 / (1 + np.exp(-2 * (state @ weights[unit])))
            state[:, unit] = np.where(random.random(rows) < up, 1.0, -1.0)
    return weights, state


def regressions(cells, tolerance):
    """The coefficients of a logistic regression of each unit on all others, as couplings."""
    units = cells.shape[1]
    found = np.zeros((units, units))
    for unit in range(units):
        others = np.delete(cells, unit, axis=1)
        model = LogisticRegression(C=np.inf, solver="lbfgs", tol=tolerance, max_iter=1000)
        model.fit(others, cells[:, unit] > 0)
        found[unit, np.arange(units) != unit] = 0.5 * model.coef_[0]
    return found


def main():
    warnings.simplefilter("ignore", FutureWarning)
    library = benchmark_seconds("pseudo-likelihood/optimum")
    good = True
    for units, rows, strength, aim in CASES:
        truth, cells = table(units, rows, strength)
        for tolerance in TOLERANCES:
            peer, found = seconds(lambda: regressions(cells, float(tolerance)), 3, patience=20)
            ours = library[f"pseudo-likelihood/optimum to {tolerance}, {rows} rows, 1 threads, units/{units}"]
            error = np.abs(found - truth).mean()
            good = good and peer >= aim * ours
            print(f"{units} units, {rows} rows, to {tolerance} (the peer's couplings are off by {error:.3f} on average)")
            print(f"isinglass, library   {ours * 1e3:9.1f} ms")
            print(f"scikit-learn         {peer * 1e3:9.1f} ms   {peer / ours:5.1f} × isinglass (aim: at least {aim:.0f})")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
