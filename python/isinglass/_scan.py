"""Thermodynamics over temperature."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from isinglass._results import _Answer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

QUANTITIES = ("log_z", "energy", "heat_capacity", "magnetisation", "susceptibility", "entropy")


@dataclass(frozen=True, eq=False)
class Overlap:
    """The distribution of the overlap ``q = mean(s_i * t_i)`` of two independent states at one temperature, over the free units.

    Attributes
    ----------
    temperature : float
        The temperature.
    q, p, p_error : ndarray
        The middle of each bin, its probability and its standard error.
    binder, binder_error : float
        The Binder ratio ``(3 - <q^4> / <q^2>^2) / 2`` and its standard error.
    """

    temperature: float
    q: NDArray[np.float64] = field(repr=False)
    p: NDArray[np.float64] = field(repr=False)
    p_error: NDArray[np.float64] = field(repr=False)
    binder: float
    binder_error: float


@dataclass(frozen=True, eq=False)
class Scan(_Answer):
    """The thermodynamics of a machine over temperature: totals, not per unit.

    Attributes
    ----------
    temperatures : ndarray
        The temperatures, in rising order.
    log_z : ndarray
        The logarithm of the partition sum.
    energy : ndarray
        ``U``, the mean of :meth:`isinglass.Machine.energy`.
    heat_capacity : ndarray
        ``C = Var(E) / T^2``, the derivative of ``U``.
    magnetisation : ndarray
        ``M``, the mean of the sum of all units.
    susceptibility : ndarray
        ``Var(sum of all units) / T``, the derivative of ``M`` by a field on all units.
    entropy : ndarray
        ``S = log Z + U / T``.
    errors : dict
        The standard errors of these, by name; 0 where they are exact, nan where they are unknown, because chains did not mix.
    overlap : tuple of Overlap or None
        The overlap of two independent states at each temperature, if requested.
    """

    temperatures: NDArray[np.float64]
    log_z: NDArray[np.float64] = field(repr=False)
    energy: NDArray[np.float64] = field(repr=False)
    heat_capacity: NDArray[np.float64] = field(repr=False)
    magnetisation: NDArray[np.float64] = field(repr=False)
    susceptibility: NDArray[np.float64] = field(repr=False)
    entropy: NDArray[np.float64] = field(repr=False)
    errors: Mapping[str, NDArray[np.float64]] = field(repr=False)
    overlap: Sequence[Overlap] | None = field(default=None, repr=False)

    def to_dict(self) -> dict[str, NDArray[np.float64]]:
        """Returns the columns by name: the temperature, and each quantity with its standard error."""
        columns = {"temperature": self.temperatures}
        for name in QUANTITIES:
            columns[name] = getattr(self, name)
            columns[f"{name}_error"] = self.errors[name]
        return columns

    def to_frame(self) -> Any:
        """Returns a pandas data frame with a row for each temperature."""
        import pandas

        return pandas.DataFrame(self.to_dict())

    def plot(self, **options: Any) -> Figure:
        """Draws each quantity over temperature, with standard errors, and returns the figure.

        Parameters
        ----------
        **options
            Options of ``Axes.errorbar``.
        """
        from isinglass._plots import plot_scan

        return plot_scan(self, **options)
