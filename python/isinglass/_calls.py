"""Calls into the native module. Other modules use these instead of calling it themselves."""

from __future__ import annotations

import sys
import warnings
from typing import TYPE_CHECKING, Any

from isinglass import _native
from isinglass._arguments import seed_of
from isinglass._results import ConvergenceWarning, IsinglassWarning, Remark

if TYPE_CHECKING:
    from collections.abc import Callable

    from isinglass._arguments import Budget, Seed

NativeMachine = _native.Machine
NativeTable = _native.Table


def request(engine: str = "auto", budget: Budget = None, seed: Seed = 0, **settings: Any) -> tuple[Any, ...]:
    """Returns the argument by which the native module chooses an engine and its settings."""
    return engine, budget, seed_of(seed), settings or None


def ask(question: str, /, *arguments: Any, **settings: Any) -> dict[str, Any]:
    """Asks the native module a question, issues the warnings of the answer and returns it."""
    return _issue_warnings(getattr(_native, question)(*arguments, request(**settings)))


def info(machine: NativeMachine, budget: Budget) -> dict[str, Any]:
    """Returns size and structure of a machine, and what each engine would cost."""
    return _native.info(machine, budget)


def fit(
    table: NativeTable,
    settings: dict[str, Any],
    start: NativeMachine | None,
    listener: Callable[..., object] | None,
) -> tuple[NativeMachine, dict[str, Any]]:
    """Fits a machine to a table."""
    machine, found = _native.fit(table, settings, start, listener)
    return machine, _issue_warnings(found)


def compare(tables: list[NativeTable], names: list[str], settings: dict[str, Any]) -> dict[str, Any]:
    """Compares groups, and returns the document of the command line as text."""
    return _issue_warnings(_native.compare(tables, names, settings))


def continue_epochs(
    table: NativeTable,
    settings: dict[str, Any],
    machine: NativeMachine | None,
    state: bytes | None,
    listener: Callable[..., object] | None,
) -> tuple[NativeMachine, dict[str, Any], bytes | None]:
    """Runs epochs of contrastive divergence, resumed from a state if there is one, and returns the state after them."""
    machine, found, after = _native.run_epochs(table, settings, machine, state, listener)
    return machine, _issue_warnings(found), after


# Warnings about the data or the format, and not about convergence.
_OTHER_WARNINGS = frozenset({"unbounded", "worse-than-independent"})


def _issue_warnings(found: dict[str, Any]) -> dict[str, Any]:
    """Issues the warnings of a native answer, and returns it with notes and warnings as remarks."""
    for key in ("notes", "warnings"):
        if key in found:
            found[key] = tuple(Remark(message, code, data) for code, message, data in found[key])
    for warning in found.get("warnings", ()):
        category = IsinglassWarning if warning.code in _OTHER_WARNINGS else ConvergenceWarning
        warnings.warn(str(warning), category, stacklevel=_level_of_caller())
    return found


def _level_of_caller() -> int:
    """Returns the ``stacklevel`` of the first line outside this package and the wrappers around it."""
    frame, level = sys._getframe(1), 1
    inside = ("isinglass", "sklearn", "joblib", "threading")
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in inside:
        frame, level = frame.f_back, level + 1
    return level
