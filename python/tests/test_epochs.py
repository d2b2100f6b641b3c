"""`partial_fit`: epochs that resume earlier ones."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import isinglass
from isinglass import BoltzmannClassifier, BoltzmannMachine, ConvergenceWarning, Imputer


@pytest.mark.parametrize(
    "settings", [{"rate": 0.05, "batch": 30}, {"persistent": True, "momentum": 0.8, "rate_decay": 0.5, "chains": 7}]
)
def test_partial_fits_are_epochs_of_one_fit(rows, settings):
    model = BoltzmannMachine(2, random_state=8, l2=0.01, **settings)
    for _ in range(3):
        model = pickle.loads(pickle.dumps(model.partial_fit(rows)))
    same = {
        "learner": "contrastive-divergence",
        "iterations": 3,
        "l2": 0.01,
        "rate_decay": 0.0,
        "check": False,
        **settings,
    }
    machine, result = isinglass.fit(rows, hidden=2, seed=8, **same)
    assert model.machine_ == machine and model.result_.learner == "contrastive-divergence"
    assert model.history_.iteration.tolist() == [0, 1, 2, 3] and model.n_iter_ == 3
    assert model.history_.objective.tolist() == result.history.objective.tolist()
    assert model.result_.finished and not model.result_.converged


def test_partial_fits_start_from_a_fit(rows):
    model = BoltzmannMachine(2, l2=0.01, random_state=0).fit(rows)
    fitted, made, better = model.machine_, model.n_iter_, model.score(rows)
    settings = {"learner": "contrastive-divergence", "l2": 0.01, "rate_decay": 0.0, "start": fitted, "check": False}
    for epochs in (1, 2):
        model.partial_fit(rows[:100])
        assert model.machine_ == isinglass.fit(rows[:100], iterations=epochs, **settings)[0]
        assert model.history_.iteration.tolist() == list(range(made + epochs + 1))
        assert model.n_iter_ == made + epochs
    assert model.score(rows) < better
    assert model.fit(rows).machine_ == fitted and model.n_iter_ == made


def test_partial_fits_resume_a_fit_by_contrastive_divergence(rows):
    settings = {"learner": "contrastive-divergence", "rate_decay": 0.5, "persistent": True}
    model = BoltzmannMachine(1, iterations=4, random_state=3, **settings).fit(rows)
    model.partial_fit(rows).partial_fit(rows)
    whole = BoltzmannMachine(1, iterations=6, random_state=3, **settings).fit(rows)
    assert model.machine_ == whole.machine_ and model.n_iter_ == 6
    assert model.history_.objective.tolist() == whole.history_.objective.tolist()
    assert whole.machine_ == isinglass.fit(rows, hidden=1, iterations=6, seed=3, check=False, **settings)[0]
    assert whole.result_.iterations == 6 and len(whole.history_) == 7
    # By default the rate decays in a fit, and in the epochs that resume it.
    settings = {"learner": "contrastive-divergence", "rate": 0.03, "random_state": 3}
    model = BoltzmannMachine(1, iterations=4, **settings).fit(rows).partial_fit(rows)
    assert model.machine_ == BoltzmannMachine(1, iterations=5, **settings).fit(rows).machine_


def test_partial_fits_with_outputs(rows):
    model = BoltzmannClassifier(random_state=0, rate=0.1, momentum=0.0)
    positive = rows[rows[:, 5] > 0][:10]
    model.partial_fit(positive[:, :5], positive[:, 5], classes=[-1, 1])
    for start in range(0, 300, 10):
        model.partial_fit(rows[start : start + 10, :5], rows[start : start + 10, 5])
    assert model.classes_.tolist() == [-1, 1] and len(model.history_) == 32
    whole = BoltzmannClassifier().fit(rows[:, :5], rows[:, 5])
    assert (model.predict(rows[:, :5]) == whole.predict(rows[:, :5])).mean() > 0.9


def test_what_changed_between_batches_is_refused(rows):
    model = BoltzmannMachine(1, random_state=0).partial_fit(rows)
    with pytest.raises(ValueError, match="hidden: found 2, but the machine was built with 1"):
        model.set_params(hidden=2).partial_fit(rows)
    model.set_params(hidden=1, visible_links=[[0, 1]])
    with pytest.raises(ValueError, match="visible_links: found"):
        model.partial_fit(rows)
    model.set_params(visible_links="full")
    model.partial_fit(rows)
    assert model.n_iter_ == 2


def test_ones_alone_leave_the_coding_open(rows):
    ones, later = np.ones((5, rows.shape[1]), dtype=int), (rows > 0).astype(int)
    model = BoltzmannMachine(random_state=0).partial_fit(ones)
    assert set(np.unique(model.sample(50))) <= {-1, 1}
    model.score(rows)
    model.partial_fit(later)
    assert set(np.unique(model.sample(50))) == {0, 1}
    with pytest.raises(ValueError, match="column 'x0': found -1, expected 0 or 1"):
        model.score(rows)
    filled = Imputer(l2=0.1).fit(ones).transform(np.where(later[:9] > 0, np.nan, 0))
    assert set(np.unique(filled)) <= {0, 1}


def test_listeners_are_given_the_count_of_all_epochs(rows):
    reported = []
    model = BoltzmannMachine(random_state=0, progress=lambda now, most, *_: reported.append((now, most)))
    for _ in range(3):
        model.partial_fit(rows)
    assert reported == [(0, 1), (1, 1), (2, 2), (3, 3)]
    BoltzmannMachine(random_state=0, progress=None).fit(rows).partial_fit(rows)


def test_epochs_that_diverge_leave_a_machine_to_resume_from(rows):
    model = BoltzmannMachine(1, random_state=0).partial_fit(rows)
    before = model.machine_
    with pytest.warns(ConvergenceWarning, match="diverged"):
        model.set_params(rate=1e40).partial_fit(rows)
    assert model.machine_ == before
    model.set_params(rate=0.02).partial_fit(rows)
    plain = BoltzmannMachine(1, random_state=0).partial_fit(rows).partial_fit(rows)
    assert model.machine_ == plain.machine_ != before and model.n_iter_ == 2


def test_a_small_batch_ends_no_chains(rows):
    model = BoltzmannMachine(1, random_state=0, persistent=True, momentum=0.0, batch=20).partial_fit(rows)
    size = len(model._state)
    assert len(model.partial_fit(rows[:1])._state) >= size
    assert len(model.partial_fit(rows)._state) >= size


def test_a_likelihood_that_takes_too_much_is_left_out():
    """The likelihood of many patterns of missing cells may exceed the budget; the fit succeeds without it."""
    rng = np.random.default_rng(0)
    cells = np.where(rng.random((1000, 400)) < 0.5, np.nan, rng.integers(0, 2, (1000, 400)))
    model = BoltzmannMachine(visible_links="chain", random_state=0, rate=0.1).partial_fit(cells)
    assert model.result_.log_likelihood is None and model.result_.finished
    assert np.isfinite(model.set_params(budget="16MiB").score_samples(cells)).all()


@pytest.mark.parametrize(
    "classes", [{}, {"a", "b"}, 5, "ab", ["a"], ["a", "b", "c"], [1], np.ones(300), [1, np.nan], [[-1, 1]]]
)
def test_invalid_classes_are_refused(rows, classes):
    with pytest.raises(ValueError, match="classes: found"):
        BoltzmannClassifier().partial_fit(rows[:, :4], rows[:, 4], classes=classes)


def test_classes_are_those_of_the_first_call(rows):
    inputs, output = rows[:, :4], np.where(rows[:, 4] > 0, "b", "a")
    with pytest.raises(ValueError, match="requires y to be passed"):
        BoltzmannClassifier().partial_fit(inputs, None, classes=["a", "b"])
    model = BoltzmannClassifier(random_state=0).partial_fit(inputs, output, classes=["a", "b"])
    model.partial_fit(inputs, output, classes=["b", "a"])
    with pytest.raises(ValueError, match=r"expected .* as in the first call"):
        model.partial_fit(inputs, output, classes=["a", "c"])
    with pytest.raises(ValueError, match="classes: found labels of 1 outputs, expected those of 2"):
        BoltzmannClassifier().partial_fit(inputs, rows[:, 4:], classes=[[-1, 1]])


def test_links_that_change_in_place_are_noticed(rows):
    links = [[0, 1]]
    model = BoltzmannMachine(visible_links=links, random_state=0).partial_fit(rows)
    links.append([2, 3])
    with pytest.raises(ValueError, match="visible_links: found"):
        model.partial_fit(rows)
