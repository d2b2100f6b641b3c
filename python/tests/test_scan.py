"""Thermodynamics over temperature: against closed forms, a plain loop, and derivatives of log Z."""

from __future__ import annotations

import itertools
import pickle

import matplotlib.pyplot as plt
import numpy as np
import pytest
from conftest import random_machine

from isinglass import Machine, Scan


def test_a_scan_is_that_of_a_plain_loop():
    machine = random_machine(6, seed=3, temperature=0.8)
    scan = machine.scan([2.0, 0.7], {"x2": -1})
    assert scan.guarantee == "exact" and scan.temperatures.tolist() == [0.7, 2.0]
    states = np.array([state for state in itertools.product((-1, 1), repeat=6) if state[2] == -1])
    energies, sums = machine.energy(states), states.sum(axis=1)
    for k, t in enumerate(scan.temperatures):
        weights = np.exp(-energies / t)
        p = weights / weights.sum()
        assert scan.log_z[k] == pytest.approx(np.log(weights.sum()))
        assert scan.energy[k] == pytest.approx(p @ energies)
        assert scan.heat_capacity[k] == pytest.approx((p @ energies**2 - (p @ energies) ** 2) / t**2)
        assert scan.magnetisation[k] == pytest.approx(p @ sums)
        assert scan.susceptibility[k] == pytest.approx((p @ sums**2 - (p @ sums) ** 2) / t)
        assert scan.entropy[k] == pytest.approx(-(p @ np.log(p)))
    assert all((errors == 0).all() for errors in scan.errors.values())


def test_tempering_estimates_all_temperatures_from_one_run():
    machine = Machine.grid(4, 4, coupling=1.0)
    exact = machine.scan("1:4:4", overlap=True)
    found = machine.scan(np.linspace(1, 4, 4), overlap=True, engine="temper", sweeps=2048, burn_in=1024)
    assert (exact.guarantee, found.guarantee) == ("exact", "estimate")
    assert found.diagnostics["round_trips"] > 0
    for name in ("log_z", "energy", "heat_capacity", "susceptibility", "entropy"):
        assert (np.abs(getattr(found, name) - getattr(exact, name)) < 5 * found.errors[name]).all(), name
    assert found.overlap[0].p.sum() == pytest.approx(1) and found.overlap[0].binder > found.overlap[3].binder
    assert abs(exact.overlap[0].binder - found.overlap[0].binder) < 5 * np.hypot(
        exact.overlap[0].binder_error, found.overlap[0].binder_error
    )


def test_a_scan_is_a_frame_and_a_picture():
    machine = Machine.chain(5, coupling=1.0)
    scan = machine.scan("0.5:2:7", overlap=True)
    frame = scan.to_frame()
    assert frame.shape == (7, 13) and frame["energy"].tolist() == scan.energy.tolist()
    assert pickle.loads(pickle.dumps(scan)).energy.tolist() == scan.energy.tolist()
    assert isinstance(scan, Scan)
    for drawn in (scan, machine.scan([1.0])):
        figure = drawn.plot(color="black")
        figure.canvas.draw()
        assert figure.axes[0].get_ylabel() == "energy"
    plt.close("all")


@pytest.mark.parametrize(
    ("temperatures", "message"),
    [("warm", "found 'warm', expected"), ("2:1:5", "found '2:1:5'"), ([1.0, -1.0], "found -1"), ([], "found 0")],
)
def test_bad_temperatures_are_refused(temperatures, message):
    with pytest.raises(ValueError, match=message):
        Machine.chain(3).scan(temperatures)


def test_engines_that_cannot_scan_are_refused():
    with pytest.raises(ValueError, match="mean-field cannot scan"):
        Machine.chain(3).scan([1.0], engine="mean-field")
