"""Log Z and all marginals of units and edges of grids, on one core: isinglass against two peers.

Couplings and biases are drawn from N(0, 1), with a fixed seed. What is timed:

isinglass       the whole program: start, reading the model, the search for an order, the computation,
                writing JSON
its library     a first call with the model in memory: the search for an order, the computation; from the
                benchmarks
dwave-samplers  one call with the model in memory: the order (least fill), log Z, all marginals, one draw
                (its minimum)
pyAgrum         one inference object over a model in memory: triangulation, messages, reading all
                marginals; it does not compute log Z
"""

import json
import math
import subprocess
import sys

from peer import WORK, benchmark_seconds, inside_environment, isinglass, on_one_core, peak_bytes, seconds

inside_environment("dimod", "dwave-samplers", "pyAgrum")
PROGRAM = isinglass()
on_one_core()

DWAVE = "dwave-samplers"
AGRUM = "pyAgrum"
# The sides, and the peers that finish within about a minute: from 18 on, the first refuses the tables of
# its order (least fill).
GRIDS = [(10, (DWAVE, AGRUM)), (15, (DWAVE, AGRUM)), (17, (DWAVE,)), (20, ())]
TARGETS = {(10, DWAVE): 5, (15, DWAVE): 20}
TOLERANCE = 1e-6
# The best of this many runs counts, ours and theirs; no run starts after this many seconds.
RUNS = 50
PATIENCE = 8.0


def best_seconds(work):
    """The shortest time of some runs: other work on the computer only adds to it."""
    return seconds(work, RUNS, min, PATIENCE)


class Answer:
    """A result: log Z (None where unavailable), means of units, moments of edges in the model's order."""

    def __init__(self, log_z, means, moments):
        self.log_z = log_z
        self.means = means
        self.moments = moments

    def difference(self, other):
        """The largest difference between two answers."""
        pairs = [*zip(self.means, other.means, strict=True), *zip(self.moments, other.moments, strict=True)]
        if self.log_z is not None and other.log_z is not None:
            pairs.append((self.log_z, other.log_z))
        return max(abs(a - b) for a, b in pairs)


def with_dwave(biases, edges):
    """Prepares dwave-samplers. It has P ∝ exp(−beta E), so all signs are reversed."""
    import dimod
    from dwave.samplers import TreeDecompositionSampler

    model = dimod.BinaryQuadraticModel("SPIN")
    for unit, bias in enumerate(biases):
        model.add_linear(unit, -bias)
    for a, b, weight in edges:
        model.add_quadratic(a, b, -weight)

    def work():
        return TreeDecompositionSampler().sample(model, num_reads=1, beta=1.0, marginals=True, seed=1).info

    def read(info):
        tables = {frozenset(pair): table for pair, table in info["interaction_marginals"].items()}
        moment = [sum(s * t * p for (s, t), p in tables[frozenset((a, b))].items()) for a, b, _ in edges]
        means = [2 * info["variable_marginals"][unit] - 1 for unit in range(len(biases))]
        return Answer(info["log_partition_function"], means, moment)

    return work, read


def with_agrum(biases, edges):
    """Prepares pyAgrum, with a factor for each bias and each coupling."""
    import pyagrum

    model = pyagrum.MarkovRandomField()
    units = [model.add(pyagrum.LabelizedVariable(f"x{k}", "", 2)) for k in range(len(biases))]
    pairs = [{units[a], units[b]} for a, b, _ in edges]
    for unit, bias in zip(units, biases, strict=True):
        model.addFactor([unit])[:] = [math.exp(-bias), math.exp(bias)]
    for a, b, weight in edges:
        equal, different = math.exp(weight), math.exp(-weight)
        model.addFactor([units[a], units[b]])[:] = [[equal, different], [different, equal]]

    def work():
        inference = pyagrum.ShaferShenoyMRFInference(model)
        inference.setNumberOfThreads(1)
        for unit in units:
            inference.addTarget(unit)
        for pair in pairs:
            inference.addJointTarget(pair)
        inference.makeInference()
        # Marginals belong to the inference: it must live as long as they are read.
        return inference, [inference.posterior(unit) for unit in units], [inference.jointPosterior(pair) for pair in pairs]

    def read(result):
        _, singles, joints = result
        means = [float(p[1] - p[0]) for p in singles]
        tables = (p.toarray() for p in joints)
        return Answer(None, means, [float(p[0, 0] + p[1, 1] - p[0, 1] - p[1, 0]) for p in tables])

    return work, read


PEERS = {DWAVE: with_dwave, AGRUM: with_agrum}


def grid(side):
    """Our time and answer, the biases and edges of the model, and the command."""
    path = WORK / f"grid{side}.json"
    numbers = ["--coupling", "normal:0,1", "--bias", "normal:0,1", "--seed", "1"]
    size = ["--rows", str(side), "--columns", str(side)]
    subprocess.run([PROGRAM, "make", "grid", *size, *numbers, "-o", path, "--quiet"], check=True)
    command = [PROGRAM, "infer", path, "--json", "--engine", "eliminate", "--threads", "1", "--quiet"]
    ours, text = best_seconds(lambda: subprocess.run(command, check=True, capture_output=True).stdout)
    found = json.loads(text)
    answer = Answer(found["log_z"], list(found["means"].values()), [moment for *_, moment in found["correlations"]])
    machine = json.loads(path.read_text())
    return ours, answer, [unit["bias"] for unit in machine["units"]], machine["edges"], command


def main():
    library = benchmark_seconds("grid, first call")
    # Ours first, and peers imported later: a program starts more slowly from a large process.
    grids = [grid(side) for side, _ in GRIDS]
    agree = True
    print(f"{'':22} {'time':>12} {'× program':>9} {'× library':>9}  largest difference")
    for (side, peers), (ours, answer, biases, edges, command) in zip(GRIDS, grids, strict=True):
        size = f"{side}×{side}"
        call = library.get(f"network/grid, first call/{size}")
        memory = peak_bytes(command) / 2**20
        print(f"{size:6} {'isinglass':15} {ours * 1e3:9.2f} ms {'':19}  (peak memory {memory:.0f} MiB)")
        if call:
            print(f"{'':6} {'its library':15} {call * 1e3:9.2f} ms")
        for name in peers:
            work, read = PEERS[name](biases, edges)
            theirs, result = best_seconds(work)
            difference = read(result).difference(answer)
            agree = agree and difference < TOLERANCE
            ratios = f"{theirs / ours:9.1f} " + (f"{theirs / call:9.1f}" if call else f"{'–':>9}")
            target = TARGETS.get((side, name))
            # Peers are called within a process, so the target is for our library.
            verdict = ""
            if target is not None and call:
                verdict = f"; target {target} × library: {'reached' if theirs / call >= target else 'missed'}"
            print(f"{'':6} {name:15} {theirs * 1e3:9.2f} ms {ratios}  {difference:.0e}{verdict}", flush=True)
    return 0 if agree else 1


if __name__ == "__main__":
    sys.exit(main())
