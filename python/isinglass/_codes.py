"""Codes of rows and labels: -1 and +1, 0 and 1, or two labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from isinglass._arguments import in_order, number
from isinglass._tables import cells_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def read(data: Any, binarize: float | None) -> tuple[NDArray[Any], list[str]]:
    """Returns the cells of a table and the names of its columns; with ``binarize``, cells above it become 1 and others 0."""
    cells, names = cells_of(data)
    if cells.shape[1] == 0:
        message = f"table: found 0 feature(s) (shape={cells.shape}) while a minimum of 1 is required."
        raise ValueError(message)
    names = [f"x{k}" for k in range(cells.shape[1])] if names is None else names
    if binarize is None:
        return cells, names
    if not np.isfinite(number(binarize, "binarize")):
        message = f"binarize: found {binarize}, expected a finite number"
        raise ValueError(message)
    if cells.dtype.kind != "f":
        return cells > binarize, names
    infinite = np.argwhere(np.isinf(cells))
    if len(infinite) > 0:
        row, column = infinite[0]
        message = (
            f"row {row + 1}, column '{names[column]}': found {cells[row, column]}, expected a finite number (no inf)"
        )
        raise ValueError(message)
    missing = np.isnan(cells)
    return np.where(missing, np.nan, cells > binarize) if missing.any() else cells > binarize, names


def refuse_empty_columns(cells: NDArray[Any], names: Sequence[str]) -> None:
    """Refuses columns in which every cell is missing."""
    if cells.dtype.kind != "f" or len(cells) == 0:
        return
    empty = np.flatnonzero(np.isnan(cells).all(axis=0))
    if len(empty) > 0:
        message = f"column '{names[empty[0]]}': every cell is missing, expected at least one that is not"
        raise ValueError(message)


def low_codes(zero_one: Sequence[bool | None]) -> NDArray[np.int8]:
    """Returns the code of -1 in each column: -1 or 0.

    A column whose code is open follows the first one whose code is known, as in the files of the command line.
    """
    first = next((kind for kind in zero_one if kind is not None), False)
    return np.array([0 if (first if kind is None else kind) else -1 for kind in zero_one], dtype=np.int8)


def agreed_codes(
    before: Sequence[bool | None], zero_one: Sequence[bool | None], names: Sequence[str]
) -> list[bool | None]:
    """Returns the code of each column, as far as earlier rows and these show it; refuses columns whose code has changed."""
    for known, kind, name in zip(before, zero_one, names, strict=True):
        if known is not None and kind is not None and kind != known:
            found, right = ("0", "-1 or +1") if kind else ("-1", "0 or 1")
            message = f"column '{name}': found {found}, expected {right} as in the rows of the fit"
            raise ValueError(message)
    return [kind if known is None else known for known, kind in zip(before, zero_one, strict=True)]


class Labels:
    """The labels of each output, which stand for -1 and +1.

    Attributes
    ----------
    names : list of str
        The units of the outputs.
    classes : list of ndarray
        The two labels of each, that of -1 first.
    is_flat : bool
        Whether there is one output, given as a one-dimensional array.
    """

    def __init__(self, y: Any, inputs: Sequence[str], classes: Any = None) -> None:
        columns, names, self.is_flat = _columns(y)
        self._given = None if self.is_flat else names
        if names is None:
            names = ["y"] if len(columns) == 1 else [f"y{k}" for k in range(len(columns))]
        while set(names) & set(inputs):
            names = [f"_{name}" for name in names]
        self.names = names
        if classes is None:
            self.classes = [
                _two_labels(column, f"y, output '{name}'") for column, name in zip(columns, names, strict=True)
            ]
        else:
            self.classes = self._given_classes(classes)

    def read(self, y: Any, rows: int) -> NDArray[Any]:
        """Returns labels as -1 and +1, NaN where missing; one column for each output."""
        columns, names, _ = _columns(y)
        if len(columns) != len(self.names):
            message = f"y: found {len(columns)} outputs, expected {len(self.names)} as in the fit"
            raise ValueError(message)
        if names is not None and self._given is not None and names != self._given:
            message = f"y: found the outputs {names}, expected {self._given} as in the fit"
            raise ValueError(message)
        if len(columns[0]) != rows:
            message = f"y: found {len(columns[0])} rows, expected {rows} as in X"
            raise ValueError(message)
        return np.column_stack([self._codes(column, k) for k, column in enumerate(columns)])

    def check_classes(self, classes: Any) -> None:
        """Refuses classes that differ from those of the first fit."""
        given = self._given_classes(classes)
        if any(not np.array_equal(found, known) for found, known in zip(given, self.classes, strict=True)):
            message = (
                f"classes: found {classes!r}, expected {[pair.tolist() for pair in self.classes]} as in the first call"
            )
            raise ValueError(message)

    def _given_classes(self, classes: Any) -> list[NDArray[Any]]:
        """The labels of each output from the argument ``classes``."""
        known = in_order(classes, "classes")
        pairs = [known] if self.is_flat else [in_order(pair, "classes") for pair in known]
        if len(pairs) != len(self.names):
            message = f"classes: found labels of {len(pairs)} outputs, expected those of {len(self.names)}"
            raise ValueError(message)
        columns = [_labels(pair, "classes") for pair in pairs]
        if any(column.shape != (2,) or _missing(column).any() for column in columns):
            message = f"classes: found {classes!r}, expected two labels for each output"
            raise ValueError(message)
        return [_two_labels(column, "classes") for column in columns]

    def _codes(self, column: NDArray[Any], k: int) -> NDArray[Any]:
        low, high = self.classes[k]
        missing = _missing(column)
        there = column[~missing]
        # For labels of another type numpy may compare to one False instead of an array.
        is_high, is_low = (
            np.broadcast_to(np.asarray(there == label, dtype=np.bool_), there.shape) for label in (high, low)
        )
        wrong = ~(is_high | is_low)
        if wrong.any():
            found = there[np.flatnonzero(wrong)[0]]
            message = f"y, output '{self.names[k]}': found {found!r}, expected {low!r} or {high!r} as in the fit"
            raise ValueError(message)
        states = np.where(is_high, np.int8(1), np.int8(-1))
        if not missing.any():
            return states
        codes = np.full(len(column), np.nan)
        codes[~missing] = states
        return codes

    def write(self, states: NDArray[np.int8]) -> NDArray[Any]:
        """Returns labels from -1 and +1, in as many dimensions as the labels of the fit."""
        columns = [pair[(states[:, k] > 0).astype(np.intp)] for k, pair in enumerate(self.classes)]
        return columns[0] if self.is_flat else np.column_stack(columns)


def _columns(y: Any) -> tuple[list[NDArray[Any]], list[str] | None, bool]:
    """The outputs as arrays, their names if they have any, and whether ``y`` has one dimension."""
    named = hasattr(y, "columns") and hasattr(y, "shape") and len(y.shape) == 2
    names = [str(name) for name in y.columns] if named else None
    if isinstance(y, np.ma.MaskedArray):
        if np.ma.getmaskarray(y).any():
            message = "y: found a masked array, expected NaN or None where a label is missing"
            raise ValueError(message)
        y = y.data
    if hasattr(y, "toarray"):
        y = y.toarray()
    labels = _labels(y)
    if labels.dtype.kind == "c":
        message = "y: Complex data not supported: found complex numbers, expected two labels"
        raise ValueError(message)
    if labels.ndim not in (1, 2) or labels.size == 0:
        message = f"y: found an array of shape {labels.shape}, expected one label for each row, or a row of them"
        raise ValueError(message)
    if labels.ndim == 1:
        name = getattr(y, "name", None)
        return [labels], [name] if isinstance(name, str) and name else None, True
    return list(labels.T), names, False


def _labels(y: Any, place: str = "y") -> NDArray[Any]:
    """Labels as an array of their own types: numpy turns everything beside strings into strings."""
    try:
        labels = np.asarray(y)
    except ValueError:
        message = f"{place}: found rows of different lengths, expected a label, or as many of them, for each row"
        raise ValueError(message) from None
    if isinstance(y, (list, tuple)) and labels.dtype.kind in "US":
        objects = np.asarray(y, dtype=object)
        if len({type(label) for label in objects.ravel().tolist()}) > 1:
            return objects
    # Variable-width strings have their own missing value.
    return labels.astype(object) if labels.dtype.kind == "T" else labels


def _missing(column: NDArray[Any]) -> NDArray[np.bool_]:
    if column.dtype.kind in "fmM":
        missing: NDArray[np.bool_] = np.isnan(column)
        return missing
    if column.dtype.kind == "O":
        return np.array([_is_missing(cell) for cell in column.tolist()], dtype=np.bool_)
    return np.zeros(len(column), dtype=np.bool_)


def _is_missing(cell: Any) -> bool:
    # NA of pandas is neither equal nor unequal to anything.
    return cell is None or type(cell).__name__ in ("NAType", "NaTType") or cell != cell


def _two_labels(column: NDArray[Any], place: str) -> NDArray[Any]:
    """The two labels of an output in ascending order; a single 0, 1, -1 or boolean is completed to the usual pair."""
    there = column[~_missing(column)]
    if there.dtype.kind == "f" and np.isinf(there).any():
        message = f"{place}: found inf, expected two labels"
        raise ValueError(message)
    if there.dtype == object:
        plain = np.asarray(there.tolist())
        # Numbers beside missing values.
        there = plain if plain.dtype.kind in "biuf" else there
    try:
        found = np.unique(there)
    except TypeError:
        kinds = " and ".join(sorted({type(label).__name__ for label in there.tolist()}))
        message = f"{place}: found labels of different types ({kinds}), expected two of one type"
        raise ValueError(message) from None
    if len(found) == 1 and found.dtype.kind in "biuf":
        for usual in (np.array([False, True]), np.array([0, 1]), np.array([-1, 1])):
            if (usual.dtype == np.bool_) == (found.dtype == np.bool_) and found[0] in usual:
                return usual.astype(found.dtype)
    if len(found) > 2 and found.dtype.kind == "f" and (found != np.round(found)).any():
        message = f"{place}: found continuous numbers, expected two labels"
        raise ValueError(message)
    if len(found) != 2:
        count = "no labels" if len(found) == 0 else "one label" if len(found) == 1 else f"{len(found)} labels"
        message = f"{place}: found {count}, expected two; Only binary classification is supported."
        raise ValueError(message)
    return found
