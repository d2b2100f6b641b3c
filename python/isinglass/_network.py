"""The network of a machine: centralities, and how stable they are."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Centrality:
    """How central each unit of a machine is, and how well the others predict it.

    Couplings have no direction: a central unit goes with many others, which says nothing about what would happen if it were changed.

    Attributes
    ----------
    names : sequence of str
        The units.
    strength : ndarray
        The sum of the sizes of a unit's couplings.
    expected_influence : ndarray
        The sum of its couplings with their signs.
    closeness : ndarray
        The inverse sum of distances to the units that a path leads to, with ``1/|w|`` the length of a coupling; 0 without couplings.
    betweenness : ndarray
        The number of pairs of others whose shortest path passes through it; of several shortest paths, each counts its share.
    accuracy : ndarray or None
        The share of cells of a column that have the more probable value given all other cells of the row. None without a table, and where no
        exact engine serves its rows within the budget.
    normalised_accuracy : ndarray or None
        The same in excess of the accuracy of the column's more frequent value: 0 for no better, 1 for all; NaN for a constant column.
    """

    names: Sequence[str]
    strength: NDArray[np.float64] = field(repr=False)
    expected_influence: NDArray[np.float64] = field(repr=False)
    closeness: NDArray[np.float64] = field(repr=False)
    betweenness: NDArray[np.float64] = field(repr=False)
    accuracy: NDArray[np.float64] | None = field(default=None, repr=False)
    normalised_accuracy: NDArray[np.float64] | None = field(default=None, repr=False)

    def to_dict(self) -> dict[str, NDArray[np.float64]]:
        """Returns the measures by name."""
        measures = ("strength", "expected_influence", "closeness", "betweenness", "accuracy", "normalised_accuracy")
        return {name: getattr(self, name) for name in measures if getattr(self, name) is not None}

    def to_frame(self) -> Any:
        """Returns a pandas data frame with a row for each unit."""
        import pandas

        return pandas.DataFrame(self.to_dict(), index=pandas.Index(list(self.names), name="unit"))


@dataclass(frozen=True, eq=False)
class Stability:
    """What is left of the order of units when rows are left out (the case-dropping bootstrap).

    Attributes
    ----------
    subsets : int
        The number of subsets that were fitted.
    coefficients : dict of str to float
        The CS coefficients: for ``strength``, ``expected_influence``, ``closeness``, ``betweenness`` and ``couplings`` the largest share of rows
        that can be left out so that, with probability 0.95, the correlation with the values of all rows is at least 0.7. The order of units
        should not be interpreted below 0.25, and better from 0.5 on.
    dropped : ndarray
        The shares of rows left out.
    correlations : dict of str to dict
        For each measure and share the ``mean`` correlation, its quantiles ``lower`` (2.5 %) and ``upper`` (97.5 %), and the ``share`` of
        subsets in which it is at least 0.7.
    """

    subsets: int
    coefficients: Mapping[str, float]
    dropped: NDArray[np.float64] = field(repr=False)
    correlations: Mapping[str, Mapping[str, NDArray[np.float64]]] = field(repr=False)

    def to_frame(self) -> Any:
        """Returns a pandas data frame with a row for each measure and share of rows left out."""
        import pandas

        frames = [
            pandas.DataFrame({"measure": name, "dropped": self.dropped, **found})
            for name, found in self.correlations.items()
        ]
        return pandas.concat(frames, ignore_index=True)
