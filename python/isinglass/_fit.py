"""From a table to a machine."""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from isinglass import _native
from isinglass._machine import Machine
from isinglass._questions import units_of
from isinglass._results import told
from isinglass._seeds import seed_of
from isinglass._tables import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Literal

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray
    from typing_extensions import Unpack

    from isinglass._questions import Budget, EngineOptions
    from isinglass._results import Guarantee
    from isinglass._seeds import Seed

    class FitOptions(EngineOptions, total=False):
        """What a learner is told; each belongs to some learners, and is refused by the others."""

        restarts: int | None
        clamped_engine: str | None
        optimizer: Literal["lbfgs", "cg", "momentum", "adaptive"] | None
        rate: float | None
        momentum: float | None
        iterations: int | None
        tolerance: float | None
        gamma: float | None
        rule: Literal["and", "or"] | None
        draws: Literal["auto", "exact", "gibbs"] | None
        sweeps: int | None
        m_step: Literal["damped", "lbfgs", "gradient"] | None
        batch: int | None
        steps: int | None
        rate_decay: float | None
        persistent: bool | None
        singular: Literal["lm", "shrink"] | None
        no_self_coupling: bool | None
        bootstrap: int | None
        level: float | None


@dataclass(frozen=True, eq=False)
class History:
    """Each iteration of a fit, the start first.

    Attributes
    ----------
    iteration : ndarray of int64
        Counted from 0, the start.
    objective : ndarray
        What was made large.
    gradient_norm : ndarray
        The largest component of its gradient.
    """

    iteration: NDArray[np.int64] = field(repr=False)
    objective: NDArray[np.float64]
    gradient_norm: NDArray[np.float64] = field(repr=False)

    def __len__(self) -> int:
        return len(self.iteration)

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:
        """Draw the objective, and in grey the gradient, over the iterations.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; a new figure by default.
        **options
            What ``Axes.plot`` takes, for the line of the objective.

        Returns
        -------
        matplotlib.axes.Axes
            Where it was drawn.
        """
        from isinglass._plots import plot_history

        return plot_history(self, ax, **options)


@dataclass(frozen=True, eq=False)
class Spread:
    """How far numbers of a machine vary from one resample of the rows to another.

    Attributes
    ----------
    lower, upper : ndarray
        The limits of the percentile intervals.
    not_zero : ndarray
        The share of resamples in which a number is not 0.
    same_sign : ndarray
        The share of resamples in which it has the sign of the fit; 0 has a sign of its own.
    """

    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    not_zero: NDArray[np.float64] = field(repr=False)
    same_sign: NDArray[np.float64] = field(repr=False)


@dataclass(frozen=True, eq=False)
class Intervals:
    """What fits to resamples of the rows tell of a fit.

    Attributes
    ----------
    level : float
        The share of cases that an interval is to cover.
    resamples : int
        The resamples that the intervals rest on.
    unconverged : int
        Those among them whose fits did not converge.
    failed : int
        Those to which no machine could be fitted; they are not among the others.
    couplings : Spread
        For each edge, in the order of ``machine.edges``.
    biases : Spread
        For each unit.
    """

    level: float
    resamples: int
    unconverged: int
    failed: int
    couplings: Spread = field(repr=False)
    biases: Spread = field(repr=False)


