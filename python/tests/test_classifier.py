"""The classifier: outputs given inputs, and labels in many forms."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from conftest import Loop

import isinglass
from isinglass import BoltzmannClassifier, ConvergenceWarning

SPINS = np.array([[1, -1], [-1, 1], [1, 1]])


def test_outputs_given_inputs(rows):
    inputs, output = rows[:, :4], np.where(rows[:, 4] > 0, "yes", "no")
    model = BoltzmannClassifier(1, l2=0.02, random_state=0).fit(inputs, output)
    machine = model.machine_
    assert machine.names == ("x0", "x1", "x2", "x3", "y", "h1") and set(machine.roles[:4]) == {"input"}
    assert model.classes_.tolist() == ["no", "yes"]
    shares = model.predict_proba(inputs)
    assert shares.shape == (300, 2) and shares.sum(axis=1) == pytest.approx(np.ones(300))
    assert model.predict(inputs).tolist() == np.where(shares[:, 1] >= 0.5, "yes", "no").tolist()
    given = dict(zip(machine.names, inputs[0].tolist()))
    assert shares[0, 1] == pytest.approx(machine.query("y", given).probabilities[1], abs=1e-12)
    logs = model.log_likelihoods(inputs, output)
    assert logs == pytest.approx(np.log(np.where(output == "yes", shares[:, 1], shares[:, 0])), abs=1e-10)
    assert model.score(inputs, output) == pytest.approx(logs.mean(), abs=1e-10)


def test_several_outputs_in_a_frame(rows):
    frame = pd.DataFrame((rows > 0).astype(int), columns=list("abcdef"))
    model = BoltzmannClassifier(l2=0.02).fit(frame[["a", "b", "c", "d"]], frame[["e", "f"]])
    assert model.machine_.names == tuple("abcdef") and model.feature_names_in_.tolist() == list("abcd")
    assert [pair.tolist() for pair in model.classes_] == [[0, 1], [0, 1]]
    first, second = model.predict_proba(frame[["a", "b", "c", "d"]])
    guess = model.predict(frame[["a", "b", "c", "d"]])
    assert guess.tolist() == np.column_stack([first[:, 1] >= 0.5, second[:, 1] >= 0.5]).astype(int).tolist()
    # Their joint distribution is learned, with a coupling between them.
    assert ("e", "f") in {(a, b) for a, b, _ in model.machine_.edge_list()}


def test_missing_outputs_and_inputs_are_summed_out(rows):
    cells = rows.astype(float)
    cells[::3, 4] = np.nan
    cells[::7, 0] = np.nan
    inputs, outputs = cells[:, :4], cells[:, 4:]
    model = BoltzmannClassifier(l2=0.02).fit(inputs, outputs)
    machine, _ = isinglass.fit(
        isinglass.Table(cells, names=["x0", "x1", "x2", "x3", "y0", "y1"]),
        inputs=["x0", "x1", "x2", "x3"],
        l2=0.02,
    )
    assert model.machine_ == machine
    assert model.score(inputs, outputs) == pytest.approx(model.log_likelihoods(inputs, outputs).mean(), abs=1e-10)


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        ([0, 1, 1], [0, 1]),
        ([-1, 1, 1], [-1, 1]),
        ([True, False, True], [False, True]),
        ([1, 1, 1], [0, 1]),
        ([-1, -1, -1], [-1, 1]),
        ([3.0, 5.0, 3.0], [3.0, 5.0]),
        (["b", "a", "b"], ["a", "b"]),
    ],
)
def test_labels_come_back_as_they_were(y, classes):
    model = BoltzmannClassifier(l2=0.1).fit([[0, 1], [1, 0], [1, 1]], y)
    assert model.classes_.tolist() == classes
    assert set(model.predict([[0, 1], [1, 0]]).tolist()) <= set(classes)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda e: e.fit(SPINS, [1, 2, 3]), "y, output 'y': found 3 labels, expected two"),
        (lambda e: e.fit(SPINS, ["a", "a", "a"]), "found one label"),
        (lambda e: e.fit(SPINS, [0.1, 0.2, 0.3]), "continuous"),
        (lambda e: e.fit(SPINS, [1, 0]), "y: found 2 rows, expected 3 as in X"),
        (lambda e: e.fit(SPINS, [np.nan] * 3), "found no labels"),
        (lambda e: e.fit(SPINS, [[[1]]]), "y: found an array of shape"),
        (lambda e: e.fit(SPINS, [0, 1, 0]).predict([[1, -1, 1]]), "3 features"),
        (
            lambda e: e.fit(SPINS, [0, 1, 0]).predict([[1, 0]]),
            "column 'x1': found 0, expected -1 or \\+1 as in the rows of the fit",
        ),
        (lambda e: e.fit(SPINS, None), "y: BoltzmannClassifier requires y"),
        (lambda e: e.fit(SPINS, [0, 1, 0]).score(SPINS, None), "y: BoltzmannClassifier requires y"),
        (
            lambda e: e.fit(SPINS, [0, 1, 0]).score(SPINS, [0, 1, 2]),
            "found .*2.*, expected .*0.* or .*1.* as in the fit",
        ),
        (lambda e: e.fit(SPINS, [0, 1, 0]).score(SPINS, np.ones((3, 2))), "y: found 2 outputs, expected 1"),
    ],
)
def test_invalid_outputs_are_refused(ask, message):
    with pytest.raises(ValueError, match=message) as caught:
        ask(BoltzmannClassifier(l2=0.1))
    assert "--" not in str(caught.value)


def test_pickles_predict_the_same(rows):
    model = BoltzmannClassifier(1, l2=0.02, random_state=0).fit(rows[:, :5], rows[:, 5])
    again = pickle.loads(pickle.dumps(model))
    assert again.machine_ == model.machine_ and again.history_.objective.tolist() == model.history_.objective.tolist()
    assert again.predict_proba(rows[:, :5]).tolist() == model.predict_proba(rows[:, :5]).tolist()


def test_missing_inputs_can_be_scored_whatever_the_row():
    """One engine must suit all patterns of missing inputs."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        rows = rng.integers(0, 2, (60, 5)).astype(float)
        labels = (rows[:, 0] + rng.random(60) > 0.8).astype(int)
        rows[rng.random(rows.shape) < 0.1] = np.nan
        for hidden in range(3):
            model = BoltzmannClassifier(hidden, l2=0.01, random_state=0).fit(rows, labels)
            exact = model.set_params(score_engine="enumerate").score(rows, labels)
            assert abs(model.set_params(score_engine="auto").score(rows, labels) - exact) < 1e-9


