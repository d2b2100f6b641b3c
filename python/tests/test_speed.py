"""What the bindings cost."""

from __future__ import annotations

import timeit

import pytest
from conftest import random_machine

from isinglass import _native

COUNT = 200
# On a quiet machine a call costs some ten µs (benches/python/calls.py); a busy one must not fail for being busy.
LIMIT = 1e-3


@pytest.mark.parametrize("engine", ["auto", "enumerate", "mean-field", "bethe"])
def test_a_call_costs_little_above_the_core(engine):
    machine = random_machine(10, strength=0.2)

    def measure() -> float:
        asked = (engine, None, 0, None)
        # The least of several runs, so that other work of the computer counts for little.
        ours = min(timeit.repeat(lambda: machine.infer(engine=engine), number=COUNT, repeat=5)) / COUNT
        core = min(_native.time_infer(machine._core, COUNT, asked) for _ in range(5))
        return ours - core

    assert min(measure() for _ in range(3)) < LIMIT
