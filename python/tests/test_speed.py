"""The cost of a call into the native module."""

from __future__ import annotations

import timeit

import pytest
from conftest import random_machine

from isinglass import _native
from isinglass._calls import request

COUNT = 200
# A call costs about ten µs on an idle computer (benches/python/calls.py); the limit allows for a busy one.
LIMIT = 1e-3


@pytest.mark.parametrize("engine", ["auto", "enumerate", "mean-field", "bethe"])
def test_a_call_costs_little_above_the_core(engine):
    machine = random_machine(10, strength=0.2)

    def measure() -> float:
        # The minimum over runs, against noise from other work of the computer.
        ours = min(timeit.repeat(lambda: machine.infer(engine=engine), number=COUNT, repeat=5)) / COUNT
        core = min(_native.time_infer(machine._core, COUNT, request(engine)) for _ in range(5))
        return ours - core

    assert min(measure() for _ in range(3)) < LIMIT
