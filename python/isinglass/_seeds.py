"""Seeds of everything random."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from typing import TypeAlias

    Seed: TypeAlias = "int | np.integer[Any] | np.random.Generator | np.random.RandomState | None"


def seed_of(source: Seed, place: str = "seed") -> int:
    """The seed that a ``seed`` or ``random_state`` stands for.

    Parameters
    ----------
    source : int, numpy.random.Generator, numpy.random.RandomState or None
        A whole number is the seed itself, so that results are those of the command line with the same ``--seed``. From a generator a
        seed is drawn. None asks for another seed each time.
    place : str
        What an error calls it.

    Examples
    --------
    >>> seed_of(7)
    7
    """
    if source is None:
        return secrets.randbits(64)
    if isinstance(source, np.random.Generator):
        return int(source.integers(0, 2**63))
    if isinstance(source, np.random.RandomState):
        return int(source.randint(0, 2**31 - 1))
    if isinstance(source, (int, np.integer)) and not isinstance(source, bool) and 0 <= source < 2**64:
        return int(source)
    message = f"{place}: found {source!r}, expected a whole number of at least 0, a generator of numpy, or None"
    raise ValueError(message)
