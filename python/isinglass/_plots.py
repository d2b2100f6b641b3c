"""Pictures of machines, fits and weights, with matplotlib."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from isinglass._arguments import in_order, numbers, positive, whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Literal, TypeAlias

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike, NDArray

    from isinglass._fit import History
    from isinglass._machine import Machine
    from isinglass._scan import Scan

    Layout: TypeAlias = "Literal['auto', 'circle', 'layers'] | Mapping[str, tuple[float, float]] | ArrayLike"

# Blue is positive, red negative; the two are distinct in red-green colour blindness.
_COLOURS = "RdBu"


def _pyplot() -> Any:
    try:
        import matplotlib.pyplot
    except ImportError:
        message = "pictures need matplotlib: pip install 'isinglass[plot]'"
        raise ImportError(message) from None
    return matplotlib.pyplot


def plot_machine(
    machine: Machine,
    ax: Axes | None = None,
    *,
    layout: Layout = "auto",
    labels: bool | Sequence[str] = True,
    strongest: int | None = None,
    width: float = 5.0,
) -> Axes:
    """Draws a machine; see :meth:`isinglass.Machine.plot`."""
    pyplot = _pyplot()
    from matplotlib.collections import LineCollection

    width = positive(width, "width")
    labels = bool(labels) if isinstance(labels, (bool, np.bool_)) else in_order(labels, "labels")
    places, form = _places(machine, layout)
    if ax is None:
        side = 4.0 + 0.12 * min(len(machine), 60)
        size = (side, side) if form != "layers" else (side, 3.5)
        _, ax = pyplot.subplots(figsize=size, layout="constrained")
    edges, weights = machine.edges, machine.edge_weights
    if strongest is not None:
        strongest = whole(strongest, "strongest", 0)
        kept = np.sort(np.argsort(-np.abs(weights), kind="stable")[:strongest])
        edges, weights = edges[kept], weights[kept]
    # Strong couplings lie above weak ones.
    order = np.argsort(np.abs(weights), kind="stable")
    edges, weights = edges[order], weights[order]
    colours = pyplot.get_cmap(_COLOURS)
    largest = float(np.abs(weights).max(initial=0.0)) or 1.0
    shares = np.abs(weights) / largest
    tints = colours(np.where(weights > 0, 0.9, 0.1))
    tints[:, 3] = 0.15 + 0.85 * shares
    ax.add_collection(LineCollection(list(places[edges]), linewidths=width * shares, colors=tints, zorder=1))
    _draw_units(machine, ax, places, colours)
    words = machine.names if labels is True else labels
    if words:
        _write_names(ax, places, list(words), form)
    if form != "layers":
        ax.set_aspect("equal")
    ax.set_axis_off()
    # Collections of lines do not extend the limits.
    ax.margins(0.25 if words else 0.1)
    ax.autoscale_view()
    return ax


def _draw_units(machine: Machine, ax: Axes, places: NDArray[np.float64], colours: Any) -> None:
    """Circles for visible units, squares for hidden ones, triangles for inputs; filled by their biases."""
    biases = machine.bias
    largest = float(np.abs(biases).max(initial=0.0)) or 1.0
    fills = colours(0.5 + 0.4 * biases / largest)
    roles = np.array(machine.roles)
    size = 220.0 / (1.0 + len(machine) / 25.0)
    for role, marker in (("visible", "o"), ("hidden", "s"), ("input", "^")):
        own = roles == role
        if own.any():
            x, y = places[own].T
            ax.scatter(x, y, s=size, c=fills[own], marker=marker, edgecolors="0.25", linewidths=1.0, zorder=2)


def _write_names(ax: Axes, places: NDArray[np.float64], words: list[str], form: str) -> None:
    if len(words) != len(places):
        message = f"labels: found {len(words)}, expected {len(places)}: one for each unit"
        raise ValueError(message)
    angles = np.degrees(np.arctan2(places[:, 1], places[:, 0])) if form == "circle" else np.full(len(places), -90.0)
    if form == "layers":
        # Above the upper layer, below the lower one.
        angles[places[:, 1] > 0.5] = 90.0
    # Horizontal names would overlap.
    is_slanted = form == "circle" or (form == "layers" and len(words) > 8)
    for (x, y), word, angle in zip(places.tolist(), words, angles.tolist(), strict=True):
        # Never upside down.
        is_turned = angle < -90 or angle > 90 or (form == "layers" and angle < 0)
        rotation = (angle - 180 if is_turned else angle) if is_slanted else 0.0
        along = {"ha": "right" if is_turned else "left", "va": "center"}
        above = {"ha": "center", "va": "bottom" if angle > 0 else "top"}
        ax.annotate(
            word,
            (x, y),
            (12 * np.cos(np.radians(angle)), 12 * np.sin(np.radians(angle))),
            textcoords="offset points",
            fontsize=8,
            rotation=rotation,
            rotation_mode="anchor",
            **(along if is_slanted else above),  # type: ignore[arg-type]
        )


def _places(machine: Machine, layout: Layout) -> tuple[NDArray[np.float64], str]:
    """The positions of the units, and the layout: circle, layers or given."""
    count = len(machine)
    hidden = np.array(machine.roles) == "hidden"
    if isinstance(layout, str):
        if layout == "auto":
            layout = "layers" if hidden.any() and not hidden.all() else "circle"
        if layout == "circle":
            # Clockwise from the top.
            angles = np.pi / 2 - 2 * np.pi * np.arange(count) / max(count, 1)
            return np.column_stack([np.cos(angles), np.sin(angles)]), layout
        if layout == "layers":
            places = np.empty((count, 2))
            for layer, height in ((hidden, 1.0), (~hidden, 0.0)):
                spots = (np.arange(layer.sum()) + 0.5) / max(layer.sum(), 1)
                places[layer] = np.column_stack([2.0 * spots - 1.0, np.full(layer.sum(), height)])
            return places, layout
        message = f"layout: found '{layout}', expected auto, circle, layers, or a position for each unit"
        raise ValueError(message)
    if isinstance(layout, Mapping):
        unknown = [name for name in machine.names if name not in layout]
        if unknown:
            message = f"layout: there is no position for unit '{unknown[0]}'"
            raise ValueError(message)
        found = np.array([layout[name] for name in machine.names], dtype=np.float64)
    else:
        found = np.asarray(layout, dtype=np.float64)
    if found.shape != (count, 2):
        message = f"layout: found an array of shape {found.shape}, expected {(count, 2)}: a position for each unit"
        raise ValueError(message)
    return found, "given"


def plot_history(history: History, ax: Axes | None = None, **options: Any) -> Axes:
    """Draws a fit; see :meth:`isinglass.History.plot`."""
    pyplot = _pyplot()
    if ax is None:
        _, ax = pyplot.subplots(figsize=(5.5, 3.5), layout="constrained")
    (line,) = ax.plot(history.iteration, history.objective, **{"label": "objective", **options})
    ax.set_xlabel("iteration")
    ax.set_ylabel("objective", color=line.get_color())
    norms = history.gradient_norm
    if np.isfinite(norms).any() and (norms[np.isfinite(norms)] > 0).any():
        beside = ax.twinx()
        beside.semilogy(history.iteration, np.where(norms > 0, norms, np.nan), color="0.6", linewidth=1, zorder=0)
        beside.set_ylabel("largest component of the gradient", color="0.5")
        # The objective lies above the gradient.
        ax.set_zorder(beside.get_zorder() + 1)
        ax.patch.set_visible(False)
    return ax


def plot_scan(scan: Scan, **options: Any) -> Figure:
    """Draws thermodynamics over temperature; see :meth:`isinglass.Scan.plot`."""
    pyplot = _pyplot()
    panels = ("energy", "heat_capacity", "magnetisation", "susceptibility", "entropy", "log_z")
    rows = 3 if scan.overlap is None else 4
    figure: Figure
    figure, axes = pyplot.subplots(
        rows, 2, figsize=(8.0, 2.4 * rows), layout="constrained", sharex=scan.overlap is None
    )
    look = {"marker": ".", "linewidth": 1, "elinewidth": 1, **options}
    for ax, name in zip(axes.flat, panels, strict=False):
        ax.errorbar(scan.temperatures, getattr(scan, name), yerr=scan.errors[name], **look)
        ax.set_ylabel(name.replace("_", " "))
    if scan.overlap is not None:
        distributions, binder = axes[-1]
        shown = np.unique(np.linspace(0, len(scan.overlap) - 1, min(5, len(scan.overlap))).astype(int))
        for overlap in (scan.overlap[k] for k in shown):
            density = overlap.p * len(overlap.q) / 2
            distributions.plot(overlap.q, density, linewidth=1, label=f"T = {overlap.temperature:.3g}")
        distributions.set_xlabel("overlap q")
        distributions.set_ylabel("density")
        distributions.legend(fontsize="small")
        errors = [overlap.binder_error for overlap in scan.overlap]
        binder.errorbar(scan.temperatures, [overlap.binder for overlap in scan.overlap], yerr=errors, **look)
        binder.set_ylabel("Binder ratio")
        binder.set_xlabel("temperature")
    for ax in axes[2]:
        ax.set_xlabel("temperature")
    return figure


def plot_weights(
    weights: Any,
    shape: tuple[int, int],
    *,
    columns: int | None = None,
    titles: Iterable[object] | None = None,
    symmetric: bool = True,
    size: float = 1.1,
    cmap: str | None = None,
) -> Figure:
    """Draws rows of numbers as pictures: the couplings of each hidden unit, or any rows of pixels.

    Parameters
    ----------
    weights : Machine, fitted estimator or array_like of shape (n, rows * columns)
        A machine whose visible units are pixels, row by row, for a picture of the couplings of each hidden unit; or an array, for a picture of
        each row.
    shape : tuple of int
        Rows and columns of a picture.
    columns : int, optional
        The number of pictures in a row; by default about the number of rows.
    titles : iterable, optional
        A title for each picture; by default the names of the hidden units, if there are any.
    symmetric : bool, default True
        Whether the colours are centred on 0; otherwise they span the range of the numbers.
    size : float, default 1.1
        The side of a picture, in inches.
    cmap : str, optional
        The name of a matplotlib colour map.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.

    Examples
    --------
    >>> import numpy as np, isinglass
    >>> figure = isinglass.plot_weights(np.eye(4), shape=(2, 2))
    >>> len(figure.axes)
    4
    """
    pyplot = _pyplot()
    rows, names = _pictures(weights)
    words = names if titles is None else [str(title) for title in in_order(titles, "titles")]
    size = positive(size, "size")
    sides = [whole(side, "shape", 1) for side in in_order(shape, "shape")]
    if len(sides) != 2:
        message = f"shape: found {len(sides)} numbers, expected two: rows and columns of a picture"
        raise ValueError(message)
    if rows.ndim != 2 or rows.shape[1] != sides[0] * sides[1]:
        message = f"weights: found an array of shape {rows.shape}, expected rows of {sides[0]} x {sides[1]} numbers"
        raise ValueError(message)
    if len(rows) == 0:
        message = "weights: nothing to draw: no rows, or no hidden units"
        raise ValueError(message)
    if words is not None and len(words) != len(rows):
        message = f"titles: found {len(words)}, expected {len(rows)}: one for each picture"
        raise ValueError(message)
    across = int(np.ceil(np.sqrt(len(rows)))) if columns is None else min(whole(columns, "columns", 1), len(rows))
    down = -(-len(rows) // across)
    largest = float(np.nanmax(np.abs(rows))) or 1.0
    low, high = (-largest, largest) if symmetric else (float(np.nanmin(rows)), float(np.nanmax(rows)))
    title_height = 0.2 if words else 0.0
    figure, axes = pyplot.subplots(
        down, across, figsize=(size * across, (size + title_height) * down), squeeze=False, layout="constrained"
    )
    for k, ax in enumerate(axes.flat):
        if k >= len(rows):
            ax.remove()
            continue
        ax.imshow(rows[k].reshape(sides), cmap=cmap or (_COLOURS if symmetric else "Greys"), vmin=low, vmax=high)
        ax.set_xticks([])
        ax.set_yticks([])
        if words:
            ax.set_title(words[k], fontsize=8, pad=2)
    return figure  # type: ignore[no-any-return]


def _pictures(weights: Any) -> tuple[NDArray[np.float64], list[str] | None]:
    """One row for each picture, and its name if it has one."""
    machine = getattr(weights, "machine_", weights)
    if not hasattr(machine, "edge_weights"):
        return numbers(weights, "weights"), None
    hidden = np.array(machine.roles) == "hidden"
    names = [name for name, is_hidden in zip(machine.names, hidden, strict=True) if is_hidden]
    return machine.weights[np.ix_(hidden, ~hidden)], names
