"""The machine: units and couplings, where they come from and where they go."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from isinglass import _native
from isinglass._arguments import in_order, number, numbers
from isinglass._questions import Questions

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Literal

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

    from isinglass._plots import Layout

    Role = Literal["visible", "hidden", "input"]


class Machine(Questions):
    """A Boltzmann machine over units that are -1 or +1; it does not change.

    ``-E(s) = sum_{i<j} w_ij s_i s_j + sum_i bias_i s_i`` and ``P(s) = exp(-E(s)/temperature + offset) / Z``.

    Parameters
    ----------
    weights : array_like of shape (n, n)
        A symmetric matrix with zeros on its diagonal; entries that are 0 are no couplings.
    bias : array_like of shape (n,), optional
        The biases; 0 by default.
    names : sequence of str, optional
        Names of the units; ``x0``, ``x1``, and so on by default.
    roles : sequence of {'visible', 'hidden', 'input'}, optional
        Roles of the units; all are visible by default.
    temperature : float, default 1
        The temperature.
    offset : float, default 0
        A constant added to ``-E/T`` of every state: it shifts log Z, and nothing else.

    See Also
    --------
    Machine.from_edges : From couplings between names.
    Machine.from_networkx, Machine.from_dimod : From what other packages have.
    Machine.load : From a file.

    Notes
    -----
    The methods that compute take the same options as the command line, and give the same numbers to the last digit for the same seed:

    engine : str, default 'auto'
        ``auto`` takes an exact engine whenever its cost is within the budget, and otherwise samples. Others: ``enumerate``, ``decimate``,
        ``eliminate`` (exact); ``mean-field``, ``mixture``, ``structured`` (lower bounds); ``trw`` (upper bounds); ``tap``,
        ``linear-response``, ``bethe`` (approximations); ``gibbs``, ``ais`` (estimates); and ``max-product`` for :meth:`map` alone.
    budget : int or str, default '1GiB'
        Memory that an engine may take, in bytes or as a size.
    seed : int, numpy generator or None, default 0
        The seed of everything random; None asks for another one each time.
    **options
        ``components`` (mixture), ``width`` (trw, structured), ``around`` (linear-response), ``anneal``, ``starts``, ``damping``, ``schedule``,
        ``max_sweeps`` (variational engines), ``samples``, ``burn_in``, ``thin`` (gibbs), ``chains`` (gibbs, ais), ``temperatures`` (ais). One that the
        engine has no use for is refused.

    ``given`` clamps units: a dictionary of names and values (-1 and +1, or False and True; 0 is refused), or a row with a value for each unit,
    0 or NaN where it is free. Long work can be interrupted with Ctrl-C: it is given up then.
    All cores are used; the environment variable ``RAYON_NUM_THREADS`` asks for another number of threads. It changes no digit.

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
        wrong = next((role for role in roles or () if not isinstance(role, str)), None)
        if wrong is not None or (roles is not None and None in roles):
            message = f"roles: found {wrong!r}, expected visible, hidden or input"
            raise ValueError(message)
        numbers = (number(temperature, "temperature"), number(offset, "offset"))
        self._core = _native.Machine(words, bias, edges, weights, roles, *numbers)
        self._names = tuple(words)

    @classmethod
    def _of(cls, native: _native.Machine) -> Machine:
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
        """A machine from couplings between names.

        Parameters
        ----------
        edges : iterable of (name, name, weight)
            The couplings, each pair once. What is no string is turned into one.
        bias : mapping or array_like, optional
            Biases by name, 0 for those that are not there; or one for each unit.
        names : sequence, optional
            The units in their order; by default as they are met in the edges, and then in the biases.
        roles : mapping or sequence, optional
            Roles by name, visible for those that are not there; or one for each unit.
        temperature, offset : float
            As for the machine itself.

        Examples
        --------
        >>> machine = Machine.from_edges([("a", "b", 0.5), ("b", "c", -0.25)], bias={"c": 0.1})
        >>> machine.names, machine.bias.tolist()
        (('a', 'b', 'c'), [0.0, 0.0, 0.1])
        """
        triples = [_triple(edge) for edge in in_order(edges, "edges")]
        if names is None:
            met = [name for a, b, _ in triples for name in (a, b)]
            by_name = [*(bias if isinstance(bias, Mapping) else ()), *(roles if isinstance(roles, Mapping) else ())]
            words = list(dict.fromkeys([*met, *map(str, by_name)]))
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
        """A machine from a graph of networkx; nodes are units, in the graph's order.

        Parameters
        ----------
        graph : networkx.Graph
            An undirected graph without multiple edges. Its attributes ``temperature`` and ``offset`` are taken, if it has them.
        weight, bias, role : str
            The attributes of edges and nodes; where they are absent, the weight is 1, the bias 0 and the role visible.
        """
        if not hasattr(graph, "is_directed"):
            message = f"graph: found {type(graph).__name__}, expected a networkx.Graph"
            raise TypeError(message)
        if graph.is_directed() or graph.is_multigraph():
            message = "graph: found a directed graph or one with multiple edges, expected a networkx.Graph"
            raise ValueError(message)
        return cls.from_edges(
            ((a, b, data.get(weight, 1.0)) for a, b, data in graph.edges(data=True)),
            {node: data.get(bias, 0.0) for node, data in graph.nodes(data=True)},
            names=list(graph.nodes),
            roles=[data.get(role, "visible") for _, data in graph.nodes(data=True)],
            temperature=graph.graph.get("temperature", 1.0),
            offset=graph.graph.get("offset", 0.0),
        )

    def to_networkx(self) -> Any:
        """The machine as a graph of networkx, with the attributes ``weight`` of edges, ``bias`` and ``role`` of nodes."""
        import networkx

        graph = networkx.Graph(temperature=self.temperature, offset=self.offset)
        for name, bias, role in zip(self.names, self.bias.tolist(), self.roles, strict=True):
            graph.add_node(name, bias=bias, role=role)
        for a, b, weight in self.edge_list():
            graph.add_edge(a, b, weight=weight)
        return graph

    @classmethod
    def from_dimod(cls, model: Any, *, temperature: float = 1.0) -> Machine:
        """A machine from a binary quadratic model of dimod: its low energies are probable.

        ``P(s) = exp(-E(s)/temperature) / Z`` with the model's own energy E, its offset included. So weights and biases are those of the model
        in -1 and +1 with the sign changed. A model in 0 and 1 is turned into one in -1 and +1 first; +1 stands for 1.

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
        >>> machine.map().energy + 0.5, float(model.energy({"a": -1, "b": -1}))
        (-2.5, -2.5)
        """
        if not hasattr(model, "change_vartype"):
            message = f"model: found {type(model).__name__}, expected a dimod.BinaryQuadraticModel"
            raise TypeError(message)
        if not temperature > 0:
            message = f"temperature: found {temperature}, expected a number above 0"
            raise ValueError(message)
        spins = model.change_vartype("SPIN", inplace=False)
        return cls.from_edges(
            ((a, b, -float(coupling)) for (a, b), coupling in spins.quadratic.items()),
            {name: -float(field) for name, field in spins.linear.items()},
            names=list(spins.variables),
            temperature=temperature,
            offset=-float(spins.offset) / temperature,
        )

    def to_dimod(self) -> Any:
        """The machine as a binary quadratic model of dimod in -1 and +1, whose energy is ``E - temperature * offset``."""
        import dimod

        linear = dict(zip(self.names, (-self.bias).tolist(), strict=True))
        quadratic = {(a, b): -weight for a, b, weight in self.edge_list()}
        return dimod.BinaryQuadraticModel(linear, quadratic, -self.temperature * self.offset, "SPIN")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Machine:
        """Read a model file; its ending says what it is: ``.json``, ``.uai`` (both also with ``.gz`` behind) or ``.npz``."""
        return cls._of(_native.Machine.load(os.fspath(path)))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a model file; its ending says what it is to be: ``.json``, ``.uai`` (both also with ``.gz`` behind) or ``.npz``.

        Warns of what a file of that kind does not keep.
        """
        for note in self._core.save(os.fspath(path)):
            warnings.warn(note, UserWarning, stacklevel=2)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        layout: Layout = "auto",
        labels: bool | Sequence[str] = True,
        strongest: int | None = None,
        width: float = 5.0,
    ) -> Axes:
        """Draw the machine: couplings blue where they are above 0 and red below, the stronger the wider.

        Visible units are circles, hidden ones squares and inputs triangles; their fill tells the bias in the same colours.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; a new figure by default.
        layout : {'auto', 'circle', 'layers'}, mapping or array_like of shape (n, 2)
            On a circle; hidden units above the others; or a place for each unit, by name or in their order. ``auto`` takes layers if there are
            hidden units.
        labels : bool or sequence of str, default True
            Whether to write the names, or what to write.
        strongest : int, optional
            Draw so many couplings, the strongest; all by default.
        width : float, default 5
            The width of the strongest, in points.

        Returns
        -------
        matplotlib.axes.Axes
            Where it was drawn.

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
        edges, weights = self.edges, self.edge_weights
        matrix[edges[:, 0], edges[:, 1]] = weights
        matrix[edges[:, 1], edges[:, 0]] = weights
        return matrix

    @property
    def edges(self) -> NDArray[np.int64]:
        """The couplings as pairs of positions, the smaller first, in rising order."""
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
        """The couplings as names and weights."""
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
