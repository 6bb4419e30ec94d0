"""What events do at one time of the run, as the stream says it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from frontend.errors import RefusedError
from frontend.schema.events import LinkEvent


class Kind(IntEnum):
    """Kinds of events, numbered as in network_api.proto."""

    LINK_DOWN = 0
    LINK_UP = 1
    LINK_RATE = 2
    LINK_LOSS = 3
    COMPUTE = 4


@dataclass(frozen=True)
class Happening:
    """What happens at one time."""

    kind: Kind
    time_ps: int
    text: str
    links: tuple[int, ...] = ()
    rate_bps: int = 0
    loss: float = 0.0
    ranks: tuple[int, ...] = ()
    factor: float = 1.0


def link_name(event: LinkEvent) -> str:
    """Return how people read the links of an event."""
    return f"{event.link[0]} {'→' if event.one_way else '–'} {event.link[1]}"


def check_ranks(given: tuple[int, ...], path: str, ranks: int) -> None:
    """Raise RefusedError unless all ranks exist."""
    if any(rank >= ranks for rank in given):
        raise RefusedError(path, f"expected ranks from 0 to {ranks - 1}")
