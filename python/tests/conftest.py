"""Machines, a plain loop over their states as a reference, and the command of the package."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from isinglass import Machine


def random_machine(units: int, seed: int = 0, strength: float = 0.5, **options: object) -> Machine:
    """A machine with all pairs coupled, and biases."""
    rng = np.random.default_rng(seed)
    weights = np.triu(rng.normal(0, strength, (units, units)), 1)
    return Machine(weights + weights.T, rng.normal(0, strength, units), **options)


class Loop:
    """The sums over all states of a machine."""

    def __init__(self, machine: Machine, given: dict[str, int] | None = None) -> None:
        weights, bias, names = machine.weights, machine.bias, machine.names
        states = np.array(list(itertools.product((-1, 1), repeat=len(machine))))
        for name, value in (given or {}).items():
            states = states[states[:, names.index(name)] == value]
        energies = -(states @ np.triu(weights) * states).sum(axis=1) - states @ bias
        logs = -energies / machine.temperature + machine.offset
        self.states, self.energies = states, energies
        self.log_z = np.logaddexp.reduce(logs)
        self.p = np.exp(logs - self.log_z)

    def mean(self, *units: int) -> float:
        return float(self.p @ self.states[:, list(units)].prod(axis=1))


class Command:
    """The command `isinglass` in its own folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def run(self, *arguments: object) -> subprocess.CompletedProcess[str]:
        line = [sys.executable, "-m", "isinglass", *map(str, arguments)]
        return subprocess.run(line, cwd=self.folder, capture_output=True, text=True, check=False)

    def json(self, *arguments: object) -> dict:
        done = self.run(*arguments, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


@pytest.fixture
def command(tmp_path: Path) -> Command:
    return Command(tmp_path)


@pytest.fixture
def votes() -> np.ndarray:
    """Correlated rows, some cells missing."""
    rng = np.random.default_rng(5)
    party = rng.choice([-1, 1], 200)
    cells = np.where(rng.random((200, 6)) < 0.8, party[:, None], -party[:, None]).astype(float)
    cells[rng.random(cells.shape) < 0.05] = np.nan
    return cells


def write_csv(path: Path, cells: np.ndarray, names: list[str]) -> None:
    """Writes a table that the command reads."""
    words = {1.0: "1", -1.0: "-1", 0.0: "0"}
    lines = [",".join("" if np.isnan(x) else words[float(x)] for x in row) for row in cells]
    path.write_text("\n".join([",".join(names), *lines]) + "\n")


@pytest.fixture
def rows() -> np.ndarray:
    """Draws of a machine, in -1 and +1."""
    return random_machine(6, seed=4, strength=0.4).sample(300, seed=1).states
