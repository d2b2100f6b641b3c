"""Inference and learning in general Boltzmann machines.

A machine is a pairwise model over units with values -1 and +1::

    -E(s) = sum_{i<j} w_ij s_i s_j + sum_i theta_i s_i        P(s) = exp(-E(s) / T) / Z

The ``guarantee`` of every answer is one of ``exact``, ``lower-bound``, ``upper-bound``, ``estimate`` and ``approximation``.

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
    from isinglass._classifier import *
    from isinglass._compare import *
    from isinglass._density import *
    from isinglass._fit import *
    from isinglass._imputer import *
    from isinglass._machine import *
    from isinglass._network import *
    from isinglass._plots import *
    from isinglass._posterior import *
    from isinglass._results import *
    from isinglass._scan import *
    from isinglass._tables import *

# The exported names and their modules, which are imported when a name is first used: the command does not wait for numpy, nor machines for
# scikit-learn.
_EXPORTS = {
    "BoltzmannClassifier": "_classifier",
    "BoltzmannMachine": "_density",
    "Bracket": "_results",
    "Centrality": "_network",
    "Comparison": "_compare",
    "Completion": "_results",
    "Check": "_fit",
    "ConvergenceWarning": "_results",
    "Cumulants": "_results",
    "Difference": "_compare",
    "Draws": "_results",
    "EngineOffer": "_results",
    "Expectations": "_results",
    "FitResult": "_fit",
    "Growth": "_fit",
    "History": "_fit",
    "Imputer": "_imputer",
    "Info": "_results",
    "Intervals": "_fit",
    "IsinglassWarning": "_results",
    "JointTable": "_results",
    "Machine": "_machine",
    "Marginals": "_posterior",
    "Mode": "_results",
    "Overlap": "_scan",
    "PenaltyPath": "_fit",
    "Posterior": "_posterior",
    "Remark": "_results",
    "RowLikelihoods": "_results",
    "Scan": "_scan",
    "Score": "_results",
    "Spread": "_fit",
    "Stability": "_network",
    "Table": "_tables",
    "compare": "_compare",
    "fit": "_fit",
    "plot_weights": "_plots",
}

__all__ = [*_EXPORTS, "__version__"]


def __getattr__(name: str) -> object:
    if name not in _EXPORTS:
        message = f"module 'isinglass' has no attribute '{name}'"
        raise AttributeError(message)
    found: object = getattr(importlib.import_module(f"isinglass.{_EXPORTS[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
