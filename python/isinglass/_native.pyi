"""The native module; the public interface is in the modules beside it."""

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Self

__all__ = [
    "Machine",
    "Table",
    "__version__",
    "centrality",
    "compare",
    "complete",
    "cumulants",
    "fit",
    "infer",
    "info",
    "log_likelihood",
    "log_likelihoods",
    "main",
    "mode",
    "query",
    "run_epochs",
    "sample",
    "scan",
    "score",
    "time_infer",
]

__version__: str

# Engine, budget, seed and settings of the engine.
_Asked: TypeAlias = tuple[str, int | str | None, int, dict[str, Any] | None]
_Given: TypeAlias = dict[Any, int | bool] | NDArray[np.int8] | None

@final
class Machine:
    def __new__(
        cls,
        names: Sequence[str],
        bias: NDArray[np.float64],
        edges: NDArray[np.int64],
        weights: NDArray[np.float64],
        roles: Sequence[str] | None = None,
        temperature: float = 1.0,
        offset: float = 0.0,
    ) -> Self: ...
    @staticmethod
    def make(
        kind: str,
        sizes: Sequence[int],
        periodic: bool,
        coupling: str,
        bias: str,
        temperature: float,
        seed: int,
    ) -> Machine: ...
    def with_temperature(self, temperature: float) -> Machine: ...
    def energies(self, states: NDArray[np.int8]) -> NDArray[np.float64]: ...
    @staticmethod
    def load(path: str | PathLike[str]) -> Machine: ...
    def save(self, path: str | PathLike[str]) -> list[str]: ...
    @property
    def names(self) -> list[str]: ...
    @property
    def roles(self) -> list[str]: ...
    @property
    def bias(self) -> NDArray[np.float64]: ...
    @property
    def edges(self) -> NDArray[np.int64]: ...
    @property
    def edge_weights(self) -> NDArray[np.float64]: ...
    @property
    def temperature(self) -> float: ...
    @property
    def offset(self) -> float: ...
    def __len__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...

@final
class Table:
    def __new__(cls, cells: NDArray[Any], names: Sequence[str], weights: NDArray[np.float64] | None = None) -> Self: ...
    def state(
        self,
    ) -> tuple[list[str], NDArray[np.int8], NDArray[np.uint32], NDArray[np.float64], list[int]]: ...
    @staticmethod
    def restore(
        names: Sequence[str],
        cells: NDArray[np.int8],
        distinct_of: NDArray[np.uint32],
        weights: NDArray[np.float64],
        kinds: Sequence[int],
    ) -> Table: ...
    @property
    def columns(self) -> list[str]: ...
    @property
    def rows(self) -> int: ...
    @property
    def distinct_rows(self) -> int: ...
    @property
    def missing_cells(self) -> int: ...
    @property
    def zero_one(self) -> list[bool | None]: ...

def infer(machine: Machine, given: _Given, pairs: Any, bracket: Any, options: _Asked) -> dict[str, Any]: ...
def query(machine: Machine, ask: list[Any], given: _Given, options: _Asked) -> dict[str, Any]: ...
def cumulants(machine: Machine, units: list[Any], given: _Given, options: _Asked) -> dict[str, Any]: ...
def mode(machine: Machine, given: _Given, options: _Asked) -> dict[str, Any]: ...
def sample(machine: Machine, number: Any, given: _Given, options: _Asked) -> dict[str, Any]: ...
def scan(machine: Machine, at: Any, given: _Given, overlap: Any, options: _Asked) -> dict[str, Any]: ...
def centrality(machine: Machine, table: Table | None, options: _Asked) -> dict[str, NDArray[np.float64]]: ...
def info(machine: Machine, limit: int | str | None) -> dict[str, Any]: ...
def complete(machine: Machine, table: Table, options: _Asked) -> dict[str, Any]: ...
def score(machine: Machine, table: Table, bracket: Any, options: _Asked) -> dict[str, Any]: ...
def log_likelihood(machine: Machine, table: Table, options: _Asked) -> dict[str, Any]: ...
def log_likelihoods(machine: Machine, table: Table, options: _Asked) -> dict[str, Any]: ...
def time_infer(machine: Machine, count: int, options: _Asked) -> float: ...
def fit(
    table: Table,
    settings: dict[str, Any],
    start: Machine | None = None,
    listener: Callable[[int, int, float, float, int], object] | None = None,
) -> tuple[Machine, dict[str, Any]]: ...
def compare(tables: Sequence[Table], names: Sequence[str], settings: dict[str, Any]) -> dict[str, Any]: ...
def run_epochs(
    table: Table,
    settings: dict[str, Any],
    machine: Machine | None = None,
    before: bytes | None = None,
    listener: Callable[[int, int, float, float, int], object] | None = None,
) -> tuple[Machine, dict[str, Any], bytes | None]: ...
def main(arguments: Sequence[str]) -> int: ...
