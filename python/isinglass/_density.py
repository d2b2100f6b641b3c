"""The Boltzmann machine as a scikit-learn density estimator and transformer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import DensityMixin, TransformerMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from isinglass._arguments import whole
from isinglass._codes import low_codes
from isinglass._epochs import Epochs
from isinglass._estimator import seed_from
from isinglass._machine import Machine

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike, NDArray
    from typing_extensions import Self

    from isinglass._arguments import Seed


class _HiddenMeans(TransformerMixin, DensityMixin, Epochs):
    """Rows as means of hidden units. Scikit-learn wraps `transform` here, for `set_output`."""

    def transform(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        table = self._read(X).table
        machine = self.machine_
        # Only visible units are completed.
        roles = ["visible" if role == "hidden" else role for role in machine.roles]
        parts = (machine.names, machine.bias, machine.edges, machine.edge_weights)
        shown = Machine._of_parts(*parts, roles, machine.temperature, machine.offset)
        _, up = self._complete(shown, table, self.get_feature_names_out().tolist())
        return 2.0 * up - 1.0

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Returns the names of the hidden units, the columns of :meth:`transform`.

        Parameters
        ----------
        input_features : object, optional
            Not used.
        """
        check_is_fitted(self, "machine_")
        hidden = [name for name, role in zip(self.machine_.names, self.machine_.roles, strict=True) if role == "hidden"]
        return np.array(hidden, dtype=object)