@dataclass(frozen=True, eq=False)
class FitResult:
    """How a machine was found.

    Attributes
    ----------
    learner : str
        The learner.
    engine, clamped_engine : str or None
        The engines of the free and the clamped phase, where there are any.
    guarantee : str
        What the log-likelihood is worth.
    rows : int
        The number of rows.
    iterations : int
        The number of iterations after the start.
    converged : bool
        Whether the gradient fell below the tolerance.
    finished : bool
        The same, or the learner has done all that it was told to where there is no convergence to be told.
    stopped : str
        Why the fit stopped, in words.
    history : History
        Each iteration.
    kept : int
        The one whose machine was kept.
    log_likelihood, pseudo_log_likelihood : float or None
        Averages per row, where they are known.
    restart_objectives : list of float
        How the fits from each start ended.
    best_restart : int
        The start that was kept.
    singular : str or None
        What was done about singular covariances, by ``closed-form``.
    notes : tuple of str
        What was chosen and why, and what should be known of the data.
    intervals : Intervals or None
        How sure couplings and biases are, where ``bootstrap`` asks for it; None also if the fit was stopped, or too few resamples were fitted, which
        a warning tells.
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
    history: History = field(repr=False)
    kept: int = field(repr=False)
    clamped_engine: str | None = field(repr=False)
    restart_objectives: Sequence[float] = field(repr=False)
    best_restart: int = field(repr=False)
    singular: str | None = field(repr=False)
    notes: Sequence[str] = field(repr=False)
    intervals: Intervals | None = field(default=None, repr=False)


def fit(
    table: Any,
    *,
    weights: ArrayLike | None = None,
    start: Machine | None = None,
    visible_links: str | ArrayLike | None = None,
    hidden: int | None = None,
    hidden_links: Literal["none", "chain", "full"] | None = None,
    inputs: Sequence[Any] | None = None,
    learner: str = "auto",
    engine: str = "auto",
    l2: float = 0.0,
    l1: float | Literal["ebic"] | None = None,
    budget: Budget = None,
    seed: Seed = 0,
    progress: bool | Callable[..., object] | None = False,
    **options: Unpack[FitOptions],
) -> tuple[Machine, FitResult]:
    """Learn a machine from a table, as the command ``isinglass fit`` does.

    Parameters
    ----------
    table : Table, array_like or data frame
        The table; see :class:`Table`.
    weights : array_like, optional
        The weight of each row.
    start : Machine, optional
        Begin there, with its structure; the next four parameters have no use then.
    visible_links : str or array_like of shape (n, 2), default 'full'
        Links among the columns: ``none``, ``chain``, ``tree`` (Chow and Liu), ``full``, ``grid:RxC``, ``grid8:RxC``, ``edges:FILE``, or pairs of
        positions of columns.
    hidden : int, default 0
        Hidden units, joined with every column.
    hidden_links : {'none', 'chain', 'full'}
        Links among them.
    inputs : sequence, optional
        Columns that are given: their own distribution is not learned.
    learner : str, default 'auto'
        ``auto``, ``likelihood``, ``pseudo-likelihood``, ``pl-em``, ``contrastive-divergence``, ``mean-field-cd``, ``closed-form`` or ``factorized``.
    engine : str, default 'auto'
        The engine of ``likelihood``; see :class:`Machine`.
    l2, l1 : float
        Penalties on the squares and on the absolute values of couplings; ``l1='ebic'`` lets the data choose.
    budget, seed
        See :class:`Machine`.
    progress : bool or callable, default False
        Show a bar, or call this after every iteration with ``(iteration, most, objective, gradient_norm, restart)``; if it returns
        False, the fit ends there with the best machine so far. If it has a method ``resampled``, that is called with ``(done, count)`` as resamples
        are done, and may end them in the same way.
    **options
        What learners and engines are told besides; see the notes. One that the learner has no use for is refused.

    Returns
    -------
    machine : Machine
        The machine.
    result : FitResult
        How it was found.

    Notes
    -----
    iterations : int
        At most so many: 1000, of ``pl-em`` and ``mean-field-cd`` 500; of ``contrastive-divergence`` passes over the table, 10.
    tolerance : float
        Converged when no component of the gradient is larger: 5e-7, of ``pseudo-likelihood`` 1e-9, of ``mean-field-cd`` 1e-5; of ``pl-em`` when
        parameters move by less on average, 5e-4.
    restarts : int, default 1
        Random starts of ``likelihood`` and ``pl-em`` with hidden units, of which the best fit is kept.
    optimizer : {'lbfgs', 'cg', 'momentum', 'adaptive'}, default 'lbfgs'
        How ``likelihood`` and ``pseudo-likelihood`` follow the gradient.
    rate : float
        The rate of ``momentum`` and the first step of ``adaptive``, 0.1; of the contrastive learners 0.02, and of ``m_step='gradient'`` 0.01.
    momentum : float
        The share of the last step that is kept: of ``momentum`` 0.9, of ``contrastive-divergence`` 0.5, of ``mean-field-cd`` 0.
    clamped_engine : str
        The engine of ``likelihood`` for the rows, where it is to be another one.
    gamma : float, default 0.25; rule : {'and', 'or'}, default 'and'
        Of ``l1='ebic'``: the larger, the fewer couplings; and whether both of its columns must want a coupling, or either.
    draws : {'auto', 'exact', 'gibbs'}, sweeps : int, default 2, m_step : {'damped', 'lbfgs', 'gradient'}
        Of ``pl-em``: how hidden and missing units are drawn, sweeps from one draw to the next, and how far each step climbs.
    batch : int, default 10; steps : int, default 1; rate_decay : float, default 0.5; persistent : bool, default False; chains : int
        Of ``contrastive-divergence``: rows of a mini-batch; sweeps away from the rows; the rate in epoch t is ``rate / (1 + rate_decay * t)``; whether
        chains go on from where they were, and how many: as many as a mini-batch has rows. ``mean-field-cd`` has ``steps``, too.
    singular : {'lm', 'shrink'}, no_self_coupling : bool, default False
        Of ``closed-form``: what to do about covariances without an inverse, by default what gives the rows the larger pseudo-likelihood; and whether
        to solve without self-couplings.
    bootstrap : int; level : float, default 0.95
        Fit so many tables of rows drawn anew from the table, from where the fit began: ``result.intervals`` tells how far couplings and biases vary.

    Examples
    --------
    >>> import isinglass
    >>> rows = [[1, 1, 0], [1, 1, 1], [0, 0, 1], [0, 1, 0], [1, 0, 0], [0, 0, 0]]
    >>> machine, result = isinglass.fit(rows, l2=0.01)
    >>> result.learner, result.guarantee, result.converged
    ('likelihood', 'exact', True)
    >>> round(result.log_likelihood, 4) == round(machine.score(rows).log_likelihood, 4)
    True
    >>> machine, result = isinglass.fit(rows, l2=0.01, bootstrap=100, seed=1)
    >>> result.intervals
    Intervals(level=0.95, resamples=100, unconverged=0, failed=0)
    >>> bool((result.intervals.couplings.lower <= machine.edge_weights).all())
    True
    """
    if not isinstance(table, Table):
        table = Table(table, weights=weights)
    elif weights is not None:
        message = "weights: a Table has its own; give them when it is made"
        raise ValueError(message)
    if start is not None and not isinstance(start, Machine):
        message = f"start: found {type(start).__name__}, expected a Machine"
        raise TypeError(message)
    structure = {
        "visible_links": _links(visible_links),
        "hidden": hidden,
        "hidden_links": hidden_links,
        "inputs": None if inputs is None else [str(name) for name in units_of(inputs)],
    }
    if start is not None:
        idle = next((name for name, value in structure.items() if value is not None), None)
        if idle is not None:
            message = f"{idle} has no use with start, which has a structure of its own"
            raise ValueError(message)
    settings = {
        **options,
        **structure,
        "learner": learner,
        "engine": engine,
        "l2": l2,
        "l1": l1,
        "budget": budget,
        "seed": seed_of(seed),
    }
    with _listener(progress) as listener:
        native, found = _native.fit(table._core, settings, None if start is None else start._core, listener)
    return Machine._of(native), _result(told(found))


def run_epochs(
    table: Table,
    machine: Machine | None,
    before: bytes | None,
    *,
    made: int = 0,
    progress: bool | Callable[..., object] | None = False,
    **settings: Any,
) -> tuple[Machine, FitResult, bytes | None]:
    """Epochs of contrastive divergence, from a machine, or from none with a structure; and from what earlier epochs have left, so many of them.

    The history is that of all epochs. What these leave comes last; it is None if parameters ran away.
    """
    if "visible_links" in settings:
        settings["visible_links"] = _links(settings["visible_links"])
    with _listener(progress) as listener:
        hear = None if listener is None else lambda now, more, *rest: listener(now, made + more, *rest)
        native, found, state = _native.run_epochs(
            table._core, settings, None if machine is None else machine._core, before, hear
        )
    return Machine._of(native), _result(told(found)), state


def _result(found: dict[str, Any]) -> FitResult:
    """How a machine was found, from a native answer."""
    names = ("iteration", "objective", "gradient_norm")
    history = History(*(found.pop(name) for name in names))
    return FitResult(history=history, intervals=_intervals(found.pop("intervals")), **found)


def _intervals(found: dict[str, Any] | None) -> Intervals | None:
    if found is None:
        return None
    couplings, biases = (Spread(**found.pop(name)) for name in ("couplings", "biases"))
    return Intervals(couplings=couplings, biases=biases, **found)


@contextmanager
def _listener(progress: Any) -> Iterator[Callable[..., object] | None]:
    """Who hears of iterations: a bar, the one that was given, or nobody."""
    if progress is None or isinstance(progress, (bool, np.bool_)):
        if not progress:
            yield None
            return
        with _Bar() as bar:
            yield bar
    elif callable(progress):
        yield progress
    else:
        message = f"progress: found {progress!r}, expected True, False or something to call"
        raise TypeError(message)


def _links(links: Any) -> Any:
    """Links as the native half takes them."""
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


class _Bar:
    """A progress bar of tqdm."""

    def __enter__(self) -> _Bar:
        from tqdm.auto import tqdm

        self._bar = tqdm(desc="fit", unit="it", leave=False)
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.close()

    def __call__(self, iteration: int, most: int, objective: float, gradient_norm: float, restart: int) -> None:
        if restart:
            self._bar.set_description(f"fit, start {restart + 1}")
        self._bar.total = most
        self._bar.n = iteration
        self._bar.set_postfix(objective=f"{objective:.6f}", gradient=f"{gradient_norm:.1e}")

    def resampled(self, done: int, count: int) -> None:
        self._bar.set_description("resamples")
        self._bar.set_postfix()
        self._bar.total = count
        self._bar.n = done
        self._bar.refresh()
