"""Questions that a machine answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from isinglass import _calls
from isinglass._arguments import numbers, one_or_more
from isinglass._network import Centrality
from isinglass._results import (
    Bracket,
    Completion,
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
from isinglass._scan import Overlap, Scan
from isinglass._tables import Table, as_table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal, TypeAlias

    from numpy.typing import ArrayLike

    from isinglass._arguments import Budget

    Given: TypeAlias = "Mapping[Any, int | bool] | ArrayLike | None"


class Inference:
    """The methods of :class:`isinglass.Machine` that compute.

    ``engine`` and ``**settings`` of all of them are described there, once.
    """

    __slots__ = ()

    _core: _calls.NativeMachine
    _names: tuple[str, ...]

    def infer(
        self,
        given: Given = None,
        *,
        pairs: Literal["edges", "all", "none"] = "edges",
        bracket: bool = False,
        engine: str = "auto",
        **settings: Any,
    ) -> Expectations:
        """Computes log Z, means and correlations.

        Parameters
        ----------
        given : mapping or array_like, optional
            Values of clamped units.
        pairs : {'edges', 'all', 'none'}
            The pairs whose correlations are computed.
        bracket : bool, default False
            Also compute rigorous lower and upper bounds on log Z. Means and correlations are then those of the lower bound, or with
            ``engine='trw'`` or ``'logdet'`` those of the upper one.
        engine, **settings
            See :class:`Machine`.

        Returns
        -------
        Expectations
            The numbers and their guarantee.

        Examples
        --------
        >>> from isinglass import Machine
        >>> machine = Machine.from_edges([("a", "b", 1.0), ("b", "c", 1.0)])
        >>> answer = machine.infer({"a": +1}, pairs="all")
        >>> answer.means.round(6).tolist()
        [1.0, 0.761594, 0.580026]
        >>> round(answer.correlation("b", "c"), 6)
        0.761594
        """
        found = _calls.ask("infer", self._core, _evidence(given), pairs, bracket, engine=engine, **settings)
        if bracket:
            found["bracket"] = Bracket(*found["bracket"])
        edges = self if pairs == "edges" else "all" if pairs == "all" else None
        return Expectations(names=self._names, _edges=edges, **found)

    def query(
        self, ask: str | Sequence[Any], given: Given = None, *, engine: str = "auto", **settings: Any
    ) -> JointTable:
        """Computes the probabilities of all joint states of a few units.

        Parameters
        ----------
        ask : str or sequence of str
            The units.
        given : mapping or array_like, optional
            Values of other units, which are clamped.
        engine, **settings
            See :class:`Machine`.

        Examples
        --------
        >>> from isinglass import Machine
        >>> machine = Machine.from_edges([("a", "b", 1.0)])
        >>> {state: round(p, 6) for state, p in machine.query(["a", "b"]).to_dict().items()}
        {(-1, -1): 0.440399, (-1, 1): 0.059601, (1, -1): 0.059601, (1, 1): 0.440399}
        """
        units = one_or_more(ask)
        found = _calls.ask("query", self._core, units, _evidence(given), engine=engine, **settings)
        return JointTable(ask=tuple(str(name) for name in units), **found)

    def cumulants(
        self, units: str | Sequence[Any], given: Given = None, *, engine: str = "auto", **settings: Any
    ) -> Cumulants:
        """Computes the cumulants of all subsets of up to four units, which may be repeated.

        Parameters
        ----------
        units : str or sequence of str
            The units.
        given : mapping or array_like, optional
            Values of clamped units.
        engine, **settings
            See :class:`Machine`.

        Examples
        --------
        >>> from isinglass import Machine
        >>> machine = Machine.from_edges([("a", "b", 1.0)])
        >>> round(machine.cumulants(["a", "b"]).values["a", "b"], 6)
        0.761594
        """
        listed = one_or_more(units)
        found = _calls.ask("cumulants", self._core, listed, _evidence(given), engine=engine, **settings)
        names = tuple(str(name) for name in listed)
        # Repeated units give the same subset more than once; the first stays.
        values: dict[tuple[str, ...], tuple[tuple[str, ...], float]] = {}
        for places, value in found.pop("values"):
            subset = tuple(names[place] for place in places)
            values.setdefault(tuple(sorted(subset)), (subset, value))
        return Cumulants(units=names, values=dict(values.values()), **found)

    def map(self, given: Given = None, *, engine: str = "auto", **settings: Any) -> Mode:
        """Finds the most probable state.

        Parameters
        ----------
        given : mapping or array_like, optional
            Values of clamped units.
        engine, **settings
            See :class:`Machine`. ``engine='max-product'`` needs little memory and finds a good state; on a tree, the best.

        Examples
        --------
        >>> from isinglass import Machine
        >>> machine = Machine.from_edges([("a", "b", -1.0)], bias={"a": 0.1})
        >>> machine.map().to_dict()
        {'a': 1, 'b': -1}
        """
        found = _calls.ask("mode", self._core, _evidence(given), engine=engine, **settings)
        return Mode(names=self._names, **found)

    def sample(self, n: int = 1, given: Given = None, *, engine: str = "auto", **settings: Any) -> Draws:
        """Draws states: exact and independent where an exact engine is within the budget.

        Parameters
        ----------
        n : int, default 1
            The number of draws.
        given : mapping or array_like, optional
            Values of clamped units.
        engine, **settings
            See :class:`Machine`; ``seed`` is among them.

        Examples
        --------
        >>> from isinglass import Machine
        >>> machine = Machine.from_edges([("a", "b", 1.0)])
        >>> draws = machine.sample(1000, seed=1)
        >>> draws.states.shape, draws.guarantee
        ((1000, 2), 'exact')
        """
        found = _calls.ask("sample", self._core, n, _evidence(given), engine=engine, **settings)
        return Draws(names=self._names, **found)

    def scan(
        self,
        temperatures: ArrayLike | str,
        given: Given = None,
        *,
        overlap: bool = False,
        engine: str = "auto",
        **settings: Any,
    ) -> Scan:
        """Computes energy, heat capacity, magnetisation, susceptibility, entropy and log Z over temperature.

        Exact where an exact engine is within the budget; otherwise estimates with standard errors for all temperatures from one tempered run.
        Every state keeps its :meth:`~isinglass.Machine.energy`; the machine's own temperature does not matter.

        Parameters
        ----------
        temperatures : array_like or str
            The temperatures, or a range such as ``'0.5:5:50'``: from 0.5 to 5, 50 of them.
        given : mapping or array_like, optional
            Values of clamped units.
        overlap : bool, default False
            Also compute the distribution of the overlap of two independent states.
        engine, **settings
            See :class:`Machine`.

        Examples
        --------
        >>> from isinglass import Machine
        >>> machine = Machine.from_edges([("a", "b", 1.0), ("b", "c", 1.0)])
        >>> scan = machine.scan([1.0, 2.0])
        >>> scan.guarantee, scan.energy.round(6).tolist()
        ('exact', [-1.523188, -0.924234])
        """
        at = temperatures if isinstance(temperatures, str) else numbers(temperatures, "temperatures").ravel().tolist()
        found = _calls.ask("scan", self._core, at, _evidence(given), overlap, engine=engine, **settings)
        if found["overlap"] is not None:
            found["overlap"] = tuple(Overlap(*one) for one in found["overlap"])
        return Scan(**found)

    def complete(self, table: Any, *, engine: str = "auto", **settings: Any) -> Completion:
        """Fills the missing cells of a table, each given the other cells of its row.

        Parameters
        ----------
        table : Table, array_like or data frame
            The table. Columns of an array are the visible and input units in their order.
        engine, **settings
            See :class:`Machine`.

        Examples
        --------
        >>> import numpy as np
        >>> from isinglass import Machine
        >>> machine = Machine.from_edges([("a", "b", 1.0)])
        >>> filled = machine.complete(np.array([[1, np.nan], [-1, -1]]))
        >>> filled.states.tolist(), filled.probabilities.round(3).tolist()
        ([[1, 1], [-1, -1]], [[1.0, 0.881], [0.0, 0.0]])
        """
        found = _calls.ask("complete", self._core, self._table(table)._core, engine=engine, **settings)
        found["columns"], found["added"] = tuple(found["columns"]), tuple(found["added"])
        return Completion(**found)

    def score(
        self,
        table: Any,
        *,
        weights: ArrayLike | None = None,
        bracket: bool = False,
        engine: str = "auto",
        **settings: Any,
    ) -> Score:
        """Scores the machine on a table: log-likelihood, divergence, pseudo-log-likelihood, completion quality.

        Parameters
        ----------
        table : Table, array_like or data frame
            The table. Columns of an array are the visible and input units in their order.
        weights : array_like, optional
            The weight of each row.
        bracket : bool, default False
            Also compute rigorous lower and upper bounds on the log-likelihood.
        engine, **settings
            See :class:`Machine`.

        Examples
        --------
        >>> from isinglass import Machine
        >>> machine = Machine([[0, 1], [1, 0]])
        >>> score = machine.score([[1, 1], [-1, -1]])
        >>> round(score.log_likelihood, 6), score.guarantee
        (-0.820075, 'exact')
        """
        rows = self._table(table, weights)
        found = _calls.ask("score", self._core, rows._core, bracket, engine=engine, **settings)
        if found["bracket"] is not None:
            found["bracket"] = Bracket(*found["bracket"])
        return Score(**found)

    def log_likelihoods(self, table: Any, *, engine: str = "auto", **settings: Any) -> RowLikelihoods:
        """Computes the log-likelihood of each row of a table; :meth:`score` gives their mean.

        Parameters
        ----------
        table : Table, array_like or data frame
            The table. Columns of an array are the visible and input units in their order.
        engine, **settings
            See :class:`Machine`. Where no exact engine is within the budget, ``engine='ais'`` gives estimates.

        Examples
        --------
        >>> import numpy as np
        >>> from isinglass import Machine
        >>> machine = Machine([[0, 1], [1, 0]])
        >>> machine.log_likelihoods([[1, 1], [1, -1], [1, np.nan]]).values.round(6).tolist()
        [-0.820075, -2.820075, -0.693147]
        """
        found = _calls.ask("log_likelihoods", self._core, self._table(table)._core, engine=engine, **settings)
        return RowLikelihoods(**found)

    def centrality(self, table: Any = None, *, budget: Budget = None) -> Centrality:
        """Returns how central each unit is, and with a table how well the others predict its column.

        Parameters
        ----------
        table : Table, array_like or data frame, optional
            The rows for predictability; see :class:`Table`.
        budget : int or str, optional
            The memory limit, in bytes or as in ``"512MiB"``.

        Examples
        --------
        >>> import isinglass
        >>> chain = isinglass.Machine.from_edges([("a", "b", 0.5), ("b", "c", -0.25)])
        >>> chain.centrality().to_dict()["strength"].tolist()
        [0.5, 0.75, 0.25]
        """
        rows = None if table is None else self._table(table)._core
        return Centrality(self._names, **_calls.ask("centrality", self._core, rows, budget=budget))

    def info(self, *, budget: Budget = None) -> Info:
        """Describes size and structure, and the cost of each engine.

        Parameters
        ----------
        budget : int or str, default '1GiB'
            The memory that an engine may use.

        Examples
        --------
        >>> from isinglass import Machine
        >>> Machine.from_edges([("a", "b", 1.0), ("b", "c", 1.0)]).info().treewidth
        (1, 1)
        """
        found = _calls.info(self._core, budget)
        found["engines"] = tuple(EngineOffer(*offer) for offer in found["engines"])
        return Info(**found)

    def _table(self, data: Any, weights: ArrayLike | None = None) -> Table:
        """A table whose columns are units."""
        units = [name for name, role in zip(self._names, self._core.roles, strict=True) if role != "hidden"]
        return as_table(data, weights, units)


def _evidence(given: Given) -> Any:
    """Evidence in the form that the native module reads: a dictionary, or -1, 0 and +1 for each unit."""
    if given is None or type(given) is dict:
        return given
    if isinstance(given, Mapping) or hasattr(given, "items"):
        return dict(given.items())
    row = numbers(given, "given")
    if row.ndim != 1 or not np.isin(row[~np.isnan(row)], (-1, 0, 1)).all():
        message = "given: found a row with other values, expected -1 or +1 for each unit, and 0 or NaN where it is free"
        raise ValueError(message)
    return np.nan_to_num(row).astype(np.int8)
