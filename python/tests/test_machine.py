"""Machines: construction, files, conversions, equality."""

from __future__ import annotations

import copy
import itertools
import pickle

import dimod
import networkx
import numpy as np
import pandas as pd
import pytest
from conftest import Loop, random_machine

from isinglass import Machine


def test_a_matrix_and_biases_come_back_as_they_were():
    machine = random_machine(5, names=list("abcde"), temperature=2.0, roles=["visible"] * 4 + ["hidden"])
    again = Machine(
        machine.weights, machine.bias, names=machine.names, roles=machine.roles, temperature=machine.temperature
    )
    assert again == machine and len(machine) == 5
    assert machine.names == tuple("abcde") and machine.roles[4] == "hidden" and machine.temperature == 2.0
    assert machine.edges.shape == (10, 2) and machine.edges.dtype == np.int64
    assert machine.weights[machine.edges[:, 0], machine.edges[:, 1]].tolist() == machine.edge_weights.tolist()
    assert repr(machine) == "Machine(units=5, edges=10, names=['a', 'b', 'c', 'd', 'e'])"
    assert machine != random_machine(5) and machine != "machine"


def test_entries_that_are_0_are_no_couplings():
    machine = Machine([[0, 1, 0], [1, 0, 0], [0, 0, 0]])
    assert machine.edge_list() == [("x0", "x1", 1.0)]
    assert machine.bias.tolist() == [0, 0, 0]


def test_copies_and_pickles_are_equal():
    machine = random_machine(4, temperature=0.5, offset=1.25, roles=["input", "visible", "visible", "hidden"])
    for other in (pickle.loads(pickle.dumps(machine)), copy.copy(machine), copy.deepcopy(machine)):
        assert other == machine and other.roles == machine.roles
        assert other.infer().log_z == machine.infer().log_z


def test_edges_name_their_units():
    machine = Machine.from_edges([("b", "a", 0.5), (3, "a", -1)], bias={"c": 2, 3: 0.25}, roles={"c": "hidden"})
    assert machine.names == ("b", "a", "3", "c")
    assert machine.bias.tolist() == [0, 0, 0.25, 2]
    assert machine.roles == ("visible", "visible", "visible", "hidden")
    assert machine.edge_list() == [("b", "a", 0.5), ("a", "3", -1.0)]
    assert Machine.from_edges([], bias=[0.5], names=["only"]).infer().means == pytest.approx([np.tanh(0.5)])


def test_graphs_of_networkx_go_there_and_back():
    machine = random_machine(5, names=list("abcde"), temperature=3.0, offset=-0.5)
    assert Machine.from_networkx(machine.to_networkx()) == machine
    ring = networkx.cycle_graph(5)
    networkx.set_node_attributes(ring, {0: 0.5}, "bias")
    found = Machine.from_networkx(ring)
    assert found.names == ("0", "1", "2", "3", "4") and found.edge_weights.tolist() == [1.0] * 5
    assert found.infer({0: +1}).mean(0) == 1.0
    with pytest.raises(ValueError, match=r"expected a networkx\.Graph"):
        Machine.from_networkx(networkx.DiGraph())


