"""Mean field for 10,000 clamped rows of 200 dense units: isinglass against its matrix products and NumPy."""

import sys

from peer import benchmark_seconds, inside_environment, seconds

inside_environment("numpy")

import numpy as np  # noqa: E402  (installed inside the environment)

UNITS, CLAMPED, ROWS = 200, 40, 10_000
TOLERANCE = 1e-10


def with_numpy(couplings, fields):
    """All units of all rows at once: a product and a tanh for each sweep."""
    means = np.tanh(fields)
    sweeps = 0
    while True:
        new = np.tanh(fields + means @ couplings)
        change = np.abs(new - means).max()
        means = new
        sweeps += 1
        if change <= TOLERANCE or sweeps == 1000:
            return means, sweeps


def main():
    ours = benchmark_seconds("200 units dense")
    time = {name.rsplit("/", 1)[1]: value for name, value in ours.items()}
    sweeps, products = time["mean field, 20 sweeps"], time["its matrix products, 20 and one"]

    random = np.random.default_rng(0)
    weights = random.normal(0.0, 0.25 / UNITS**0.5, (UNITS, UNITS))
    weights = np.triu(weights, 1) + np.triu(weights, 1).T
    biases = random.normal(0.0, 0.25 / UNITS**0.5, UNITS)
    states = random.choice([-1.0, 1.0], (ROWS, CLAMPED))
    fields = biases[CLAMPED:] + states @ weights[:CLAMPED, CLAMPED:]
    couplings = np.ascontiguousarray(weights[CLAMPED:, CLAMPED:])
    peers, (_, count) = seconds(lambda: with_numpy(couplings, fields), 3)

    print(f"{ROWS} rows of {UNITS} dense units, {CLAMPED} of them clamped")
    print(f"isinglass, 20 sweeps and log Z          {sweeps * 1e3:9.1f} ms")
    print(f"the matrix products in that             {products * 1e3:9.1f} ms")
    print(f"share of the products' speed            {products / sweeps:9.0%}   (aim: at least 50 %)")
    for name in ["mean field to 1e-10", "tap to 1e-10"]:
        print(f"isinglass, {name + ', with sums of moments':<37}{time[name] * 1e3:9.1f} ms")
    print(f"NumPy, mean field to 1e-10, {count:3} sweeps  {peers * 1e3:9.1f} ms")
    print(f"ratio                                   {peers / time['mean field to 1e-10']:9.1f}")
    return 0 if products / sweeps >= 0.5 else 1


if __name__ == "__main__":
    sys.exit(main())
