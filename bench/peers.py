"""The shape in which every measured package is called."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

Rows = Sequence[ArrayLike]


def _as_it_is(items: list[Any]) -> list[Any]:
    return items


@dataclass(frozen=True)
class Loaded:
    """A package with its tables in memory. `one` and `batch` are timed, with the package's own results."""

    one: Callable[[Any], Any]
    ids: Callable[[Any], ArrayLike]
    """The token ids in a result of `one`; not timed."""
    batch: Callable[[list[Any]], Any] | None = None
    """None if the package has no such call: then it is a loop over `one`."""
    rows: Callable[[Any], Rows] | None = None
    """The token ids in a result of `batch`; not timed."""
    prepare: Callable[[list[Any]], list[Any]] = _as_it_is
    """Makes the arguments out of the workload's items; not timed."""


@dataclass(frozen=True)
class Peer:
    """A package and the call of it that is measured."""

    name: str
    distribution: str
    load: Callable[[Path], Loaded]
    """Takes the path of a tokenizer.json."""

    def version(self) -> str:
        """Return the version that is installed."""
        return version(self.distribution)


def split(ids: np.ndarray, offsets: np.ndarray) -> Rows:
    """Cut flat ids into rows."""
    return np.split(ids, offsets[1:-1].astype(np.int64))
