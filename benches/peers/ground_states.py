"""Ground states of frustrated machines, on one core: isinglass against simulated annealing of dwave-samplers.

The instances follow collections for the maximum cut (Biq Mac, G-set) and the physics of spin glasses; they
are generated here, with fixed seeds. What is measured is processor time:

isinglass       `Temper::mode` of the library, what `map --engine temper` calls: from the model in memory
                until the search ends by itself, averaged over searches with several seeds
dwave-samplers  `SimulatedAnnealingSampler` with the model in memory. Reads of 100, 1,000 (its default) and
                10,000 sweeps each have a time and a share that met the lowest energy of all that the
                peer found; the expected time until one read meets it is given, for the best of the three.
                The peer is not charged for the choice of sweeps, nor for finding out that it is done.

Neither program is certain to find the optimum. A share P of our searches does; the peer, which meets its lowest
energy once in a time t on average, does so with the same probability within t ln 1/(1 − P).
"""

import math
import random
import resource
import subprocess
import sys
import time

from peer import ROOT, TARGET, WORK, inside_environment, on_one_core

inside_environment("dwave-samplers")
subprocess.run(
    ["cargo", "build", "--release", "--quiet", "-p", "isinglass-benches", "--bin", "ground_states"],
    cwd=ROOT,
    check=True,
)
PROGRAM = TARGET / "release" / "ground_states"
on_one_core()

SWEEPS = (100, 1_000, 10_000)
# Processor seconds of the peer for each number of sweeps, and of our searches.
PATIENCE = 4.0
# Our searches of an instance.
MOST_SEARCHES = 200
# Within this share of the best known energy where there are more than SMALL units, else the optimum itself.
CLOSE = 5e-4
SMALL = 350


def dense(units, numbers):
    """Half of all pairs, each cut worth 1 (as g05 of Biq Mac)."""
    return [(a, b, -1.0) for b in range(units) for a in range(b) if numbers.random() < 0.5]


def sparse(share):
    """A share of all pairs, of either sign (as pm1s of Biq Mac)."""

    def edges(units, numbers):
        return [(a, b, numbers.choice((-1.0, 1.0))) for b in range(units) for a in range(b) if numbers.random() < share]

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
    """Writes edges, as our program reads them."""
    path.write_text(f"{units}\n" + "".join(f"{a} {b} {weight!r}\n" for a, b, weight in edges))


def search(path, searches, *sweeps):
    """Energies of some searches, how many of their runs met them, and the processor time of it all."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = subprocess.run([PROGRAM, path, str(searches), *map(str, sweeps)], check=True, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    found = [line.split() for line in run.stdout.splitlines()]
    return [float(energy) for energy, _, _ in found], [int(met) for _, met, _ in found], used


def ours(path, *sweeps):
    """Energies of searches, how many of their runs met them, and the processor time of a search."""
    start = min(search(path, 0)[2] for _ in range(3))
    first = search(path, 1, *sweeps)[2] - start
    searches = max(1, min(MOST_SEARCHES, int(PATIENCE / max(first, 1e-4))))
    energies, met, used = search(path, searches, *sweeps)
    return energies, met, (used - start) / searches


def ours_to(path, goal):
    """The processor time of the shortest searches, in sweeps, of which all find an energy as low as some."""
    sweeps = 64
    while True:
        energies, _, used = ours(path, sweeps)
        if max(energies) <= goal:
            return used
        sweeps *= 2


def theirs(units, edges):
    """The peer's lowest energy, the expected time until it is met, and with which sweeps."""
    import dimod
    from dwave.samplers import SimulatedAnnealingSampler

    couplings = {(a, b): -weight for a, b, weight in edges}
    model = dimod.BinaryQuadraticModel({unit: 0.0 for unit in range(units)}, couplings, 0.0, "SPIN")
    sampler = SimulatedAnnealingSampler()
    runs = []
    for sweeps in SWEEPS:
        energies, used, reads, seed = [], 0.0, 1, 1
        while used < PATIENCE:
            start = time.process_time()
            found = sampler.sample(model, num_reads=reads, num_sweeps=sweeps, seed=seed)
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
    return lowest, *min(times)


def with_the_same_probability(once_in, good, searches):
    """The time in which the peer meets its lowest energy with the probability of our searches.

    Where all of them were good, it is taken that one more would not have been.
    """
    misses = searches - good if good < searches else 1
    return once_in * math.log((misses + good) / misses)


def text(seconds):
    """A time."""
    return f"{1e3 * seconds:.2f} ms" if seconds < 0.01 else f"{seconds:.3f} s"


def main():
    """Prints a table; exits with 1 where a bar is missed."""
    WORK.mkdir(parents=True, exist_ok=True)
    missed = 0
    print("| instance | units | best known | isinglass: good | search ends | per meeting | good after ", end="")
    print("| dwave-samplers: lowest | met once in | with the same probability | bar |")
    print("|---" * 11 + "|")
    for number, (name, units, make, best) in enumerate(INSTANCES):
        edges = make(units, random.Random(number))
        path = WORK / f"ground-{number}.txt"
        write(path, units, edges)
        energies, met, used = ours(path)
        peer, once_in, sweeps = theirs(units, edges)
        best = min(*energies, peer, best)
        allowed = best + abs(best) * (1e-8 if units <= SMALL else CLOSE)
        good = sum(energy <= allowed for energy in energies)
        same = with_the_same_probability(once_in, good, len(energies))
        reached = used if units <= SMALL else ours_to(path, allowed)
        if good < len(energies):
            verdict = "missed: not all good"
        elif peer > allowed:
            verdict = "kept: the peer's lowest is not good"
        elif reached <= once_in:
            verdict = "kept"
        else:
            verdict = "kept at the same probability" if reached <= same else "missed"
        missed += verdict.startswith("missed")
        print(
            f"| {name} | {units} | {best:.10g} | {good} of {len(energies)} | {text(used)} "
            f"| {text(used * len(met) / sum(met))} | {text(reached)} | {peer:.10g} "
            f"| {text(once_in)} ({sweeps} sweeps) | {text(same)} | {verdict} |",
            flush=True,
        )
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
