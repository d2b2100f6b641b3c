"""Fits of machines to tables."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from isinglass import _calls
from isinglass._arguments import one_or_more, seed_of
from isinglass._machine import Machine
from isinglass._network import Stability
from isinglass._posterior import Posterior
from isinglass._progress import listener_of
from isinglass._tables import Table, as_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Literal

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

    from isinglass._arguments import Seed
    from isinglass._progress import Progress
    from isinglass._results import Guarantee, Remark


@dataclass(frozen=True, eq=False)
class History:
    """The iterations of a fit, the start first.

    Attributes
    ----------
    iteration : ndarray of int64
        The iterations; 0 is the start.
    objective : ndarray
        The objective, which the fit maximises.
    gradient_norm : ndarray
        The largest absolute component of its gradient.
    """

    iteration: NDArray[np.int64] = field(repr=False)
    objective: NDArray[np.float64]
    gradient_norm: NDArray[np.float64] = field(repr=False)

    def __len__(self) -> int:
        return len(self.iteration)

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:
        """Draws the objective, and in grey the gradient, over the iterations, and returns the axes.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; a new figure by default.
        **options
            Options of ``Axes.plot`` for the line of the objective.
        """
        from isinglass._plots import plot_history

        return plot_history(self, ax, **options)


@dataclass(frozen=True, eq=False)
class Spread:
    """The variation of couplings or biases over resamples of the rows.

    Attributes
    ----------
    lower, upper : ndarray
        The limits of the percentile intervals.
    not_zero : ndarray
        The share of resamples in which the number is not 0.
    same_sign : ndarray
        The share of resamples in which it has the sign of the fit; 0 counts as a third sign.
    """

    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    not_zero: NDArray[np.float64] = field(repr=False)
    same_sign: NDArray[np.float64] = field(repr=False)


@dataclass(frozen=True, eq=False)
class Intervals:
    """Bootstrap intervals of a fit.

    Attributes
    ----------
    level : float
        The nominal coverage of the intervals.
    resamples : int
        The number of resamples behind the intervals.
    unconverged : int
        The number of these whose fits did not converge.
    failed : int
        The number of resamples whose fits failed; the intervals do not include them.
    couplings : Spread
        For each edge, in the order of ``machine.edges``.
    biases : Spread
        For each unit.
    centrality : dict of str to Spread
        For each measure of :class:`Centrality`, the spread of each unit's value.
    """

    level: float
    resamples: int
    unconverged: int
    failed: int
    couplings: Spread = field(repr=False)
    biases: Spread = field(repr=False)
    centrality: Mapping[str, Spread] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, eq=False)
class Check:
    """Draws from a fitted machine compared with its table.

    Deviations are those of means and pair moments, in standard errors of the table and the draws together.

    Attributes
    ----------
    verdict : {'reproduces', 'deviates', 'unusable'}
        ``unusable`` if the machine is further from the table than independent units.
    rms, largest : float
        The root of the mean squared deviation, and the largest.
    noise : float
        The root of the mean squared standard error of a moment.
    converged : bool
        Whether the chains mixed.
    """

    verdict: Literal["reproduces", "deviates", "unusable"]
    rms: float
    largest: float
    noise: float
    converged: bool


@dataclass(frozen=True, eq=False)
class PenaltyPath:
    """Penalties compared by rows that the fits had not seen.

    Attributes
    ----------
    setting : {'l1', 'l2'}
        Which penalty was chosen.
    chosen : float
        The penalty of the fit.
    criterion : {'log-likelihood', 'pseudo-log-likelihood'}
        By what held-out rows were judged.
    penalties, held_out, errors : ndarray
        The penalties tried, the strongest first; the mean of the criterion over held-out rows, and its standard error.
    """

    setting: Literal["l1", "l2"]
    chosen: float
    criterion: Literal["log-likelihood", "pseudo-log-likelihood"]
    penalties: NDArray[np.float64] = field(repr=False)
    held_out: NDArray[np.float64] = field(repr=False)
    errors: NDArray[np.float64] = field(repr=False)


@dataclass(frozen=True, eq=False)
class Growth:
    """Numbers of hidden units compared by rows that the fits had not seen.

    Attributes
    ----------
    chosen : int
        The number of hidden units that was kept.
    l2, l1 : float
        Its penalties on squares and on absolute values of couplings.
    hidden, held_out, errors : ndarray
        The numbers tried, in order; the mean log-likelihood of held-out rows, and its standard error.
    """

    chosen: int
    l2: float = field(repr=False)
    l1: float = field(repr=False)
    hidden: NDArray[np.int64] = field(repr=False)
    held_out: NDArray[np.float64] = field(repr=False)
    errors: NDArray[np.float64] = field(repr=False)


@dataclass(frozen=True, eq=False)
class FitResult:
    """How a machine was fitted.

    Attributes
    ----------
    learner : str
        The learner.
    engine, clamped_engine : str or None
        The engines of the free and the clamped phase, if the learner has any.
    guarantee : str
        The guarantee of the log-likelihood.
    rows : int
        The number of rows.
    iterations : int
        The number of iterations after the start.
    converged : bool
        Whether the gradient fell below the tolerance.
    finished : bool
        Converged, or all requested iterations of a learner without a convergence test were done.
    stopped : str
        Why the fit stopped.
    history : History
        The iterations.
    kept : int
        The iteration whose machine was kept.
    log_likelihood, pseudo_log_likelihood : float or None
        Means per row; None where not computed.
    log_likelihood_error : float or None
        The standard error of the log-likelihood, where it is an estimate.
    independent_log_likelihood : float
        That of independent units with the rates of the columns.
    check : Check or None
        Draws from the machine compared with the table. None with ``check=False`` and after exact fits that converged.
    restart_objectives : list of float
        The final objective of each start.
    best_restart : int
        The start whose fit was kept.
    singular : str or None
        How ``closed-form`` treated singular covariances.
    penalty : PenaltyPath or None
        The penalty that held-out rows chose, with all that were tried.
    growth : Growth or None
        How hidden units were added, with ``hidden="auto"``.
    notes : tuple of Remark
        What was chosen and why, and remarks on the data: text with the attributes ``code`` and ``data``.
    warnings : tuple of Remark
        What makes the fit worth less than it seems; each is issued as an :class:`IsinglassWarning`, too.
    posterior : Posterior or None
        Which couplings there are, and how strong, with ``learner="bayes"``.
    intervals : Intervals or None
        Intervals of couplings and biases, if ``bootstrap`` was set. None, with a warning, if the fit was stopped or too few resamples
        could be fitted.
    stability : Stability or None
        CS coefficients of centralities and couplings, if ``case_dropping`` was set.
    """

    learner: str
    engine: str | None
    guarantee: Guarantee
    rows: int
    iterations: int
    converged: bool
    finished: bool
    stopped: str
    log_likelihood: float | None
    pseudo_log_likelihood: float | None
    independent_log_likelihood: float
    check: Check | None
    history: History = field(repr=False)
    log_likelihood_error: float | None = field(repr=False)
    kept: int = field(repr=False)
    clamped_engine: str | None = field(repr=False)
    restart_objectives: Sequence[float] = field(repr=False)
    best_restart: int = field(repr=False)
    singular: str | None = field(repr=False)
    notes: Sequence[Remark] = field(default=(), repr=False)
    warnings: Sequence[Remark] = field(default=(), repr=False)
    penalty: PenaltyPath | None = field(default=None, repr=False)
    growth: Growth | None = field(default=None, repr=False)
    posterior: Posterior | None = field(default=None, repr=False)
    intervals: Intervals | None = field(default=None, repr=False)
    stability: Stability | None = field(default=None, repr=False)


def fit(
    table: Any,
    *,
    weights: ArrayLike | None = None,
    start: Machine | None = None,
    visible_links: str | ArrayLike | None = None,
    hidden: int | Sequence[int] | Literal["auto"] | None = None,
    hidden_links: Literal["none", "chain", "full"] | None = None,
    inputs: Sequence[Any] | None = None,
    learner: str = "auto",
    engine: str = "auto",
    seed: Seed = 0,
    validate: Any = None,
    progress: Progress = False,
    **settings: Any,
) -> tuple[Machine, FitResult]:
    """Fits a machine to a table, as the command ``isinglass fit`` does.

    Parameters
    ----------
    table : Table, array_like or data frame
        The table; see :class:`Table`.
    weights : array_like, optional
        The weight of each row.
    start : Machine, optional
        The machine to start from. Its structure is kept, so ``visible_links``, ``hidden_links`` and ``inputs`` are not accepted; ``hidden`` adds
        units where the machine misses what the table shows.
    visible_links : str or array_like of shape (n, 2), default 'full'
        Links among the columns: ``none``, ``chain``, ``tree`` (Chow and Liu), ``full``, ``grid:RxC``, ``grid8:RxC``, ``edges:FILE``, or pairs of
        positions of columns.
    hidden : int, sequence of int or 'auto', default 0
        The number of hidden units, each linked with every column; or the sizes of layers, each linked with the one before; or ``auto``: units
        are added to a machine without while held-out rows (those of ``validate``, or a fifth of the table) get more probable.
    hidden_links : {'none', 'chain', 'full'}, default 'none'
        Links among the hidden units of a layer.
    inputs : sequence, optional
        Columns whose own distribution is not learned.
    learner : str, default 'auto'
        ``auto``, ``likelihood``, ``pseudo-likelihood``, ``pl-em``, ``contrastive-divergence``, ``mean-field-cd``, ``closed-form``, ``factorized``, ``rise``
        or ``bayes``.
    engine : str, default 'auto'
        The engine of ``likelihood``; see :class:`Machine`.
    seed : int, numpy generator or None, default 0
        The seed of all random numbers; None is a new one in every call.
    validate : Table, array_like or data frame, optional
        Rows with the same columns, by which ``l2="auto"`` or ``l1="auto"`` (by default the better of both) chooses the penalty; some of the table's
        rows otherwise.
    progress : bool or callable, default False
        Show a bar, or call a function after every iteration with ``(iteration, most, objective, gradient_norm, restart)``. If it returns
        False, the fit stops with the best machine so far. If it has a method ``resampled``, that is called with ``(done, count)`` after
        resamples, and can stop them in the same way.
    **settings
        Settings of the learner and its engine, such as ``l2``, ``l1``, ``iterations``, ``restarts``, ``check``, ``budget``, ``bootstrap`` or
        ``case_dropping``: the flags of
        ``isinglass fit`` with underscores, which ``isinglass fit --help`` lists with their defaults. A setting that the learner does not
        accept is refused.

    Returns
    -------
    machine : Machine
        The machine.
    result : FitResult
        How it was fitted.

    Examples
    --------
    >>> import isinglass
    >>> rows = [[1, 1, 0], [1, 1, 1], [0, 0, 1], [0, 1, 0], [1, 0, 0], [0, 0, 0]]
    >>> machine, result = isinglass.fit(rows, l2=0.01)
    >>> result.learner, result.guarantee, result.converged
    ('likelihood', 'exact', True)
    >>> round(result.log_likelihood, 4) == round(machine.score(rows).log_likelihood, 4)
    True
    >>> machine, result = isinglass.fit(5 * rows, l2=0.01, bootstrap=100, seed=1)
    >>> result.intervals
    Intervals(level=0.95, resamples=100, unconverged=0, failed=0)
    >>> bool((result.intervals.couplings.lower <= machine.edge_weights).all())
    True
    """
    table = as_table(table, weights)
    if start is not None and not isinstance(start, Machine):
        message = f"start: found {type(start).__name__}, expected a Machine"
        raise TypeError(message)
    structure = _structure(visible_links, hidden, hidden_links, inputs)
    refused = [name for name in structure if name != "hidden"]
    if start is not None and refused:
        message = f"{refused[0]}: not accepted with start, which has its own structure"
        raise ValueError(message)
    settings = {**settings, **structure, "learner": learner, "engine": engine, "seed": seed_of(seed)}
    if validate is not None:
        settings["validate"] = as_table(validate)._core
    with listener_of(progress) as listener:
        native, found = _calls.fit(table._core, settings, None if start is None else start._core, listener)
    return Machine._of(native), _result(found)


def fit_epochs(
    table: Table,
    machine: Machine | None,
    state: bytes | None,
    *,
    epochs_before: int,
    structure: dict[str, Any],
    progress: Progress = False,
    **settings: Any,
) -> tuple[Machine, FitResult, bytes | None]:
    """Runs epochs of contrastive divergence on a machine, or on a new one with a structure.

    A state resumes earlier epochs; the history is then that of all of them. Returns the state after the epochs, or None if parameters
    diverged.
    """
    settings = {**settings, **_structure(**structure)}
    with listener_of(progress) as listener:
        # The native module counts the epochs of this call.
        counted = None if listener is None else lambda now, more, *rest: listener(now, epochs_before + more, *rest)
        core = None if machine is None else machine._core
        native, found, after = _calls.continue_epochs(table._core, settings, core, state, counted)
    return Machine._of(native), _result(found), after


def _structure(
    visible_links: Any = None, hidden: Any = None, hidden_links: Any = None, inputs: Any = None
) -> dict[str, Any]:
    """The settings of the structure that are given, in the form that the native module reads."""
    structure = {
        "visible_links": _links(visible_links),
        "hidden": hidden,
        "hidden_links": hidden_links,
        "inputs": None if inputs is None else [str(name) for name in one_or_more(inputs)],
    }
    return {name: value for name, value in structure.items() if value is not None}


def _links(links: Any) -> Any:
    """Links in the form that the native module reads: a word or pairs of positions."""
    if links is None or isinstance(links, str):
        return links
    if isinstance(links, os.PathLike):
        return f"edges:{os.fspath(links)}"
    pairs = np.asarray(links)
    if pairs.size == 0:
        return "none"
    if pairs.ndim != 2 or pairs.dtype.kind not in "iu":
        message = "visible_links: expected a word, or pairs of positions of columns"
        raise ValueError(message)
    return pairs.astype(np.int64)


def _result(found: dict[str, Any]) -> FitResult:
    """The result of a fit from a native answer."""
    history = History(*(found.pop(name) for name in ("iteration", "objective", "gradient_norm")))
    check = found.pop("check")
    penalty = found.pop("penalty")
    growth = found.pop("growth")
    posterior = found.pop("posterior")
    intervals = found.pop("intervals")
    if intervals is not None:
        couplings, biases = (Spread(**intervals.pop(name)) for name in ("couplings", "biases"))
        centrality = {name: Spread(**spread) for name, spread in intervals.pop("centrality").items()}
        intervals = Intervals(couplings=couplings, biases=biases, centrality=centrality, **intervals)
    stability = found.pop("stability")
    return FitResult(
        history=history,
        intervals=intervals,
        stability=None if stability is None else Stability(**stability),
        check=None if check is None else Check(**check),
        penalty=None if penalty is None else PenaltyPath(**penalty),
        growth=None if growth is None else Growth(**growth),
        posterior=None if posterior is None else Posterior._of(posterior),
        **found,
    )
