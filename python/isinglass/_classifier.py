"""The Boltzmann machine as a scikit-learn classifier."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import ClassifierMixin

from isinglass._epochs import Epochs

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray
    from typing_extensions import Self

    from isinglass._codes import Labels
    from isinglass._tables import Table


class _Outputs(ClassifierMixin, Epochs):
    """Outputs and their labels."""

    classes_: Any

    _labels: Labels

    def _begin(self, rows: Any, y: Any = None, classes: Any = None, weights: ArrayLike | None = None) -> Table:
        table = super()._begin(rows, y, classes, weights)
        self.classes_ = self._labels.classes[0] if self._labels.is_flat else self._labels.classes
        return table


@dataclass(eq=False, repr=False, kw_only=True)
class BoltzmannClassifier(_Outputs):
    """A Boltzmann machine learned from inputs and outputs: the distribution of the outputs given the inputs.

    There may be several outputs, with two labels each; their couplings with each other are learned too. The distribution of the inputs is
    not learned.

    Parameters
    ----------
    hidden : int, default 0
        The number of hidden units, each linked with every input and output.
    visible_links, hidden_links, learner, engine, progress
        As in :func:`isinglass.fit`; the columns are the inputs followed by the outputs.
    l2, l1, iterations, restarts, rate, batch, samples, …
        Every other setting of :func:`isinglass.fit`, by its name; None is the default of the learner or engine.
    binarize, score_engine, budget, random_state
        As in :class:`BoltzmannMachine`; ``binarize`` applies to the inputs, ``score_engine`` to :meth:`score` and :meth:`log_likelihoods`.

    Attributes
    ----------
    machine_ : Machine
        The machine: units for the inputs, the outputs, and the hidden ones.
    classes_ : ndarray of shape (2,), or list of such
        The labels of the output, or of each output if y has two dimensions.
    coupling_, bias_, history_, result_, n_iter_, n_features_in_, feature_names_in_
        As in :class:`BoltzmannMachine`.

    See Also
    --------
    BoltzmannMachine : Learns the distribution of rows.

    Notes
    -----
    NaN is missing, in inputs and outputs, and summed out. Since the distribution of inputs is not learned, it is better to fill missing
    inputs with :class:`Imputer` first. A row without any output has the likelihood 1 and counts in means.

    Examples
    --------
    >>> import numpy as np
    >>> from isinglass import BoltzmannClassifier
    >>> X = np.array([[1, 1], [1, 1], [0, 0], [0, 1], [1, 0], [0, 0]])
    >>> model = BoltzmannClassifier(l2=0.01).fit(X, ["no", "yes", "yes", "no", "no", "no"])
    >>> model.predict([[1, 0], [0, 0]]).tolist()
    ['no', 'no']
    """

    score_engine: str = "auto"

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:  # noqa: N803
        """Learns the distribution of outputs given inputs.

        Parameters
        ----------
        X : array_like, sparse matrix or data frame of shape (n_rows, n_features)
            The inputs.
        y : array_like of shape (n_rows,) or (n_rows, n_outputs)
            Labels of the outputs, two different ones for each.
        sample_weight : array_like of shape (n_rows,), optional
            The weight of each row.
        """
        self._fit(X, _required(y), sample_weight)
        return self

    def partial_fit(
        self,
        X: Any,  # noqa: N803
        y: Any,
        classes: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Runs one epoch of contrastive divergence, as :meth:`BoltzmannMachine.partial_fit` does.

        Parameters
        ----------
        X : array_like, sparse matrix or data frame of shape (n_rows, n_features)
            The inputs, which may be others in each call.
        y : array_like of shape (n_rows,) or (n_rows, n_outputs)
            Labels of the outputs.
        classes : array_like of shape (2,), or list of such, optional
            The labels of the output, or of each output, in case the first call does not contain both.
        sample_weight : array_like of shape (n_rows,), optional
            The weight of each row.
        """
        self._partial_fit(X, _required(y), classes, sample_weight)
        return self

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: N803
        """Predicts the more probable label of each output, given the inputs.

        Parameters
        ----------
        X : array_like, sparse matrix or data frame of shape (n_rows, n_features)
            The inputs.
        """
        states, _ = self._completed(X)
        return self._labels.write(states)

    def predict_proba(self, X: Any) -> Any:  # noqa: N803
        """Computes the probabilities of both labels of each output, given the inputs; other outputs are summed out.

        Parameters
        ----------
        X : array_like, sparse matrix or data frame of shape (n_rows, n_features)
            The inputs.

        Returns
        -------
        ndarray of shape (n_rows, 2), or list of such
            Probabilities in the order of ``classes_``; an array for each output if y has two dimensions.
        """
        _, up = self._completed(X)
        pairs = [np.column_stack([1.0 - column, column]) for column in up.T]
        return pairs[0] if self._labels.is_flat else pairs

    def _completed(self, rows: Any) -> tuple[NDArray[np.int8], NDArray[np.float64]]:
        """The states of the outputs given each row, and their probabilities of +1."""
        table = self._read(rows).table
        return self._complete(self.machine_, table, self._labels.names)

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:  # noqa: N803
        """Computes the mean log-likelihood of outputs given inputs. For the accuracy, use ``scoring="accuracy"``.

        Parameters
        ----------
        X : array_like, sparse matrix or data frame of shape (n_rows, n_features)
            The inputs.
        y : array_like of shape (n_rows,) or (n_rows, n_outputs)
            Labels of the outputs.
        sample_weight : array_like of shape (n_rows,), optional
            The weight of each row.
        """
        table = self._labelled(X, y, sample_weight)
        return float(self._likelihood("log_likelihood", table)["value"])

    def log_likelihoods(self, X: Any, y: Any) -> NDArray[np.float64]:  # noqa: N803
        """Computes the log-likelihood of the outputs of each row, given its inputs.

        Parameters
        ----------
        X : array_like, sparse matrix or data frame of shape (n_rows, n_features)
            The inputs.
        y : array_like of shape (n_rows,) or (n_rows, n_outputs)
            Labels of the outputs.
        """
        values: NDArray[np.float64] = self._likelihood("log_likelihoods", self._labelled(X, y))["values"]
        return values

    def _labelled(self, rows: Any, y: Any, weights: ArrayLike | None = None) -> Table:
        """A table of inputs and outputs."""
        return self._read(rows, _required(y), weights).table

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output = True
        return tags


def _required(y: Any) -> Any:
    if y is None:
        message = "y: BoltzmannClassifier requires y to be passed, but the target y is None"
        raise ValueError(message)
    return y
