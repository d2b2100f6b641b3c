"""Fits: watched, stopped, interrupted, refused."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pandas as pd
import pytest
from conftest import random_machine

from isinglass import ConvergenceWarning, Machine, Table, fit


def test_a_listener_hears_every_iteration(votes):
    reported = []
    machine, result = fit(votes, l2=0.01, progress=lambda *step: reported.append(step))
    assert [step[0] for step in reported] == result.history.iteration.tolist() == list(range(len(reported)))
    assert [step[2] for step in reported] == result.history.objective.tolist()
    assert {step[1] for step in reported} == {1000} and {step[4] for step in reported} == {0}
    assert machine == fit(votes, l2=0.01)[0]
    starts = []
    fit(votes, hidden=1, restarts=3, l2=0.05, progress=lambda *step: starts.append(step[4]))
    assert sorted(set(starts)) == [0, 1, 2]


def test_a_listener_stops_the_fit(votes):
    with pytest.warns(ConvergenceWarning, match="not converged"):
        machine, result = fit(votes, progress=lambda iteration, *_: iteration < 3)
    assert result.iterations == 3 and not result.converged and len(machine) == 6


def test_an_exception_of_a_listener_ends_the_fit(votes):
    def listener(*_: object) -> None:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        fit(votes, progress=listener)


def test_a_bar_is_shown(votes, capsys):
    fit(votes, l2=0.01, progress=True)
    assert "fit" in capsys.readouterr().err


def test_frames_and_weights(votes):
    whole = votes[~np.isnan(votes).any(axis=1)]
    frame = pd.DataFrame(whole, columns=list("abcdef"))
    machine, _ = fit(frame, l2=0.01)
    assert machine.names == tuple("abcdef")
    doubled, _ = fit(Table(whole, weights=np.full(len(whole), 2.0)), l2=0.01)
    assert doubled.weights == pytest.approx(machine.weights, abs=1e-6)
    zero_one, _ = fit((whole > 0).astype(np.int8), l2=0.01)
    assert zero_one.weights.tolist() == machine.weights.tolist()


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"learner": "magic"}, "learner: found 'magic', expected auto, likelihood"),
        ({"l2": -1}, "l2: found -1, expected a finite number of at least 0"),
        ({"l1": "lots"}, "l1: found 'lots'"),
        ({"l1": "ebic"}, "l1: requires rows without missing cells"),
        ({"hidden": -1}, "hidden: found -1"),
        ({"hidden": 1, "learner": "closed-form"}, "hidden belongs to learner likelihood"),
        ({"learner": "likelihood", "batch": 3}, "batch belongs to learner contrastive-divergence"),
        ({"rate": 0.1}, "rate belongs to optimizer momentum and adaptive"),
        ({"optimizer": "momentum", "momentum": 1.0}, "momentum: found 1, expected a number of at least 0 and below 1"),
        ({"restarts": 0}, "restarts: found 0"),
        ({"visible_links": "star"}, "visible_links: found 'star', expected none, chain"),
        ({"visible_links": [(0, 9)]}, "9"),
        ({"visible_links": [(0, 1, 2)]}, "pairs"),
        ({"visible_links": "grid:2x2"}, "grid"),
        ({"inputs": ["y"]}, "inputs: there is no unit named 'y'"),
        (
            {"hidden": 40, "hidden_links": "full", "learner": "likelihood"},
            "(?s)hint: give more budget, sparser visible_links",
        ),
        ({"start": Machine([[0]]), "hidden": 3}, "x1"),
        ({"start": Machine([[0]])}, "x1"),
    ],
)
def test_errors_of_invalid_fits_name_the_keyword(votes, keywords, message):
    with pytest.raises(ValueError, match=message) as caught:
        fit(votes, **keywords)
    assert "--" not in str(caught.value)


def test_unknown_keywords_are_type_errors(votes):
    with pytest.raises(TypeError, match="unexpected keyword argument 'l3'"):
        fit(votes, l3=1)


ENDLESS = {
    "fit": "isinglass.fit(np.random.default_rng(0).choice([-1, 1], (5000, 20)), learner='contrastive-divergence', iterations=10**9)",
    "infer": "isinglass.Machine(np.ones((200, 200)) - np.eye(200)).infer(engine='gibbs', chains=2000, samples=4, burn_in=10**8)",
    "infer of few units": "isinglass.Machine([[0, 1], [1, 0]]).infer(engine='gibbs', chains=2000, samples=4, burn_in=10**9)",
    "one long iteration": "isinglass.fit(np.random.default_rng(0).choice([-1, 1], (5000, 300)), learner='likelihood', engine='ais', temperatures=10**7)",
}


@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
@pytest.mark.parametrize("work", ENDLESS.values(), ids=ENDLESS.keys())
def test_ctrl_c_ends_the_work_within_a_second(work):
    program = f"""
        import numpy as np, isinglass, threading, time
        beats = []
        def beat():
            while True:
                beats.append(time.monotonic())
                time.sleep(0.01)
        threading.Thread(target=beat, daemon=True).start()
        print("begun", flush=True)
        try:
            {work}
        except KeyboardInterrupt:
            # Another thread of Python ran meanwhile.
            print("interrupted", len(beats) > 10, flush=True)
            # Nothing runs in the background.
            time.sleep(1.0)
            before = time.process_time()
            time.sleep(1.0)
            print("at rest", time.process_time() - before < 0.3, flush=True)
            # Threads are available again.
            isinglass.Machine(np.full((60, 60), 0.01) - 0.01 * np.eye(60)).infer(engine="gibbs", samples=100, burn_in=10)
            isinglass.fit(np.random.default_rng(0).choice([-1, 1], (300, 12)), l2=0.1)
            print("next", flush=True)
            import os
            os._exit(0)
    """
    line = [sys.executable, "-c", textwrap.dedent(program)]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout.readline() == "begun\n"
        time.sleep(0.7)
        began = time.monotonic()
        running.send_signal(signal.SIGINT)
        assert running.stdout.readline() == "interrupted True\n"
        assert time.monotonic() - began < 1.0
        assert running.stdout.readline() == "at rest True\n"
        assert running.stdout.readline() == "next\n"
        assert time.monotonic() - began < 12.0
        assert running.wait(10) == 0


FORKED = """
    import multiprocessing, numpy as np, isinglass
    weights = np.full((18, 18), 0.1) - 0.1 * np.eye(18)
    machine = isinglass.Machine(weights)
    rows = machine.sample(3000).states

    def work(seed):
        return machine.infer(engine="enumerate").log_z, isinglass.fit(rows, learner="pseudo-likelihood")[0].edge_weights[seed]

    here = [work(seed) for seed in range(4)]
    with multiprocessing.get_context("fork").Pool(2) as pool:
        print(pool.map(work, range(4)) == here)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes that fork")
