"""Rows that come batch by batch, and outputs that come with them."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any

import numpy as np

from isinglass._codes import Labels
from isinglass._fit import History, run_epochs
from isinglass._fitting import Fitting, seed_from

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from typing_extensions import Self

    from isinglass._machine import Machine
    from isinglass._tables import Table

# What the contrastive divergence of `partial_fit` may be told.
_CONTRASTIVE = ("rate", "rate_decay", "momentum", "batch", "steps", "persistent", "chains")


class Epochs(Fitting):
    """The part of :class:`isinglass.BoltzmannMachine` that begins fits, and goes on with them."""

    classes_: Any

    # What the machine was built from; what epochs of contrastive divergence have left, if there were any; the history of another learner before
    # them.
    _built: dict[str, Any]
    _state: bytes | None
    _earlier: History | None
    # By how much the rate of epochs falls unless that is said; None if they began with a fit, whose own way it is then.
    _decay: float | None

    def partial_fit(
        self,
        X: Any,  # noqa: N803
        y: Any = None,
        classes: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """One epoch of contrastive divergence, from where the machine is.

        The first call builds the machine, its biases at the means of its rows: let them be many. Learner and iterations are these, whatever the
        estimator has, and ``engine``, ``restarts`` and ``tolerance`` have no use; its ``options`` may be ``rate``, ``rate_decay``, ``momentum``, ``batch``, ``steps``,
        ``persistent`` and ``chains``, and others are refused, as is ``l1``. Momentum and persistent chains go on from call to call, and so does the
        count t of epochs: the rate is ``rate / (1 + rate_decay * t)``. Without a ``rate_decay`` it stays as it is; after a fit by contrastive divergence
        it falls on as in the fit. Calls with the same rows and settings give what one fit of as many iterations gives, to the last digit. The seed
        is that of the first call.

        Parameters
        ----------
        X : array_like, sparse matrix or data frame of shape (n_rows, n_features)
            The rows, or the inputs; each call may bring others.
        y : array_like of shape (n_rows,) or (n_rows, n_outputs), optional
            Labels of the outputs.
        classes : array_like of shape (2,), or list of such, optional
            All labels of the output, or of each output, in case the first call does not show both.
        sample_weight : array_like of shape (n_rows,), optional
            The weight of each row.

        Returns
        -------
        BoltzmannMachine
            The estimator itself.

        Examples
        --------
        >>> import numpy as np
        >>> from isinglass import BoltzmannMachine
        >>> rows = np.random.default_rng(0).choice([-1, 1], (100, 1)).repeat(4, axis=1)
        >>> model = BoltzmannMachine(hidden=1, visible_links="none", options={"rate": 0.1}, random_state=0)
        >>> for epoch in range(20):
        ...     model = model.partial_fit(rows)
        >>> len(model.history_), model.score(rows) > -1
        (21, True)
        """
        if classes is not None and y is None:
            message = "classes: found labels, but there are no outputs; give y, too"
            raise ValueError(message)
        with self._all_or_nothing():
            if hasattr(self, "machine_"):
                if classes is not None and self._labels is not None:
                    self._labels.check_classes(classes)
                table = self._more(X, y, sample_weight)
                structure = {}
            else:
                table = self._begin(X, y, classes, sample_weight)
                structure = {**self._structure(), "inputs": self._inputs(table)}
            if self._state is None:
                # Nothing to go on with: there is no machine yet, another learner has found it, or its epochs were about to run away.
                self._earlier = getattr(self, "history_", None)
                began_so = self._earlier is not None and self.result_.learner == "contrastive-divergence"
                self._decay = self._decay if began_so else 0.0
            self._run_epochs(table, getattr(self, "machine_", None), {**self._contrastive(), **structure})
        return self

    def _run_epochs(self, table: Table, machine: Machine | None, settings: dict[str, Any]) -> None:
        """Epochs from a machine and what earlier ones have left, or from the beginning."""
        settings = {"progress": self.progress, "seed": self._seed, **settings}
        made = 0 if self._state is None else self.result_.iterations
        machine, result, state = run_epochs(table, machine, self._state, made=made, **settings)
        # One epoch that runs away leaves the machine as it was, and what the epochs before it have left.
        self._state = self._state if state is None else state
        self._keep(machine, result)
        if self._earlier is not None:
            self.history_ = _joined(self._earlier, result.history)
            self.n_iter_ = int(self.history_.iteration[-1])

    def _contrastive(self) -> dict[str, Any]:
        """The settings of an epoch of contrastive divergence."""
        if self.l1 is not None:
            message = "l1: partial_fit has no use for it, since contrastive divergence has no such penalty"
            raise ValueError(message)
        options = self._options()
        other = next((name for name in options if name not in _CONTRASTIVE), None)
        if other is not None:
            message = f"options: found '{other}', expected those that partial_fit takes: {', '.join(_CONTRASTIVE)}"
            raise ValueError(message)
        if options.get("rate_decay") is None:
            options["rate_decay"] = self._decay
        own = {"learner": "contrastive-divergence", "iterations": 1, "l2": self.l2, "budget": self.budget}
        return {**options, **own}

    def _more(self, rows: Any, y: Any, weights: ArrayLike | None) -> Table:
        """A table of more rows for the machine that is there."""
        for name, value in self._structure().items():
            if not np.array_equal(value, self._built[name]):
                built = self._built[name]
                message = f"{name}: found {value!r}, but the machine was built with {built!r}\nhint: fit begins anew"
                raise ValueError(message)
        if self._labels is None and y is not None:
            message = "y: found outputs, but the machine was begun without any\nhint: fit begins anew"
            raise ValueError(message)
        found = self._again(rows, self._outputs(y), weights)
        self._codes = found.codes
        return found.table

    def _begin(self, rows: Any, y: Any, classes: Any, weights: ArrayLike | None) -> Table:
        """A table of rows to be learned from the beginning, and a seed for it."""
        if hasattr(self, "classes_"):
            del self.classes_
        labels = None if y is None else lambda names: Labels(y, names, classes)
        table = self._first(rows, labels, y, weights)
        if self._labels is not None:
            self.classes_ = self._labels.classes[0] if self._labels.is_flat else self._labels.classes
        self._seed = seed_from(self.random_state)
        self._built, self._state, self._earlier, self._decay = deepcopy(self._structure()), None, None, None
        return table

    def _outputs(self, y: Any) -> Any:
        """What is to be taken as outputs: there must be some if the fit had them, and they have no use otherwise."""
        if self._labels is None:
            return None
        if y is None:
            message = "y: found None, expected the outputs, as in the fit"
            raise ValueError(message)
        return y


def _joined(before: History, after: History) -> History:
    """A history and one that goes on where it ends."""
    return History(
        np.concatenate([before.iteration, before.iteration[-1] + after.iteration[1:]]),
        np.concatenate([before.objective, after.objective[1:]]),
        np.concatenate([before.gradient_norm, after.gradient_norm[1:]]),
    )
