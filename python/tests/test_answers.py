"""Answers against a plain loop over all states, with their guarantees and warnings."""

from __future__ import annotations

import dataclasses
import itertools
import pickle

import numpy as np
import pandas as pd
import pytest
from conftest import Loop, random_machine

from isinglass import ConvergenceWarning, IsinglassWarning, Machine

TOLERANCE = 1e-9


@pytest.fixture
def machine() -> Machine:
    return random_machine(7, seed=2, temperature=1.3)


@pytest.mark.parametrize("engine", ["auto", "enumerate", "eliminate"])
@pytest.mark.parametrize("given", [None, {"x0": 1, "x3": -1}])
def test_exact_answers_are_those_of_a_loop(machine, engine, given):
    loop = Loop(machine, given)
    answer = machine.infer(given, pairs="all", engine=engine)
    assert answer.guarantee == "exact" and answer.converged
    assert answer.log_z == pytest.approx(loop.log_z, abs=TOLERANCE)
    assert answer.means == pytest.approx([loop.mean(k) for k in range(7)], abs=TOLERANCE)
    assert answer.pairs.tolist() == [list(pair) for pair in itertools.combinations(range(7), 2)]
    assert answer.correlations == pytest.approx([loop.mean(*pair) for pair in answer.pairs], abs=TOLERANCE)
    assert answer.probabilities == pytest.approx((1 + answer.means) / 2)
    assert answer.correlation("x2", "x1") == pytest.approx(loop.mean(1, 2), abs=TOLERANCE)
    assert answer.mean("x5") == answer.to_dict()["x5"] == answer.means[5]


def test_evidence_has_several_forms(machine):
    means = machine.infer({"x1": -1, "x2": 1}).means.tolist()
    rows = [[0, -1, 1, 0, 0, 0, 0], np.array([np.nan, -1, 1] + [np.nan] * 4), np.array([0, -1, 1, 0, 0, 0, 0], np.int8)]
    dictionaries = [{"x1": False, "x2": True}, {"x1": np.int8(-1), "x2": np.bool_(True)}, {"x1": -1.0, "x2": 1.0}]
    dictionaries.append(pd.Series({"x2": 1, "x1": -1}))
    for given in rows + dictionaries:
        assert machine.infer(given).means.tolist() == means


def test_pairs_are_those_requested():
    chain = Machine.from_edges([("a", "b", 0.5), ("b", "c", 0.5)])
    assert chain.infer().pairs.tolist() == [[0, 1], [1, 2]]
    assert len(chain.infer(pairs="all").correlations) == 3
    none = chain.infer(pairs="none")
    assert len(none.correlations) == 0 and none.pairs.shape == (0, 2)
    with pytest.raises(ValueError, match="pairs='all' computes"):
        chain.infer().correlation("a", "c")


def test_joint_probabilities(machine):
    loop = Loop(machine, {"x0": 1})
    found = machine.query(["x4", "x2"], {"x0": 1})
    assert found.states.tolist() == [[-1, -1], [-1, 1], [1, -1], [1, 1]] and found.states.dtype == np.int8
    expected = [loop.p[(loop.states[:, [4, 2]] == state).all(axis=1)].sum() for state in found.states]
    assert found.probabilities == pytest.approx(expected, abs=TOLERANCE)
    assert found.to_dict()[1, -1] == found.probabilities[2] and found.ask == ("x4", "x2")
    assert machine.query("x4").probabilities.sum() == pytest.approx(1, abs=TOLERANCE)


def test_cumulants(machine):
    loop = Loop(machine)
    found = machine.cumulants(["x0", "x1", "x0"])
    m = loop.mean
    assert found.values["x0", "x1"] == pytest.approx(m(0, 1) - m(0) * m(1), abs=TOLERANCE)
    assert found.values["x0", "x0"] == pytest.approx(1 - m(0) ** 2, abs=TOLERANCE)
    third = m(1) - 2 * m(0) * m(0, 1) - m(1) + 2 * m(0) ** 2 * m(1)
    assert found.values["x0", "x1", "x0"] == pytest.approx(third, abs=TOLERANCE)
    assert list(found.values) == [("x0",), ("x1",), ("x0", "x1"), ("x0", "x0"), ("x0", "x1", "x0")]


