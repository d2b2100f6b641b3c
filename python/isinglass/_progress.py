"""Progress of a fit: a bar, or a function of the caller."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeAlias

    Progress: TypeAlias = "bool | Callable[..., object] | None"


@contextmanager
def listener_of(progress: Any) -> Iterator[Callable[..., object] | None]:
    """Yields the function that is called after every iteration, if there is one."""
    if progress is None or isinstance(progress, (bool, np.bool_)):
        if not progress:
            yield None
            return
        with _Bar() as bar:
            yield bar
    elif callable(progress):
        yield progress
    else:
        message = f"progress: found {progress!r}, expected True, False or a callable"
        raise TypeError(message)


class _Bar:
    """A tqdm progress bar."""

    def __enter__(self) -> _Bar:
        from tqdm.auto import tqdm

        self._bar = tqdm(desc="fit", unit="it", leave=False)
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.close()

    def __call__(self, iteration: int, most: int, objective: float, gradient_norm: float, restart: int) -> None:
        if restart:
            self._bar.set_description(f"fit, start {restart + 1}")
        self._bar.total = most
        self._bar.n = iteration
        self._bar.set_postfix(objective=f"{objective:.6f}", gradient=f"{gradient_norm:.1e}")

    def resampled(self, done: int, count: int) -> None:
        self._bar.set_description("resamples")
        self._bar.set_postfix()
        self._bar.total = count
        self._bar.n = done
        self._bar.refresh()