@pytest.mark.parametrize("vartype", ["SPIN", "BINARY"])
def test_energies_of_dimod_are_kept(vartype):
    rng = np.random.default_rng(3)
    names = "abcd"
    model = dimod.BinaryQuadraticModel(
        {name: rng.normal() for name in names},
        {pair: rng.normal() for pair in itertools.combinations(names, 2)},
        0.7,
        vartype,
    )
    temperature = 1.5
    machine = Machine.from_dimod(model, temperature=temperature)
    states = list(itertools.product((-1, 1), repeat=4))
    words = [dict(zip(names, s if vartype == "SPIN" else [(x + 1) // 2 for x in s])) for s in states]
    energies = np.array([model.energy(word) for word in words])
    log_z = np.logaddexp.reduce(-energies / temperature)
    assert machine.infer().log_z == pytest.approx(log_z, abs=1e-12)
    p = machine.query(list(names)).probabilities
    assert p == pytest.approx(np.exp(-energies / temperature - log_z), abs=1e-12)
    best = words[int(energies.argmin())]
    assert {k: (v if vartype == "SPIN" else (v + 1) // 2) for k, v in machine.map().to_dict().items()} == best
    back = machine.to_dimod()
    for word, state in zip(words, states):
        assert back.energy(dict(zip(names, state))) == pytest.approx(model.energy(word), abs=1e-12)
    assert Machine.from_dimod(back, temperature=temperature).infer().log_z == pytest.approx(log_z, abs=1e-12)


@pytest.mark.parametrize("ending", ["json", "uai", "npz"])
def test_files_of_every_format_come_back(tmp_path, ending):
    machine = random_machine(4, offset=0.0)
    path = tmp_path / f"machine.{ending}"
    machine.save(path)
    again = Machine.load(str(path))
    assert again.names == machine.names
    assert again.infer().log_z == pytest.approx(machine.infer().log_z, abs=1e-12)
    assert again.weights == pytest.approx(machine.weights, abs=1e-14)


def test_temperature_and_offset_count():
    machine = random_machine(5, temperature=2.5, offset=0.75)
    assert machine.infer().log_z == pytest.approx(Loop(machine).log_z, abs=1e-12)


def test_energies_are_those_of_log_weights_whatever_form_states_have():
    machine = random_machine(4, names=list("abcd"), temperature=1.5, offset=-0.75)
    loop = Loop(machine)
    expected = loop.energies - machine.temperature * machine.offset
    assert machine.energy(loop.states) == pytest.approx(expected, abs=1e-12)
    assert np.exp(-machine.energy(loop.states) / 1.5 - machine.infer().log_z) == pytest.approx(loop.p, abs=1e-12)
    state = loop.states[5]
    forms = [state, state.tolist(), dict(zip("abcd", state.tolist())), state > 0, pd.Series(state, index=list("abcd"))]
    for form in forms:
        assert machine.energy(form) == pytest.approx(expected[5], abs=1e-12)
    assert isinstance(machine.energy(state), float)
    frame = pd.DataFrame(loop.states[:, ::-1], columns=list("dcba"))
    assert machine.energy(frame) == pytest.approx(expected, abs=1e-12)
    draws = machine.sample(10)
    assert machine.energy(draws).shape == (10,)
    assert machine.map().energy == pytest.approx(expected.min(), abs=1e-12)


def test_energies_stay_at_another_temperature():
    machine = random_machine(4, temperature=1.5, offset=-0.75)
    states = Loop(machine).states
    cold = machine.with_temperature(0.3)
    assert cold.temperature == 0.3 and machine.temperature == 1.5 and cold.weights.tolist() == machine.weights.tolist()
    assert cold.energy(states) == pytest.approx(machine.energy(states), abs=1e-12)
    assert cold.infer().log_z == pytest.approx(np.logaddexp.reduce(-machine.energy(states) / 0.3), abs=1e-12)
    assert machine.with_temperature(1.5) == machine


def test_lattices_are_those_of_the_command(command):
    numbers = ["--coupling", "signs:2", "--bias", "normal:0,0.4", "--seed", 3, "--temperature", 2]
    for words, make in [
        (["chain", "--units", 5, "--periodic"], lambda **n: Machine.chain(5, periodic=True, **n)),
        (["grid", "--rows", 3, "--columns", 4], lambda **n: Machine.grid(3, 4, **n)),
        (["grid8", "--rows", 3, "--columns", 4], lambda **n: Machine.grid(3, 4, neighbours=8, **n)),
        (
            ["triangular", "--rows", 3, "--columns", 4, "--periodic"],
            lambda **n: Machine.triangular(3, 4, periodic=True, **n),
        ),
        (["grid3", "--rows", 2, "--columns", 3, "--layers", 4], lambda **n: Machine.grid3(2, 3, 4, **n)),
        (["regular", "--units", 8, "--degree", 3], lambda **n: Machine.regular(8, 3, **n)),
    ]:
        done = command.run("make", *words, *numbers, "-o", "made.json")
        assert done.returncode == 0, done.stderr
        made = make(coupling="signs:2", bias="normal:0,0.4", seed=3, temperature=2)
        assert made == Machine.load(command.folder / "made.json"), words
    torus = networkx.grid_graph((5, 4), periodic=True)
    assert networkx.is_isomorphic(Machine.grid(4, 5, periodic=True).to_networkx(), torus)
    triangles = Machine.triangular(5, 5, periodic=True).to_networkx()
    assert (
        all(degree == 6 for _, degree in triangles.degree()) and sum(networkx.triangles(triangles).values()) == 3 * 50
    )
    assert networkx.is_k_regular(Machine.regular(50, 4, seed=2).to_networkx(), 4)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Machine([[0]]).with_temperature(-1), "temperature: found -1, expected a finite number above 0"),
        (lambda: Machine([[0]]).with_temperature("hot"), "temperature: found 'hot', expected a number"),
        (lambda: Machine([[0]]).energy([0]), "states: unit 'x0': found 0, expected -1 or \\+1"),
        (lambda: Machine([[0]]).energy([[1], [3]]), "states: row 1, unit 'x0': found 3, expected -1 or \\+1"),
        (lambda: Machine([[0]]).energy([1, 1]), r"states: found an array of shape \(2,\), expected 1 values"),
        (lambda: Machine([[0]]).energy({}), "states: found no value for unit 'x0'"),
        (lambda: Machine([[0]]).energy({"x0": 1, "y": 1}), "states: there is no unit named 'y'"),
        (lambda: Machine.grid(2, 3, periodic=True), "rows: found 2, expected 1 or at least 3 on a periodic lattice"),
        (lambda: Machine.grid(2, 3, neighbours=6), "neighbours: found 6, expected 4 or 8"),
        (lambda: Machine.grid(0, 3), "rows: found 0, expected a whole number of at least 1"),
        (lambda: Machine.chain(3, coupling="strong"), "coupling: found 'strong', expected a number, normal"),
        (lambda: Machine.regular(5, 3), "degree: found 3 with 5 units, expected one of them to be even"),
        (lambda: Machine.regular(5, 5), "degree: found 5, expected less than the number of units, 5"),
        (lambda: Machine([[0, 1]]), "weights: found an array of shape"),
        (lambda: Machine([[0, 1], [2, 0]]), r"weights: \(0, 1\) is 1.0 and \(1, 0\) is 2.0"),
        (lambda: Machine([[1, 0], [0, 0]]), "no coupling with itself"),
        (lambda: Machine([[0, np.nan], [np.nan, 0]]), r"weights: \(0, 1\) is nan, expected a finite number"),
        (lambda: Machine.from_edges([("a", "b", np.inf)]), "weight of edge 0"),
        (lambda: Machine([["a", 0], [0, 0]]), "weights: found list with a value that is not a number"),
        (lambda: Machine([[0]], [1, 2]), "biases: found 2, expected 1"),
        (lambda: Machine([[0]], [[1]]), "bias: found an array of shape"),
        (lambda: Machine([[0, 1], [1, 0]], names=["a", "a"]), "'a'"),
        (lambda: Machine([[0]], names=[""]), "name"),
        (lambda: Machine([[0]], roles=["master"]), "master"),
        (lambda: Machine([[0]], roles=[]), "roles: found 0, expected 1"),
        (lambda: Machine([[0]], temperature=0), "temperature: found 0, expected a finite number above 0"),
        (lambda: Machine([[0]], offset=np.nan), "offset"),
        (lambda: Machine.from_edges([("a", "a", 1)]), "itself"),
        (lambda: Machine.from_edges([("a", "b", 1), ("b", "a", 1)]), "a"),
        (lambda: Machine.from_edges([("a", "b", 1)], names=["a"]), "edges: there is no unit named 'b'"),
        (lambda: Machine.from_edges([], bias={"a": 1}, names=["b"]), "bias: there is no unit named 'a'"),
        (lambda: Machine.load("machine.txt"), "machine.txt"),
    ],
)
def test_invalid_machines_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_absent_files_are_reported_as_such(tmp_path):
    with pytest.raises(FileNotFoundError, match="no such file"):
        Machine.load(tmp_path / "none.json")
    with pytest.raises(OSError, match="nowhere"):
        Machine([[0]]).save(tmp_path / "nowhere" / "m.json")
