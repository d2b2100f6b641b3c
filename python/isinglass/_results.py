"""What a machine answers: small records of numbers, with what they are worth."""

from __future__ import annotations

import sys
import warnings as _warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    Guarantee = Literal["exact", "lower-bound", "upper-bound", "estimate", "approximation"]


class ConvergenceWarning(UserWarning):
    """A method did not reach what it aims at; its answer says so too (``converged``)."""


def told(found: dict[str, Any]) -> dict[str, Any]:
    """Warn of what a native answer warns of, and return the rest of it."""
    for text in found.pop("warnings", ()):
        _warnings.warn(text, ConvergenceWarning, stacklevel=_outside())
    if "notes" in found:
        found["notes"] = tuple(found["notes"])
    return found


def _outside() -> int:
    """How many calls up the line is that is the user's, and not of this package or a wrapper around it, as ``warn`` counts for its caller."""
    frame, level = sys._getframe(1), 1
    inside = ("isinglass", "sklearn", "joblib", "threading")
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in inside:
        frame, level = frame.f_back, level + 1
    return level


@dataclass(frozen=True, eq=False)
class Bracket:
    """A number between two rigorous bounds.

    Attributes
    ----------
    lower, upper : float
        The bounds.
    lower_engine, upper_engine : str or None
        The engines they come from, where there is one for each.
    converged : bool or None
        Whether both reached what they aim at; the bounds hold all the same.
    """

    lower: float
    upper: float
    lower_engine: str | None = None
    upper_engine: str | None = None
    converged: bool | None = None

    @property
    def width(self) -> float:
        """How far the bounds are apart."""
        return self.upper - self.lower


@dataclass(frozen=True, eq=False)
class _Answer:
    """What all answers tell.

    Attributes
    ----------
    engine : str or None
        The engine that answered.
    guarantee : str
        What the answer is worth: ``exact``, ``lower-bound``, ``upper-bound``, ``estimate`` or ``approximation``.
    converged : bool
        Whether the method reached what it aims at.
    diagnostics : dict
        How it went: sweeps and residual, or chains, R-hat and effective samples; empty for direct methods.
    notes : tuple of str
        Which engine was taken and why, and what else should be known.
    """

    engine: str | None
    guarantee: Guarantee
    converged: bool
    diagnostics: Mapping[str, Any] = field(default_factory=dict, kw_only=True, repr=False)
    notes: Sequence[str] = field(default=(), kw_only=True, repr=False)


@dataclass(frozen=True, eq=False)
class Expectations(_Answer):
    """log Z, means and correlations of a machine, free or with units clamped.

    Attributes
    ----------
    names : tuple of str
        The units, in the machine's order.
    log_z : float or None
        The logarithm of the partition sum, the clamped units' own terms included; None if the engine has none.
    means : ndarray of shape (n_units,)
        The mean of each unit; a clamped unit's is its value.
    pairs : ndarray of shape (n_pairs, 2)
        Positions of the pairs whose correlations are given.
    correlations : ndarray of shape (n_pairs,)
        The raw moments of these pairs, the means of the products.
    log_z_error, means_error, correlations_error : float, ndarray or None
        Standard errors of estimates.
    bracket : Bracket or None
        log Z between two bounds, if it was asked for.
    """

    names: tuple[str, ...] = field(repr=False)
    log_z: float | None
    means: NDArray[np.float64]
    correlations: NDArray[np.float64]
    log_z_error: float | None = field(default=None, repr=False)
    means_error: NDArray[np.float64] | None = field(default=None, repr=False)
    correlations_error: NDArray[np.float64] | None = field(default=None, repr=False)
    bracket: Bracket | None = None
    _edges: Any = field(default=None, repr=False)

    @property
    def pairs(self) -> NDArray[np.int64]:
        """Positions of the pairs whose correlations are given."""
        if self._edges is None:
            return np.empty((0, 2), dtype=np.int64)
        if self._edges == "all":
            return np.stack(np.triu_indices(len(self.names), 1), axis=1)
        edges: NDArray[np.int64] = self._edges.edges
        return edges

    @property
    def probabilities(self) -> NDArray[np.float64]:
        """The probability of +1 of each unit."""
        return (1.0 + self.means) / 2.0

    def mean(self, unit: object) -> float:
        """The mean of a unit."""
        return float(self.means[_position(self.names, unit)])

    def correlation(self, a: object, b: object) -> float:
        """The mean of the product of two units, if it is among those given."""
        pair = sorted((_position(self.names, a), _position(self.names, b)))
        found = np.flatnonzero((self.pairs == pair).all(axis=1))
        if len(found) == 0:
            message = f"the correlation of '{a}' and '{b}' was not asked for; pairs='all' gives that of every pair"
            raise ValueError(message)
        return float(self.correlations[found[0]])

    def to_dict(self) -> dict[str, float]:
        """The means by the names of their units."""
        return dict(zip(self.names, self.means.tolist(), strict=True))


def _position(names: Sequence[str], unit: object) -> int:
    try:
        return names.index(str(unit))
    except ValueError:
        message = f"there is no unit named '{unit}'"
        raise ValueError(message) from None


@dataclass(frozen=True, eq=False)
class JointTable(_Answer):
    """The probabilities of every joint state of a few units.

    Attributes
    ----------
    ask : tuple of str
        The units asked for.
    states : ndarray of int8, shape (2**k, k)
        Their states in counting order, -1 before +1, the last unit fastest.
    probabilities : ndarray of shape (2**k,)
        Their probabilities.
    errors : ndarray or None
        Standard errors of estimates.
    """

    ask: tuple[str, ...]
    states: NDArray[np.int8] = field(repr=False)
    probabilities: NDArray[np.float64]
    errors: NDArray[np.float64] | None = field(default=None, repr=False)

    def to_dict(self) -> dict[tuple[int, ...], float]:
        """The probabilities by their states."""
        states = (tuple(state) for state in self.states.tolist())
        return dict(zip(states, self.probabilities.tolist(), strict=True))


