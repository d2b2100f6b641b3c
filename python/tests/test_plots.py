"""Pictures: the matplotlib artists that are drawn."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from conftest import random_machine
from matplotlib.collections import LineCollection, PathCollection

import isinglass
from isinglass import BoltzmannMachine, History, Machine


@pytest.fixture(autouse=True)
def no_figures_are_left():
    yield
    plt.close("all")


def parts(ax: plt.Axes) -> tuple[LineCollection, list[PathCollection]]:
    (lines,) = [artist for artist in ax.collections if isinstance(artist, LineCollection)]
    return lines, [artist for artist in ax.collections if isinstance(artist, PathCollection)]


def test_sign_is_colour_and_strength_is_width():
    machine = Machine.from_edges([("a", "b", 1.0), ("b", "c", -0.5), ("a", "c", 0.25)])
    ax = machine.plot(width=4.0)
    lines, (units,) = parts(ax)
    # From the weakest to the strongest.
    assert lines.get_linewidths() == pytest.approx([1.0, 2.0, 4.0])
    red, _, blue, _ = lines.get_colors().T
    assert (blue[[0, 2]] > red[[0, 2]]).all() and red[1] > blue[1]
    assert len(units.get_offsets()) == 3 and [text.get_text() for text in ax.texts] == ["a", "b", "c"]
    ends = {tuple(map(tuple, path.vertices.round(9))) for path in lines.get_paths()}
    places = units.get_offsets().data.round(9)
    assert (tuple(places[0]), tuple(places[1])) in ends
    assert np.linalg.norm(places, axis=1) == pytest.approx(np.ones(3))


def test_hidden_units_stand_above_the_others():
    machine = random_machine(5, roles=["visible", "input", "visible", "hidden", "hidden"])
    ax = machine.plot(labels=False, strongest=4)
    lines, units = parts(ax)
    assert len(lines.get_paths()) == 4 and not ax.texts
    visible, hidden, given = (group.get_offsets()[:, 1] for group in units)
    assert (len(visible), len(hidden), len(given)) == (2, 2, 1)
    assert (hidden > visible.max()).all() and (given == visible[0]).all()
    ax.figure.canvas.draw()


@pytest.mark.parametrize("units", [1, 2, 12])
@pytest.mark.parametrize("layout", ["circle", "layers"])
def test_any_machine_can_be_drawn(units, layout):
    machine = random_machine(units)
    fresh, own = plt.subplots()
    assert machine.plot(own, layout=layout, labels=[f"u{k}" for k in range(units)]) is own
    fresh.canvas.draw()
    Machine(np.zeros((units, units))).plot(layout=layout).figure.canvas.draw()


def test_custom_positions():
    machine = Machine([[0, 1], [1, 0]], names=["a", "b"])
    for layout in ([(0, 0), (3, 4)], {"b": (3, 4), "a": (0, 0), "z": (9, 9)}):
        _, (units,) = parts(machine.plot(layout=layout))
        assert units.get_offsets().tolist() == [[0, 0], [3, 4]]


def test_a_history_is_drawn_over_its_iterations():
    model = BoltzmannMachine(l2=0.1).fit(random_machine(4).sample(50).states)
    ax = model.history_.plot(color="black", label="mine")
    (line,) = ax.lines
    assert line.get_xdata().tolist() == model.history_.iteration.tolist()
    assert line.get_ydata().tolist() == model.history_.objective.tolist()
    assert (line.get_color(), line.get_label()) == ("black", "mine")
    ax.figure.canvas.draw()
    History(np.array([0]), np.array([-1.0]), np.array([np.nan])).plot().figure.canvas.draw()


def test_weights_are_pictures():
    model = BoltzmannMachine(3, visible_links="none", iterations=0, learner="contrastive-divergence", random_state=0)
    model.fit(random_machine(6).sample(20).states)
    figure = isinglass.plot_weights(model, shape=(2, 3))
    assert [ax.get_title() for ax in figure.axes] == ["h1", "h2", "h3"]
    for k, ax in enumerate(figure.axes):
        (picture,) = ax.images
        assert picture.get_array().tolist() == model.coupling_[6 + k, :6].reshape(2, 3).tolist()
        low, high = picture.get_clim()
        assert low == -high == -np.abs(model.coupling_[6:, :6]).max()
    same = isinglass.plot_weights(model.machine_, shape=(2, 3), columns=1, titles=np.arange(3))
    assert [ax.get_title() for ax in same.axes] == ["0", "1", "2"]
    plain = isinglass.plot_weights(model.sample(5), shape=(3, 2), symmetric=False)
    assert len(plain.axes) == 5 and plain.axes[0].images[0].get_clim() == (-1, 1)
    plain.canvas.draw()


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda m: m.plot(layout="star"), "layout: found 'star', expected auto"),
        (lambda m: m.plot(layout=[(0, 0)]), "expected \\(2, 2\\): a position for each unit"),
        (lambda m: m.plot(layout={"x0": (0, 0)}), "no position for unit 'x1'"),
        (lambda m: m.plot(labels=["a"]), "labels: found 1, expected 2"),
        (lambda m: isinglass.plot_weights(m, (1, 2)), "nothing to draw"),
        (lambda m: isinglass.plot_weights(m.weights, (3, 3)), "expected rows of 3 x 3 numbers"),
        (lambda m: isinglass.plot_weights(m.weights, (1, 2), titles=["a"]), "titles: found 1, expected 2"),
    ],
)
def test_what_cannot_be_drawn_is_refused(draw, message):
    with pytest.raises(ValueError, match=message):
        draw(random_machine(2))
