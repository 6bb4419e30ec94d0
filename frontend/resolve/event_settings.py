"""What events set for some time: the rates and losses of links, and the speeds of ranks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frontend.resolve.happening import Happening, Kind, link_name
from frontend.schema.events import LinkLoss, LinkRate, Straggler
from frontend.schema.quantities import Time
from topology_gen import Network

Setting = Straggler | LinkRate | LinkLoss
"""An event that sets something while it lasts."""


class Settings:
    """What events set for some time: the rates and losses of links, and the speeds of ranks.

    Of several events that last, the one that began last holds.
    """

    def __init__(self) -> None:
        self._events: dict[tuple[str, int], list[Setting]] = {}

    def add(self, event: Setting, targets: Iterable[int]) -> None:
        """Add an event that sets something for links or ranks."""
        for target in targets:
            self._events.setdefault((event.event, target), []).append(event)

    def after(self, event: Setting, targets: Iterable[int]) -> Iterator[tuple[Any, list[int]]]:
        """Yield what holds when an event is over, None for nothing, and for which targets."""
        end = event.until
        assert end is not None
        groups: dict[int, tuple[Any, list[int]]] = {}
        for target in targets:
            others = [
                other
                for other in self._events[event.event, target]
                if other.at <= end and (other.until is None or other.until > end)
            ]
            # Of events that begin at the same time, the last one of the list sets the value.
            holds = max(reversed(others), key=lambda other: other.at, default=None)
            groups.setdefault(id(holds), (holds, []))[1].append(target)
        yield from groups.values()


def slower(event: Straggler, settings: Settings) -> Iterator[Happening]:
    """Yield the begin and the end of the time in which ranks compute slower."""
    yield _compute(int(event.at), event.ranks, event.factor)
    if event.until is not None:
        for holds, ranks in settings.after(event, event.ranks):
            yield _compute(int(event.until), tuple(ranks), holds.factor if holds else 1.0)


def _compute(time_ps: int, ranks: tuple[int, ...], factor: float) -> Happening:
    name = f"{'rank' if len(ranks) == 1 else 'ranks'} {_some(ranks)}"
    text = f"compute × {factor:g}" if factor != 1 else "compute as usual"
    return Happening(Kind.COMPUTE, time_ps, f"{name}: {text}", ranks=ranks, factor=factor)


def changed(
    event: LinkRate | LinkLoss, links: tuple[int, ...], network: Network, settings: Settings
) -> Iterator[Happening]:
    """Yield the begin and the end of the time in which links have another rate or loss."""

    def set_to(at: Time, holds: LinkRate | LinkLoss, links: Iterable[int]) -> Happening:
        if isinstance(holds, LinkRate):
            text, rate = f"{name} at {holds.bandwidth.written()}", int(holds.bandwidth)
            return Happening(Kind.LINK_RATE, int(at), text, tuple(links), rate)
        text = f"{name} loses {holds.loss:.6%} of the packets"
        return Happening(Kind.LINK_LOSS, int(at), text, tuple(links), loss=holds.loss)

    name = link_name(event)
    yield set_to(event.at, event, links)
    if event.until is None:
        return
    end = int(event.until)
    for holds, some in settings.after(event, links):
        if holds is not None:
            yield set_to(event.until, holds, some)
        elif isinstance(event, LinkRate):
            for rate, same in _alike(network.rate_bps, some):
                text = f"{name} at its usual rate"
                yield Happening(Kind.LINK_RATE, end, text, same, int(rate))
        else:
            loss = np.zeros(network.links) if network.loss is None else network.loss
            for usual, same in _alike(loss, some):
                yield Happening(Kind.LINK_LOSS, end, f"{name} as usual", same, loss=float(usual))


def _alike(values: NDArray[Any], links: list[int]) -> Iterator[tuple[Any, tuple[int, ...]]]:
    """Yield each value of some links, and the links that have it."""
    for value in np.unique(values[links]).tolist():
        yield value, tuple(link for link in links if values[link] == value)


def _some(ranks: tuple[int, ...]) -> str:
    shown = ", ".join(map(str, ranks[:8]))
    return shown if len(ranks) <= 8 else f"{shown} … ({len(ranks)} in all)"