class _OnlyWithHidden:
    """Hides the transformer where there are no hidden units. Scikit-learn's wrappers would undo that in a subclass of theirs."""

    hidden: int

    def _has_hidden(self) -> bool:
        return bool(self.hidden)

    @available_if(_has_hidden)
    def transform(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """Computes the means of the hidden units given each row, an array of shape (n_rows, hidden).

        Parameters
        ----------
        X : array_like, sparse matrix or data frame of shape (n_rows, n_features)
            The rows.
        """
        return super().transform(X)  # type: ignore[misc,no-any-return]

    @available_if(_has_hidden)
    def fit_transform(self, X: Any, y: Any = None, **parameters: Any) -> NDArray[np.float64]:  # noqa: N803
        """Fits a machine to X and returns the means of its hidden units.

        Parameters
        ----------
        X : array_like, sparse matrix or data frame of shape (n_rows, n_features)
            The rows.
        y : object, optional
            Not used.
        **parameters
            ``sample_weight``, as in :meth:`fit`.
        """
        return super().fit_transform(X, y, **parameters)  # type: ignore[misc,no-any-return]


@dataclass(eq=False, repr=False, kw_only=True)
class BoltzmannMachine(_OnlyWithHidden, _HiddenMeans):
    """A Boltzmann machine learned from binary rows: a density, and with hidden units a transformer.

    :meth:`score_samples` and :meth:`sample` use the distribution of the rows, :meth:`transform` the hidden units. ``machine_`` answers all
    other questions.

    Parameters
    ----------
    hidden : int, default 0
        The number of hidden units, each linked with every column.
    visible_links, hidden_links, learner, engine, progress
        As in :func:`isinglass.fit`.
    l2, l1, iterations, restarts, rate, batch, samples, …
        Every other setting of :func:`isinglass.fit`, by its name; None is the default of the learner or engine.
    binarize : float, optional
        Cells above it become 1 and others 0. By default cells must be -1 and +1, 0 and 1, or booleans.
    score_engine : str, default 'auto'
        The engine of :meth:`score` and :meth:`score_samples`; ``ais`` estimates them for machines that are too large for exact engines.
    budget : int or str, default '1GiB'
        The memory that the fit and later computations may use.
    random_state : int, numpy.random.RandomState, numpy.random.Generator or None
        The seed; a whole number gives the numbers of the command line with the same ``--seed``. None draws one from numpy's global generator.

    Attributes
    ----------
    machine_ : Machine
        The machine: a unit for each column of X, and the hidden ones.
    coupling_ : ndarray of shape (n_units, n_units)
        Its couplings.
    bias_ : ndarray of shape (n_units,)
        Its biases.
    history_ : History
        The iterations of the fit, and of all later calls of :meth:`partial_fit`.
    result_ : FitResult
        How the machine was fitted, in the last call.
    n_iter_ : int
        The number of iterations.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if all are strings.

    See Also
    --------
    BoltzmannClassifier : Learns outputs given inputs.
    Imputer : Fills missing cells.
    isinglass.fit : The same fits without scikit-learn.

    Notes
    -----
    NaN is missing; hidden units and missing cells are summed out.

    Examples
    --------
    >>> import numpy as np
    >>> from isinglass import BoltzmannMachine
    >>> X = np.array([[1, 1, 0], [1, 1, 1], [0, 0, 1], [0, 1, 0], [1, 0, 0], [0, 0, 0]])
    >>> model = BoltzmannMachine(l2=0.01).fit(X)
    >>> round(model.score(X), 4)
    -1.9662
    >>> model.sample(2, random_state=0).shape
    (2, 3)
    """

    score_engine: str = "auto"

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:  # noqa: N803
        """Learns the distribution of rows.

        Parameters
        ----------
        X : array_like, sparse matrix or data frame of shape (n_rows, n_features)
            The rows.
        y : object, optional
            Not used.
        sample_weight : array_like of shape (n_rows,), optional
            The weight of each row.
        """
        self._fit(X, None, sample_weight)
        return self

    def partial_fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:  # noqa: N803
        """Runs one epoch of contrastive divergence, from the machine so far.

        The first call builds the machine, with biases from the means of its rows, so it should have many. Settings of contrastive
        divergence apply, ``learner``, ``iterations``, ``engine``, ``restarts`` and ``tolerance`` are ignored, and others are refused.
        Momentum, persistent chains, the seed and the count t of epochs carry over from call to call; the rate is
        ``rate / (1 + rate_decay * t)``. ``rate_decay`` is 0 by default, or after a fit by contrastive divergence that of the fit. Calls with
        the same rows and settings equal one fit with as many iterations, to the last digit.

        Parameters
        ----------
        X : array_like, sparse matrix or data frame of shape (n_rows, n_features)
            The rows, which may be others in each call.
        y : object, optional
            Not used.
        sample_weight : array_like of shape (n_rows,), optional
            The weight of each row.

        Examples
        --------
        >>> import numpy as np
        >>> from isinglass import BoltzmannMachine
        >>> rows = np.random.default_rng(0).choice([-1, 1], (100, 1)).repeat(4, axis=1)
        >>> model = BoltzmannMachine(hidden=1, visible_links="none", rate=0.1, random_state=0)
        >>> for epoch in range(20):
        ...     model = model.partial_fit(rows)
        >>> len(model.history_), model.score(rows) > -1
        (21, True)
        """
        self._partial_fit(X, None, None, sample_weight)
        return self

    def sample(
        self, n_samples: int = 1, *, given: Mapping[Any, Any] | None = None, random_state: Seed = None
    ) -> NDArray[np.int8]:
        """Draws rows in the code of the fit: exact and independent where an exact engine is within the budget.

        Parameters
        ----------
        n_samples : int, default 1
            The number of rows.
        given : mapping, optional
            Values of clamped columns, in the code of the fit: 0 is the lower state of a column of 0 and 1.
        random_state : int, numpy.random.RandomState, numpy.random.Generator or None
            The seed; None is that of the estimator.
        """
        check_is_fitted(self, "machine_")
        low = low_codes(self._codes)
        lows = dict(zip(self.machine_.names, low.tolist(), strict=False))
        if given is not None and not hasattr(given, "items"):
            message = f"given: found {type(given).__name__}, expected a dictionary of columns and values"
            raise ValueError(message)
        clamped = {
            name: -1 if not isinstance(value, bool) and value == lows.get(str(name), -1) else value
            for name, value in ({} if given is None else given).items()
        }
        seed = seed_from(self.random_state if random_state is None else random_state)
        draws = self.machine_.sample(whole(n_samples, "n_samples", 0), clamped, budget=self.budget, seed=seed)
        columns = draws.states[:, : self.n_features_in_]
        return np.where(columns > 0, np.int8(1), low)

    def score(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> float:  # noqa: N803
        """Computes the mean log-likelihood of rows, as the command ``isinglass score`` does.

        ``machine_.score`` also gives its guarantee and other scores.

        Parameters
        ----------
        X : array_like, sparse matrix or data frame of shape (n_rows, n_features)
            The rows.
        y : object, optional
            Not used.
        sample_weight : array_like of shape (n_rows,), optional
            The weight of each row.
        """
        table = self._read(X, weights=sample_weight).table
        return float(self._likelihood("log_likelihood", table)["value"])

    def score_samples(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """Computes the log-likelihood of each row.

        Parameters
        ----------
        X : array_like, sparse matrix or data frame of shape (n_rows, n_features)
            The rows.
        """
        values: NDArray[np.float64] = self._likelihood("log_likelihoods", self._read(X).table)["values"]
        return values

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags = tags.transformer_tags if self.hidden else None
        return tags
