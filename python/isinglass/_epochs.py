"""Rows that come batch by batch, and outputs that come with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from isinglass._codes import Labels
from isinglass._fit import History
from isinglass._fitting import Fitting, seed_from

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from typing_extensions import Self

    from isinglass._tables import Table

# What the contrastive divergence of `partial_fit` is told, and its rate if it is not told.
_CONTRASTIVE = ("rate", "momentum", "batch", "steps")
_RATE = 0.02


class Epochs(Fitting):
    """The part of :class:`isinglass.BoltzmannMachine` that begins fits, and goes on with them."""

    classes_: Any

    def partial_fit(
        self,
        X: Any,  # noqa: N803
        y: Any = None,
        classes: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """One epoch of contrastive divergence, from where the machine is.

        Learner and iterations are these, whatever the estimator has; its ``options`` may be ``rate``, ``rate_decay``, ``momentum``, ``batch`` and
        ``steps``, and others are refused, as is ``l1``. The rate stays as it is unless there is a ``rate_decay``: ``rate / (1 + rate_decay * t)`` after t epochs of contrastive
        divergence. Chains and momentum begin anew with each call, so chains are not persistent. A whole number as ``random_state`` is
        raised by one for each call.

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
        with self._all_or_nothing():
            if hasattr(self, "machine_"):
                self._go_on(X, y, sample_weight)
            else:
                table = self._begin(X, y, classes, sample_weight)
                self._learn(table, {**self._contrastive(0), **self._structure()})
        return self

    def _contrastive(self, epochs: int) -> dict[str, Any]:
        """The settings of an epoch of contrastive divergence, after so many."""
        if self.l1 is not None:
            message = "l1: partial_fit has no use for it, since contrastive divergence has no such penalty"
            raise ValueError(message)
        options = dict(self.options or {})
        decay = options.pop("rate_decay", None) or 0.0
        other = next((name for name in options if name not in _CONTRASTIVE), None)
        if other is not None:
            takes = ", ".join((*_CONTRASTIVE, "rate_decay"))
            message = f"options: found '{other}', expected those that partial_fit takes: {takes}"
            raise ValueError(message)
        rate = options.pop("rate", None)
        rate = (_RATE if rate is None else rate) / (1.0 + decay * epochs)
        own = {"learner": "contrastive-divergence", "iterations": 1, "rate": rate, "l2": self.l2}
        return {**options, **own, "budget": self.budget, "progress": self.progress}

    def _go_on(self, rows: Any, y: Any, weights: ArrayLike | None) -> None:
        """An epoch from where the machine is."""
        for name, value in self._structure().items():
            if not np.array_equal(value, self._built[name]):
                message = (
                    f"{name}: found {value!r}, but the machine was built with {self._built[name]!r}\nhint: fit begins anew"
                )
                raise ValueError(message)
        if self._labels is None and y is not None:
            message = "y: found outputs, but the machine was begun without any\nhint: fit begins anew"
            raise ValueError(message)
        found = self._again(rows, self._outputs(y), weights)
        # None and generators give other numbers each time of themselves.
        is_number = isinstance(self.random_state, (int, np.integer))
        self._seed = (self._seed + 1) % 2**64 if is_number else seed_from(self.random_state)
        self._codes = found.codes
        before = self.history_
        by_this_learner = self.result_.learner == "contrastive-divergence"
        settings = self._contrastive(self.n_iter_ if by_this_learner else 0)
        self._learn(found.table, {**settings, "start": self.machine_})
        after = self.history_
        self.history_ = History(
            np.concatenate([before.iteration, before.iteration[-1] + after.iteration[1:]]),
            np.concatenate([before.objective, after.objective[1:]]),
            np.concatenate([before.gradient_norm, after.gradient_norm[1:]]),
        )
        self.n_iter_ = int(self.history_.iteration[-1])

    def _begin(self, rows: Any, y: Any, classes: Any, weights: ArrayLike | None) -> Table:
        """A table of rows to be learned from the beginning, and a seed for it."""
        if hasattr(self, "classes_"):
            del self.classes_
        labels = None if y is None else lambda names: Labels(y, names, classes)
        table = self._first(rows, labels, y, weights)
        if self._labels is not None:
            self.classes_ = self._labels.classes[0] if self._labels.is_flat else self._labels.classes
        self._seed = seed_from(self.random_state)
        return table

    def _outputs(self, y: Any) -> Any:
        """What is to be taken as outputs: there must be some if the fit had them, and they have no use otherwise."""
        if self._labels is None:
            return None
        if y is None:
            message = "y: found None, expected the outputs, as in the fit"
            raise ValueError(message)
        return y
