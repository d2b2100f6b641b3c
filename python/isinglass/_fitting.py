"""What the estimators have in common: rows in, a machine out."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from isinglass._arguments import numbers
from isinglass._codes import agreed_codes, read, refuse_empty_columns
from isinglass._fit import History, fit
from isinglass._machine import Machine
from isinglass._seeds import seed_of
from isinglass._tables import Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

    from isinglass._codes import Labels
    from isinglass._fit import FitResult
    from isinglass._results import Completion
    from isinglass._seeds import Seed

_STRUCTURE = ("visible_links", "hidden", "hidden_links")
_SETTINGS = (*_STRUCTURE, "learner", "engine", "l2", "l1", "restarts", "iterations", "tolerance", "budget", "progress")
# What `options` must not hold: parameters of the estimator, and what follows from its arguments.
_OWN = (*_SETTINGS, "table", "weights", "start", "inputs", "seed")


class Rows(NamedTuple):
    """Rows that come after the fit."""

    cells: NDArray[Any]
    table: Table
    # For each column of X, whether it is written in 0 and 1, as far as the rows of the fit and these tell.
    codes: list[bool | None]


class Fitting(BaseEstimator):
    """The parameters of fits, the rows they are made to, and the machine that comes of them."""

    machine_: Machine
    result_: FitResult
    history_: History
    n_features_in_: int

    # The outputs of the fit, if it had any; for each column of X, whether it is written in 0 and 1, if its cells told; the seed of the fit,
    # and of questions after it.
    _labels: Labels | None
    _codes: list[bool | None]
    _seed: int

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """Leave everything as it was if a fit fails or is interrupted."""
        before = self.__dict__.copy()
        try:
            yield
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def _settings(self) -> dict[str, Any]:
        """The settings of a fit."""
        own = next((name for name in self._options() if name in _OWN), None)
        if own is not None:
            message = (
                f"options: found '{own}', which is no option of a fit here, expected it as a parameter or an argument"
            )
            raise ValueError(message)
        return {**self._options(), **{name: getattr(self, name) for name in _SETTINGS}}

    def _options(self) -> dict[str, Any]:
        """What else a fit is told."""
        if self.options is None:
            return {}
        if not isinstance(self.options, Mapping) or not all(isinstance(name, str) for name in self.options):
            message = f"options: found {self.options!r}, expected a dictionary of names and values"
            raise ValueError(message)
        return dict(self.options)

    def _structure(self) -> dict[str, Any]:
        """Which units there are to be, and how they are joined."""
        return {name: getattr(self, name) for name in _STRUCTURE}

    def _asked(self) -> dict[str, Any]:
        """What questions after the fit are asked with."""
        return {"budget": self.budget, "seed": self._seed}

    def _first(self, rows: Any, labels: Any = None, y: Any = None, weights: ArrayLike | None = None) -> Table:
        """A table of rows, with outputs behind them, that are to be learned from the beginning."""
        cells, names = read(rows, self.binarize)
        validate_data(self, rows, skip_check_array=True)
        self._labels = labels(names) if labels is not None else None
        cells, names = self._with_outputs(cells, names, y)
        refuse_empty_columns(cells, names)
        table = Table(cells, names, _weights(weights, len(cells)))
        self._codes = list(table.zero_one[: self.n_features_in_])
        return table

    def _again(self, rows: Any, y: Any = None, weights: ArrayLike | None = None) -> Rows:
        """Rows with the columns of the fit; with outputs if they are given."""
        check_is_fitted(self, "machine_")
        cells, _ = read(rows, self.binarize)
        validate_data(self, rows, skip_check_array=True, reset=False)
        count = self.n_features_in_
        names = list(self.machine_.names[:count])
        cells, names = self._with_outputs(cells, names, y)
        table = Table(cells, names, _weights(weights, len(cells)))
        return Rows(cells, table, agreed_codes(self._codes, table.zero_one[:count], names[:count]))

    def _with_outputs(self, cells: NDArray[Any], names: list[str], y: Any) -> tuple[NDArray[Any], list[str]]:
        if self._labels is None or y is None:
            return cells, names
        return np.hstack([cells, self._labels.read(y, len(cells))]), names + self._labels.names

    def _learn(self, table: Table, settings: dict[str, Any]) -> None:
        """Fit, and keep what was found."""
        self._keep(*fit(table, seed=self._seed, inputs=self._inputs(table), **settings))

    def _inputs(self, table: Table) -> Sequence[str] | None:
        """The columns of a table that are given, where there are outputs."""
        return None if self._labels is None else table.columns[: self.n_features_in_]

    def _keep(self, machine: Machine, result: FitResult) -> None:
        self.machine_, self.result_, self.history_ = machine, result, result.history
        self.n_iter_ = result.iterations
        self.coupling_ = machine.weights
        self.bias_ = machine.bias

    def _complete(self, machine: Machine, table: Table, units: Sequence[str]) -> tuple[Completion, list[int]]:
        """A table completed, and where units stand in it."""
        found = machine.complete(table, **self._asked())
        place = {name: k for k, name in enumerate(found.columns)}
        return found, [place[name] for name in units]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags


def _weights(weights: ArrayLike | None, rows: int) -> NDArray[np.float64] | None:
    """A weight for each row, if there are any."""
    if weights is None:
        return None
    found = numbers(weights, "sample_weight")
    if found.shape != (rows,):
        message = f"sample_weight: found an array of shape {found.shape}, expected one number for each of {rows} rows"
        raise ValueError(message)
    if not found.any():
        message = "sample_weight: every weight is zero, expected one that is not"
        raise ValueError(message)
    return found


def seed_from(random_state: Seed) -> int:
    """The seed of a ``random_state``: a whole number is the seed itself; for None one is drawn from numpy's global generator."""
    return seed_of(check_random_state(None) if random_state is None else random_state, "random_state")
