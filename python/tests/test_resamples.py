"""Bootstrap intervals: those of the fit, those of the command, and invalid settings."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from conftest import write_csv

from isinglass import BoltzmannMachine, ConvergenceWarning, fit

LEARNED = {"learner": "pseudo-likelihood", "l2": 0.01, "seed": 4}


@pytest.fixture
def whole(votes):
    return np.nan_to_num(votes, nan=1.0)


def test_intervals_surround_the_fit(whole):
    machine, result = fit(whole, **LEARNED, bootstrap=60, level=0.9)
    plain, without = fit(whole, **LEARNED)
    assert without.intervals is None and machine == plain
    intervals = result.intervals
    assert (intervals.level, intervals.resamples, intervals.failed) == (0.9, 60, 0)
    for spread, fitted in [(intervals.couplings, machine.edge_weights), (intervals.biases, machine.bias)]:
        assert spread.lower.shape == spread.upper.shape == fitted.shape
        assert (spread.lower < spread.upper).all() and (spread.not_zero == 1).all()
        # Where all resamples have one sign, the interval excludes 0.
        assert (spread.lower * spread.upper > 0)[spread.same_sign == 1].all()
        assert ((spread.lower <= fitted) & (fitted <= spread.upper)).mean() > 0.8
    assert (intervals.couplings.same_sign == 1).any()
    wider = fit(whole, **LEARNED, bootstrap=60)[1].intervals
    assert wider.level == 0.95
    assert (wider.couplings.upper >= intervals.couplings.upper).all()
    assert (wider.couplings.lower <= intervals.couplings.lower).all()


@pytest.mark.parametrize("keywords", [{"l2": 0.02}, {"l1": "ebic"}, {"learner": "likelihood", "hidden": 1, "l2": 0.1}])
def test_intervals_are_those_of_the_command(command, whole, keywords):
    names = [f"x{k}" for k in range(6)]
    write_csv(command.folder / "t.csv", whole, names)
    words = [word for name, value in keywords.items() for word in (f"--{name}", str(value))]
    printed = command.json(
        "fit", "t.csv", "-o", "m.json", "--network", "n.csv", "--bootstrap", "25", "--seed", "3", *words
    )
    machine, result = fit(whole, **keywords, bootstrap=25, seed=3)
    of_command, intervals = printed["bootstrap"], result.intervals
    for name in ("level", "resamples", "unconverged", "failed"):
        assert getattr(intervals, name) == of_command[name]
    with (command.folder / "n.csv").open() as file:
        network = {(row["from"], row["to"]): row for row in csv.DictReader(file)}
    assert network
    for k, (a, b) in enumerate(machine.edges):
        row = network.get((machine.names[a], machine.names[b]))
        # Couplings of 0 are not in a network.
        assert (row is None) == (machine.edge_weights[k] == 0)
        for measure in ("lower", "upper", "not_zero", "same_sign") if row else ():
            assert float(row[measure]) == getattr(intervals.couplings, measure)[k]


def test_resamples_are_shown(whole, capsys):
    fit(whole, **LEARNED, bootstrap=30, progress=True)
    assert "resamples" in capsys.readouterr().err


def test_estimators_compute_them(whole):
    model = BoltzmannMachine(learner="pseudo-likelihood", l2=0.1, bootstrap=20).fit(whole)
    assert model.result_.intervals.resamples == 20
    epochs = BoltzmannMachine(learner="contrastive-divergence", bootstrap=20)
    for ask in (epochs.fit, epochs.partial_fit):
        with pytest.raises(ValueError, match="bootstrap: resamples are fitted by"):
            ask(whole)
    assert fit(whole, learner="contrastive-divergence", bootstrap=12)[1].intervals.resamples == 12


class Listener:
    """Stops resamples after some of them."""

    def __init__(self, most: int) -> None:
        self.most, self.reported = most, []

    def __call__(self, *_: object) -> None:
        pass

    def resampled(self, done: int, count: int) -> bool:
        self.reported.append((done, count))
        return done < self.most


def test_a_listener_ends_resamples_and_the_fit_is_kept(whole):
    listener = Listener(40)
    machine, result = fit(whole, **LEARNED, bootstrap=60, progress=listener)
    done = [done for done, _ in listener.reported]
    assert done == sorted(set(done)) and {count for _, count in listener.reported} == {60}
    assert machine == fit(whole, **LEARNED)[0] and 40 <= result.intervals.resamples <= 60
    with pytest.warns(ConvergenceWarning, match="no intervals"):
        result = fit(whole, **LEARNED, bootstrap=100_000, progress=Listener(0))[1]
    assert result.intervals is None and result.converged


def test_a_fit_that_is_stopped_has_none(whole):
    with (
        pytest.warns(ConvergenceWarning, match="the fit was stopped: no resamples"),
        pytest.warns(match="not converged"),
    ):
        machine, result = fit(whole, **LEARNED, bootstrap=20, progress=lambda iteration, *_: iteration < 2)
    assert result.intervals is None and result.iterations == 2 and len(machine) == 6


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"bootstrap": 0}, "bootstrap: found 0, expected at least 1"),
        ({"bootstrap": 2.5}, "bootstrap: found 2.5"),
        ({"bootstrap": True}, "bootstrap: found True"),
        ({"level": 0.9}, "level: belongs to bootstrap"),
        ({"bootstrap": 10, "level": 1.0}, "level: found 1, expected a number above 0 and below 1"),
        ({"bootstrap": 10, "level": float("nan")}, "level: found"),
        ({"bootstrap": 10**12}, "give more budget, or a smaller bootstrap"),
    ],
)
def test_invalid_resamples_are_refused(whole, keywords, message):
    with pytest.raises(ValueError, match=message):
        fit(whole, **LEARNED, **keywords)
