"""Estimators in the conventions of scikit-learn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils import ClassifierTags, TransformerTags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from isinglass import _native
from isinglass._arguments import whole
from isinglass._codes import low_codes
from isinglass._epochs import Epochs
from isinglass._fitting import seed_from
from isinglass._machine import Machine
from isinglass._results import told

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Literal

    from numpy.typing import ArrayLike, NDArray
    from typing_extensions import Self

    from isinglass._codes import Labels
    from isinglass._questions import Budget
    from isinglass._results import Completion
    from isinglass._seeds import Seed
    from isinglass._tables import Table

# What helps where log Z is out of reach.
_ESTIMATED = "hint: score_engine='ais' estimates it"


class BoltzmannMachine(TransformerMixin, Epochs):
    """A Boltzmann machine learned from rows with two states, as an estimator of scikit-learn.

    ``fit(X)`` learns the distribution of the rows: :meth:`score_samples`, :meth:`sample`, and with hidden units :meth:`transform`.
    ``fit(X, y)`` learns that of outputs given inputs: :meth:`predict` and :meth:`predict_proba`. Whatever else can be asked is asked of
    ``machine_``.

    Parameters
    ----------
    hidden : int, default 0
        Hidden units, joined with every column.
    visible_links : str or array_like of shape (n, 2), default 'full'
        Links among the columns; see :func:`isinglass.fit`.
    hidden_links : {'none', 'chain', 'full'}, default 'none'
        Links among the hidden units.
    learner : str, default 'auto'
        The learner; see :func:`isinglass.fit`.
    engine : str, default 'auto'
        The engine of the learner ``likelihood``; see :class:`isinglass.Machine`. Other questions
        after the fit are asked with ``auto``.
    l2, l1 : float
        Penalties on the squares and on the absolute values of couplings; ``l1='ebic'`` lets the data choose.
    restarts : int, optional
        Starts, of which the best fit is kept.
    iterations : int, optional
        The most iterations of a fit.
    tolerance : float, optional
        The largest component of the gradient at which a fit has converged.
    options : dict, optional
        What else :func:`isinglass.fit` takes: ``optimizer``, ``rate``, ``batch``, ``steps``, ``persistent``, and so on.
    binarize : float, optional
        Cells above it are 1 and the others 0. By default cells must have two states: -1 and +1, 0 and 1, or truth values.
    score_engine : str, default 'auto'
        The engine of :meth:`score` and :meth:`score_samples`; ``ais`` estimates them for machines that are too large to be summed.
    budget : int or str, default '1GiB'
        Memory that the fit and questions after it may take.
    random_state : int, numpy.random.RandomState, numpy.random.Generator or None
        The seed; a whole number gives what the command gives with the same ``--seed``. None draws one from numpy's global generator.
    progress : bool or callable, default False
        Show a bar, or call this after every iteration; see :func:`isinglass.fit`.

    Attributes
    ----------
    machine_ : Machine
        The machine: units for the columns of X, for outputs, and hidden ones.
    coupling_ : ndarray of shape (n_units, n_units)
        Its couplings.
    bias_ : ndarray of shape (n_units,)
        Its biases.
    history_ : History
        Each iteration of the fit, or of all calls of :meth:`partial_fit`.
    result_ : FitResult
        How the machine was found, by the last fit.
    n_iter_ : int
        Iterations made.
    classes_ : ndarray of shape (2,), or list of such
        The labels of the output, or of each output; after a fit with y only.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if all are strings.

    See Also
    --------
    Imputer : Fills missing cells.
    isinglass.fit : The same fits without scikit-learn.

    Notes
    -----
    NaN is missing, in rows and in outputs; hidden units and what is missing are summed out. So are missing inputs, though their own
    distribution is not learned: it is better to fill them before, by :class:`Imputer`. Outputs have two labels each; there may be several.
    A row whose outputs are all missing has nothing to explain: its likelihood is 1, and it counts in averages all the same.

    As a step of a pipeline before the last (:meth:`fit_transform`), the machine learns from X alone, whatever y is.

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
    >>> model = BoltzmannMachine(l2=0.01).fit(X[:, :2], X[:, 2])
    >>> model.predict([[1, 0], [0, 0]]).tolist()
    [0, 0]
    """

    def __init__(
        self,
        hidden: int = 0,
        *,
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
        score_engine: str = "auto",
        budget: Budget = None,
        random_state: Seed = None,
        progress: bool | Callable[..., object] = False,
    ) -> None:
        self.hidden = hidden
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
        self.score_engine = score_engine
        self.budget = budget
        self.random_state = random_state
        self.progress = progress

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:  # noqa: N803
        """Learn the distribution of rows, or that of outputs given inputs.

        Parameters
        ----------
        X : array_like, sparse matrix or data frame of shape (n_rows, n_features)
            The rows, or the inputs.
        y : array_like of shape (n_rows,) or (n_rows, n_outputs), optional
            Labels of the outputs, two different ones for each.
        sample_weight : array_like of shape (n_rows,), optional
            The weight of each row.

        Returns
        -------
        BoltzmannMachine
            The estimator itself.
        """
        with self._all_or_nothing():
            table, settings = self._begin(X, y, None, sample_weight), self._settings()
            if self.learner == "contrastive-divergence":
                # The same fit, such that epochs may follow.
                self._run_epochs(table, None, {**settings, "inputs": self._inputs(table)})
            else:
                self._learn(table, settings)
        return self

    def sample(
        self, n_samples: int = 1, *, given: Mapping[Any, Any] | None = None, random_state: Seed = None
    ) -> NDArray[np.int8]:
        """Draw rows, written as those of the fit: exact and independent where an exact engine is within the budget.

        Parameters
        ----------
        n_samples : int, default 1
            How many.
        given : mapping, optional
            What is known of columns, written as in the rows of the fit: 0 is the lower state of a column of 0 and 1.
        random_state : int, numpy.random.RandomState, numpy.random.Generator or None
            The seed; that of the estimator if it is None.

        Returns
        -------
        ndarray of int8, shape (n_samples, n_features)
            The rows.
        """
        check_is_fitted(self, "machine_")
        if self._labels is not None:
            message = (
                "sample: how inputs are distributed was not learned\nhint: machine_.sample(given=...) draws outputs"
            )
            raise ValueError(message)
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
        """The log-likelihood of the rows, or of the outputs given the inputs; averaged by weight, as the command ``isinglass score`` does.

        ``machine_.score`` tells more of it, and what it is worth. The accuracy of predictions is had with ``scoring="accuracy"``.

        Parameters
        ----------
        X : array_like, sparse matrix or data frame of shape (n_rows, n_features)
            The rows, or the inputs.
        y : array_like of shape (n_rows,) or (n_rows, n_outputs), optional
            Labels of the outputs; without use if the fit was without y.
        sample_weight : array_like of shape (n_rows,), optional
            The weight of each row.

        Returns
        -------
        float
            Natural logarithms per row.
        """
        check_is_fitted(self, "machine_")
        table = self._again(X, self._outputs(y), sample_weight).table
        return float(self._found(_native.log_likelihood, table)["value"])

    def score_samples(self, X: Any, y: Any = None) -> NDArray[np.float64]:  # noqa: N803
        """The log-likelihood of each row, or of its outputs given its inputs.

        Parameters
        ----------
        X : array_like, sparse matrix or data frame of shape (n_rows, n_features)
            The rows, or the inputs.
        y : array_like of shape (n_rows,) or (n_rows, n_outputs), optional
            Labels of the outputs; without use if the fit was without y.

        Returns
        -------
        ndarray of shape (n_rows,)
            Natural logarithms.
        """
        check_is_fitted(self, "machine_")
        table = self._again(X, self._outputs(y)).table
        values: NDArray[np.float64] = self._found(_native.log_likelihoods, table)["values"]
        return values

    def _found(self, ask: Callable[..., dict[str, Any]], table: Table) -> dict[str, Any]:
        """What is found about the likelihood of a table."""
        asked = (self.score_engine, self.budget, self._seed, None)
        try:
            return told(ask(self.machine_._core, table._core, asked))
        except ValueError as error:
            reason, hint, _ = str(error).partition("\nhint:")
            reason = f"score_{reason}" if reason.startswith("engine: ") else reason
            raise ValueError(f"{reason}\n{_ESTIMATED}" if hint else reason) from None

    def transform(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """The means of the hidden units given each row; outputs are summed out.

        Parameters
        ----------
        X : array_like, sparse matrix or data frame of shape (n_rows, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_rows, hidden)
            Means between -1 and +1.
        """
        table = self._again(X).table
        machine = self.machine_
        # A hidden unit is completed like any other if it is called visible.
        roles = ["visible" if role == "hidden" else role for role in machine.roles]
        parts = (machine.names, machine.bias, machine.edges, machine.edge_weights)
        shown = Machine._of_parts(*parts, roles, machine.temperature, machine.offset)
        found, places = self._complete(shown, table, self.get_feature_names_out().tolist())
        return 2.0 * found.probabilities[:, places] - 1.0

    def fit_transform(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> NDArray[np.float64]:  # noqa: N803
        """Fit to X alone, and give the means of its hidden units: what a pipeline does before its last step.

        Parameters
        ----------
        X : array_like, sparse matrix or data frame of shape (n_rows, n_features)
            The rows.
        y : object, optional
            Not used.
        sample_weight : array_like of shape (n_rows,), optional
            The weight of each row.

        Returns
        -------
        ndarray of shape (n_rows, hidden)
            Means between -1 and +1.
        """
        found: NDArray[np.float64] = self.fit(X, sample_weight=sample_weight).transform(X)
        return found

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """The names of the hidden units, the columns of what :meth:`transform` gives.

        Parameters
        ----------
        input_features : object, optional
            Not used.
        """
        check_is_fitted(self, "machine_")
        hidden = [name for name, role in zip(self.machine_.names, self.machine_.roles, strict=True) if role == "hidden"]
        return np.array(hidden, dtype=object)

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: N803
        """The more probable label of each output, given the inputs.

        Parameters
        ----------
        X : array_like, sparse matrix or data frame of shape (n_rows, n_features)
            The inputs.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_outputs)
            Labels, as they were in y.
        """
        labels, found, places = self._predicted(X)
        return labels.write(found.states[:, places])

    def predict_proba(self, X: Any) -> Any:  # noqa: N803
        """The probabilities of both labels of each output, given the inputs; other outputs are summed out.

        Parameters
        ----------
        X : array_like, sparse matrix or data frame of shape (n_rows, n_features)
            The inputs.

        Returns
        -------
        ndarray of shape (n_rows, 2), or list of such
            Probabilities in the order of ``classes_``; one array for each output if y had two dimensions.
        """
        labels, found, places = self._predicted(X)
        up = found.probabilities[:, places]
        pairs = [np.column_stack([1.0 - up[:, k], up[:, k]]) for k in range(len(places))]
        return pairs[0] if labels.is_flat else pairs

    def _predicted(self, rows: Any) -> tuple[Labels, Completion, list[int]]:
        """The outputs' labels, the table completed by the outputs, and where they stand in it."""
        check_is_fitted(self, "machine_")
        if self._labels is None:
            message = "predict: the machine was fitted without y, and has no outputs; call fit with y first"
            raise NotFittedError(message)
        table = self._again(rows).table
        return self._labels, *self._complete(self.machine_, table, self._labels.names)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.estimator_type = "classifier"
        tags.classifier_tags = ClassifierTags(multi_class=False, multi_label=True)
        tags.target_tags.required = False
        tags.target_tags.multi_output = True
        tags.transformer_tags = TransformerTags() if _has_hidden(self) else None
        return tags


def _has_hidden(model: BoltzmannMachine) -> bool:
    """Whether there is something to transform rows into."""
    return bool(model.hidden)


# Here and not as a decorator: the mixin's own wrapper around these methods would hide it.
BoltzmannMachine.transform = available_if(_has_hidden)(BoltzmannMachine.transform)  # type: ignore[method-assign]
BoltzmannMachine.fit_transform = available_if(_has_hidden)(BoltzmannMachine.fit_transform)  # type: ignore[method-assign]
