"""A restricted machine of 64 × 32 units on the built-in digits: isinglass against scikit-learn.

What is timed, on one core each: a fit of 10 epochs in mini-batches of 10 rows, the table in memory.

isinglass     its library: `ContrastiveDivergence` with its defaults, one step away from the rows; whole
              fits, with the objective of each epoch
scikit-learn  `BernoulliRBM` with its defaults: persistent chains

Both machines are scored in the same way: that of the peer, over units 0 and 1, is converted to one over
−1 and +1, and isinglass computes the log-likelihood of both, log Z by annealed importance sampling.
"""

import os
import subprocess
import sys

from peer import ROOT, TARGET, inside_environment, on_one_core, seconds

inside_environment("numpy", "scikit-learn")
on_one_core()

import numpy as np  # noqa: E402  (installed inside the environment)
import sklearn  # noqa: E402
from sklearn.neural_network import BernoulliRBM  # noqa: E402

HIDDEN, BATCH, EPOCHS = 32, 10, 10
# The aim: this many times faster, with a log-likelihood that is no lower.
AIM = 3.0


def theirs(cells):
    model = BernoulliRBM(n_components=HIDDEN, batch_size=BATCH, n_iter=EPOCHS, random_state=0)
    return model.fit(cells)


def in_spins(model):
    """Weights (visible by hidden) and biases over −1 and +1: with x = (1 + s)/2, w x y = w/4 (1 + s + t + st)."""
    weights = model.components_.T / 4
    visible = model.intercept_visible_ / 2 + weights.sum(axis=1)
    hidden = model.intercept_hidden_ / 2 + weights.sum(axis=0)
    return np.concatenate([weights.ravel(), visible, hidden])


def ours(numbers, cells):
    """The best time of the library's call, and log-likelihoods with standard errors: ours and the peer's."""
    lines = [" ".join(map(repr, map(float, numbers)))]
    lines += [" ".join("1" if x else "-1" for x in row) for row in cells]
    command = [TARGET / "release" / "rbm_digits", str(HIDDEN), str(BATCH), str(EPOCHS)]
    printed = subprocess.run(command, check=True, capture_output=True, text=True, input="\n".join(lines), env=os.environ).stdout
    time, *scores = printed.splitlines()
    return float(time), *[tuple(map(float, line.split())) for line in scores]


def main():
    build = ["cargo", "build", "--release", "--quiet", "--package", "isinglass-benches", "--bin", "rbm_digits"]
    subprocess.run(build, cwd=ROOT, check=True)
    cells = np.loadtxt(ROOT / "data" / "digits_8x8.csv", delimiter=",", skiprows=1)[:, 1:]
    peer, model = seconds(lambda: theirs(cells), 10, choose=min)
    time, (own, own_error), (other, other_error) = ours(in_spins(model), cells)
    print(f"{cells.shape[0]} rows of {cells.shape[1]} cells, {HIDDEN} hidden units, {EPOCHS} epochs, mini-batches of {BATCH}")
    print(f"isinglass, library       {time * 1e3:7.1f} ms                      log-likelihood {own:.2f} ± {own_error:.2f}")
    print(f"scikit-learn {sklearn.__version__:10}  {peer * 1e3:7.1f} ms  {peer / time:4.1f} × isinglass    log-likelihood {other:.2f} ± {other_error:.2f}")
    print(f"aims: at least {AIM:.0f} times faster, log-likelihood no lower")
    return 0 if peer >= AIM * time and own >= other else 1


if __name__ == "__main__":
    sys.exit(main())
