"""The parts of the comparison: what is called, on which items, and by which clock."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import workloads
from peer_encoders import ENCODERS, THREADED_ENCODERS
from peer_renderers import RENDERERS, THREADED_RENDERERS
from peers import Peer


@dataclass(frozen=True)
class Part:
    """One kind of work."""

    workloads: tuple[str, ...]
    items: Callable[[str], list[Any]]
    """Those of a workload."""
    peers: Callable[[str], list[Peer]]
    """Those that do it for a family of models."""
    n_cores: int = 1
    """With more than one, times are those of a clock on the wall."""


PARTS = {
    "encode": Part(workloads.TEXTS, workloads.texts, lambda family: ENCODERS),
    "render": Part(workloads.CHATS, workloads.conversations, lambda family: RENDERERS[family]),
    "encode on threads": Part(
        ("documents", "rollouts", "multilingual"), workloads.texts, lambda family: THREADED_ENCODERS, 2
    ),
    "render on threads": Part(
        ("chats", "rollouts"), workloads.conversations, lambda family: THREADED_RENDERERS[family], 2
    ),
}
