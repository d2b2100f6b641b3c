"""Groups against each other."""

from __future__ import annotations

import numpy as np
import pytest

import isinglass


def rows(agree: int, seed: int) -> np.ndarray:
    """Sixty rows of three columns, of which the first two agree so often."""
    rng = np.random.default_rng(seed)
    first = rng.integers(0, 2, 60)
    second = np.where(np.arange(60) < agree, first, 1 - first)
    return np.stack([first, second, rng.integers(0, 2, 60)], axis=1)


def test_tables_dictionaries_and_labels_give_the_same_answer() -> None:
    one, other = rows(32, 1), rows(55, 2)
    settings = {"permutations": 49, "bootstrap": 20, "seed": 3}
    found = isinglass.compare(one, other, names=["calm", "wild"], **settings)
    assert found.groups == ("calm", "wild")
    assert found.rows == (60, 60)
    assert found.structure.p <= 0.04
    edges = found.to_dict()
    assert edges["a"][0] == "x0"
    assert edges["b"][0] == "x1"
    assert edges["p_holm"][0] >= edges["p_bh"][0] >= edges["p"][0]
    assert edges["low"][0] < edges["difference"][0] < edges["high"][0]
    assert set(found.to_dict("biases")) >= {"unit", "difference", "p", "p_holm", "p_bh"}
    again = isinglass.compare({"calm": one, "wild": other}, **settings)
    labelled = isinglass.compare(np.concatenate([one, other]), by=["calm"] * 60 + ["wild"] * 60, **settings)
    for same in (again, labelled):
        assert same.document == found.document


def test_frames_are_split_by_a_column() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(np.concatenate([rows(32, 1), rows(55, 2)]), columns=["a", "b", "c"])
    frame["arm"] = ["drug"] * 60 + ["placebo"] * 60
    found = isinglass.compare(frame, by="arm", permutations=19, joint=True)
    assert found.groups == ("drug", "placebo")
    table = found.to_frame()
    assert list(table["a"]) == ["a", "a", "b"]
    assert bool(table["joint"][0]["differs"])
    assert len(found.to_frame("biases", groups=("drug", "placebo"))) == 3


def test_gaps() -> None:
    one = rows(40, 1).astype(float)
    one[::7, 2] = np.nan
    with pytest.raises(ValueError, match="missing cells"):
        isinglass.compare(one, rows(40, 2), permutations=9, l1="ebic")
    dropped = isinglass.compare(one, rows(40, 2), permutations=9, missing="drop")
    assert dropped.rows == (51, 60)
    filled = isinglass.compare(one, rows(40, 2), permutations=9, l1="ebic", missing="impute:3")
    assert any(note.code == "imputed" for note in filled.notes)
    _, result = isinglass.fit(one, missing="impute:4", bootstrap=40, seed=1)
    assert result.intervals is not None
    assert bool((result.intervals.couplings.lower < result.intervals.couplings.upper).all())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"permutations": 0}, "permutations"),
        ({"missing": "fill"}, "missing: found 'fill'"),
        ({"level": 2.0}, "level"),
        ({"names": ["a"]}, "names of groups"),
        ({"by": "arm"}, "by: splits one"),
    ],
)
def test_what_is_wrong_is_named(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        isinglass.compare(rows(40, 1), rows(40, 2), **arguments)
