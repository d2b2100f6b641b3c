"""Answers of a machine: numbers with their guarantee."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    Guarantee = Literal["exact", "lower-bound", "upper-bound", "estimate", "approximation"]


class IsinglassWarning(UserWarning):
    """A result is worth less than it seems; the field ``warnings`` of the result has it too, with its code and figures."""


class ConvergenceWarning(IsinglassWarning):
    """A method did not converge; the field ``converged`` of its answer reports it too."""


class Remark(str):
    """A note or a warning: a sentence with a code and figures.

    Attributes
    ----------
    code : str
        A short name that does not change with the wording, such as ``not-mixed``.
    data : dict
        What the sentence says.
    """

    __slots__ = ("_data", "code")

    code: str
    _data: str

    def __new__(cls, message: str, code: str, data: str = "{}") -> Remark:
        """Makes a remark; ``data`` is JSON."""
        made = super().__new__(cls, message)
        made.code, made._data = code, data
        return made

    def __getnewargs__(self) -> tuple[str, str, str]:  # type: ignore[override]
        return str(self), self.code, self._data

    @property
    def data(self) -> dict[str, Any]:
        """What the sentence says."""
        data: dict[str, Any] = json.loads(self._data)
        return data


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
        Whether both engines converged; the bounds hold in any case.
    """

    lower: float
    upper: float
    lower_engine: str | None = None
    upper_engine: str | None = None
    converged: bool | None = None

    @property
    def width(self) -> float:
        """The distance between the bounds."""
        return self.upper - self.lower


@dataclass(frozen=True, eq=False)
class _Answer:
    """The fields of all answers.

    Attributes
    ----------
    engine : str or None
        The engine that answered.
    guarantee : str
        The guarantee of the numbers: ``exact``, ``lower-bound``, ``upper-bound``, ``estimate`` or ``approximation``.
    converged : bool
        Whether the method converged.
    diagnostics : dict
        Sweeps and residual, or chains, R-hat and effective samples; empty for direct methods.
    notes : tuple of Remark
        Which engine was chosen and why, and other remarks: text with the attributes ``code`` and ``data``.
    warnings : tuple of Remark
        What makes the answer worth less than it seems; each is issued as an :class:`IsinglassWarning`, too.
    """

    engine: str | None
    guarantee: Guarantee
    converged: bool
    diagnostics: Mapping[str, Any] = field(default_factory=dict, kw_only=True, repr=False)
    notes: Sequence[Remark] = field(default=(), kw_only=True, repr=False)
    warnings: Sequence[Remark] = field(default=(), kw_only=True, repr=False)


@dataclass(frozen=True, eq=False)
class Expectations(_Answer):
    """log Z, means and correlations of a machine, free or with units clamped.

    Attributes
    ----------
    names : tuple of str
        The units, in the machine's order.
    log_z : float or None
        The logarithm of the partition sum, terms of clamped units included; None if the engine does not compute it.
    means : ndarray of shape (n_units,)
        The mean of each unit; that of a clamped unit is its value.
    pairs : ndarray of shape (n_pairs, 2)
        Positions of the pairs of ``correlations``.
    correlations : ndarray of shape (n_pairs,)
        The raw moments of these pairs: means of the products.
    log_z_error, means_error, correlations_error : float, ndarray or None
        Standard errors of estimates; nan where they are unknown, because chains did not mix.
    bracket : Bracket or None
        Bounds on log Z, if requested.
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
        """Positions of the pairs of ``correlations``."""
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
        """Returns the mean of a unit."""
        return float(self.means[_position(self.names, unit)])

    def correlation(self, a: object, b: object) -> float:
        """Returns the mean of the product of two units, if it was computed."""
        pair = sorted((_position(self.names, a), _position(self.names, b)))
        found = np.flatnonzero((self.pairs == pair).all(axis=1))
        if len(found) == 0:
            message = f"the correlation of '{a}' and '{b}' was not computed; pairs='all' computes that of every pair"
            raise ValueError(message)
        return float(self.correlations[found[0]])

    def to_dict(self) -> dict[str, float]:
        """Returns the means by the names of their units."""
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
        The units.
    states : ndarray of int8, shape (2**k, k)
        Their states in counting order, -1 before +1, the last unit fastest.
    probabilities : ndarray of shape (2**k,)
        Their probabilities.
    errors : ndarray or None
        Standard errors of estimates; nan where they are unknown, because chains did not mix.
    """

    ask: tuple[str, ...]
    states: NDArray[np.int8] = field(repr=False)
    probabilities: NDArray[np.float64]
    errors: NDArray[np.float64] | None = field(default=None, repr=False)

    def to_dict(self) -> dict[tuple[int, ...], float]:
        """Returns the probabilities by their states."""
        states = (tuple(state) for state in self.states.tolist())
        return dict(zip(states, self.probabilities.tolist(), strict=True))


