"""Invalid requests: errors in the words of Python, and never a crash."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from conftest import random_machine

from isinglass import Machine, Table, fit, plot_weights

PAIR = random_machine(2)
ROWS = np.array([[1, 1], [1, 0], [0, 0], [0, 1], [1, 1]])


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda m: m.infer({"y": 1}), "given: there is no unit named 'y'"),
        (lambda m: m.infer({"x0": 0}), "unit 'x0' has the value 0, expected -1 or \\+1, or False or True"),
        (lambda m: m.infer({"x0": "up"}), "has the value 'up'"),
        (lambda m: m.infer([1]), "given: found a row of 1"),
        (lambda m: m.infer([2, 1]), "given: found a row with other values"),
        (lambda m: m.infer("x0"), "given"),
        (lambda m: m.infer(engine="magic"), "engine: found 'magic', expected auto, enumerate"),
        (lambda m: m.infer(pairs="some"), "pairs: found 'some'"),
        (lambda m: m.infer(budget="lots"), "lots"),
        (lambda m: m.infer(budget=-1), "budget: found -1"),
        (lambda m: m.infer(seed=-1), "seed: found -1"),
        (lambda m: m.infer(seed="x"), "seed: found 'x'"),
        (lambda m: m.infer(components=3), "^components belongs to engine mixture$"),
        (
            lambda m: m.infer(engine="mean-field", damping=1.5),
            "damping: found 1.5, expected a number of at least 0 and",
        ),
        (lambda m: m.infer(engine="mean-field", damping="x"), "damping: found 'x', expected a number"),
        (lambda m: m.infer(engine="mean-field", starts=0), "starts: found 0"),
        (lambda m: m.infer(engine="mean-field", starts=-1), "starts: found -1"),
        (lambda m: m.infer(engine="mean-field", anneal="hot"), "anneal: found 'hot'"),
        (
            lambda m: m.infer(engine="mean-field", schedule="fast"),
            "schedule: found 'fast', expected sequential, parallel",
        ),
        (lambda m: m.infer(engine="trw", width=4), "width: found 4, expected 1, 2 or 3"),
        (lambda m: m.infer(engine="gibbs", samples=2), "samples: found 2, expected a whole number of at least 4"),
        (lambda m: m.infer(engine="gibbs", bracket=True), "bracket: the engine gibbs gives no bound on log Z"),
        (lambda m: m.infer(engine="max-product"), "max-product finds most probable states"),
        (lambda m: m.map(engine="mean-field"), "mean-field cannot find a most probable state"),
        (lambda m: m.sample(3, engine="bethe"), "bethe cannot draw states"),
        (lambda m: m.sample(-1), "n: found -1"),
        (lambda m: m.sample(2**70), "n: found 1180591620717411303424"),
        (lambda m: m.sample(2.5), "n: found 2.5, expected a whole number"),
        (lambda m: m.infer(engine=None), "engine: found None, expected a word"),
        (lambda m: m.infer(pairs=None), "pairs: found None, expected a word"),
        (lambda m: m.infer(bracket=None), "bracket: found None, expected True or False"),
        (lambda m: m.infer(seed=True), "seed: found True"),
        (lambda m: m.score([[1, 1]], bracket="x"), "bracket: found 'x', expected True or False"),
        (lambda m: m.plot(strongest=-1), "strongest: found -1"),
        (lambda m: m.query(5), "ask: there is no unit named '5'"),
        (lambda m: m.query(["x0", "x0"]), "asked for twice"),
        (lambda m: m.query(["x0"], {"x0": 1}), "both asked for and given"),
        (lambda m: m.cumulants(["x0"] * 5), "found 5 units, expected 1 to 4"),
    ],
)
def test_errors_of_invalid_requests_name_the_keyword(ask, message):
    with pytest.raises(ValueError, match=message) as caught:
        ask(PAIR)
    assert "--" not in str(caught.value)


def test_too_little_memory_is_reported_with_a_hint():
    with pytest.raises(ValueError, match=r"(?s)enumerate: .* needs .*\nhint: give more budget, clamp units with given"):
        random_machine(40).infer(engine="enumerate")


def test_unknown_keywords_are_type_errors():
    with pytest.raises(TypeError, match="unexpected keyword argument 'temprature'"):
        PAIR.infer(temprature=2)


def test_unknown_keywords_are_refused_even_if_none():
    for ask in (PAIR.infer, lambda **settings: fit(ROWS, **settings)):
        with pytest.raises(TypeError, match="unexpected keyword argument 'nosuch'"):
            ask(nosuch=None)
        ask(starts=None, anneal=None)


def test_booleans_are_true_or_false():
    for option in ("persistent", "no_self_coupling"):
        with pytest.raises(ValueError, match=f"{option}: found 'x', expected True or False"):
            fit(ROWS, **{option: "x"})
    fit(ROWS, learner="contrastive-divergence", iterations=2, persistent=np.True_)


def test_objects_of_another_kind_are_named():
    with pytest.raises(TypeError, match="start: found int, expected a Machine"):
        fit(ROWS, start=5)
    with pytest.raises(TypeError, match="progress: found 5, expected True, False or a callable"):
        fit(ROWS, progress=5)
    with pytest.raises(TypeError, match=r"graph: found NoneType, expected a networkx\.Graph"):
        Machine.from_networkx(None)
    with pytest.raises(TypeError, match=r"model: found NoneType, expected a dimod\.BinaryQuadraticModel"):
        Machine.from_dimod(None)
    with pytest.raises(ValueError, match="temperature: found 0, expected a number above 0"):
        Machine.from_dimod(PAIR.to_dimod(), temperature=0)
    for table in (None, {"a": [1, 0]}, 5):
        with pytest.raises(ValueError, match=f"table: found {type(table).__name__}, expected rows and columns"):
            fit(table)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Machine([[0, 1], [1, 0]], temperature="x"), "temperature: found 'x', expected a number"),
        (lambda: Machine([[0, 1], [1, 0]], offset=[]), "offset: found"),
        (lambda: Machine([[0, 1], [1, 0]], names=5), "names: found int, expected a sequence"),
        (lambda: Machine([[0, 1], [1, 0]], names={"a", "b"}), "names: found set, expected a sequence"),
        (lambda: Machine([[0, 1], [1, 0]], roles=5), "roles: found int"),
        (lambda: Machine([[0, 1], [1, 0]], names=["a"]), "names: found 1, expected 2"),
        (
            lambda: Machine([[0, 1], [1, 0]], roles=[None, "visible"]),
            "roles: found None, expected visible, hidden or input",
        ),
        (lambda: Machine.from_edges(5), "edges: found int"),
        (lambda: Machine.from_edges([None]), "edges: found None, expected two names and a weight"),
        (lambda: Machine.from_edges([("a", "b", "x")]), "edges: weight of 'a' and 'b': found 'x'"),
        (lambda: Machine.from_edges([("a", "b", 1)], bias={"a": "x"}), "bias of 'a': found 'x'"),
        (lambda: Table(ROWS, names={"a", "b"}), "names: found set"),
        (lambda: Table(ROWS, weights="x"), "weights: found str"),
        (lambda: Table(ROWS, weights=np.ones(5) + 1j), "weights: found complex or masked"),
        (lambda: Table(ROWS, weights=np.ma.masked_array(np.ones(5), mask=True)), "weights: found complex or masked"),
        (lambda: Table([[10**400]]), "row 1, column 1: found '1000"),
        (lambda: Table([[1e300]]), "found 100000000000000000000000…, expected"),
        (lambda: Table([[1, 0], [1]]), "table: found rows of different lengths"),
        (lambda: plot_weights(np.eye(4), shape=()), "shape: found 0 numbers"),
        (lambda: plot_weights(np.eye(4), shape=(2, 2), size=0), "size: found 0"),
        (lambda: plot_weights(np.eye(4), shape=(2, 2), titles=5), "titles: found int"),
        (lambda: plot_weights("", shape=(2, 2)), "weights: found str"),
        (lambda: PAIR.plot(width=-1), "width: found -1"),
        (lambda: PAIR.plot(labels=5), "labels: found int"),
        (lambda: plot_weights(np.eye(4), shape=(2, 2), columns=0), "columns: found 0"),
    ],
)
def test_arguments_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_file_that_cannot_keep_everything_says_so(tmp_path):
    machine = Machine([[0, 1], [1, 0]], names=["a", "b"], roles=["hidden", "visible"], temperature=2.0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        machine.save(tmp_path / "m.uai")
        machine.save(tmp_path / "m.json")
    texts = [str(warning.message) for warning in caught]
    assert [word in text for word, text in zip(("names", "roles", "temperature"), texts, strict=True)] == [True] * 3


def test_numbers_that_are_too_large_are_reported_as_such():
    with pytest.raises(
        ValueError,
        match="the offset of the machine is 1e308, and its other energies add up to 1e0, beyond the limit of 1e290",
    ):
        Machine([[0, 1], [1, 0]], offset=1e308).infer()
    with pytest.raises(ValueError, match="weights and biases divided by the temperature add up to inf"):
        Machine([[0, 1e308], [1e308, 0]], bias=[1e308, 0]).infer()


def test_weights_that_are_complex_or_masked_are_refused():
    for weights in (np.array([[0, 1j], [1j, 0]]), np.ma.masked_array([[0.0, 1.0], [1.0, 0.0]], mask=[[0, 1], [1, 0]])):
        with pytest.raises(ValueError, match="complex or masked"):
            Machine(weights)
