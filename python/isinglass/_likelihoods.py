"""The log-likelihood of each row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from isinglass._machine import Machine


def log_likelihoods(machine: Machine, states: NDArray[np.int8], **asked: Any) -> NDArray[np.float64]:
    """The logarithm of P(visible | input) for each row, hidden units and missing cells summed out.

    Parameters
    ----------
    machine : Machine
        The machine.
    states : ndarray of int8, shape (n_rows, n_visible_and_input)
        -1 and +1 for each unit that is not hidden, in their order; 0 where it is missing.
    **asked
        Engine, budget and seed for the partition sums, as :class:`Machine` takes them.

    Examples
    --------
    >>> from isinglass import Machine
    >>> log_likelihoods(Machine([[0, 1], [1, 0]]), np.array([[1, 1], [1, 0]], dtype=np.int8)).round(6).tolist()
    [-0.820075, -0.693147]
    """
    roles = np.array(machine.roles)
    shown = np.zeros((len(states), len(machine)), dtype=np.int8)
    shown[:, roles != "hidden"] = states
    inputs = roles == "input"
    if inputs.any():
        return _log_sums(machine, shown, asked) - _log_sums(machine, np.where(inputs, shown, np.int8(0)), asked)
    return _log_sums(machine, shown, asked) - _log_z(machine, None, asked)


def _log_sums(machine: Machine, clamped: NDArray[np.int8], asked: dict[str, Any]) -> NDArray[np.float64]:
    """Log Z with each row clamped where it is not 0, the clamped units' own terms included."""
    free = (clamped == 0).any(axis=0)
    weights = machine.weights
    # Free units that are the same in all rows, and not joined with each other, are summed out one by one.
    if not weights[np.ix_(free, free)].any() and not clamped[:, free].any():
        rows = clamped.astype(np.float64)
        exponent = (0.5 * ((rows @ weights) * rows).sum(axis=1) + rows @ machine.bias) / machine.temperature
        fields = (rows @ weights[:, free] + machine.bias[free]) / machine.temperature
        sums: NDArray[np.float64] = exponent + machine.offset + np.logaddexp(fields, -fields).sum(axis=1)
        return sums
    distinct, places = np.unique(clamped, axis=0, return_inverse=True)
    found = np.array([_log_z(machine, row, asked) for row in distinct], dtype=np.float64)
    return found[places.ravel()]


def _log_z(machine: Machine, row: NDArray[np.int8] | None, asked: dict[str, Any]) -> float:
    answer = machine.infer(row, pairs="none", **asked)
    if answer.log_z is None:
        message = f"the engine {answer.engine} tells no log Z, which the likelihood of a row needs\nhint: score_engine='ais' estimates it"
        raise ValueError(message)
    return answer.log_z
