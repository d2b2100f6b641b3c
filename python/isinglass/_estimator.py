"""The base of the estimators: rows in, a machine out."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from isinglass._arguments import numbers, seed_of
from isinglass._codes import Labels, agreed_codes, read, refuse_empty_columns
from isinglass._fit import fit
from isinglass._parameters import Parameters
from isinglass._tables import Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

    from isinglass._arguments import Seed
    from isinglass._fit import FitResult, History
    from isinglass._machine import Machine


class Rows(NamedTuple):
    """Rows that come after the fit."""

    cells: NDArray[Any]
    table: Table
    # For each column of X, whether it holds 0 and 1, as far as the rows of the fit and these show it.
    codes: list[bool | None]


class Estimator(Parameters):
    """Reads rows, fits a machine to them and stores the result."""

    machine_: Machine
    result_: FitResult
    history_: History
    n_iter_: int
    coupling_: NDArray[np.float64]
    bias_: NDArray[np.float64]
    n_features_in_: int

    # The labels of the outputs, if there are any.
    _labels: Labels | None
    # For each column of X, whether it holds 0 and 1; None where its cells leave that open.
    _codes: list[bool | None]
    # The seed of the fit and of computations after it.
    _seed: int

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """Restores all attributes if a fit fails or is interrupted."""
        before = self.__dict__.copy()
        try:
            yield
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def _begin(self, rows: Any, y: Any = None, classes: Any = None, weights: ArrayLike | None = None) -> Table:
        """The table of a new fit: the columns of X, followed by the outputs if there are any."""
        cells, names = read(rows, self.binarize)
        validate_data(self, rows, skip_check_array=True)
        self._labels = None if y is None else Labels(y, names, classes)
        cells, names = self._with_outputs(cells, names, y)
        refuse_empty_columns(cells, names)
        table = Table(cells, names, _weights(weights, len(cells)))
        self._codes = list(table.zero_one[: self.n_features_in_])
        self._seed = seed_from(self.random_state)
        return table

    def _read(self, rows: Any, y: Any = None, weights: ArrayLike | None = None) -> Rows:
        """Rows with the columns of the fit, followed by the outputs if they are given."""
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

    def _inputs(self, table: Table) -> Sequence[str] | None:
        """The columns of a table that are inputs, where there are outputs."""
        return None if self._labels is None else table.columns[: self.n_features_in_]

    def _learn(self, table: Table) -> None:
        """Fits a machine and stores it."""
        self._store(*fit(table, seed=self._seed, inputs=self._inputs(table), check=False, **self._settings()))

    def _store(self, machine: Machine, result: FitResult) -> None:
        self.machine_, self.result_, self.history_ = machine, result, result.history
        self.n_iter_ = result.iterations
        self.coupling_ = machine.weights
        self.bias_ = machine.bias

    def _complete(
        self, machine: Machine, table: Table, units: Sequence[str]
    ) -> tuple[NDArray[np.int8], NDArray[np.float64]]:
        """The states of units given each row, and their probabilities of +1."""
        found = machine.complete(table, budget=self.budget, seed=self._seed)
        places = [found.columns.index(name) for name in units]
        return found.states[:, places], found.probabilities[:, places]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags


def _weights(weights: ArrayLike | None, rows: int) -> NDArray[np.float64] | None:
    """The weights of the rows, if there are any."""
    if weights is None:
        return None
    found = numbers(weights, "sample_weight")
    if found.shape != (rows,):
        message = f"sample_weight: found an array of shape {found.shape}, expected one number for each of {rows} rows"
        raise ValueError(message)
    if not found.any():
        message = "sample_weight: every weight is zero, expected at least one that is not"
        raise ValueError(message)
    return found


def seed_from(random_state: Seed) -> int:
    """Returns the seed of a ``random_state``; for None, numpy's global generator draws one."""
    return seed_of(check_random_state(None) if random_state is None else random_state, "random_state")
