"""The estimators: what they learn, predict and refuse."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from conftest import Loop, random_machine, write_csv
from sklearn.exceptions import NotFittedError

import isinglass
from isinglass import BoltzmannClassifier, BoltzmannMachine, ConvergenceWarning, Imputer, Machine


def test_a_fit_is_that_of_the_function(rows):
    model = BoltzmannMachine(l2=0.01, random_state=3).fit(rows)
    machine, result = isinglass.fit(rows, l2=0.01, seed=3)
    assert model.machine_ == machine and model.result_.log_likelihood == result.log_likelihood
    assert model.history_.objective.tolist() == result.history.objective.tolist()
    assert model.coupling_.tolist() == machine.weights.tolist() and model.bias_.tolist() == machine.bias.tolist()
    assert (model.n_iter_, model.n_features_in_) == (result.iterations, 6) and not hasattr(model, "classes_")


@pytest.mark.parametrize(
    "keywords",
    [
        {},
        {"hidden": 2, "visible_links": "none", "l2": 0.02, "random_state": 7, "restarts": 2},
        {"learner": "pseudo-likelihood", "l2": 0.01},
        {"learner": "contrastive-divergence", "iterations": 3, "random_state": 5, "batch": 50, "steps": 2},
    ],
)
def test_the_command_finds_the_same_to_the_last_digit(command, rows, keywords):
    names = [f"x{k}" for k in range(6)]
    write_csv(command.folder / "t.csv", rows, names)
    words = []
    seed = keywords.get("random_state", 0)
    for name, value in keywords.items():
        if name != "random_state":
            words += ["--" + name.replace("_", "-"), value]
    printed = command.json("fit", "t.csv", "-o", "m.json", "--seed", seed, *words)
    model = BoltzmannMachine(**{**keywords, "random_state": seed}).fit(rows)
    assert model.machine_ == Machine.load(command.folder / "m.json")
    assert model.history_.objective.tolist() == printed["objective"]
    assert model.score(rows) == command.json("score", "m.json", "t.csv", "--seed", seed)["log_likelihood"]
    drawn = command.json("sample", "m.json", "-n", 9, "--seed", 2)["states"]
    assert model.sample(9, random_state=2).tolist() == [row[:6] for row in drawn]


def test_the_command_completes_the_same(command, votes):
    names = [f"x{k}" for k in range(6)]
    write_csv(command.folder / "t.csv", votes, names)
    command.json("fit", "t.csv", "-o", "m.json", "--l2", 0.01)
    command.json("complete", "m.json", "t.csv", "-o", "s.npy")
    filled = Imputer(l2=0.01, random_state=0).fit_transform(votes)
    assert (np.load(command.folder / "s.npy") == filled).all()


@pytest.mark.parametrize(("hidden", "links"), [(0, "none"), (2, "none"), (2, "full")])
@pytest.mark.parametrize("holes", [False, True])
def test_each_row_has_the_likelihood_that_a_plain_loop_finds(votes, hidden, links, holes):
    cells = votes if holes else np.nan_to_num(votes, nan=1.0)
    model = BoltzmannMachine(hidden, hidden_links=links, l2=0.05, random_state=1).fit(cells)
    found = model.score_samples(cells)
    assert found.shape == (200,) and found.mean() == pytest.approx(model.score(cells), abs=1e-10)
    loop = Loop(model.machine_)
    for row, value in zip(cells[:20], found[:20]):
        there = ~np.isnan(row)
        same = (loop.states[:, :6][:, there] == row[there]).all(axis=1)
        assert value == pytest.approx(np.log(loop.p[same].sum()), abs=1e-10)
    weights = np.linspace(0, 1, 200)
    assert model.score(cells, sample_weight=weights) == pytest.approx(np.average(found, weights=weights), abs=1e-10)


def test_likelihoods_of_large_machines_are_estimated_on_request():
    rows = random_machine(60, strength=0.05).sample(200, seed=0).states
    model = BoltzmannMachine(random_state=0, l2=0.1).fit(rows)
    for ask in (model.score, model.score_samples):
        with pytest.raises(ValueError, match="hint: score_engine='ais' estimates the likelihood"):
            ask(rows)
    model.set_params(score_engine="ais")
    assert model.score_samples(rows).mean() == pytest.approx(model.score(rows), abs=1e-9)
    assert -60 * np.log(2) < model.score(rows) < -20


def test_hidden_means_are_those_of_a_plain_loop(votes):
    model = BoltzmannMachine(2, hidden_links="full", l2=0.05, random_state=1).fit(votes)
    means = model.transform(votes)
    assert means.shape == (200, 2) and model.get_feature_names_out().tolist() == ["h1", "h2"]
    loop = Loop(model.machine_)
    for row, found in zip(votes[:20], means):
        there = ~np.isnan(row)
        same = (loop.states[:, :6][:, there] == row[there]).all(axis=1)
        p = loop.p[same] / loop.p[same].sum()
        assert found == pytest.approx(p @ loop.states[same][:, 6:], abs=1e-10)
    again = BoltzmannMachine(2, hidden_links="full", l2=0.05, random_state=1).fit_transform(votes, y=np.arange(200))
    assert again.tolist() == means.tolist()
    assert not hasattr(BoltzmannMachine(), "transform") and not hasattr(BoltzmannMachine(), "fit_transform")


def test_a_class_is_one_kind_of_estimator(rows):
    for kind, others in (
        (BoltzmannMachine(1), ("predict", "predict_proba", "log_likelihoods", "classes_")),
        (BoltzmannClassifier(1), ("transform", "fit_transform", "sample", "score_samples")),
        (Imputer(1), ("predict", "sample", "score")),
    ):
        kind.fit(rows[:, :5], rows[:, 5])
        assert not any(hasattr(kind, name) for name in others)
    # A density does not learn from y.
    model = BoltzmannMachine(l2=0.02).fit(rows[:, :5], rows[:, 5])
    assert model.machine_ == BoltzmannMachine(l2=0.02).fit(rows[:, :5]).machine_
    assert model.score(rows[:, :5], rows[:, 5]) == model.score(rows[:, :5])


def test_the_same_rows_in_many_forms(rows):
    zero_one = (rows > 0).astype(np.int8)
    expected = BoltzmannMachine(l2=0.01).fit(rows)
    for form in (
        zero_one,
        rows > 0,
        zero_one.astype(np.float32),
        zero_one.astype(object),
        zero_one.tolist(),
        np.asfortranarray(rows),
        scipy.sparse.csr_matrix(zero_one),
        scipy.sparse.coo_array(zero_one),
        pd.DataFrame(zero_one),
        pd.DataFrame(rows > 0, columns=list("abcdef")).astype("boolean"),
        pl.DataFrame(zero_one, schema=list("abcdef")),
    ):
        model = BoltzmannMachine(l2=0.01).fit(form)
        assert model.coupling_.tolist() == expected.coupling_.tolist()
        assert model.score(form) == expected.score(rows)
        if hasattr(form, "columns") and str(form.columns[0]) == "a":
            assert model.machine_.names == tuple("abcdef") == tuple(model.feature_names_in_)
    assert set(np.unique(BoltzmannMachine().fit(zero_one).sample(50, random_state=0))) == {0, 1}
    assert set(np.unique(expected.sample(50, random_state=0))) == {-1, 1}
    grey = BoltzmannMachine(l2=0.01, binarize=0.5).fit(np.where(rows > 0, 0.8, 0.5))
    assert grey.coupling_.tolist() == expected.coupling_.tolist()


def test_samples_keep_to_what_is_given(rows):
    model = BoltzmannMachine().fit(pd.DataFrame((rows > 0).astype(int), columns=list("abcdef")))
    draws = model.sample(20, given={"a": 0, "f": 1}, random_state=0)
    assert draws.shape == (20, 6) and (draws[:, 0] == 0).all() and (draws[:, 5] == 1).all()
    assert (
        BoltzmannMachine(random_state=4).fit(rows).sample(9).tolist()
        == model.machine_.sample(9, seed=4).states.tolist()
    )


def test_a_bar_and_a_listener(rows, capsys):
    BoltzmannMachine(progress=True).fit(rows)
    assert "fit" in capsys.readouterr().err
    reported = []
    model = BoltzmannMachine(progress=lambda *step: reported.append(step[0])).fit(rows)
    assert reported == model.history_.iteration.tolist()


def test_missing_cells_are_filled_as_columns_are_written(votes):
    names = list("abcdef")
    frame = pd.DataFrame(votes, columns=names)
    frame["b"] = (frame["b"] + 1) / 2
    filled = Imputer(l2=0.01).set_output(transform="pandas").fit_transform(frame)
    there = ~frame.isna()
    assert list(filled.columns) == names and not filled.isna().any().any()
    assert (filled[there] == frame)[there].to_numpy()[there.to_numpy()].all()
    assert set(filled["a"]) == {-1, 1} and set(filled["b"]) == {0, 1}
    imputer = Imputer(l2=0.01, fill="mean").fit(frame)
    means = imputer.transform(frame)
    row, column = np.argwhere(np.isnan(votes))[0]
    given = {name: int(x) for name, x in zip(names, votes[row]) if not np.isnan(x)}
    p = imputer.machine_.query(names[column], given).probabilities[1]
    assert means[row, column] == pytest.approx(p if column == 1 else 2 * p - 1, abs=1e-12)
    # Rows without any cell are filled from the free machine.
    empty = imputer.transform(pd.DataFrame(np.full((1, 6), np.nan), columns=names))
    assert empty[0, 0] == pytest.approx(imputer.machine_.infer().mean("a"), abs=1e-12)
    whole = np.nan_to_num(votes, nan=1.0)
    assert Imputer().fit(whole).transform(whole.astype(np.int8)).tolist() == whole.tolist()


SPINS = np.array([[1, -1], [-1, 1], [1, 1]])


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda e: e.fit([1, -1]), "Reshape your data"),
        (lambda e: e.fit([[["a"]]]), "expected two dimensions"),
        (lambda e: e.fit([["yes", "no"]]), "expected numbers or booleans"),
        (
            lambda e: e.fit([[1, 2], [1, 0]]),
            "row 1, column 'x1': found 2, expected -1 or \\+1, or 0 or 1; NaN is missing",
        ),
        (lambda e: e.fit(pd.DataFrame({"a": [1, 0], "b": ["u", "v"]})), "column 'b': found 'u'"),
        (lambda e: e.fit([[1, -1], [1, 0]]), "row 2, column 'x1': found 0, expected -1 or \\+1 as in the rows above"),
        (lambda e: e.fit([[1, np.nan], [0, np.nan]]), "column 'x1': every cell is missing"),
        (lambda e: e.fit(np.empty((0, 2))), "found 0 rows"),
        (lambda e: e.fit(np.empty((3, 0))), "0 feature"),
        (
            lambda e: e.fit(SPINS, sample_weight=[1]),
            r"sample_weight: found an array of shape \(1,\), expected one number for each of 3 rows",
        ),
        (lambda e: e.fit(SPINS, sample_weight=[1, 1, -1]), "row 3: the weight is -1"),
        (lambda e: e.fit(SPINS, sample_weight=[0, 0, 0]), "every weight is zero"),
        (lambda e: e.set_params(learner="magic").fit(SPINS), "learner: found 'magic'"),
        (lambda e: e.set_params(hidden=-1).fit(SPINS), "hidden: found -1"),
        (lambda e: e.set_params(random_state="x").fit(SPINS), "random_state: found 'x'"),
        (lambda e: e.set_params(binarize=0.0).fit([[1.0, np.inf]]), "row 1, column 'x1': found inf"),
    ],
)
@pytest.mark.parametrize("kind", [BoltzmannMachine, Imputer])
def test_invalid_rows_and_parameters_are_refused(kind, ask, message):
    with pytest.raises(ValueError, match=message):
        ask(kind())


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda e: e.fit(SPINS).sample(-1), "n_samples: found -1"),
        (lambda e: e.fit(SPINS).sample(1, given={"z": 1}), "no unit named 'z'"),
        (lambda e: e.set_params(steps=3).fit(SPINS), "steps belongs to learner contrastive-divergence"),
    ],
)
def test_invalid_requests_are_refused(ask, message):
    with pytest.raises(ValueError, match=message) as caught:
        ask(BoltzmannMachine(l2=0.1))
    assert "--" not in str(caught.value)


@pytest.mark.parametrize(
    "ask",
    [
        lambda: BoltzmannMachine(1).score(SPINS),
        lambda: BoltzmannMachine(1).score_samples(SPINS),
        lambda: BoltzmannMachine(1).transform(SPINS),
        lambda: BoltzmannMachine(1).sample(),
        lambda: BoltzmannClassifier(1).predict(SPINS),
        lambda: BoltzmannClassifier(1).predict_proba(SPINS),
        lambda: BoltzmannClassifier(1).score(SPINS, [0, 1, 0]),
        lambda: BoltzmannClassifier(1).log_likelihoods(SPINS, [0, 1, 0]),
        lambda: Imputer().transform(SPINS),
    ],
)
def test_methods_require_a_fit(ask):
    with pytest.raises(NotFittedError):
        ask()


def test_seeds_are_those_of_numpy(rows):
    fits = lambda state: BoltzmannMachine(2, visible_links="none", l2=0.02, random_state=state).fit(rows).machine_
    assert fits(3) == fits(np.int64(3)) != fits(4)
    assert fits(np.random.RandomState(0)) == fits(np.random.RandomState(0))
    assert fits(np.random.default_rng(0)) == fits(np.random.default_rng(0))
    np.random.seed(0)
    first = fits(None)
    second = fits(None)
    np.random.seed(0)
    assert first == fits(None) != second


def test_a_million_rows():
    cells = np.random.default_rng(0).choice(np.array([-1, 1], np.int8), (1_000_000, 8))
    model = BoltzmannMachine().fit(cells)
    assert np.abs(model.coupling_).max() < 0.01 and model.score_samples(cells).shape == (1_000_000,)


def test_other_packages_are_loaded_on_demand_only():
    program = """
        import sys
        import isinglass
        assert "sklearn" not in sys.modules and "matplotlib" not in sys.modules
        assert "BoltzmannMachine" in dir(isinglass)
        sys.modules["matplotlib"] = None
        try:
            isinglass.Machine([[0]]).plot()
        except ImportError as error:
            print(error)
        assert "sklearn" not in sys.modules and "tqdm" not in sys.modules
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, check=True)
    assert "isinglass[plot]" in done.stdout


