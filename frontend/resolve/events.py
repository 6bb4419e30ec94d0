"""Resolve the events of a scenario: names of nodes become links, and ends become events."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np

from frontend.errors import RefusedError
from frontend.scenario import Scenario
from frontend.schema.events import (
    Incast,
    LinkDown,
    LinkEvent,
    LinkFlap,
    LinkLoss,
    LinkRate,
    Straggler,
    SwitchDown,
    Traffic,
)
from topology_gen import Network

MOST_PAIRS = 2**20
"""Greatest number of pairs of ranks between which background traffic is sent."""


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


@dataclass(frozen=True)
class Messages:
    """Background traffic between pairs of ranks; `sizes` are cumulative."""

    text: str
    begin_ps: int
    end_ps: int
    pairs: tuple[tuple[int, int], ...]
    interval_ps: int
    burst: bool
    sizes: tuple[tuple[int, float], ...]


def happenings(scenario: Scenario, network: Network) -> list[Happening]:
    """Return what happens to links and ranks, in the order of `events`.

    Raises
    ------
    RefusedError
        An event names a node, a link or a rank that does not exist.
    """
    finder = _Finder(network)
    found: list[Happening] = []
    for number, event in enumerate(scenario.events):
        found += finder.happenings(event, f"events.{number}")
    return found


def background(scenario: Scenario, ranks: int) -> list[Messages]:
    """Return the background traffic; raise RefusedError if a rank does not exist."""
    found = []
    for number, event in enumerate(scenario.events):
        path = f"events.{number}"
        if isinstance(event, Traffic):
            found.append(_traffic(event, path, ranks))
        elif isinstance(event, Incast):
            found.append(_incast(event, path, ranks))
    return found


def is_link_event(event: object) -> bool:
    """Return whether an event changes links."""
    return isinstance(event, LinkEvent | SwitchDown)


class _Finder:
    """Finds the nodes and links of a network by their names."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self.node = {name: number for number, name in enumerate(network.node_names)}
        self.node |= {
            str(rank): rank for rank in range(network.ranks) if str(rank) not in self.node
        }

    def happenings(self, event: Any, path: str) -> Iterator[Happening]:
        at = int(event.at)
        if isinstance(event, Straggler):
            _check_ranks(event.ranks, f"{path}.ranks", self.network.ranks)
            text = f"{'rank' if len(event.ranks) == 1 else 'ranks'} {_some(event.ranks)}"
            yield Happening(
                Kind.COMPUTE,
                at,
                f"{text}: compute × {event.factor:g}",
                ranks=event.ranks,
                factor=event.factor,
            )
            if event.until is not None:
                usual = f"{text}: compute as usual"
                yield Happening(Kind.COMPUTE, int(event.until), usual, ranks=event.ranks)
        elif isinstance(event, SwitchDown):
            links = self._links_of(event.switch, f"{path}.switch")
            yield from _down_and_up(at, event.until, links, f"switch {event.switch}")
        elif isinstance(event, LinkEvent):
            yield from self._link(event, path, at)

    def _link(self, event: LinkEvent, path: str, at: int) -> Iterator[Happening]:
        links = self._between(event, path)
        name = f"{event.link[0]} {'→' if event.one_way else '–'} {event.link[1]}"
        until = None if event.until is None else int(event.until)
        if isinstance(event, LinkDown):
            yield from _down_and_up(at, until, links, name)
        elif isinstance(event, LinkFlap):
            for number in range(event.times):
                begin = at + number * event.period
                if until is None or begin < until:
                    yield from _down_and_up(begin, begin + event.down, links, name)
        elif isinstance(event, LinkRate):
            rate = str(event.bandwidth.written())
            yield Happening(Kind.LINK_RATE, at, f"{name} at {rate}", links, int(event.bandwidth))
            if until is not None:
                for usual in np.unique(self.network.rate_bps[list(links)]).tolist():
                    same = tuple(link for link in links if self.network.rate_bps[link] == usual)
                    yield Happening(Kind.LINK_RATE, until, f"{name} at its usual rate", same, usual)
        elif isinstance(event, LinkLoss):
            text = f"{name} loses {event.loss:.6%} of the packets"
            yield Happening(Kind.LINK_LOSS, at, text, links, loss=event.loss)
            if until is not None:
                before = self.network.loss
                usual = 0.0 if before is None else float(before[links[0]])
                yield Happening(Kind.LINK_LOSS, until, f"{name} as usual", links, loss=usual)

    def _find(self, name: str, path: str) -> int:
        if name not in self.node:
            names = self.network.node_names
            examples = [*names[:2], *names[self.network.ranks :][:3], *names[-1:]]
            some = ", ".join(dict.fromkeys(examples))
            raise RefusedError(path, f"expected the name of a node, such as {some}; or a rank")
        return self.node[name]

    def _between(self, event: LinkEvent, path: str) -> tuple[int, ...]:
        first, second = (self._find(end, f"{path}.link") for end in event.link)
        source, target = self.network.source, self.network.target
        between = (source == first) & (target == second)
        if not event.one_way:
            between |= (source == second) & (target == first)
        links = tuple(np.flatnonzero(between).tolist())
        if not links:
            names = self.network.node_names
            near = [names[n] for n in np.unique(target[source == first])[:4].tolist()]
            raise RefusedError(
                f"{path}.link",
                f"expected two nodes with a link between them; {event.link[0]} has links to "
                f"{', '.join(near)}",
            )
        return links

    def _links_of(self, name: str, path: str) -> tuple[int, ...]:
        node = self._find(name, path)
        if node < self.network.ranks:
            raise RefusedError(path, "expected a switch, not a rank")
        ends = (self.network.source == node) | (self.network.target == node)
        return tuple(np.flatnonzero(ends).tolist())


