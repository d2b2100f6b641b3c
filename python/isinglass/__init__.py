"""Inference and learning in general Boltzmann machines.

A machine is a pairwise model over units that take the values -1 and +1::

    -E(s) = sum_{i<j} w_ij s_i s_j + sum_i theta_i s_i        P(s) = exp(-E(s) / T) / Z

Every answer says what it is worth: its ``guarantee`` is one of ``exact``, ``lower-bound``, ``upper-bound``, ``estimate`` and
``approximation``.

>>> import isinglass
>>> machine = isinglass.Machine.from_edges([("rain", "wet", 0.8)], bias={"rain": -0.5})
>>> answer = machine.infer(given={"wet": +1})
>>> answer.guarantee, round(answer.mean("rain"), 6)
('exact', 0.291313)
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from isinglass._native import __version__

if TYPE_CHECKING:
    from isinglass._estimators import BoltzmannMachine
    from isinglass._fit import FitResult, History, Intervals, Spread, fit
    from isinglass._imputer import Imputer
    from isinglass._machine import Machine
    from isinglass._plots import plot_weights
    from isinglass._results import (
        Bracket,
        Completion,
        ConvergenceWarning,
        Cumulants,
        Draws,
        EngineOffer,
        Expectations,
        Info,
        JointTable,
        Mode,
        RowLikelihoods,
        Score,
    )
    from isinglass._tables import Table

__all__ = [
    "BoltzmannMachine",
    "Bracket",
    "Completion",
    "ConvergenceWarning",
    "Cumulants",
    "Draws",
    "EngineOffer",
    "Expectations",
    "FitResult",
    "History",
    "Imputer",
    "Info",
    "Intervals",
    "JointTable",
    "Machine",
    "Mode",
    "RowLikelihoods",
    "Score",
    "Spread",
    "Table",
    "__version__",
    "fit",
    "plot_weights",
]

# Where each name is, so that the command does not wait for what only programs need.
_PLACES = {
    "_estimators": ("BoltzmannMachine",),
    "_fit": ("FitResult", "History", "Intervals", "Spread", "fit"),
    "_imputer": ("Imputer",),
    "_machine": ("Machine",),
    "_plots": ("plot_weights",),
    "_results": (
        "Bracket",
        "Completion",
        "ConvergenceWarning",
        "Cumulants",
        "Draws",
        "EngineOffer",
        "Expectations",
        "Info",
        "JointTable",
        "Mode",
        "RowLikelihoods",
        "Score",
    ),
    "_tables": ("Table",),
}


def __getattr__(name: str) -> object:
    module = next((module for module, names in _PLACES.items() if name in names), None)
    if module is None:
        message = f"module 'isinglass' has no attribute '{name}'"
        raise AttributeError(message)
    found: object = getattr(importlib.import_module(f"isinglass.{module}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for names in _PLACES.values() for name in names)})
