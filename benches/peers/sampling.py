"""Single-unit updates per second at a fixed temperature, on one core, in processor time.

A 64×64 lattice with couplings ±0.3 and biases of 0.1, and 500 densely coupled units (Sherrington–Kirkpatrick
at β = 1). An update is one visit of one unit by one chain. What is timed:

isinglass       draws of the library's plain Gibbs chains, their record included; from the benchmarks
dwave-samplers  SimulatedAnnealingSampler with a schedule that stays at one β: Metropolis updates
peapods         Gibbs sweeps at one temperature; periodic lattices without biases only
ferrotherm      Gibbs sweeps by colour; any couplings and biases
"""

import time

from peer import benchmark_seconds, inside_environment, on_one_core

inside_environment("dimod", "dwave-samplers", "ferrotherm", "numpy", "peapods")
on_one_core()

import dimod  # noqa: E402
import ferrotherm  # noqa: E402
import numpy as np  # noqa: E402
import peapods  # noqa: E402
from dwave.samplers import SimulatedAnnealingSampler  # noqa: E402

SIDE = 64
DENSE = 500
# Runs of each, of which the fastest counts: other work on the computer only adds to the time.
RUNS = 5


def rate(work, updates):
    """Updates per second of processor time in the fastest run."""
    times = []
    for _ in range(RUNS):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return updates / min(times)


def lattice(random):
    """Biases and couplings of the lattice with open boundary."""
    at = np.arange(SIDE * SIDE).reshape(SIDE, SIDE)
    pairs = [*zip(at[:, :-1].flat, at[:, 1:].flat, strict=True), *zip(at[:-1].flat, at[1:].flat, strict=True)]
    return [0.1] * at.size, [(int(a), int(b), 0.3 * random.choice([-1, 1])) for a, b in pairs]


def dense(random):
    """Biases and couplings of the glass."""
    pairs = [(a, b) for b in range(DENSE) for a in range(b)]
    return [0.0] * DENSE, [(a, b, random.normal() / DENSE**0.5) for a, b in pairs]


def with_dwave(biases, edges, sweeps):
    """Signs are turned: the peer has P ∝ exp(−β E) with E = Σ h s + Σ J s s."""
    linear = {unit: -bias for unit, bias in enumerate(biases)}
    model = dimod.BinaryQuadraticModel(linear, {(a, b): -w for a, b, w in edges}, 0.0, "SPIN")
    sampler = SimulatedAnnealingSampler()

    def work():
        sampler.sample(
            model, num_reads=1, seed=1, beta_schedule_type="custom", beta_schedule=[1.0] * sweeps, num_sweeps_per_beta=1
        )

    return rate(work, len(biases) * sweeps)


def with_ferrotherm(biases, edges, sweeps):
    """Any graph by its list of edges."""
    graph = {"n": len(biases), "couplings": edges, "biases": list(enumerate(biases))}
    simulation = ferrotherm.from_spec(graph, beta=1.0, seed=1)
    return rate(lambda: simulation.sweep(sweeps, threads=1), len(biases) * sweeps)


def with_peapods(sweeps):
    """Periodic and without biases, which is less work than ours."""
    model = peapods.Ising((SIDE, SIDE), couplings="bimodal", temperatures=np.array([1 / 0.3]))
    work = lambda: model.sample(sweeps, sweep_mode="gibbs", sequential=True)  # noqa: E731
    return rate(work, SIDE * SIDE * sweeps)


def main():
    """Prints updates per second and ratios."""
    ours = benchmark_seconds("gibbs")
    # 32 chains, every fifth of 1,000 sweeps kept, as in the benchmark.
    chains, sweeps = 32, 1000
    random = np.random.default_rng(1)
    tasks = [
        ("64×64 lattice", "gibbs/64×64 lattice, updates", lattice(random), 2000),
        ("500 dense units", "gibbs/500 units SK at β = 1, updates", dense(random), 2000),
    ]
    for name, benchmark, (biases, edges), length in tasks:
        own = len(biases) * chains * sweeps / ours[benchmark]
        print(f"{name}: isinglass {own:.2e} updates/s")
        peers = {"dwave-samplers": with_dwave(biases, edges, length), "ferrotherm": with_ferrotherm(biases, edges, length)}
        if name.startswith("64"):
            peers["peapods"] = with_peapods(length)
        for peer, found in peers.items():
            print(f"{'':16} {peer:15} {found:.2e} updates/s: isinglass {own / found:.1f} times as fast", flush=True)


if __name__ == "__main__":
    main()
