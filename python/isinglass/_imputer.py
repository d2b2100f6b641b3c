"""Missing cells filled, as a scikit-learn transformer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import OneToOneFeatureMixin, TransformerMixin

from isinglass._codes import low_codes
from isinglass._estimator import Estimator

if TYPE_CHECKING:
    from typing import Literal

    from numpy.typing import ArrayLike, NDArray
    from typing_extensions import Self


@dataclass(eq=False, repr=False, kw_only=True)
class Imputer(OneToOneFeatureMixin, TransformerMixin, Estimator):
    """Fills missing cells, each given the other cells of its row, by a machine learned from rows with missing cells.

    Parameters
    ----------
    hidden : int, default 0
        The number of hidden units, each linked with every column.
    fill : {'state', 'mean'}, default 'state'
        Fill with the more probable state, or with the mean: in a column of 0 and 1 that is the probability of 1.
    visible_links, hidden_links, learner, engine, progress
        As in :func:`isinglass.fit`.
    l2, l1, iterations, restarts, rate, batch, samples, …
        Every other setting of :func:`isinglass.fit`, by its name; None is the default of the learner or engine.
    binarize, budget, random_state
        As in :class:`BoltzmannMachine`.

    Attributes
    ----------
    machine_ : Machine
        The machine: a unit for each column, and the hidden ones.
    coupling_, bias_, history_, result_, n_iter_, n_features_in_, feature_names_in_
        As in :class:`BoltzmannMachine`.

    See Also
    --------
    isinglass.Machine.complete : The same with an existing machine.

    Examples
    --------
    >>> import numpy as np
    >>> from isinglass import Imputer
    >>> rows = np.array([[1, 1, 0], [1, np.nan, 0], [0, 0, 1], [0, 0, np.nan], [1, 1, 0], [0, 1, 1]])
    >>> Imputer(l2=0.01).fit_transform(rows)[[1, 3]].tolist()
    [[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """

    fill: Literal["state", "mean"] = "state"

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:  # noqa: N803
        """Learns a machine from rows.

        Parameters
        ----------
        X : array_like, sparse matrix or data frame of shape (n_rows, n_features)
            The rows; NaN is missing.
        y : object, optional
            Not used.
        sample_weight : array_like of shape (n_rows,), optional
            The weight of each row.
        """
        if self.fill not in ("state", "mean"):
            message = f"fill: found {self.fill!r}, expected state or mean"
            raise ValueError(message)
        with self._all_or_nothing():
            self._learn(self._begin(X, weights=sample_weight))
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """Returns rows in their own code, with missing cells filled.

        Parameters
        ----------
        X : array_like, sparse matrix or data frame of shape (n_rows, n_features)
            The rows.
        """
        rows = self._read(X)
        out = rows.cells.astype(np.float64)
        missing = np.isnan(out)
        if missing.any():
            states, up = self._complete(self.machine_, rows.table, rows.table.columns)
            share = up if self.fill == "mean" else (states > 0).astype(np.float64)
            low = low_codes(rows.codes)
            out[missing] = (low + (1 - low) * share)[missing]
        return out