def test_settings_that_do_not_apply_are_refused():
    rows = np.random.default_rng(0).integers(0, 2, (40, 3))
    with pytest.raises(TypeError, match="unexpected keyword argument 'rates'"):
        BoltzmannMachine(rates=0.1)
    for setting in ({"draws": "exact"}, {"l1": 0.1}, {"optimizer": "cg"}, {"clamped_engine": "bethe"}):
        (name,) = setting
        with pytest.raises(
            ValueError, match=f"{name} belongs to learner .*; contrastive-divergence does not accept it"
        ):
            BoltzmannMachine(**setting).partial_fit(rows)
    with pytest.raises(ValueError, match="y: found a masked array"):
        BoltzmannClassifier().fit(rows[:, :2], np.ma.masked_array(rows[:, 2], mask=rows[:, 0] == 1))


def test_a_fit_that_fails_leaves_the_one_before(rows):
    labels = np.where(rows[:, 4] > 0, "yes", "no")
    model = BoltzmannClassifier(l2=0.01, random_state=0).fit(rows[:, :4], labels)
    before = dict(vars(model))
    with pytest.raises(ValueError, match="expected -1 or"):
        model.fit(rows[:, :3] * 2, labels)
    with pytest.raises(ValueError, match="found 'magic'"):
        model.set_params(learner="magic").fit(rows[:, :3], labels)
    model.set_params(learner="auto")
    assert vars(model) == before
    assert model.predict(rows[:, :4]).shape == (len(rows),)
    imputer = Imputer(l2=0.01).fit(rows)
    with pytest.raises(ValueError, match="found 'magic'"):
        imputer.set_params(engine="magic").fit(rows[:, :2])
    assert imputer.n_features_in_ == rows.shape[1]


