"""What can be asked of a machine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from isinglass import _native
from isinglass._arguments import numbers
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
    told,
)
from isinglass._seeds import seed_of
from isinglass._tables import Table, cells_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal, TypeAlias, TypedDict

    from numpy.typing import ArrayLike
    from typing_extensions import Unpack

    from isinglass._seeds import Seed

    Given: TypeAlias = "Mapping[Any, int | bool] | ArrayLike | None"
    Budget: TypeAlias = "int | str | None"

    class EngineOptions(TypedDict, total=False):
        """What an engine is told; each belongs to some engines, and is refused by the others."""

        components: int | None
        width: int | None
        around: Literal["mean-field", "tap", "bethe"] | None
        anneal: str | tuple[float, int] | None
        starts: int | None
        damping: float | None
        schedule: Literal["sequential", "parallel"] | None
        max_sweeps: int | None
        samples: int | None
        burn_in: int | None
        thin: int | None
        chains: int | None
        temperatures: int | None


class Questions:
    """The part of :class:`isinglass.Machine` that computes."""

    __slots__ = ()

    _core: _native.Machine
    _names: tuple[str, ...]

    def infer(
        self,
        given: Given = None,
        *,
        pairs: Literal["edges", "all", "none"] = "edges",
        bracket: bool = False,
        engine: str = "auto",
        budget: Budget = None,
        seed: Seed = 0,
        **options: Unpack[EngineOptions],
    ) -> Expectations:
        """Log Z, means and correlations, free or with units clamped.

        Parameters
        ----------
        given : mapping or array_like, optional
            What is known of units.
        pairs : {'edges', 'all', 'none'}
            Which correlations to give.
        bracket : bool, default False
            Give log Z between two rigorous bounds; means and correlations are then those of the lower bound (with ``engine='trw'``, of the
            upper one).
        engine, budget, seed, **options
            See :class:`Machine`.

        Returns
        -------
        Expectations
            The numbers, and what they are worth.

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
        found = _native.infer(self._core, _given(given), pairs, bracket, _asked(engine, budget, seed, options))
        if bracket:
            found["bracket"] = Bracket(*found["bracket"])
        edges = self if pairs == "edges" else "all" if pairs == "all" else None
        return Expectations(names=self._names, _edges=edges, **told(found))

    def query(
        self,
        ask: str | Sequence[Any],
        given: Given = None,
        *,
        engine: str = "auto",
        budget: Budget = None,
        seed: Seed = 0,
        **options: Unpack[EngineOptions],
    ) -> JointTable:
        """The probabilities of every joint state of a few units.

        Parameters
        ----------
        ask : str or sequence of str
            The units.
        given : mapping or array_like, optional
            What is known of others.
        engine, budget, seed, **options
            See :class:`Machine`.

        Returns
        -------
        JointTable
            States in counting order, -1 before +1, the last unit fastest.

        Examples
        --------
        >>> from isinglass import Machine
        >>> machine = Machine.from_edges([("a", "b", 1.0)])
        >>> {state: round(p, 6) for state, p in machine.query(["a", "b"]).to_dict().items()}
        {(-1, -1): 0.440399, (-1, 1): 0.059601, (1, -1): 0.059601, (1, 1): 0.440399}
        """
        asked = units_of(ask)
        found = _native.query(self._core, asked, _given(given), _asked(engine, budget, seed, options))
        return JointTable(ask=tuple(str(name) for name in asked), **told(found))

    def cumulants(
        self,
        units: str | Sequence[Any],
        given: Given = None,
        *,
        engine: str = "auto",
        budget: Budget = None,
        seed: Seed = 0,
        **options: Unpack[EngineOptions],
    ) -> Cumulants:
        """The cumulants of every subset of up to four units; a unit may stand more than once.

        Parameters
        ----------
        units : str or sequence of str
            The units.
        given : mapping or array_like, optional
            What is known of units.
        engine, budget, seed, **options
            See :class:`Machine`.

        Examples
        --------
        >>> from isinglass import Machine
        >>> machine = Machine.from_edges([("a", "b", 1.0)])
        >>> round(machine.cumulants(["a", "b"]).values["a", "b"], 6)
        0.761594
        """
        asked = units_of(units)
        found = _native.cumulants(self._core, asked, _given(given), _asked(engine, budget, seed, options))
        names = tuple(str(name) for name in asked)
        # Where a unit stands more than once, each choice of units is told once.
        values: dict[tuple[str, ...], float] = {}
        met = set()
        for places, value in found.pop("values"):
            chosen = tuple(names[place] for place in places)
            key = tuple(sorted(chosen))
            if key not in met:
                met.add(key)
                values[chosen] = value
        return Cumulants(units=names, values=values, **told(found))

    def map(
        self,
        given: Given = None,
        *,
        engine: str = "auto",
        budget: Budget = None,
        seed: Seed = 0,
        **options: Unpack[EngineOptions],
    ) -> Mode:
        """The most probable state, free or with units clamped.

        Parameters
        ----------
        given : mapping or array_like, optional
            What is known of units.
        engine, budget, seed, **options
            See :class:`Machine`; ``engine='max-product'`` takes little memory and finds a good state, without cycles the best.

        Examples
        --------
        >>> from isinglass import Machine
        >>> machine = Machine.from_edges([("a", "b", -1.0)], bias={"a": 0.1})
        >>> machine.map().to_dict()
        {'a': 1, 'b': -1}
        """
        found = _native.mode(self._core, _given(given), _asked(engine, budget, seed, options))
        return Mode(names=self._names, **told(found))

    def sample(
        self,
        n: int = 1,
        given: Given = None,
        *,
        engine: str = "auto",
        budget: Budget = None,
        seed: Seed = 0,
        **options: Unpack[EngineOptions],
    ) -> Draws:
        """Draw states: exact and independent where an exact engine is within the budget.

        Parameters
        ----------
        n : int, default 1
            How many.
        given : mapping or array_like, optional
            What is known of units.
        engine, budget, seed, **options
            See :class:`Machine`.

        Examples
        --------
        >>> from isinglass import Machine
        >>> machine = Machine.from_edges([("a", "b", 1.0)])
        >>> draws = machine.sample(1000, seed=1)
        >>> draws.states.shape, draws.guarantee
        ((1000, 2), 'exact')
        """
        found = _native.sample(self._core, n, _given(given), _asked(engine, budget, seed, options))
        return Draws(names=self._names, **told(found))

    def complete(
        self,
        table: Any,
        *,
        engine: str = "auto",
        budget: Budget = None,
        seed: Seed = 0,
        **options: Unpack[EngineOptions],
    ) -> Completion:
        """Fill the missing cells of a table, each given what its row shows.

        Parameters
        ----------
        table : Table, array_like or data frame
            The table; the columns of an array are the visible and input units in their order.
        engine, budget, seed, **options
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
        found = _native.complete(self._core, self._table(table)._core, _asked(engine, budget, seed, options))
        found["columns"], found["added"] = tuple(found["columns"]), tuple(found["added"])
        return Completion(**told(found))

    def score(
        self,
        table: Any,
        *,
        weights: ArrayLike | None = None,
        bracket: bool = False,
        engine: str = "auto",
        budget: Budget = None,
        seed: Seed = 0,
        **options: Unpack[EngineOptions],
    ) -> Score:
        """How good the machine is on a table: log-likelihood, divergence, pseudo-log-likelihood, completion quality.

        Parameters
        ----------
        table : Table, array_like or data frame
            The table; the columns of an array are the visible and input units in their order.
        weights : array_like, optional
            The weight of each row.
        bracket : bool, default False
            Give the log-likelihood between two rigorous bounds.
        engine, budget, seed, **options
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
        found = _native.score(self._core, rows._core, bracket, _asked(engine, budget, seed, options))
        if found["bracket"] is not None:
            found["bracket"] = Bracket(*found["bracket"])
        return Score(**told(found))

    def log_likelihoods(
        self,
        table: Any,
        *,
        engine: str = "auto",
        budget: Budget = None,
        seed: Seed = 0,
        **options: Unpack[EngineOptions],
    ) -> RowLikelihoods:
        """The log-likelihood of each row of a table, of which :meth:`score` gives the average.

        Parameters
        ----------
        table : Table, array_like or data frame
            The table; the columns of an array are the visible and input units in their order.
        engine, budget, seed, **options
            See :class:`Machine`; where no exact engine is within the budget, ``engine='ais'`` gives estimates.

        Examples
        --------
        >>> import numpy as np
        >>> from isinglass import Machine
        >>> machine = Machine([[0, 1], [1, 0]])
        >>> machine.log_likelihoods([[1, 1], [1, -1], [1, np.nan]]).values.round(6).tolist()
        [-0.820075, -2.820075, -0.693147]
        """
        found = _native.log_likelihoods(self._core, self._table(table)._core, _asked(engine, budget, seed, options))
        return RowLikelihoods(**told(found))

    def info(self, *, budget: Budget = None) -> Info:
        """Size, structure, and which engines can run at what cost.

        Parameters
        ----------
        budget : int or str, default '1GiB'
            Memory that an engine may count on.

        Examples
        --------
        >>> from isinglass import Machine
        >>> Machine.from_edges([("a", "b", 1.0), ("b", "c", 1.0)]).info().treewidth
        (1, 1)
        """
        found = _native.info(self._core, budget)
        found["engines"] = tuple(EngineOffer(*offer) for offer in found["engines"])
        return Info(**found)

    def _table(self, data: Any, weights: ArrayLike | None = None) -> Table:
        """A table whose columns are units."""
        if isinstance(data, Table):
            if weights is not None:
                message = "weights: a Table has its own; give them when it is made"
                raise ValueError(message)
            return data
        cells, names = cells_of(data)
        if names is None:
            names = [name for name, role in zip(self._names, self._core.roles, strict=True) if role != "hidden"]
            if len(names) != cells.shape[1]:
                message = (
                    f"table: found {cells.shape[1]} columns, expected {len(names)}: one for each visible and input unit"
                )
                raise ValueError(message)
        return Table(cells, names, weights)


def units_of(asked: Any) -> list[Any]:
    """One unit or several, as a list."""
    is_one = isinstance(asked, (str, bytes)) or not hasattr(asked, "__iter__")
    return [asked] if is_one else list(asked)


def _given(given: Given) -> Any:
    """Evidence as the native half takes it."""
    if given is None or type(given) is dict:
        return given
    if isinstance(given, Mapping) or hasattr(given, "items"):
        return dict(given.items())
    row = numbers(given, "given")
    if row.ndim != 1 or not np.isin(row[~np.isnan(row)], (-1, 0, 1)).all():
        message = "given: found a row with other values, expected -1 or +1 for each unit, and 0 or NaN where it is free"
        raise ValueError(message)
    return np.nan_to_num(row).astype(np.int8)


def _asked(engine: str, budget: Budget, seed: Seed, options: Any) -> tuple[Any, ...]:
    """Which engine, with what."""
    return engine, budget, seed if type(seed) is int and 0 <= seed < 2**64 else seed_of(seed), options or None
