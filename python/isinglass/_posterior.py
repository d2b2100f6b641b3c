"""Posterior distributions of couplings and biases."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Marginals:
    """The posterior distributions of couplings or biases, each by itself.

    Attributes
    ----------
    mean, deviation : ndarray
        Mean and standard deviation, over machines with and without the coupling.
    lower, upper : ndarray
        The limits of the central credible intervals.
    r_hat, effective_samples : ndarray
        How well the chains of each number mixed.
    """

    mean: NDArray[np.float64]
    deviation: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    r_hat: NDArray[np.float64] = field(repr=False)
    effective_samples: NDArray[np.float64] = field(repr=False)


@dataclass(frozen=True, eq=False)
class Posterior:
    """Which couplings there are, with what probability and how strong, given a table.

    Attributes
    ----------
    likelihood : {'exact', 'pseudo'}
        Which likelihood the posterior is that of.
    chains, samples : int
        The number of chains, and of draws of each.
    level : float
        The probability that credible intervals cover.
    r_hat, effective_samples : float
        The worst of all couplings and biases.
    edges : ndarray of shape (k, 2)
        The units of each coupling that could be included.
    inclusion : ndarray
        The probability that each coupling is included.
    log_bayes_factor : ndarray
        The logarithm of the Bayes factor for each coupling against its absence.
    couplings : Marginals
        The couplings, in the order of ``edges``; 0 where they are not included.
    biases : Marginals
        The bias of each unit; NaN for input units.
    """

    likelihood: Literal["exact", "pseudo"]
    chains: int
    samples: int
    level: float
    r_hat: float
    effective_samples: float
    edges: NDArray[np.int64] = field(repr=False)
    inclusion: NDArray[np.float64] = field(repr=False)
    log_bayes_factor: NDArray[np.float64] = field(repr=False)
    couplings: Marginals = field(repr=False)
    biases: Marginals = field(repr=False)

    @classmethod
    def _of(cls, found: dict[str, Any]) -> Posterior:
        couplings, biases = (Marginals(**found.pop(name)) for name in ("couplings", "biases"))
        return cls(couplings=couplings, biases=biases, **found)