def test_given_values_of_draws_are_a_dictionary(rows):
    model = BoltzmannMachine(l2=0.02, random_state=0).fit(rows)
    with pytest.raises(ValueError, match="given: found list, expected a dictionary"):
        model.sample(3, given=[1, 2])
    assert (model.sample(5, given=pd.Series({"x0": -1}))[:, 0] == -1).all()


def test_the_number_of_weights_is_checked_before_their_values(rows):
    with pytest.raises(
        ValueError, match=r"sample_weight: found an array of shape \(3,\), expected one number for each of 300 rows"
    ):
        BoltzmannMachine().fit(rows, sample_weight=[0, 0, 0])
    with pytest.raises(ValueError, match="every weight is zero"):
        BoltzmannMachine().fit(rows, sample_weight=np.zeros(len(rows)))


def test_errors_name_the_engine_of_scores(rows):
    model = BoltzmannMachine(l2=0.1, score_engine="magic").fit(rows)
    for ask in (model.score, model.score_samples):
        with pytest.raises(ValueError, match=r"^score_engine='magic': engine: found 'magic'"):
            ask(rows)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"binarize": float("nan")}, "binarize: found nan"),
        ({"binarize": "x"}, "binarize: found 'x', expected a number"),
        ({"random_state": True}, "random_state: found True"),
        ({"random_state": -1}, "random_state: found -1"),
        ({"hidden": 1, "hidden_links": "x"}, "hidden_links: found 'x', expected none, chain or full"),
        ({"clamped_engine": "x"}, "^clamped_engine: found 'x'"),
    ],
)
def test_invalid_parameters_are_refused(rows, parameters, message):
    with pytest.raises(ValueError, match=message):
        BoltzmannMachine(**parameters).fit(rows)


def test_warnings_point_at_the_line_of_the_caller(rows):
    for ask in (
        lambda: BoltzmannMachine(iterations=1).fit(rows),
        lambda: isinglass.fit(rows, iterations=1),
        lambda: Imputer(iterations=1).fit_transform(rows),
    ):
        with pytest.warns(ConvergenceWarning) as caught:
            ask()
        assert all(warning.filename == __file__ for warning in caught), [warning.filename for warning in caught]