def test_forked_processes_have_threads_of_their_own():
    line = [sys.executable, "-W", "ignore", "-c", textwrap.dedent(FORKED)]
    done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=100)
    assert done.stdout == "True\n", done.stderr


# A fit that is stopped warns that it has not converged.
@pytest.mark.filterwarnings("ignore")
def test_long_work_of_one_thread_keeps_no_other_waiting():
    """Neither short questions nor fits wait for long ones in other threads."""
    long = random_machine(60, strength=0.02)
    stop = []

    def listen(*_):
        return not stop

    rows = np.random.default_rng(0).choice([-1, 1], (3000, 20))
    settings = {"learner": "contrastive-divergence", "iterations": 10**9, "progress": listen}
    threads = [threading.Thread(target=fit, args=(rows,), kwargs=settings) for _ in range(3)]
    for thread in threads:
        thread.start()
    began = time.monotonic()
    random_machine(5).infer()
    fit(rows[:300, :12], l2=0.1)
    long.infer(engine="gibbs", samples=50, burn_in=10)
    taken = time.monotonic() - began
    stop.append(True)
    for thread in threads:
        thread.join()
    assert taken < 10.0


def test_held_out_rows_choose_the_penalty() -> None:
    generator = np.random.default_rng(3)
    rows = np.where(generator.random((240, 6)) < 0.3 + 0.4 * generator.integers(0, 2, (240, 1)), 1, -1)
    train, other = rows[:120], rows[120:]
    machine, result = fit(train, l2="auto")
    path = result.penalty
    assert path is not None
    assert path.setting == "l2"
    assert path.criterion == "log-likelihood"
    assert path.chosen == path.penalties[np.argmax(path.held_out)]
    assert (np.diff(path.penalties) < 0).all()
    assert (path.errors > 0).all()
    assert machine == fit(train, l2=path.chosen)[0]
    validated = fit(train, validate=other, l1="auto")[1].penalty
    assert validated is not None
    assert validated.setting == "l1"
    assert fit(train)[1].penalty is None
    with pytest.raises(ValueError, match="validate: unit"):
        fit(train, validate=other[:, :5])


def test_posteriors_say_which_couplings_there_are():
    rng = np.random.default_rng(3)
    a = rng.choice([-1, 1], 300)
    b = np.where(rng.random(300) < 0.9, a, -a)
    c = rng.choice([-1, 1], 300)
    rows = np.column_stack([a, b, c])
    machine, result = fit(rows, learner="bayes", samples=1500, seed=1)
    posterior = result.posterior
    assert posterior.likelihood == "exact" and result.engine == "decimate"
    assert posterior.edges.tolist() == [[0, 1], [0, 2], [1, 2]]
    assert posterior.inclusion[0] > 0.99 and (posterior.inclusion[1:] < 0.5).all()
    assert posterior.couplings.lower[0] < machine.edge_weights[0] < posterior.couplings.upper[0]
    assert (posterior.log_bayes_factor[1:] < 0).all() and posterior.r_hat < 1.05
    assert posterior.biases.mean.shape == (3,)
    gaps = rows.astype(float)
    gaps[::7, 1] = np.nan
    with_gaps = fit(gaps, learner="bayes", samples=1500, seed=1)[1].posterior
    assert with_gaps.couplings.deviation[0] > posterior.couplings.deviation[0]
    median, _ = fit(rows, learner="bayes", cutoff=0.5, inclusion="uniform", slab="laplace", scale=1.0)
    assert median.edges.tolist() == [[0, 1]]
    with pytest.raises(ValueError, match="scale"):
        fit(rows, learner="bayes", scale=0.0)
