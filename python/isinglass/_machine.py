"""The machine: units and couplings, conversions and files."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from isinglass._arguments import complete_states, in_order, number, numbers
from isinglass._calls import NativeMachine
from isinglass._convert import parts_of_dimod, parts_of_networkx, to_dimod, to_networkx
from isinglass._inference import Inference
from isinglass._lattices import Lattices
from isinglass._results import IsinglassWarning

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Literal

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

    from isinglass._plots import Layout

    Role = Literal["visible", "hidden", "input"]


class Machine(Inference, Lattices):
    """An immutable Boltzmann machine over units with values -1 and +1.

    ``-E(s) = sum_{i<j} w_ij s_i s_j + sum_i bias_i s_i`` and ``P(s) = exp(-E(s)/temperature + offset) / Z``.

    Parameters
    ----------
    weights : array_like of shape (n, n)
        A symmetric matrix with a zero diagonal; an entry of 0 is no coupling.
    bias : array_like of shape (n,), optional
        The biases; 0 by default.
    names : sequence of str, optional
        Names of the units; ``x0``, ``x1``, … by default.
    roles : sequence of {'visible', 'hidden', 'input'}, optional
        Roles of the units; visible by default.
    temperature : float, default 1
        The temperature.
    offset : float, default 0
        A constant added to ``-E/T`` of every state. It shifts log Z and energies, and nothing else.

    See Also
    --------
    Machine.from_edges : From couplings between names.
    Machine.grid, Machine.grid3, Machine.triangular, Machine.chain, Machine.regular : Lattices and random graphs.
    Machine.from_networkx, Machine.from_dimod : From graphs and models of other packages.
    Machine.load : From a file.

    Notes
    -----
    All methods that compute accept the following. For the same seed, numbers equal those of the command line to the last digit.

    engine : str, default 'auto'
        ``auto`` chooses an exact engine if its cost is within the budget, and samples otherwise. Exact: ``enumerate``, ``decimate``,
        ``eliminate``. Lower bounds: ``mean-field``, ``mixture``, ``structured``. Upper bounds: ``trw``, ``logdet``. Approximations: ``tap``,
        ``linear-response``, ``bethe``. Estimates: ``temper``, ``gibbs``, ``ais``. For :meth:`map` only: ``max-product``.
    budget : int or str, default '1GiB'
        The memory that an engine may use, in bytes or as a size.
    seed : int, numpy generator or None, default 0
        The seed of all random numbers; None is a new one in every call.
    **settings
        Settings of the engine, such as ``samples``, ``chains`` or ``damping``: the flags of ``isinglass infer`` with underscores, which
        ``isinglass infer --help`` lists. A setting that the engine does not accept is refused.

    ``given`` clamps units. It is a dictionary of names and values (-1 and +1, or False and True), or a row with a value for each unit, 0 or NaN
    where the unit is free. Ctrl-C cancels long computations. All cores are used; the environment variable ``RAYON_NUM_THREADS`` sets another
    number of threads, which changes no digit.

    Examples
    --------
    >>> import isinglass
    >>> machine = isinglass.Machine([[0, 0.5], [0.5, 0]], bias=[0.1, -0.2], names=["a", "b"])
    >>> machine
    Machine(units=2, edges=1, names=['a', 'b'])
    >>> answer = machine.infer()
    >>> answer.engine, answer.guarantee, round(answer.log_z, 9)
    ('decimate', 'exact', 1.522136286)
    """

    __slots__ = ("_core", "_names")

    def __init__(
        self,
        weights: ArrayLike,
        bias: ArrayLike | None = None,
        *,
        names: Sequence[object] | None = None,
        roles: Sequence[Role] | None = None,
        temperature: float = 1.0,
        offset: float = 0.0,
    ) -> None:
        matrix = numbers(weights, "weights")
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            message = f"weights: found an array of shape {matrix.shape}, expected a square matrix"
            raise ValueError(message)
        bad = np.argwhere(~np.isfinite(matrix))
        if len(bad) > 0:
            a, b = bad[0]
            message = f"weights: ({a}, {b}) is {matrix[a, b]}, expected a finite number"
            raise ValueError(message)
        bad = np.argwhere(matrix != matrix.T)
        if len(bad) > 0:
            a, b = bad[0]
            message = (
                f"weights: ({a}, {b}) is {matrix[a, b]} and ({b}, {a}) is {matrix[b, a]}, expected a symmetric matrix"
            )
            raise ValueError(message)
        loops = np.flatnonzero(np.diagonal(matrix))
        if len(loops) > 0:
            a = loops[0]
            message = f"weights: ({a}, {a}) is {matrix[a, a]}, expected 0: a unit has no coupling with itself"
            raise ValueError(message)
        edges = np.argwhere(np.triu(matrix))
        biases = np.zeros(len(matrix)) if bias is None else numbers(bias, "bias")
        names = [f"x{k}" for k in range(len(matrix))] if names is None else in_order(names, "names")
        if len(names) != len(matrix):
            message = f"names: found {len(names)}, expected {len(matrix)}: one for each unit"
            raise ValueError(message)
        self._set(names, biases, edges, matrix[edges[:, 0], edges[:, 1]], roles, temperature, offset)

    def _set(
        self,
        names: Sequence[object],
        bias: NDArray[np.float64],
        edges: NDArray[np.int64],
        weights: NDArray[np.float64],
        roles: Sequence[Role] | None,
        temperature: float,
        offset: float,
    ) -> None:
        if bias.ndim != 1:
            message = f"bias: found an array of shape {bias.shape}, expected one number for each unit"
            raise ValueError(message)
        edges = np.ascontiguousarray(edges, dtype=np.int64).reshape(-1, 2)
        roles = None if roles is None else in_order(roles, "roles")
        words = [str(name) for name in in_order(names, "names")]
        wrong = [role for role in roles or () if not isinstance(role, str)]
        if wrong:
            message = f"roles: found {wrong[0]!r}, expected visible, hidden or input"
            raise ValueError(message)
        scale = number(temperature, "temperature"), number(offset, "offset")
        self._core = NativeMachine(words, bias, edges, weights, roles, *scale)
        self._names = tuple(words)

    @classmethod
    def _of(cls, native: NativeMachine) -> Machine:
        machine = object.__new__(cls)
        machine._core = native
        machine._names = tuple(native.names)
        return machine

    @classmethod
    def _of_parts(cls, *parts: Any) -> Machine:
        machine = object.__new__(cls)
        machine._set(*parts)
        return machine

    @classmethod
    def from_edges(
        cls,
        edges: Iterable[tuple[Any, Any, float]],
        bias: Mapping[Any, float] | ArrayLike | None = None,
        *,
        names: Sequence[Any] | None = None,
        roles: Mapping[Any, Role] | Sequence[Role] | None = None,
        temperature: float = 1.0,
        offset: float = 0.0,
    ) -> Machine:
        """Builds a machine from couplings between names.

        Parameters
        ----------
        edges : iterable of (name, name, weight)
            The couplings, each pair once. Names become strings.
        bias : mapping or array_like, optional
            Biases by name, 0 for units that are absent; or one for each unit.
        names : sequence, optional
            The units in their order; by default the order in which edges, then biases and roles, name them.
        roles : mapping or sequence, optional
            Roles by name, visible for units that are absent; or one for each unit.
        temperature, offset : float
            As for :class:`Machine`.

        Examples
        --------
        >>> machine = Machine.from_edges([("a", "b", 0.5), ("b", "c", -0.25)], bias={"c": 0.1})
        >>> machine.names, machine.bias.tolist()
        (('a', 'b', 'c'), [0.0, 0.0, 0.1])
        """
        triples = [_triple(edge) for edge in in_order(edges, "edges")]
        if names is None:
            seen = [name for a, b, _ in triples for name in (a, b)]
            by_name = [*(bias if isinstance(bias, Mapping) else ()), *(roles if isinstance(roles, Mapping) else ())]
            words = list(dict.fromkeys([*seen, *map(str, by_name)]))
        else:
            words = [str(name) for name in in_order(names, "names")]
        position = {name: k for k, name in enumerate(words)}

        def find(name: str, place: str) -> int:
            if name not in position:
                message = f"{place}: there is no unit named '{name}'"
                raise ValueError(message)
            return position[name]

        pairs = np.array([(find(a, "edges"), find(b, "edges")) for a, b, _ in triples], dtype=np.int64).reshape(-1, 2)
        weights = np.array([weight for _, _, weight in triples], dtype=np.float64)
        if bias is None or isinstance(bias, Mapping):
            biases = np.zeros(len(words))
            for name, value in (bias or {}).items():
                biases[find(str(name), "bias")] = number(value, f"bias of '{name}'")
        else:
            biases = numbers(bias, "bias")
        if isinstance(roles, Mapping):
            given = {words[find(str(name), "roles")]: role for name, role in roles.items()}
            roles = [given.get(name, "visible") for name in words]
        return cls._of_parts(words, biases, pairs, weights, roles, temperature, offset)

    @classmethod
    def from_networkx(cls, graph: Any, *, weight: str = "weight", bias: str = "bias", role: str = "role") -> Machine:
        """Builds a machine from a networkx graph; nodes are units, in the graph's order.

        Parameters
        ----------
        graph : networkx.Graph
            An undirected graph without multiple edges. Its attributes ``temperature`` and ``offset`` are used if present.
        weight, bias, role : str
            Names of the attributes of edges and nodes; where absent, the weight is 1, the bias 0 and the role visible.
        """
        return cls.from_edges(**parts_of_networkx(graph, weight, bias, role))

    def to_networkx(self) -> Any:
        """Returns a networkx graph with the attributes ``weight`` of edges, ``bias`` and ``role`` of nodes."""
        return to_networkx(self)

    @classmethod
    def from_dimod(cls, model: Any, *, temperature: float = 1.0) -> Machine:
        """Builds a machine from a dimod binary quadratic model.

        ``P(s) = exp(-E(s)/temperature) / Z`` with the model's energy E, its offset included: weights and biases are those of the model
        in -1 and +1 with the opposite sign. A model in 0 and 1 is converted first; +1 stands for 1.

        Parameters
        ----------
        model : dimod.BinaryQuadraticModel
            The model.
        temperature : float, default 1
            The temperature.

        Examples
        --------
        >>> import dimod
        >>> model = dimod.BinaryQuadraticModel({"a": 1.0}, {("a", "b"): -2.0}, 0.5, "SPIN")
        >>> machine = Machine.from_dimod(model)
        >>> machine.map().to_dict()
        {'a': -1, 'b': -1}
        >>> machine.map().energy, float(model.energy({"a": -1, "b": -1}))
        (-2.5, -2.5)
        """
        return cls.from_edges(**parts_of_dimod(model, temperature))

    def to_dimod(self) -> Any:
        """Returns a dimod binary quadratic model in -1 and +1 with the energy ``E - temperature * offset``."""
        return to_dimod(self)

    def with_temperature(self, temperature: float) -> Machine:
        """Returns the machine at another temperature.

        Weights and biases stay, and every state keeps its :meth:`energy`: the offset, a constant of ``-E/T``, is scaled by the ratio of the
        temperatures.

        Parameters
        ----------
        temperature : float
            A finite number above 0.

        Examples
        --------
        >>> machine = Machine.from_edges([("a", "b", 1.0)], offset=3.0).with_temperature(2.0)
        >>> machine.temperature, machine.offset, machine.energy([1, 1])
        (2.0, 1.5, -4.0)
        """
        return type(self)._of(self._core.with_temperature(number(temperature, "temperature")))

    def energy(self, states: Mapping[Any, int | bool] | ArrayLike) -> Any:
        """Computes the energy of complete states, ``-sum w_ij s_i s_j - sum bias_i s_i - temperature * offset``.

        It is minus the temperature times the logarithm of a state's weight in Z: ``P(s) = exp(-energy/temperature - log_z)``.

        Parameters
        ----------
        states : mapping, array_like of shape (n,) or (rows, n), or data frame
            One state by the names of the units or in their order, or one in each row. Columns of a data frame are found by name. Values are -1
            and +1, or False and True.

        Returns
        -------
        float or ndarray of shape (rows,)
            The energy of the state, or of each row.

        Examples
        --------
        >>> machine = Machine.from_edges([("a", "b", 1.0)], bias={"b": 0.5})
        >>> machine.energy({"a": 1, "b": 1})
        -1.5
        >>> machine.energy([[1, 1], [1, -1]]).tolist()
        [-1.5, 1.5]
        """
        cells = complete_states(states, self._names)
        energies = self._core.energies(np.atleast_2d(cells))
        return float(energies[0]) if cells.ndim == 1 else energies

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Machine:
        """Reads a model file: ``.json``, ``.uai`` (also ``.json.gz``, ``.uai.gz``) or ``.npz``."""
        return cls._of(NativeMachine.load(os.fspath(path)))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a model file: ``.json``, ``.uai`` (also ``.json.gz``, ``.uai.gz``) or ``.npz``.

        Warns if the format cannot store everything.
        """
        for note in self._core.save(os.fspath(path)):
            warnings.warn(note, IsinglassWarning, stacklevel=2)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        layout: Layout = "auto",
        labels: bool | Sequence[str] = True,
        strongest: int | None = None,
        width: float = 5.0,
    ) -> Axes:
        """Draws the machine and returns the axes: positive couplings in blue, negative ones in red, strong ones wide.

        Visible units are circles, hidden ones squares and inputs triangles; the fill shows the bias in the same colours.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; a new figure by default.
        layout : {'auto', 'circle', 'layers'}, mapping or array_like of shape (n, 2)
            On a circle; hidden units above the others; or a position for each unit, by name or in their order. ``auto`` is layers if there
            are hidden units, a circle otherwise.
        labels : bool or sequence of str, default True
            Whether to write the names, or other labels.
        strongest : int, optional
            The number of strongest couplings to draw; all by default.
        width : float, default 5
            The width of the strongest coupling, in points.

        Examples
        --------
        >>> ax = Machine.from_edges([("a", "b", 1.0), ("b", "c", -0.5)]).plot()
        >>> len(ax.texts)
        3
        """
        from isinglass._plots import plot_machine

        return plot_machine(self, ax, layout=layout, labels=labels, strongest=strongest, width=width)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the units, in their order."""
        return self._names

    @property
    def roles(self) -> tuple[str, ...]:
        """The roles of the units: visible, hidden or input."""
        return tuple(self._core.roles)

    @property
    def bias(self) -> NDArray[np.float64]:
        """The biases."""
        return self._core.bias

    @property
    def weights(self) -> NDArray[np.float64]:
        """The couplings as a symmetric matrix; 0 where there is none."""
        matrix = np.zeros((len(self), len(self)))
        a, b = self.edges.T
        matrix[a, b] = matrix[b, a] = self.edge_weights
        return matrix

    @property
    def edges(self) -> NDArray[np.int64]:
        """The couplings as pairs of positions, the smaller first, in ascending order."""
        return self._core.edges

    @property
    def edge_weights(self) -> NDArray[np.float64]:
        """The weight of each of the edges."""
        return self._core.edge_weights

    @property
    def temperature(self) -> float:
        """The temperature."""
        return self._core.temperature

    @property
    def offset(self) -> float:
        """The constant added to ``-E/T`` of every state."""
        return self._core.offset

    def edge_list(self) -> list[tuple[str, str, float]]:
        """Returns the couplings as names and weights."""
        names = self.names
        rows = zip(self.edges.tolist(), self.edge_weights.tolist(), strict=True)
        return [(names[a], names[b], weight) for (a, b), weight in rows]

    def __len__(self) -> int:
        return len(self._names)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Machine):
            return NotImplemented
        return self._core == other._core

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        parts = (self.names, self.bias, self.edges, self.edge_weights, self.roles, self.temperature, self.offset)
        return type(self)._of_parts, parts

    def __copy__(self) -> Machine:
        return self

    def __deepcopy__(self, _memo: Any) -> Machine:
        return self

    def __repr__(self) -> str:
        shown = ", ".join(repr(name) for name in self.names[:6])
        more = ", ..." if len(self) > 6 else ""
        return f"Machine(units={len(self)}, edges={len(self._core.edge_weights)}, names=[{shown}{more}])"


def _triple(edge: Any) -> tuple[str, str, float]:
    """The names and the weight of an edge."""
    if isinstance(edge, (str, bytes)) or not hasattr(edge, "__len__") or len(edge) != 3:
        message = f"edges: found {edge!r}, expected two names and a weight"
        raise ValueError(message)
    a, b, weight = edge
    return str(a), str(b), number(weight, f"edges: weight of '{a}' and '{b}'")