def test_labels_of_pandas_with_gaps(rows):
    words = pd.Series(np.where(rows[:, 4] > 0, "yes", "no"), dtype="string")
    words[3] = pd.NA
    model = BoltzmannClassifier(l2=0.02, random_state=0).fit(rows[:, :4], words)
    assert model.classes_.tolist() == ["no", "yes"]
    plain = np.where(rows[:, 4] > 0, 1.0, 0.0)
    plain[3] = np.nan
    same = BoltzmannClassifier(l2=0.02, random_state=0).fit(rows[:, :4], plain)
    assert (same.coupling_ == model.coupling_).all()
    assert model.score(rows[:, :4], words) == same.score(rows[:, :4], plain)
    with pytest.raises(ValueError, match=r"labels of different types \(int and str\)"):
        model.fit(rows[:4, :4], np.array(["a", 1, "a", 1], dtype=object))


def test_each_row_of_outputs_has_its_likelihood(rows):
    """Some inputs are missing, and hidden units are linked."""
    cells = rows.astype(float)
    cells[::7, 1] = np.nan
    cells[3::11, 2] = np.nan
    model = BoltzmannClassifier(2, hidden_links="full", l2=0.05, random_state=1, iterations=20)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(cells[:, :4], cells[:, 4])
    found = model.log_likelihoods(cells[:, :4], cells[:, 4])
    assert found.mean() == pytest.approx(model.score(cells[:, :4], cells[:, 4]), abs=1e-10)
    loop = Loop(model.machine_)
    for row, value in zip(cells[:30], found):
        there = ~np.isnan(row[:4])
        given = (loop.states[:, :4][:, there] == row[:4][there]).all(axis=1)
        both = given & (loop.states[:, 4] == row[4])
        assert value == pytest.approx(np.log(loop.p[both].sum() / loop.p[given].sum()), abs=1e-10)


def test_labels_beside_strings_keep_their_type(rows):
    """Numpy turns numbers beside strings into strings."""
    inputs = rows[:200, :4]
    gaps = ["yes", "no", float("nan"), "no"] * 50
    model = BoltzmannClassifier(l2=0.1).fit(inputs, gaps)
    assert model.classes_.tolist() == ["no", "yes"]
    same = BoltzmannClassifier(l2=0.1).fit(inputs, np.array(gaps, dtype=object))
    assert (same.coupling_ == model.coupling_).all()
    with pytest.raises(ValueError, match=r"labels of different types \(int and str\)"):
        BoltzmannClassifier().fit(inputs, ["a", 1] * 100)
    with pytest.raises(ValueError, match="found one label"):
        BoltzmannClassifier().fit(inputs, ["a"] * 150 + [float("nan")] * 50)
    numbers = BoltzmannClassifier(l2=0.1).fit(inputs, [0] * 199 + [None])
    assert numbers.classes_.tolist() == [0, 1]
    with pytest.raises(ValueError, match="labels of different types"):
        BoltzmannClassifier().fit(inputs, ["a", b"b"] * 100)
    days = np.array(["2020-01-01", "2020-01-02", "NaT", "2020-01-02"] * 50, dtype="datetime64[D]")
    assert len(BoltzmannClassifier(l2=0.1).fit(inputs, days).classes_) == 2


def test_masked_outputs_are_refused_after_the_fit_too(rows):
    inputs, output = rows[:, :4], rows[:, 4]
    model = BoltzmannClassifier(l2=0.1, random_state=0).fit(inputs, output)
    masked = np.ma.masked_array(output, mask=np.arange(len(output)) % 9 == 3)
    for ask in (model.score, model.log_likelihoods, model.partial_fit, model.fit):
        with pytest.raises(ValueError, match="y: found a masked array"):
            ask(inputs, masked)
    assert model.score(inputs, np.ma.masked_array(output)) == model.score(inputs, output)


def test_frames_of_outputs_keep_their_columns(rows):
    frame = pd.DataFrame(rows, columns=list("abcdef"))
    model = BoltzmannClassifier(l2=0.1, random_state=0).fit(frame[list("abcd")], frame[["e", "f"]])
    with pytest.raises(ValueError, match=r"y: found the outputs \['f', 'e'\], expected \['e', 'f'\]"):
        model.score(frame[list("abcd")], frame[["f", "e"]])
