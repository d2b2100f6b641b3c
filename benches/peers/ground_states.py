"""Ground states of frustrated machines, on one core: isinglass against simulated annealing of dwave-samplers.

The instances follow collections for the maximum cut (Biq Mac, G-set) and the physics of spin glasses; they
are generated here, with fixed seeds. What is measured is processor time:

isinglass       `map --engine temper` as a whole program: start, reading the model, annealing until its
                chains agree (then tempering, where they do not), writing JSON
dwave-samplers  `SimulatedAnnealingSampler` with the model in memory. Reads of 100, 1,000 (its default) and
                10,000 sweeps each have a time and a share that met the lowest energy of all that the
                peer found; the expected time until one read meets it is given, for the best of the three.
                The peer is not charged for the choice of sweeps, nor for finding out that it is done.
"""

import json
import math
import random
import resource
import subprocess
import sys
import time

from peer import WORK, inside_environment, isinglass, on_one_core

inside_environment("dwave-samplers")
PROGRAM = isinglass()
on_one_core()

SWEEPS = (100, 1_000, 10_000)
# Processor seconds of the peer for each number of sweeps.
PATIENCE = 4.0
# Within this share of the best known energy where there are more than SMALL units, else the optimum itself.
CLOSE = 5e-4
SMALL = 350


def dense(units, numbers):
    """Half of all pairs, each cut worth 1 (as g05 of Biq Mac)."""
    return [(a, b, -1.0) for b in range(units) for a in range(b) if numbers.random() < 0.5]


def sparse(share):
    """A share of all pairs, of either sign (as pm1s of Biq Mac)."""

    def edges(units, numbers):
        return [
            (a, b, numbers.choice((-1.0, 1.0)))
            for b in range(units)
            for a in range(b)
            if numbers.random() < share
        ]

    return edges


def lattice(sides, draw):
    """A periodic lattice."""

    def edges(units, numbers):
        assert units == math.prod(sides)
        strides = [math.prod(sides[:axis]) for axis in range(len(sides))]
        found = []
        for unit in range(units):
            for stride, side in zip(strides, sides):
                at = unit // stride % side
                other = unit + stride * ((at + 1) % side - at)
                found.append((min(unit, other), max(unit, other), draw(numbers)))
        return found

    return edges


def sign(numbers):
    """±1."""
    return numbers.choice((-1.0, 1.0))


def normal(numbers):
    """N(0, 1)."""
    return numbers.gauss(0.0, 1.0)


# Name, units, edges, and the lowest energy that runs of both programs with several seeds and settings have found.
INSTANCES = [
    ("dense 0/1", 60, dense, -181.0),
    ("dense 0/1", 100, dense, -394.0),
    ("dense 0/1", 350, dense, -2536.0),
    ("dense 0/1", 800, dense, -8734.0),
    ("sparse ±1, 10 %", 100, sparse(0.1), -221.0),
    ("sparse ±1, 10 %", 350, sparse(0.1), -1540.0),
    ("sparse ±1, 6 %", 800, sparse(0.06), -4178.0),
    ("torus ±1, 10×10", 100, lattice((10, 10), sign), -136.0),
    ("torus ±1, 18×18", 324, lattice((18, 18), sign), -452.0),
    ("torus ±1, 20×40", 800, lattice((20, 40), sign), -1126.0),
    ("torus N(0, 1), 5×5×5", 125, lattice((5, 5, 5), normal), -200.36838522425),
    ("torus N(0, 1), 7×7×7", 343, lattice((7, 7, 7), normal), -587.73606),
    ("torus N(0, 1), 8×10×10", 800, lattice((8, 10, 10), normal), -1341.478727),
]


def write(path, units, edges):
    """Writes a model without biases."""
    model = {
        "format": "isinglass/1",
        "temperature": 1.0,
        "units": [{"name": f"x{unit}", "role": "visible", "bias": 0.0} for unit in range(units)],
        "edges": [[a, b, weight] for a, b, weight in edges],
    }
    path.write_text(json.dumps(model))


def ours(path):
    """Our energy, processor time, and answer."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = subprocess.run(
        [PROGRAM, "map", path, "--engine", "temper", "--json"], check=True, capture_output=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    answer = json.loads(run.stdout)
    return answer["energy"], used, answer


def theirs(units, edges):
    """The peer's lowest energy, the expected time until it is met, with which sweeps, and the time spent in all."""
    from dwave.samplers import SimulatedAnnealingSampler

    biases = {unit: 0.0 for unit in range(units)}
    couplings = {(a, b): -weight for a, b, weight in edges}
    sampler = SimulatedAnnealingSampler()
    runs = []
    for sweeps in SWEEPS:
        energies, used, reads, seed = [], 0.0, 1, 1
        while used < PATIENCE:
            start = time.process_time()
            found = sampler.sample_ising(biases, couplings, num_reads=reads, num_sweeps=sweeps, seed=seed)
            used += time.process_time() - start
            energies.extend(found.record.energy)
            seed += 1
            # Many reads share the preparation of a call.
            reads = min(2 * reads, 1024)
        runs.append((sweeps, energies, used))
    lowest = min(min(energies) for _, energies, _ in runs)
    limit = lowest + 1e-9 * abs(lowest)
    times = []
    for sweeps, energies, used in runs:
        met = sum(energy <= limit for energy in energies)
        if met:
            times.append((used / met, sweeps))
    return lowest, *min(times), sum(used for _, _, used in runs)


def main():
    """Prints a line for each instance; exits with 1 where a bar is missed."""
    WORK.mkdir(parents=True, exist_ok=True)
    missed = 0
    print(
        f"{'instance':24} {'units':>5} {'best known':>12} | {'isinglass':>12} {'time':>8} {'met':>8} | "
        f"{'peer':>12} {'time':>8} {'sweeps':>6} {'ratio':>6}"
    )
    for number, (name, units, make, best) in enumerate(INSTANCES):
        edges = make(units, random.Random(number))
        path = WORK / f"ground-{number}.json"
        write(path, units, edges)
        energy, used, answer = ours(path)
        peer, peer_time, sweeps, _ = theirs(units, edges)
        best = min(energy, peer, best)
        excess = (energy - best) / abs(best)
        good = excess < (1e-8 if units <= SMALL else CLOSE) and used <= peer_time
        missed += not good
        print(
            f"{name:24} {units:5} {best:12.4f} | {energy:12.4f} {used:7.3f}s {answer['met']:3}/{answer['runs']:<4} | "
            f"{peer:12.4f} {peer_time:7.3f}s {sweeps:6} {peer_time / used:6.1f}{'' if good else '  missed'}",
            flush=True,
        )
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
