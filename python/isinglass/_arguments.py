"""Arguments that are to be numbers or names: read, or refused by an error that names them."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

import numpy as np
from numpy.typing import NDArray


def numbers(values: Any, place: str) -> NDArray[np.float64]:
    """Numbers in an array, or an error that names their place."""
    message = f"{place}: found {type(values).__name__} with something that is no number, expected numbers"
    try:
        array = np.asarray(values)
        if array.dtype.kind != "c" and not isinstance(values, np.ma.MaskedArray):
            # The native half reads whole numbers where they lie.
            return np.require(array, np.float64, "A")
        message = f"{place}: found complex or masked numbers, expected real ones"
    except (TypeError, ValueError, OverflowError):
        pass
    raise ValueError(message)


def number(value: Any, place: str) -> float:
    """A number, or an error that names its place."""
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        message = f"{place}: found {value!r}, expected a number"
        raise ValueError(message) from None


def positive(value: Any, place: str) -> float:
    """A finite number above 0, or an error that names its place."""
    found = number(value, place)
    if not 0.0 < found < np.inf:
        message = f"{place}: found {value!r}, expected a finite number above 0"
        raise ValueError(message)
    return found


def whole(value: Any, place: str, least: int) -> int:
    """A whole number of a least size, or an error that names its place."""
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool) and least <= value < 2**31:
        return int(value)
    message = f"{place}: found {value!r}, expected a whole number of at least {least}"
    raise ValueError(message)


def in_order(values: Any, place: str) -> list[Any]:
    """Things in an order, or an error that names their place."""
    if isinstance(values, (str, bytes, Set, Mapping)) or not hasattr(values, "__iter__"):
        message = f"{place}: found {type(values).__name__}, expected a sequence"
        raise ValueError(message)
    return list(values)
