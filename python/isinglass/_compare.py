"""Groups against each other."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from isinglass import _calls
from isinglass._arguments import seed_of
from isinglass._fit import _structure
from isinglass._tables import Table, as_table, cells_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal

    from numpy.typing import ArrayLike

    from isinglass._arguments import Seed
    from isinglass._results import Remark


@dataclass(frozen=True)
class Difference:
    """A difference of two groups and its test.

    Attributes
    ----------
    difference : float
        The second group less the first; that of the structure is the largest absolute difference of a coupling.
    p : float
        The p-value of the permutation test.
    groups : tuple of str
        The two groups.
    low, high : float or None
        The bootstrap interval, if ``bootstrap`` was set.
    """

    difference: float
    p: float
    groups: tuple[str, str]
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, eq=False)
class Comparison:
    """Groups compared by a permutation test.

    Attributes
    ----------
    groups : tuple of str
        The names of the groups.
    rows : tuple of int
        The rows of each group.
    strengths : tuple of float
        For each group the sum of absolute couplings.
    strength, structure : Difference
        The tests of that sum, and of the largest difference of a coupling; of all pairs of groups the largest difference.
    learner : str
        The learner of all fits.
    permutations : int
        The number of permutations.
    notes, warnings : tuple of Remark
        What was chosen and why; what makes the result worth less than it seems.
    document : dict
        Everything, as ``isinglass compare --json`` prints it.
    """

    groups: Sequence[str]
    rows: Sequence[int]
    strengths: Sequence[float]
    strength: Difference
    structure: Difference
    learner: str
    permutations: int
    notes: Sequence[Remark] = field(default=(), repr=False)
    warnings: Sequence[Remark] = field(default=(), repr=False)
    document: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def to_dict(
        self, what: Literal["edges", "biases"] = "edges", groups: tuple[str, str] | None = None
    ) -> dict[str, list[Any]]:
        """Returns the tests of couplings or biases by column.

        Parameters
        ----------
        what : {'edges', 'biases'}, default 'edges'
            Which tests.
        groups : tuple of str, optional
            The pair of groups; by default the largest difference of all pairs.
        """
        if what not in ("edges", "biases"):
            message = f"what: found {what!r}, expected 'edges' or 'biases'"
            raise ValueError(message)
        found = self.document
        if groups is not None:
            pairs = [pair for pair in found["pairs"] if pair["groups"] == list(groups)]
            if not pairs:
                known = ", ".join(f"({', '.join(pair['groups'])})" for pair in found["pairs"])
                message = f"groups: found {groups!r}, expected one of {known}"
                raise ValueError(message)
            found = pairs[0]
        rows = found[what]
        columns: dict[str, list[Any]] = {}
        for name in rows[0] if rows else ():
            columns[name] = [tuple(row[name]) if name == "groups" else row[name] for row in rows]
        return columns

    def to_frame(self, what: Literal["edges", "biases"] = "edges", groups: tuple[str, str] | None = None) -> Any:
        """Returns the tests of couplings or biases as a pandas data frame; see :meth:`to_dict`."""
        import pandas

        return pandas.DataFrame(self.to_dict(what, groups))


def compare(
    tables: Any,
    *more: Any,
    by: Any = None,
    names: Sequence[str] | None = None,
    learner: str = "auto",
    engine: str = "auto",
    permutations: int = 1000,
    bootstrap: int = 0,
    level: float = 0.95,
    missing: str = "em",
    joint: bool = False,
    seed: Seed = 0,
    visible_links: str | ArrayLike | None = None,
    hidden: int | Sequence[int] | None = None,
    hidden_links: Literal["none", "chain", "full"] | None = None,
    inputs: Sequence[Any] | None = None,
    **settings: Any,
) -> Comparison:
    """Tests whether the couplings and biases of groups differ, as the command ``isinglass compare`` does.

    Labels are exchanged among rows, and everything is fitted again. A difference is that of the second group less the first.

    Parameters
    ----------
    tables : dict, data frame, Table or array_like
        The groups by name; or the first of several tables; or one table with ``by``.
    *more : data frame, Table or array_like
        The other tables.
    by : str or array_like, optional
        The groups of a single table: a column of a data frame, or a label for each row.
    names : sequence of str, optional
        The names of the groups; by default those of the dictionary, or ``first``, ``second``, ….
    learner, engine : str, default 'auto'
        The learner of all fits and its engine; see :func:`fit`.
    permutations : int, default 1000
        How often labels are exchanged.
    bootstrap : int, default 0
        How many resamples give intervals of the differences.
    level : float, default 0.95
        The share of cases that an interval is to cover.
    missing : str, default 'em'
        Missing cells: ``em`` (as the learner does), ``drop`` (rows with one are left out), or ``impute:N`` (N draws for each from a machine of
        all rows).
    joint : bool, default False
        Also fit the groups together, and say by the extended BIC which couplings and biases differ: the column
        ``joint`` of :meth:`Comparison.to_dict`.
    seed : int, numpy generator or None, default 0
        The seed of all random numbers.
    visible_links, hidden, hidden_links, inputs
        The structure; see :func:`fit`.
    **settings
        Settings of the learner and its engine, as in :func:`fit`.

    Returns
    -------
    Comparison
        The differences and their tests.

    Examples
    --------
    >>> import isinglass, numpy as np
    >>> first = np.array([[1, 1], [0, 0], [1, 0], [0, 1]] * 20)
    >>> second = np.array([[1, 1], [0, 0], [1, 1], [0, 0], [1, 0], [0, 1]] * 20)
    >>> found = isinglass.compare({"first": first, "second": second}, permutations=99)
    >>> found.structure.p < 0.1, round(found.structure.difference, 3)
    (True, 0.347)
    """
    names, groups = _groups(tables, more, by, names)
    structure = _structure(visible_links, hidden, hidden_links, inputs)
    of_tests = {
        "permutations": permutations,
        "bootstrap": bootstrap,
        "level": level,
        "missing": missing,
        "joint": joint,
    }
    settings = {**settings, **structure, **of_tests, "learner": learner, "engine": engine, "seed": seed_of(seed)}
    found = _calls.compare([table._core for table in groups], names, settings)
    document = json.loads(found.pop("document"))

    def test(found: dict[str, Any]) -> Difference:
        return Difference(**{**found, "groups": tuple(found["groups"])})

    return Comparison(
        groups=tuple(names),
        rows=tuple(group["rows"] for group in document["groups"]),
        strengths=tuple(group["strength"] for group in document["groups"]),
        strength=test(document["strength"]),
        structure=test(document["structure"]),
        learner=document["learner"],
        permutations=document["permutations"],
        document=document,
        **found,
    )


_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")


def _groups(tables: Any, more: Sequence[Any], by: Any, names: Sequence[str] | None) -> tuple[list[str], list[Table]]:
    """The names of the groups, and their tables."""
    if by is not None:
        if more or isinstance(tables, (Mapping, Table)) or names is not None:
            message = "by: splits one data frame or array; it is not accepted with several tables, a Table, or names"
            raise ValueError(message)
        return _split(tables, by)
    if isinstance(tables, Mapping) and not more:
        if names is not None:
            message = "names: not accepted with a dictionary, whose keys are the names"
            raise ValueError(message)
        return [str(name) for name in tables], [as_table(table) for table in tables.values()]
    groups = [as_table(table) for table in (tables, *more)]
    if names is None:
        names = [_ORDINALS[k] if k < len(_ORDINALS) else f"group {k + 1}" for k in range(len(groups))]
    return [str(name) for name in names], groups


def _split(data: Any, by: Any) -> tuple[list[str], list[Table]]:
    """The rows of a table by the labels of a column, or by one label for each row."""
    if isinstance(by, str):
        if not hasattr(data, "columns"):
            message = "by: a name is for data frames; give a label for each row"
            raise ValueError(message)
        if by not in list(data.columns):
            message = f"by: there is no column {by!r}"
            raise ValueError(message)
        labels = list(data[by])
        data = data.drop(columns=by) if hasattr(data, "iloc") else data.drop(by)
    else:
        labels = list(by)
    cells, found = cells_of(data)
    if len(labels) != len(cells):
        message = f"by: found {len(labels)} labels for {len(cells)} rows"
        raise ValueError(message)
    is_missing = [label is None or label != label for label in labels]
    known = sorted(
        {label for label, missing in zip(labels, is_missing, strict=True) if not missing},
        key=lambda label: (str(type(label)), label),
    )
    names = found if found is not None else [f"x{k}" for k in range(cells.shape[1])]
    groups = []
    for label in known:
        chosen = np.array([not missing and own == label for own, missing in zip(labels, is_missing, strict=True)])
        groups.append(Table(cells[chosen], names=names))
    return [str(label) for label in known], groups
