"""Machines of a usual structure: lattices and random graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isinglass._arguments import number, seed_of, whole
from isinglass._calls import NativeMachine

if TYPE_CHECKING:
    from typing import Literal

    from isinglass import Machine
    from isinglass._arguments import Seed


class Lattices:
    """The methods of :class:`isinglass.Machine` that build lattices and random graphs.

    All of them accept the following. For the same seed, machines equal those of ``isinglass make``.

    coupling : float or str, default 'normal:0,1'
        The couplings: a number, ``normal:MEAN,SD``, ``uniform:LOW,HIGH`` or ``signs:X`` (plus or minus X).
    bias : float or str, default 0
        The biases, in the same words.
    temperature : float, default 1
        The temperature.
    seed : int, numpy generator or None, default 0
        The seed of what is drawn.

    Units of lattices are named by row, column and layer: ``r0c0``, ``r0c1``, …. A periodic lattice joins each side with its opposite one. A
    periodic side of 2 would join the same units twice and is refused.
    """

    __slots__ = ()

    @classmethod
    def chain(cls, units: int, *, periodic: bool = False, **numbers: Any) -> Machine:
        """Builds a chain, each unit joined with the next; periodic: a ring.

        Parameters
        ----------
        units : int
            The number of units.
        periodic : bool, default False
            Whether the last unit is joined with the first.
        **numbers
            ``coupling``, ``bias``, ``temperature`` and ``seed``; see :class:`Lattices`.

        Examples
        --------
        >>> from isinglass import Machine
        >>> ring = Machine.chain(4, periodic=True, coupling=0.5)
        >>> ring.edges.tolist(), ring.names[0]
        ([[0, 1], [0, 3], [1, 2], [2, 3]], 'x0')
        """
        return cls._make("chain", {"units": units}, periodic, **numbers)

    @classmethod
    def grid(
        cls, rows: int, columns: int, *, neighbours: Literal[4, 8] = 4, periodic: bool = False, **numbers: Any
    ) -> Machine:
        """Builds a square lattice with four or eight neighbours each.

        Parameters
        ----------
        rows, columns : int
            The sides.
        neighbours : {4, 8}
            With 8, also along the diagonals.
        periodic : bool, default False
            Whether opposite sides are joined.
        **numbers
            ``coupling``, ``bias``, ``temperature`` and ``seed``; see :class:`Lattices`.

        Examples
        --------
        >>> from isinglass import Machine
        >>> torus = Machine.grid(4, 5, periodic=True, coupling="signs:1")
        >>> len(torus.edges), torus.names[6]
        (40, 'r1c1')
        """
        if neighbours not in (4, 8):
            message = f"neighbours: found {neighbours!r}, expected 4 or 8"
            raise ValueError(message)
        kind = "grid" if neighbours == 4 else "grid8"
        return cls._make(kind, {"rows": rows, "columns": columns}, periodic, **numbers)

    @classmethod
    def triangular(cls, rows: int, columns: int, *, periodic: bool = False, **numbers: Any) -> Machine:
        """Builds a triangular lattice: a square one with one diagonal of each square, six neighbours each.

        Parameters
        ----------
        rows, columns : int
            The sides.
        periodic : bool, default False
            Whether opposite sides are joined.
        **numbers
            ``coupling``, ``bias``, ``temperature`` and ``seed``; see :class:`Lattices`.

        Examples
        --------
        >>> from isinglass import Machine
        >>> len(Machine.triangular(3, 4).edges)
        23
        """
        return cls._make("triangular", {"rows": rows, "columns": columns}, periodic, **numbers)

    @classmethod
    def grid3(cls, rows: int, columns: int, layers: int, *, periodic: bool = False, **numbers: Any) -> Machine:
        """Builds a simple cubic lattice, six neighbours each.

        Parameters
        ----------
        rows, columns, layers : int
            The sides.
        periodic : bool, default False
            Whether opposite sides are joined.
        **numbers
            ``coupling``, ``bias``, ``temperature`` and ``seed``; see :class:`Lattices`.

        Examples
        --------
        >>> from isinglass import Machine
        >>> cube = Machine.grid3(3, 3, 3, periodic=True)
        >>> len(cube.edges), cube.names[-1]
        (81, 'r2c2l2')
        """
        return cls._make("grid3", {"rows": rows, "columns": columns, "layers": layers}, periodic, **numbers)

    @classmethod
    def regular(cls, units: int, degree: int, **numbers: Any) -> Machine:
        """Builds a random graph in which every unit has the same number of neighbours.

        All such graphs are about equally probable.

        Parameters
        ----------
        units : int
            The number of units.
        degree : int
            The number of neighbours of each; units times degree is even.
        **numbers
            ``coupling``, ``bias``, ``temperature`` and ``seed``; see :class:`Lattices`.

        Examples
        --------
        >>> from isinglass import Machine
        >>> len(Machine.regular(20, 3, seed=1).edges)
        30
        """
        return cls._make("regular", {"units": units, "degree": degree}, False, **numbers)

    @classmethod
    def _make(
        cls,
        kind: str,
        sizes: dict[str, int],
        periodic: bool,
        *,
        coupling: float | str = "normal:0,1",
        bias: float | str = 0.0,
        temperature: float = 1.0,
        seed: Seed = 0,
    ) -> Machine:
        sides = [whole(size, place, 1) for place, size in sizes.items()]
        scale = number(temperature, "temperature")
        couplings, biases = _words(coupling, "coupling"), _words(bias, "bias")
        made = NativeMachine.make(kind, sides, bool(periodic), couplings, biases, scale, seed_of(seed))
        return cls._of(made)  # type: ignore[attr-defined,no-any-return]


def _words(numbers: float | str, place: str) -> str:
    """Numbers as the command line takes them."""
    return numbers if isinstance(numbers, str) else repr(number(numbers, place))