@pytest.mark.parametrize("engine", ["auto", "max-product"])
def test_the_most_probable_state(engine):
    tree = Machine.from_edges([("a", "b", 0.5), ("b", "c", -1), ("b", "d", 0.3)], bias={"a": 0.2, "d": -0.9})
    loop = Loop(tree)
    found = tree.map(engine=engine)
    assert found.energy == pytest.approx(loop.energies.min(), abs=1e-12) and found.guarantee == "exact"
    assert found.state.tolist() == loop.states[loop.energies.argmin()].tolist()
    assert tree.map({"a": -1}).to_dict()["a"] == -1


def test_draws_have_the_machine_s_means_and_one_seed_s_bytes(machine):
    draws = machine.sample(20_000, seed=4)
    assert draws.guarantee == "exact" and draws.states.dtype == np.int8 and len(draws) == 20_000
    assert draws.states.mean(axis=0) == pytest.approx(machine.infer().means, abs=5 / np.sqrt(20_000))
    assert (machine.sample(20_000, seed=4).states == draws.states).all()
    assert (np.asarray(draws) == draws.states).all() and np.asarray(draws, dtype=float).dtype == float
    assert list(draws.to_pandas().columns) == list(machine.names)
    assert (machine.sample(50, {"x2": -1}).states[:, 2] == -1).all()
    assert machine.sample(0).states.shape == (0, 7)
    other = machine.sample(100, seed=np.random.default_rng(1)).states
    assert (other == machine.sample(100, seed=np.random.default_rng(1)).states).all()
    assert machine.sample(100, seed=None).states.shape == (100, 7)


def test_bounds_hold_and_estimates_have_errors(machine):
    exact = machine.infer().log_z
    assert machine.infer(engine="mean-field").guarantee == "lower-bound"
    for engine in ("mean-field", "mixture", "structured"):
        assert machine.infer(engine=engine).log_z <= exact + 1e-9
    above = machine.infer(engine="trw", width=1)
    assert above.guarantee == "upper-bound" and above.log_z >= exact - 1e-9
    estimate = machine.infer(engine="ais", chains=256, temperatures=200, seed=1)
    assert estimate.guarantee == "estimate" and abs(estimate.log_z - exact) < 6 * estimate.log_z_error
    gibbs = machine.infer(engine="gibbs", seed=3)
    assert gibbs.log_z is None and gibbs.means_error.shape == (7,) and gibbs.diagnostics["chains"] == 32
    with pytest.warns(ConvergenceWarning):
        hasty = machine.with_temperature(0.05).infer(engine="ais", chains=16, temperatures=1, seed=1)
    assert not hasty.converged
    assert np.isnan(hasty.log_z_error) and np.isnan(hasty.means_error).all()
    bracket = machine.infer(engine="mean-field", bracket=True).bracket
    assert bracket.lower <= exact + 1e-9 and bracket.upper >= exact - 1e-9
    assert bracket.width == bracket.upper - bracket.lower and bracket.lower_engine == "mean-field"


def test_no_convergence_warns():
    strong = random_machine(10, strength=3.0)
    with pytest.warns(ConvergenceWarning, match="try more max_sweeps") as caught:
        answer = strong.infer(engine="bethe", max_sweeps=2)
    assert not answer.converged and answer.diagnostics["sweeps"] == 2
    assert caught[0].filename == __file__


