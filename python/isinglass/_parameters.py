"""The parameters of the estimators, listed once."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from sklearn.base import BaseEstimator

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from isinglass._arguments import Budget, Seed
    from isinglass._progress import Progress


# The generated `__init__` stores its arguments and does nothing else, as scikit-learn requires.
@dataclass(eq=False, repr=False, kw_only=True)
class FitParameters(BaseEstimator):
    """The keywords of :func:`isinglass.fit`; None is the default of the learner or engine."""

    # Structure.
    hidden: int = field(default=0, kw_only=False)
    visible_links: str | ArrayLike = "full"
    hidden_links: str = "none"
    # Learners.
    learner: str = "auto"
    restarts: int | None = None
    bootstrap: int | None = None
    level: float | None = None
    # Engines.
    engine: str = "auto"
    clamped_engine: str | None = None
    # Settings of learners and engines: written by `cargo xtask reference`.
    l2: float | str | None = None
    l1: float | str | None = None
    optimizer: str | None = None
    rate: float | None = None
    momentum: float | None = None
    iterations: int | None = None
    tolerance: float | None = None
    gamma: float | None = None
    rule: str | None = None
    least: float | None = None
    refit: bool | None = None
    log: bool | None = None
    penalty: float | None = None
    slab: str | None = None
    scale: float | None = None
    inclusion: float | str | None = None
    samples: int | None = None
    burn_in: int | None = None
    chains: int | None = None
    credible: float | None = None
    cutoff: float | None = None
    draws: str | None = None
    sweeps: int | None = None
    m_step: str | None = None
    rate_decay: float | None = None
    batch: int | None = None
    steps: int | None = None
    persistent: bool | None = None
    singular: str | None = None
    no_self_coupling: bool | None = None
    components: int | None = None
    anneal: str | tuple[float, int] | None = None
    starts: int | None = None
    max_sweeps: int | None = None
    width: int | None = None
    with_logdet: bool | None = None
    cuts: int | None = None
    around: str | None = None
    damping: float | None = None
    schedule: str | None = None
    levels: int | None = None
    temperatures: str | None = None
    replicas: int | None = None
    moves: str | None = None
    thin: int | None = None
    # Settings: end.
    # Computation.
    budget: Budget = None
    progress: Progress = False

    def _settings(self) -> dict[str, Any]:
        """The keywords of a fit that are not None."""
        values = {parameter.name: getattr(self, parameter.name) for parameter in fields(FitParameters)}
        return {name: value for name, value in values.items() if value is not None}


@dataclass(eq=False, repr=False, kw_only=True)
class Parameters(FitParameters):
    """The parameters that all estimators share."""

    binarize: float | None = None
    random_state: Seed = None
