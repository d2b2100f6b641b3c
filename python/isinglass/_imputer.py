"""Missing cells filled, as a transformer of scikit-learn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import OneToOneFeatureMixin, TransformerMixin

from isinglass._codes import low_codes
from isinglass._fitting import Fitting, seed_from

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Literal

    from numpy.typing import ArrayLike, NDArray
    from typing_extensions import Self

    from isinglass._questions import Budget
    from isinglass._seeds import Seed


class Imputer(OneToOneFeatureMixin, TransformerMixin, Fitting):
    """Fills missing cells, each given what its row shows, by a machine learned from rows with missing cells.

    Parameters
    ----------
    hidden : int, default 0
        Hidden units, joined with every column.
    fill : {'state', 'mean'}, default 'state'
        Fill with the more probable state, or with the mean: in a column of 0 and 1 that is the probability of 1.
    visible_links, hidden_links, learner, engine, l2, l1, restarts, iterations, tolerance, options
        As in :class:`BoltzmannMachine`.
    binarize, budget, random_state, progress
        As in :class:`BoltzmannMachine`.

    Attributes
    ----------
    machine_ : Machine
        The machine: units for the columns, and hidden ones.
    coupling_, bias_, history_, result_, n_iter_
        As in :class:`BoltzmannMachine`.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if all are strings.

    See Also
    --------
    isinglass.Machine.complete : The same for a machine that is there already.

    Examples
    --------
    >>> import numpy as np
    >>> from isinglass import Imputer
    >>> rows = np.array([[1, 1, 0], [1, np.nan, 0], [0, 0, 1], [0, 0, np.nan], [1, 1, 0], [0, 1, 1]])
    >>> Imputer(l2=0.01).fit_transform(rows)[[1, 3]].tolist()
    [[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """

    def __init__(
        self,
        hidden: int = 0,
        *,
        fill: Literal["state", "mean"] = "state",
        visible_links: str | ArrayLike = "full",
        hidden_links: Literal["none", "chain", "full"] = "none",
        learner: str = "auto",
        engine: str = "auto",
        l2: float = 0.0,
        l1: float | Literal["ebic"] | None = None,
        restarts: int | None = None,
        iterations: int | None = None,
        tolerance: float | None = None,
        options: Mapping[str, Any] | None = None,
        binarize: float | None = None,
        budget: Budget = None,
        random_state: Seed = None,
        progress: bool | Callable[..., object] = False,
    ) -> None:
        self.hidden = hidden
        self.fill = fill
        self.visible_links = visible_links
        self.hidden_links = hidden_links
        self.learner = learner
        self.engine = engine
        self.l2 = l2
        self.l1 = l1
        self.restarts = restarts
        self.iterations = iterations
        self.tolerance = tolerance
        self.options = options
        self.binarize = binarize
        self.budget = budget
        self.random_state = random_state
        self.progress = progress

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:  # noqa: N803
        """Learn a machine from rows.

        Parameters
        ----------
        X : array_like, sparse matrix or data frame of shape (n_rows, n_features)
            The rows; NaN is missing.
        y : object, optional
            Not used.
        sample_weight : array_like of shape (n_rows,), optional
            The weight of each row.

        Returns
        -------
        Imputer
            The estimator itself.
        """
        if self.fill not in ("state", "mean"):
            message = f"fill: found {self.fill!r}, expected state or mean"
            raise ValueError(message)
        with self._all_or_nothing():
            table = self._first(X, weights=sample_weight)
            self._seed = seed_from(self.random_state)
            self._learn(table, self._settings())
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """Fill missing cells.

        Parameters
        ----------
        X : array_like, sparse matrix or data frame of shape (n_rows, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_rows, n_features)
            The rows, written as they were, without missing cells.
        """
        rows = self._again(X)
        out = rows.cells.astype(np.float64)
        missing = np.isnan(out)
        if missing.any():
            found = self.machine_.complete(rows.table, **self._asked())
            up = found.probabilities if self.fill == "mean" else (found.states > 0)
            low = low_codes(rows.codes)
            out[missing] = (low + (1 - low) * up.astype(np.float64))[missing]
        return out