def test_impossible_correlations_warn():
    weights = np.zeros((12, 12))
    rng = np.random.default_rng(0)
    weights[np.triu_indices(12, 1)] = rng.choice([-0.09, 0.11], 66)
    strong = Machine(weights + weights.T)
    with pytest.warns(ConvergenceWarning, match=r"beyond -1 or \+1: the engine linear-response fails"):
        for strength in (1, 1.2, 1.5, 2, 3, 5, 8):
            try:
                Machine(strength * strong.weights).infer(engine="linear-response", pairs="all")
            except ValueError as error:
                assert "no maximum" in str(error)


def test_info(machine):
    info = machine.info()
    assert (info.units, info.edges, info.components, info.treewidth) == (7, 21, 1, (6, 6))
    assert info.roles == {"visible": 7, "hidden": 0, "input": 0} and not info.decimatable
    offers = {offer.name: offer for offer in info.engines}
    assert offers["enumerate"].available and offers["enumerate"].guarantee == "exact"
    assert not random_machine(30).info(budget="1KiB").engines[1].available


def test_missing_cells_are_filled(machine):
    cells = np.array([[1, np.nan, -1, 1, np.nan, 1, 1], [1] * 7])
    found = machine.complete(cells)
    loop = Loop(machine, {"x0": 1, "x2": -1, "x3": 1, "x5": 1, "x6": 1})
    assert found.filled == 2 and found.guarantee == "exact" and found.added == ()
    assert found.probabilities[0, [1, 4]] == pytest.approx([(1 + loop.mean(k)) / 2 for k in (1, 4)], abs=TOLERANCE)
    assert found.states[0, 1] == np.sign(loop.mean(1)) and found.states[1].tolist() == [1] * 7
    whole = machine.complete([[1] * 7])
    assert whole.engine is None and whole.filled == 0


def test_scores(machine):
    cells = machine.sample(40, seed=9).states
    loop = Loop(machine)
    logs = [np.log(loop.p[(loop.states == row).all(axis=1)][0]) for row in cells]
    score = machine.score(cells)
    assert score.log_likelihood == pytest.approx(np.mean(logs), abs=TOLERANCE) and score.rows == 40
    weights = np.arange(40.0)
    weighted = machine.score(cells, weights=weights).log_likelihood
    assert weighted == pytest.approx(np.average(logs, weights=weights), abs=TOLERANCE)
    assert score.completion == pytest.approx(-score.pseudo_log_likelihood / 7, abs=TOLERANCE)
    between = machine.score(cells, bracket=True, engine="mean-field").bracket
    assert between.lower <= score.log_likelihood + 1e-9 and between.upper >= score.log_likelihood - 1e-9


def test_answers_can_be_pickled_and_are_frozen(machine):
    cells = machine.sample(5).states
    answers = [
        machine.infer(),
        machine.query("x1"),
        machine.cumulants("x1"),
        machine.map(),
        machine.sample(3),
        machine.complete(cells),
        machine.score(cells),
        machine.info(),
    ]
    for answer in answers:
        assert repr(pickle.loads(pickle.dumps(answer))) == repr(answer)
        with pytest.raises(dataclasses.FrozenInstanceError):
            answer.engine = "another"
    assert pickle.loads(pickle.dumps(answers[0])).pairs.tolist() == machine.edges.tolist()


def test_notes_and_warnings_of_results_have_codes_and_figures():
    machine = Machine.grid(4, 4, coupling=2.0)
    with pytest.warns(IsinglassWarning, match="no fixed point") as caught:
        answer = machine.infer(given={"r0c0": 1}, engine="mean-field", max_sweeps=1)
    assert [str(warning.message) for warning in caught] == list(answer.warnings)
    (warning,) = answer.warnings
    assert warning.code == "no-fixed-point" and warning.data["sweeps"] == 1
    again = pickle.loads(pickle.dumps(warning))
    assert (again, again.code, again.data) == (warning, warning.code, warning.data)
    chosen = machine.infer()
    assert [note.code for note in chosen.notes] == ["engine-chosen"] and not chosen.warnings
    assert chosen.notes[0].data["engine"] in chosen.notes[0]
