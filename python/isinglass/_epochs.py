"""Fits that epochs of contrastive divergence can resume, and their likelihoods."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any

import numpy as np

from isinglass import _calls
from isinglass._estimator import Estimator
from isinglass._fit import History, fit_epochs

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from isinglass._machine import Machine
    from isinglass._tables import Table

_STRUCTURE = ("visible_links", "hidden", "hidden_links")
# Parameters that `partial_fit` ignores, since one epoch has no choice of them.
_IGNORED = ("engine", "restarts", "tolerance")


class Epochs(Estimator):
    """The part that :class:`isinglass.BoltzmannMachine` and :class:`isinglass.BoltzmannClassifier` share."""

    score_engine: str

    # The structure of the machine.
    _built: dict[str, Any]
    # The state after the epochs so far, if there were any.
    _state: bytes | None
    # The history of another learner before them.
    _earlier: History | None
    # The default of `rate_decay`; None if the epochs resume a fit, whose own default it is then.
    _decay: float | None

    def _begin(self, rows: Any, y: Any = None, classes: Any = None, weights: ArrayLike | None = None) -> Table:
        table = super()._begin(rows, y, classes, weights)
        self._built, self._state, self._earlier, self._decay = deepcopy(self._structure()), None, None, None
        return table

    def _structure(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _STRUCTURE}

    def _fit(self, rows: Any, y: Any, weights: ArrayLike | None) -> None:
        """Fits a new machine."""
        with self._all_or_nothing():
            table = self._begin(rows, y, None, weights)
            if self.learner == "contrastive-divergence":
                # The same fit, with a state that epochs can resume.
                self._run(table, None, self._settings())
            else:
                self._learn(table)

    def _partial_fit(self, rows: Any, y: Any, classes: Any, weights: ArrayLike | None) -> None:
        """Runs one epoch of contrastive divergence on the machine, or on a new one."""
        with self._all_or_nothing():
            machine = getattr(self, "machine_", None)
            table_of = self._begin if machine is None else self._next
            table = table_of(rows, y, classes, weights)
            if self._state is None:
                # A new machine, one of another learner, or one whose epochs diverged at once.
                self._earlier = getattr(self, "history_", None)
                resumes = machine is not None and self.result_.learner == "contrastive-divergence"
                self._decay = self._decay if resumes else 0.0
            settings = {name: value for name, value in self._settings().items() if name not in _IGNORED}
            if self._decay is not None:
                settings.setdefault("rate_decay", self._decay)
            self._run(table, machine, {**settings, "learner": "contrastive-divergence", "iterations": 1})

    def _next(self, rows: Any, y: Any, classes: Any, weights: ArrayLike | None) -> Table:
        """The table of further rows for the same machine."""
        for name, value in self._structure().items():
            built = self._built[name]
            if not np.array_equal(value, built):
                message = f"{name}: found {value!r}, but the machine was built with {built!r}\nhint: fit starts anew"
                raise ValueError(message)
        if self._labels is not None and classes is not None:
            self._labels.check_classes(classes)
        found = self._read(rows, y, weights)
        self._codes = found.codes
        return found.table

    def _run(self, table: Table, machine: Machine | None, settings: dict[str, Any]) -> None:
        """Runs epochs, resumed from the state if there is one."""
        structure = {**self._structure(), "inputs": self._inputs(table)} if machine is None else {}
        fitted, result, state = fit_epochs(
            table,
            machine,
            self._state,
            epochs_before=0 if self._state is None else self.result_.iterations,
            structure=structure,
            seed=self._seed,
            **{name: value for name, value in settings.items() if name not in _STRUCTURE},
        )
        # An epoch that diverges leaves the machine and the state of the epochs before it.
        self._state = self._state if state is None else state
        self._store(fitted, result)
        if self._earlier is not None:
            self.history_ = _joined(self._earlier, result.history)
            self.n_iter_ = int(self.history_.iteration[-1])

    def _likelihood(self, question: str, table: Table) -> dict[str, Any]:
        """The answer to a question about the likelihood of a table."""
        try:
            return _calls.ask(
                question,
                self.machine_._core,
                table._core,
                engine=self.score_engine,
                budget=self.budget,
                seed=self._seed,
            )
        except ValueError as error:
            message = f"score_engine={self.score_engine!r}: {error}"
            hint = "" if self.score_engine == "ais" else "\nhint: score_engine='ais' estimates the likelihood"
            raise ValueError(message + hint) from None


def _joined(before: History, after: History) -> History:
    """A history followed by one that starts where it ends."""
    return History(
        np.concatenate([before.iteration, before.iteration[-1] + after.iteration[1:]]),
        np.concatenate([before.objective, after.objective[1:]]),
        np.concatenate([before.gradient_norm, after.gradient_norm[1:]]),
    )