@dataclass(frozen=True, eq=False)
class Cumulants(_Answer):
    """The cumulants of every subset of up to four units.

    Attributes
    ----------
    units : tuple of str
        The list asked for; a unit may stand more than once.
    values : dict
        The cumulant of each choice of units from the list, smaller ones first.
    """

    units: tuple[str, ...]
    values: Mapping[tuple[str, ...], float]


@dataclass(frozen=True, eq=False)
class Mode(_Answer):
    """The most probable state.

    Attributes
    ----------
    names : tuple of str
        The units.
    state : ndarray of int8, shape (n_units,)
        Their state.
    energy : float
        Its energy E, not divided by the temperature and without the machine's offset.
    """

    names: tuple[str, ...] = field(repr=False)
    state: NDArray[np.int8]
    energy: float

    def to_dict(self) -> dict[str, int]:
        """The state by the names of the units."""
        return dict(zip(self.names, self.state.tolist(), strict=True))


@dataclass(frozen=True, eq=False)
class Draws(_Answer):
    """States drawn from a machine; also an array where one is expected.

    Attributes
    ----------
    names : tuple of str
        The units.
    states : ndarray of int8, shape (n_draws, n_units)
        The states, one a row.
    """

    names: tuple[str, ...] = field(repr=False)
    states: NDArray[np.int8]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.states, dtype=dtype, copy=True if copy else None)

    def __len__(self) -> int:
        return len(self.states)

    def to_pandas(self) -> Any:
        """A data frame with a column for each unit."""
        import pandas

        return pandas.DataFrame(self.states, columns=list(self.names))


@dataclass(frozen=True, eq=False)
class Completion(_Answer):
    """A table with its missing cells filled.

    Attributes
    ----------
    columns : tuple of str
        The table's columns, and behind them the units that it has none for.
    added : tuple of str
        The latter.
    filled : int
        The number of cells filled.
    states : ndarray of int8, shape (n_rows, n_columns)
        -1 and +1; missing cells have their more probable value.
    probabilities : ndarray of shape (n_rows, n_columns)
        The probability of +1; 0 or 1 where the cell was there.
    """

    columns: tuple[str, ...]
    added: tuple[str, ...]
    filled: int
    states: NDArray[np.int8] = field(repr=False)
    probabilities: NDArray[np.float64] = field(repr=False)


@dataclass(frozen=True, eq=False)
class Score(_Answer):
    """How good a machine is on a table: averages per row, with weights.

    Attributes
    ----------
    rows : int
        The number of rows.
    log_likelihood : float or None
        log P(visible given input), hidden units and missing cells summed out.
    log_likelihood_error : float or None
        Its standard error, where it is an estimate.
    kullback : float or None
        The divergence between the table's distribution and the machine's; None for a table with missing cells.
    kullback_guarantee : str or None
        What that number is worth.
    pseudo_log_likelihood : float or None
        The sum over cells of the logarithm of their probability given the rest of the row.
    completion : float or None
        Kappen's Q: minus the same, averaged over cells; less is better.
    clamped_engine : str or None
        The engine for the rows, where units are free in them.
    bracket : Bracket or None
        The log-likelihood between two bounds, if it was asked for.
    """

    rows: int
    log_likelihood: float | None
    pseudo_log_likelihood: float | None
    completion: float | None
    kullback: float | None
    kullback_guarantee: str | None = field(default=None, repr=False)
    log_likelihood_error: float | None = field(default=None, repr=False)
    clamped_engine: str | None = field(default=None, repr=False)
    bracket: Bracket | None = None


@dataclass(frozen=True, eq=False)
class RowLikelihoods(_Answer):
    """The log-likelihood of each row of a table.

    Attributes
    ----------
    values : ndarray
        log P(visible given input) of each row, hidden units and missing cells summed out.
    errors : ndarray or None
        Their standard errors, where they are estimates.
    clamped_engine : str or None
        The engine for the rows, where units are free in them.
    """

    values: NDArray[np.float64]
    errors: NDArray[np.float64] | None = field(default=None, repr=False)
    clamped_engine: str | None = field(default=None, repr=False)


@dataclass(frozen=True)
class EngineOffer:
    """What an engine would do for a machine.

    Attributes
    ----------
    name : str
        The engine.
    available : bool
        Whether it can run within the budget.
    guarantee : str
        What its answers are worth.
    bytes : float or None
        Memory that counts against the budget; None if it cannot run whatever the budget.
    cost : str
        The cost in words, or why it cannot run.
    """

    name: str
    available: bool
    guarantee: str
    bytes: float | None
    cost: str


@dataclass(frozen=True)
class Info:
    """What a machine is, and which engines can run on it at what cost.

    Attributes
    ----------
    units, edges : int
        How many there are.
    roles : dict
        The number of visible, hidden and input units.
    temperature : float
        The temperature.
    components : int
        Parts without couplings between them.
    decimatable : bool
        Whether every unit can be decimated (treewidth at most 3, the bias unit counted).
    decimation_order, elimination_order : list of str or None
        Orders found.
    treewidth : tuple of int
        Lower and upper bound, the bias unit not counted.
    engines : tuple of EngineOffer
        The engines.
    """

    units: int
    edges: int
    roles: Mapping[str, int]
    temperature: float
    components: int
    decimatable: bool
    decimation_order: Sequence[str] | None = field(repr=False)
    elimination_order: Sequence[str] | None = field(repr=False)
    treewidth: tuple[int, int]
    engines: tuple[EngineOffer, ...] = field(repr=False)
