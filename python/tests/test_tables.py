"""Tables from arrays, frames and sparse matrices."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse

from isinglass import Machine, Table, fit
from isinglass._tables import cells_of

SPINS = np.array([[1, -1], [-1, -1], [1, 1], [1, -1]])
PAIR = Machine.from_edges([("a", "b", 0.5)], bias={"a": 0.25})
SCORE = PAIR.score(SPINS).log_likelihood


@pytest.mark.parametrize(
    "table",
    [
        SPINS.tolist(),
        SPINS.astype(np.int8),
        SPINS.astype(np.int16),
        SPINS.astype(np.float32),
        SPINS.astype(float),
        SPINS.astype(float).astype(">f8"),
        np.asfortranarray(SPINS.astype(np.int8)),
        np.repeat(SPINS, 2, axis=1)[:, ::2],
        SPINS > 0,
        (SPINS > 0).astype(np.uint8),
        (SPINS > 0).astype(np.uint64),
        (SPINS > 0).astype(float),
        (SPINS > 0).astype(object),
        np.column_stack([SPINS[:, 0], SPINS[:, 1] > 0]),
        scipy.sparse.csr_matrix((SPINS > 0).astype(int)),
        scipy.sparse.coo_array((SPINS > 0).astype(int)),
        pd.DataFrame(SPINS, columns=["a", "b"]),
        pd.DataFrame(SPINS[:, ::-1], columns=["b", "a"]),
        pd.DataFrame({"a": SPINS[:, 0], "b": SPINS[:, 1] > 0}),
        pd.DataFrame({"a": pd.array(SPINS[:, 0], dtype="Int64"), "b": pd.array(SPINS[:, 1] > 0, dtype="boolean")}),
        pl.DataFrame({"a": SPINS[:, 0], "b": SPINS[:, 1]}),
        pl.DataFrame({"b": SPINS[:, 1] > 0, "a": SPINS[:, 0]}),
        Table(SPINS, names=["a", "b"]),
    ],
    ids=lambda table: f"{type(table).__module__}.{type(table).__name__}",
)
def test_the_same_rows_in_many_forms(table):
    assert PAIR.score(table).log_likelihood == SCORE


@pytest.mark.parametrize(
    "table",
    [
        np.array([[1, np.nan], [-1, 1]]),
        np.array([[1, np.nan], [-1, 1]], dtype=np.float32),
        np.array([[1, None], [0, True]], dtype=object),
        [[1, None], [0, 1]],
        pd.DataFrame({"a": [1, -1], "b": [np.nan, 1]}),
        pd.DataFrame({"a": [True, False], "b": [None, True]}),
        pd.DataFrame({"a": pd.array([1, 0], dtype="Int8"), "b": pd.array([pd.NA, 1], dtype="Int8")}),
        pl.DataFrame({"a": [True, False], "b": [None, True]}),
        pl.DataFrame({"a": [1, -1], "b": [None, 1]}),
        pl.DataFrame({"a": [1.0, -1.0], "b": [float("nan"), 1.0]}),
    ],
)
def test_missing_cells_in_many_forms(table):
    found = PAIR.complete(table)
    assert found.filled == 1 and found.states.tolist() == [[1, 1], [-1, 1]]


def test_tables_report_their_size():
    table = Table(np.array([[1, 0, 1], [1, 1, np.nan], [-1, 0, 1.0]]), names=["a", "b", "c"], weights=[1, 2, 3])
    assert (table.rows, len(table), table.distinct_rows, table.missing_cells) == (3, 3, 3, 1)
    assert table.zero_one == (False, True, None)
    assert Table([[1, 0]]).columns == ("x0", "x1")
    assert Table(pd.DataFrame([[1, 0]], columns=[7, 8])).columns == ("7", "8")


def test_a_column_of_an_array_is_a_unit_that_is_not_hidden():
    machine = Machine.from_edges([("h", "v", 1.0), ("h", "i", 1.0)], roles={"h": "hidden", "i": "input"})
    frame = pd.DataFrame({"i": [1, -1], "v": [1, 1]})
    assert machine.score(frame).log_likelihood == machine.score([[1, 1], [1, -1]]).log_likelihood
    with pytest.raises(ValueError, match="found 3 columns, expected 2: one for each visible and input unit"):
        machine.score([[1, 1, 1]])


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([[1, 2]], "row 1, column 'a': found 1|row 1, column 'b': found 2, expected -1 or \\+1, or 0 or 1"),
        ([[1, 0.5]], "row 1, column 'b': found 0.5"),
        ([[1, np.inf]], "found inf"),
        ([[1, 0], [1, -1]], "row 2, column 'b': found -1, expected 0 or 1 as in the rows above"),
        ([[-1, 1], [0, 1]], "row 2, column 'a': found 0, expected -1 or \\+1 as in the rows above"),
        ([1, -1], "expected two dimensions"),
        ([[[1, 1]]], "expected two dimensions"),
        ([["yes", "no"]], "expected numbers or booleans"),
        (np.array([["1", 1]], dtype=object), "row 1, column 1: found '1', expected a number"),
        (pd.DataFrame({"a": ["x"], "b": [1]}), "column 'a': found 'x', expected numbers"),
        (pl.DataFrame({"a": ["x"], "b": [1]}), "column 'a': found 'x', expected numbers"),
        (pd.DataFrame([[1, 1]], columns=["a", "a"]), "column 'a' appears more than once"),
        (np.empty((0, 2)), "found 0 rows"),
        (np.array([[1j, 1]]), "complex"),
        (pd.DataFrame({"a": [1], "c": [1]}), "column 'c': the machine has no unit of that name"),
        (pd.DataFrame({"a": [1]}), "unit 'b': is visible in the machine, but the table has no column for it"),
    ],
)
def test_invalid_tables_are_refused_with_the_place(table, message):
    with pytest.raises(ValueError, match=message):
        PAIR.score(table)


def test_invalid_weights_are_refused():
    with pytest.raises(ValueError, match="weights of rows: found 1, expected 4"):
        PAIR.score(SPINS, weights=[1])
    with pytest.raises(ValueError, match="row 2: the weight is -1"):
        PAIR.score(SPINS, weights=[1, -1, 1, 1])
    with pytest.raises(ValueError, match="a Table has its own"):
        PAIR.score(Table(SPINS, names=["a", "b"]), weights=[1] * 4)


def test_a_million_rows_are_read_where_they_are():
    cells = np.random.default_rng(0).choice(np.array([-1, 1], np.int8), (1_000_000, 8))
    table = Table(cells)
    assert (table.rows, table.distinct_rows) == (1_000_000, 256)


def test_masked_cells_are_missing():
    rows = np.random.default_rng(0).integers(0, 2, (30, 3))
    masked = np.ma.masked_array(rows, mask=np.random.default_rng(1).random(rows.shape) < 0.3)
    assert Table(masked).missing_cells == masked.mask.sum()
    assert Table(np.ma.masked_array(rows)).missing_cells == 0


@pytest.mark.parametrize("kind", [np.int64, np.float64])
def test_arrays_that_are_not_aligned_are_read(kind):
    numbers = np.array([[1, -1, 1], [1, 1, -1], [-1, 1, 1]], dtype=kind)
    shifted = np.zeros(numbers.nbytes + 1, dtype=np.uint8)
    shifted[1:] = np.frombuffer(numbers.tobytes(), dtype=np.uint8)
    crooked = np.frombuffer(shifted.data, dtype=kind, offset=1).reshape(3, 3)
    assert not crooked.flags.aligned
    machine = Machine(np.ones((3, 3)) - np.eye(3))
    assert machine.score(crooked).log_likelihood == machine.score(numbers).log_likelihood
    straight = Table(numbers, weights=numbers[:, 0] ** 2)
    assert (
        machine.score(Table(numbers, weights=(crooked**2)[:, 0])).log_likelihood
        == machine.score(straight).log_likelihood
    )
    symmetric = np.frombuffer(b"\0" + (np.ones((3, 3)) - np.eye(3)).tobytes(), dtype=np.float64, offset=1).reshape(3, 3)
    assert Machine(symmetric) == machine


def test_a_table_can_be_kept_and_sent():
    cells = np.array([[1, 0, 1], [1, np.nan, 1], [1, 0, 1], [0, 1, 1]])
    table = Table(cells, ["a", "b", "c"], [0.1, 0.2, 0.3, 0.4])
    again = pickle.loads(pickle.dumps(table))
    assert repr(again) == repr(table) and again.zero_one == table.zero_one == (True, True, None)
    machine, result = fit(table, l2=0.1)
    same, other = fit(again, l2=0.1)
    assert machine == same and result.log_likelihood == other.log_likelihood
    assert copy.deepcopy(table) is table
    with pytest.raises(ValueError, match="none of a table"):
        Table._restore(["a"], np.ones((1, 1), np.int8), np.array([1], np.uint32), np.ones(1), [3])


def test_a_sparse_matrix_takes_a_byte_a_cell():
    matrix = scipy.sparse.random(1000, 50, density=0.1, format="csr", random_state=0)
    matrix.data[:] = 1.0
    cells, names = cells_of(matrix)
    assert cells.dtype == np.int8 and names is None and (cells == matrix.toarray()).all()
    matrix.data[0] = np.nan
    assert np.isnan(cells_of(matrix)[0]).sum() == 1
    many = scipy.sparse.coo_matrix((np.ones(257), (np.zeros(257, int), np.zeros(257, int))), shape=(2, 2))
    with pytest.raises(ValueError, match="found 257"):
        Table(many)