@dataclass(frozen=True, eq=False)
class Cumulants(_Answer):
    """The cumulants of every subset of up to four units.

    Attributes
    ----------
    units : tuple of str
        The units, possibly repeated.
    values : dict
        The cumulant of each subset of the units, small subsets first.
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
        Its energy, that of :meth:`Machine.energy`: not divided by the temperature, the machine's offset included.
    """

    names: tuple[str, ...] = field(repr=False)
    state: NDArray[np.int8]
    energy: float

    def to_dict(self) -> dict[str, int]:
        """Returns the state by the names of the units."""
        return dict(zip(self.names, self.state.tolist(), strict=True))


@dataclass(frozen=True, eq=False)
class Draws(_Answer):
    """States drawn from a machine; converts to an array where one is expected.

    Attributes
    ----------
    names : tuple of str
        The units.
    states : ndarray of int8, shape (n_draws, n_units)
        The states, one per row.
    """

    names: tuple[str, ...] = field(repr=False)
    states: NDArray[np.int8]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.states, dtype=dtype, copy=True if copy else None)

    def __len__(self) -> int:
        return len(self.states)

    def to_pandas(self) -> Any:
        """Returns a pandas data frame with a column for each unit."""
        import pandas

        return pandas.DataFrame(self.states, columns=list(self.names))


@dataclass(frozen=True, eq=False)
class Completion(_Answer):
    """A table with its missing cells filled.

    Attributes
    ----------
    columns : tuple of str
        The columns of the table, followed by units that had no column.
    added : tuple of str
        These units.
    filled : int
        The number of filled cells.
    states : ndarray of int8, shape (n_rows, n_columns)
        -1 and +1; missing cells have their more probable value.
    probabilities : ndarray of shape (n_rows, n_columns)
        The probability of +1; 0 or 1 where the cell was known.
    """

    columns: tuple[str, ...]
    added: tuple[str, ...]
    filled: int
    states: NDArray[np.int8] = field(repr=False)
    probabilities: NDArray[np.float64] = field(repr=False)


@dataclass(frozen=True, eq=False)
class Score(_Answer):
    """Scores of a machine on a table: weighted means per row.

    Attributes
    ----------
    rows : int
        The number of rows.
    log_likelihood : float or None
        log P(visible given input), hidden units and missing cells summed out.
    log_likelihood_guarantee : str or None
        The guarantee of that number.
    log_likelihood_error : float or None
        Its standard error, where it is an estimate.
    independent_log_likelihood : float
        The log-likelihood of independent units with the rates of the same rows.
    tree_log_likelihood : float or None
        That of the Chow-Liu tree of the same rows; None for missing cells, input units or more than 1,000 columns.
    kullback : float or None
        The Kullback-Leibler divergence of the machine from the table; None for a table with missing cells.
    kullback_guarantee : str or None
        The guarantee of that number.
    pseudo_log_likelihood : float or None
        The sum over cells of the log-probability of each given the rest of its row.
    completion : float or None
        Kappen's Q: minus the same, averaged over cells; lower is better.
    clamped_engine : str or None
        The engine of the clamped phase, where rows leave units free.
    bracket : Bracket or None
        Bounds on the log-likelihood, if requested.
    """

    rows: int
    log_likelihood: float | None
    pseudo_log_likelihood: float | None
    completion: float | None
    kullback: float | None
    kullback_guarantee: str | None = field(default=None, repr=False)
    log_likelihood_guarantee: str | None = field(default=None, repr=False)
    log_likelihood_error: float | None = field(default=None, repr=False)
    independent_log_likelihood: float = field(default=float("nan"), repr=False)
    tree_log_likelihood: float | None = field(default=None, repr=False)
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
        Their standard errors, where they are estimates; nan where they are unknown, because chains did not mix.
    clamped_engine : str or None
        The engine of the clamped phase, where rows leave units free.
    """

    values: NDArray[np.float64]
    errors: NDArray[np.float64] | None = field(default=None, repr=False)
    clamped_engine: str | None = field(default=None, repr=False)


@dataclass(frozen=True)
class EngineOffer:
    """The cost of an engine on a machine.

    Attributes
    ----------
    name : str
        The engine.
    available : bool
        Whether it can run within the budget.
    guarantee : str
        The guarantee of its answers.
    bytes : float or None
        Memory that counts against the budget; None if it cannot run with any budget.
    cost : str
        The cost in words, or why the engine cannot run.
    """

    name: str
    available: bool
    guarantee: str
    bytes: float | None
    cost: str


@dataclass(frozen=True)
class Info:
    """Size and structure of a machine, and the cost of each engine.

    Attributes
    ----------
    units, edges : int
        Their numbers.
    roles : dict
        The number of visible, hidden and input units.
    temperature : float
        The temperature.
    components : int
        The number of connected components.
    decimatable : bool
        Whether every unit can be decimated (treewidth at most 3 with the bias unit).
    decimation_order, elimination_order : list of str or None
        The orders found.
    treewidth : tuple of int
        Lower and upper bound, without the bias unit.
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