def _down_and_up(
    at: int, until: int | None, links: tuple[int, ...], name: str
) -> Iterator[Happening]:
    yield Happening(Kind.LINK_DOWN, at, f"{name} down", links)
    if until is not None:
        yield Happening(Kind.LINK_UP, int(until), f"{name} up", links)


def _some(ranks: tuple[int, ...]) -> str:
    shown = ", ".join(map(str, ranks[:8]))
    return shown if len(ranks) <= 8 else f"{shown} … ({len(ranks)} in all)"


def _check_ranks(given: tuple[int, ...], path: str, ranks: int) -> None:
    if any(rank >= ranks for rank in given):
        raise RefusedError(path, f"expected ranks from 0 to {ranks - 1}")


def _traffic(event: Traffic, path: str, ranks: int) -> Messages:
    everyone = tuple(range(ranks))
    sources, targets = event.sources or everyone, event.targets or everyone
    _check_ranks(sources, f"{path}.sources", ranks)
    _check_ranks(targets, f"{path}.targets", ranks)
    if len(sources) * len(targets) > MOST_PAIRS:
        raise RefusedError(f"{path}.sources", f"expected at most {MOST_PAIRS} pairs of ranks")
    pairs = tuple((one, other) for one in sources for other in targets if one != other)
    if not pairs:
        raise RefusedError(f"{path}.targets", "expected a rank that is not the only source")
    parts = [part for _, part in event.sizes]
    if parts != sorted(parts) or parts[-1] != 1:
        raise RefusedError(f"{path}.sizes", "expected parts that rise to 1, such as [[10KB, 1]]")
    before = [0.0, *parts[:-1]]
    mean = sum(size * (part - less) for (size, part), less in zip(event.sizes, before, strict=True))
    interval = max(1, round(mean * 8 * 10**12 / event.load))
    text = f"background traffic of {event.load.written()}"
    return _messages(event, text, pairs, interval, event.sizes)


def _incast(event: Incast, path: str, ranks: int) -> Messages:
    _check_ranks((event.target,), f"{path}.target", ranks)
    _check_ranks(event.sources, f"{path}.sources", ranks)
    if event.target in event.sources:
        raise RefusedError(f"{path}.sources", f"expected ranks other than {event.target}")
    pairs = tuple((source, event.target) for source in event.sources)
    text = f"incast to rank {event.target}"
    if event.period is None:  # a single burst: the next one would be after the end
        single = event.model_copy(update={"until": int(event.at) + 1})
        return _messages(single, text, pairs, 2, ((event.bytes, 1.0),), burst=True)
    return _messages(event, text, pairs, int(event.period), ((event.bytes, 1.0),), burst=True)


def _messages(
    event: Traffic | Incast,
    text: str,
    pairs: tuple[tuple[int, int], ...],
    interval: int,
    sizes: tuple[tuple[int, float], ...],
    burst: bool = False,
) -> Messages:
    end = 0 if event.until is None else int(event.until)
    return Messages(text, int(event.at), end, pairs, interval, burst, sizes)
