"""Checks of arguments: numbers, sequences and seeds. Errors name the argument."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Set
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from typing import TypeAlias, TypeGuard

    from numpy.typing import NDArray

    Seed: TypeAlias = "int | np.integer[Any] | np.random.Generator | np.random.RandomState | None"
    Budget: TypeAlias = "int | str | None"


def numbers(values: Any, place: str) -> NDArray[np.float64]:
    """Returns an array of real numbers; errors name the place."""
    message = f"{place}: found {type(values).__name__} with a value that is not a number, expected numbers"
    try:
        array = np.asarray(values)
        if array.dtype.kind != "c" and not isinstance(values, np.ma.MaskedArray):
            # The native module reads aligned arrays only.
            return np.require(array, np.float64, "A")
        message = f"{place}: found complex or masked numbers, expected real ones"
    except (TypeError, ValueError, OverflowError):
        pass
    raise ValueError(message)


def number(value: Any, place: str) -> float:
    """Returns a number; errors name the place."""
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        message = f"{place}: found {value!r}, expected a number"
        raise ValueError(message) from None


def complete_states(states: Any, names: tuple[str, ...]) -> NDArray[np.int8]:
    """Returns one state (one dimension) or several (two) as -1 and +1 for each unit; errors name the place."""
    if hasattr(states, "columns") and not isinstance(states, np.ndarray):
        columns = [str(name) for name in states.columns]
        _check_names(columns, names)
        cells = np.asarray(states)[:, [columns.index(name) for name in names]]
    elif isinstance(states, Mapping) or hasattr(states, "items"):
        by_name = {str(name): value for name, value in states.items()}
        _check_names(list(by_name), names)
        cells = np.array([by_name[name] for name in names])
    else:
        cells = np.asarray(states) if not hasattr(states, "mask") else states
    is_truth = isinstance(cells, np.ndarray) and cells.dtype == bool
    found = numbers(cells, "states")
    if found.ndim not in (1, 2) or found.shape[-1] != len(names):
        message = f"states: found an array of shape {found.shape}, expected {len(names)} values for each state, one for each unit"
        raise ValueError(message)
    if is_truth:
        found = 2 * found - 1
    bad = np.argwhere(np.abs(found) != 1)
    if len(bad) > 0:
        place = f"row {bad[0][0]}, " if found.ndim == 2 else ""
        message = f"states: {place}unit '{names[bad[0][-1]]}': found {found[tuple(bad[0])]:g}, expected -1 or +1"
        raise ValueError(message)
    return found.astype(np.int8)


def _check_names(found: list[str], names: tuple[str, ...]) -> None:
    absent = [name for name in names if name not in set(found)]
    if absent:
        message = f"states: found no value for unit '{absent[0]}', expected one for each unit"
        raise ValueError(message)
    unknown = [name for name in found if name not in set(names)]
    if unknown:
        message = f"states: there is no unit named '{unknown[0]}'"
        raise ValueError(message)


def positive(value: Any, place: str) -> float:
    """Returns a finite number above 0; errors name the place."""
    found = number(value, place)
    if not 0.0 < found < np.inf:
        message = f"{place}: found {value!r}, expected a finite number above 0"
        raise ValueError(message)
    return found


def _is_whole(value: Any) -> TypeGuard[int]:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def whole(value: Any, place: str, least: int) -> int:
    """Returns a whole number of at least ``least``; errors name the place."""
    if _is_whole(value) and least <= value < 2**31:
        return int(value)
    message = f"{place}: found {value!r}, expected a whole number of at least {least}"
    raise ValueError(message)


def in_order(values: Any, place: str) -> list[Any]:
    """Returns the items of a sequence; errors name the place."""
    if isinstance(values, (str, bytes, Set, Mapping)) or not hasattr(values, "__iter__"):
        message = f"{place}: found {type(values).__name__}, expected a sequence"
        raise ValueError(message)
    return list(values)


def one_or_more(items: Any) -> list[Any]:
    """Returns one item or several, as a list."""
    is_one = isinstance(items, (str, bytes)) or not hasattr(items, "__iter__")
    return [items] if is_one else list(items)


def seed_of(source: Seed, place: str = "seed") -> int:
    """Returns the seed of a ``seed`` or ``random_state``.

    Parameters
    ----------
    source : int, numpy.random.Generator, numpy.random.RandomState or None
        A whole number is the seed itself, as ``--seed`` of the command line. A generator draws a seed. None is a new seed in every call.
    place : str
        The argument that errors name.

    Examples
    --------
    >>> seed_of(7)
    7
    """
    if _is_whole(source) and 0 <= source < 2**64:
        return int(source)
    if source is None:
        return secrets.randbits(64)
    if isinstance(source, np.random.Generator):
        return int(source.integers(0, 2**63))
    if isinstance(source, np.random.RandomState):
        return int(source.randint(0, 2**31 - 1))
    message = f"{place}: found {source!r}, expected a whole number of at least 0, a numpy generator or None"
    raise ValueError(message)
