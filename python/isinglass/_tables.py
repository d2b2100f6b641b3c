"""Tables from arrays, pandas and polars data frames, and sparse matrices."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from isinglass._arguments import in_order, numbers
from isinglass._calls import NativeTable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray


class Table:
    """Rows of binary cells, some of them missing; equal rows are stored once.

    Parameters
    ----------
    data : array_like, pandas.DataFrame, polars.DataFrame or sparse matrix
        Each column holds -1 and +1, 0 and 1, or booleans. NaN (None, NA) is missing. Arrays of int8, int64, float64 and bool are read
        without a copy.
    names : sequence of str, optional
        Names of the columns; by default those of the data frame, or ``x0``, ``x1``, ….
    weights : array_like, optional
        The weight of each row.

    Examples
    --------
    >>> import numpy as np
    >>> from isinglass import Table
    >>> table = Table(np.array([[1, 0], [1, np.nan], [1, 0]]), names=["a", "b"])
    >>> table
    Table(rows=3, distinct_rows=2, missing_cells=1, columns=['a', 'b'])
    """

    __slots__ = ("_core",)

    def __init__(self, data: Any, names: Sequence[str] | None = None, weights: ArrayLike | None = None) -> None:
        cells, found = cells_of(data)
        if names is None:
            names = found if found is not None else [f"x{k}" for k in range(cells.shape[1])]
        names = in_order(names, "names")
        weights = None if weights is None else numbers(weights, "weights")
        if weights is not None and weights.ndim != 1:
            message = f"weights of rows: found an array of shape {weights.shape}, expected one number for each row"
            raise ValueError(message)
        self._core = NativeTable(cells, [str(name) for name in names], weights)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self._core.columns)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self._core.rows

    @property
    def distinct_rows(self) -> int:
        """The number of distinct rows, which sets the cost of most computations."""
        return self._core.distinct_rows

    @property
    def missing_cells(self) -> int:
        """The number of missing cells."""
        return self._core.missing_cells

    @property
    def zero_one(self) -> tuple[bool | None, ...]:
        """For each column, whether it holds 0 and 1 rather than -1 and +1; None where its cells leave that open."""
        return tuple(self._core.zero_one)

    def __len__(self) -> int:
        return self.rows

    def __reduce__(self) -> tuple[Any, ...]:
        return Table._restore, self._core.state()

    @classmethod
    def _restore(cls, *state: Any) -> Table:
        table = object.__new__(cls)
        table._core = NativeTable.restore(*state)
        return table

    def __copy__(self) -> Table:
        return self

    def __deepcopy__(self, _memo: Any) -> Table:
        return self

    def __repr__(self) -> str:
        return (
            f"Table(rows={self.rows}, distinct_rows={self.distinct_rows}, "
            f"missing_cells={self.missing_cells}, columns={_few(self.columns)})"
        )


def _few(names: Sequence[str], most: int = 6) -> str:
    shown = ", ".join(repr(name) for name in names[:most])
    return f"[{shown}, ...]" if len(names) > most else f"[{shown}]"


def as_table(data: Any, weights: ArrayLike | None = None, units: Sequence[str] | None = None) -> Table:
    """Returns the table of any data; columns without names are ``units``, if these are given."""
    if isinstance(data, Table):
        if weights is not None:
            message = "weights: a Table has its own; pass them to Table"
            raise ValueError(message)
        return data
    cells, names = cells_of(data)
    if names is None and units is not None:
        names = list(units)
        if len(names) != cells.shape[1]:
            message = (
                f"table: found {cells.shape[1]} columns, expected {len(names)}: one for each visible and input unit"
            )
            raise ValueError(message)
    return Table(cells, names, weights)


def cells_of(data: Any) -> tuple[NDArray[Any], list[str] | None]:
    """Returns the cells as an array that the native module reads, and the names of the columns if there are any."""
    names = _column_names(data)
    if names is not None:
        repeated = {name for name in names if names.count(name) > 1} if len(set(names)) < len(names) else set()
        if repeated:
            message = f"column '{min(repeated)}' appears more than once"
            raise ValueError(message)
        cells = _frame_cells(data)
    elif hasattr(data, "tocsr") and hasattr(data, "toarray"):
        cells = _dense(data)
    else:
        cells = data
    if isinstance(cells, np.ma.MaskedArray):
        # Masked cells are missing.
        mask = np.ma.getmaskarray(cells)
        cells = np.where(mask, np.nan, cells.data) if mask.any() else cells.data
    try:
        cells = np.asarray(cells)
    except ValueError:
        message = "table: found rows of different lengths, expected a rectangle of cells"
        raise ValueError(message) from None
    if cells.ndim == 0:
        hint = "; collect() it first" if type(data).__name__ == "LazyFrame" else ""
        message = f"table: found {type(data).__name__}, expected rows and columns: an array, a data frame, a sparse matrix{hint}"
        raise ValueError(message)
    if cells.ndim != 2:
        message = f"table: found an array of shape {cells.shape}, expected two dimensions: rows and columns"
        if cells.ndim == 1:
            message += "\nhint: Reshape your data: reshape(-1, 1) gives a single column, reshape(1, -1) a single row"
        raise ValueError(message)
    return _plain(cells), names


def _dense(matrix: Any) -> NDArray[Any]:
    """A sparse matrix as an array, one byte per cell where that suffices."""
    rows = matrix.tocsr()
    if not rows.has_canonical_format:
        # Repeated entries of one cell add up.
        rows = rows.copy()
        rows.sum_duplicates()
    if rows.dtype != object and np.isin(rows.data, (-1, 0, 1)).all():
        rows = rows.astype(np.int8)
    cells: NDArray[Any] = rows.toarray()
    return cells


def _plain(cells: NDArray[Any]) -> NDArray[Any]:
    """Cells of a type that the native module reads, without a copy where possible."""
    if cells.dtype in (np.int8, np.int64, np.float64, np.bool_) and cells.dtype.isnative and cells.flags.aligned:
        return cells
    kind = cells.dtype.kind
    if kind == "u" and cells.dtype.itemsize == 8:
        return cells.astype(np.float64)
    if kind in "iu":
        return cells.astype(np.int64)
    if kind == "f":
        return cells.astype(np.float64)
    if kind == "c":
        message = "table: Complex data not supported: found complex numbers, expected numbers or booleans"
        raise ValueError(message)
    if kind == "O":
        return _from_objects(cells)
    message = f"table: found cells of type {cells.dtype}, expected numbers or booleans"
    raise ValueError(message)


def _from_objects(cells: NDArray[Any]) -> NDArray[np.float64]:
    """Numbers from objects; None and NA of pandas are missing."""
    out = np.empty(cells.shape, dtype=np.float64)
    for (row, column), cell in np.ndenumerate(cells):
        if cell is None or type(cell).__name__ in ("NAType", "NaTType"):
            out[row, column] = np.nan
            continue
        try:
            if isinstance(cell, (str, bytes)):
                raise TypeError
            out[row, column] = float(cell)
        except (TypeError, ValueError, OverflowError):
            message = f"row {row + 1}, column {column + 1}: found {str(cell)[:40]!r}, expected a number or a boolean"
            if isinstance(cell, (str, bytes, int, float, bool)):
                raise ValueError(message) from None
            raise TypeError(f"{message}; argument must be a string or a number") from None
    return out


def _column_names(data: Any) -> list[str] | None:
    """The names of the columns of a data frame."""
    for module in ("pandas", "polars"):
        loaded = sys.modules.get(module)
        if loaded is not None and isinstance(data, loaded.DataFrame):
            return [str(name) for name in data.columns]
    return None


def _frame_cells(frame: Any) -> NDArray[Any]:
    """The cells of a pandas or polars data frame."""
    cells: NDArray[Any] = frame.to_numpy()
    if cells.dtype.kind not in "OUST":
        return cells
    # Columns have different types, or types with their own missing values: convert one at a time.
    out = np.empty(frame.shape, dtype=np.float64)
    for k, name in enumerate(frame.columns):
        # Names need not be unique strings in pandas.
        column = frame.iloc[:, k] if hasattr(frame, "iloc") else frame.get_column(name)
        values = column.to_numpy()
        if values.dtype.kind in "biuf":
            out[:, k] = values
            continue
        if values.dtype.kind in "UST" or any(isinstance(value, (str, bytes)) for value in values):
            word = next((value for value in values if isinstance(value, (str, bytes))), values[0])
            message = f"column '{name}': found {word!r}, expected numbers or booleans"
            raise ValueError(message)
        out[:, k] = _from_objects(np.asarray(values, dtype=object).reshape(-1, 1))[:, 0]
    return out
