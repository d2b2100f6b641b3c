"""Wishes that cannot be fulfilled: the message of the library, in keywords, and never a crash."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import random_machine

from isinglass import Machine

PAIR = random_machine(2)


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
        (lambda m: m.infer(engine="gibbs", samples=2), "samples: found 2, and chains need at least 4"),
        (lambda m: m.infer(engine="gibbs", bracket=True), "bracket: the engine gibbs bounds log Z from no side"),
        (lambda m: m.infer(engine="max-product"), "max-product finds most probable states"),
        (lambda m: m.map(engine="mean-field"), "mean-field cannot find a most probable state"),
        (lambda m: m.sample(3, engine="bethe"), "bethe cannot draw states"),
        (lambda m: m.sample(-1), "n: found -1"),
        (lambda m: m.query(["x0", "x0"]), "asked for twice"),
        (lambda m: m.query(["x0"], {"x0": 1}), "both asked for and given"),
        (lambda m: m.cumulants(["x0"] * 5), "found 5 units, expected 1 to 4"),
    ],
)
def test_wishes_are_refused_in_the_user_s_words(ask, message):
    with pytest.raises(ValueError, match=message) as caught:
        ask(PAIR)
    assert "--" not in str(caught.value)


def test_too_little_memory_is_told_with_advice():
    with pytest.raises(ValueError, match=r"(?s)enumerate: .* needs .*\nhint: give more budget, clamp units with given"):
        random_machine(40).infer(engine="enumerate")


def test_unknown_keywords_are_type_errors():
    with pytest.raises(TypeError, match="unexpected keyword argument 'temprature'"):
        PAIR.infer(temprature=2)


def test_weights_that_are_complex_or_masked_are_refused():
    for weights in (np.array([[0, 1j], [1j, 0]]), np.ma.masked_array([[0.0, 1.0], [1.0, 0.0]], mask=[[0, 1], [1, 0]])):
        with pytest.raises(ValueError, match="complex or masked"):
            Machine(weights)
