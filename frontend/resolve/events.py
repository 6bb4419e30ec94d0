"""Resolve the events of a scenario: names of nodes become links, and ends become events."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frontend.errors import RefusedError
from frontend.resolve.outages import KEYS, outages, rates_of
from frontend.scenario import Scenario
from frontend.schema.events import (
    Failures,
    HostDown,
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
from frontend.schema.quantities import Time
from topology_gen import Network
from topology_gen.networks.parts import HOST, none_of, parts_of


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
    jitter: float = 0.0
    spread: float = 0.0


def link_name(event: LinkEvent) -> str:
    """Return how people read the links of an event."""
    return f"{event.link[0]} {'→' if event.one_way else '–'} {event.link[1]}"


def check_ranks(given: tuple[int, ...], path: str, ranks: int) -> None:
    """Raise RefusedError unless all ranks exist."""
    if any(rank >= ranks for rank in given):
        raise RefusedError(path, f"expected ranks from 0 to {ranks - 1}")


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


def slowed_ranks(event: Straggler, ranks: int) -> tuple[int, ...]:
    """Return the ranks of an event, of which there are `ranks` in all."""
    return tuple(range(ranks)) if event.ranks is None else event.ranks


def slower(event: Straggler, ranks: tuple[int, ...], settings: Settings) -> Iterator[Happening]:
    """Yield the begin and the end of the time in which ranks compute slower."""
    yield _compute(int(event.at), ranks, event)
    if event.until is not None:
        for holds, some in settings.after(event, ranks):
            yield _compute(int(event.until), tuple(some), holds)


def _compute(time_ps: int, ranks: tuple[int, ...], holds: Straggler | None) -> Happening:
    name = f"{'rank' if len(ranks) == 1 else 'ranks'} {_some(ranks)}"
    factor, jitter, spread = (
        (holds.factor, holds.jitter, holds.spread) if holds else (1.0, 0.0, 0.0)
    )
    changes = [f"compute × {factor:g}"] if factor != 1 else []
    changes += [f"jitter {jitter:g}"] if jitter else []
    changes += [f"spread {spread:g}"] if spread else []
    text = ", ".join(changes) or "compute as usual"
    return Happening(
        Kind.COMPUTE, time_ps, f"{name}: {text}", ranks=ranks, factor=factor, jitter=jitter,
        spread=spread,
    )  # fmt: skip


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


def happenings(scenario: Scenario, network: Network) -> list[Happening]:
    """Return what happens to links and ranks, in the order of `events`.

    Raises
    ------
    RefusedError
        An event names a node, a link or a rank that does not exist.
    """
    finder = _Finder(network)
    settings = Settings()
    found: list[Happening] = []
    for number, event in enumerate(scenario.events):
        path = f"events.{number}"
        if isinstance(event, Straggler):
            ranks = slowed_ranks(event, network.ranks)
            check_ranks(ranks, f"{path}.ranks", network.ranks)
            settings.add(event, ranks)
        elif isinstance(event, LinkRate | LinkLoss):
            settings.add(event, finder.between(event, path))
    for number, event in enumerate(scenario.events):
        path = f"events.{number}"
        if isinstance(event, Straggler):
            found += slower(event, slowed_ranks(event, network.ranks), settings)
        elif isinstance(event, Failures):
            found += _random_failures(event, path, network, scenario.seed)
        elif isinstance(event, HostDown):
            continue  # it is an event of jobs
        elif isinstance(event, LinkRate | LinkLoss):
            found += changed(event, finder.between(event, path), network, settings)
        else:
            found += finder.failures(event, path)
    return found


def _random_failures(
    event: Failures, path: str, network: Network, seed: int
) -> Iterator[Happening]:
    """Yield the failures and repairs of links; those of hosts are events of jobs."""
    for kind, rates in rates_of(event):
        if kind == HOST:
            continue
        own = f"{path}.{KEYS[kind]}"
        check_ranks(rates.ranks or (), f"{own}.ranks", network.ranks)
        parts = parts_of(network, kind)
        if not parts:
            raise RefusedError(own, none_of(kind))
        for part, (at, until) in outages(parts, rates, seed, own):
            yield from _down_and_up(at, until, part.links, part.name)


def is_link_event(event: object) -> bool:
    """Return whether an event changes links."""
    if isinstance(event, Failures):
        return event.breaks_links
    return isinstance(event, LinkEvent | SwitchDown)


class _Finder:
    """Finds the nodes and links of a network by their names."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self.node = {name: number for number, name in enumerate(network.node_names)}
        self.node |= {
            str(rank): rank for rank in range(network.ranks) if str(rank) not in self.node
        }

    def failures(self, event: Any, path: str) -> Iterator[Happening]:
        """Yield what happens to the links that an event takes down."""
        at = int(event.at)
        until = None if event.until is None else int(event.until)
        if isinstance(event, SwitchDown):
            links = self._links_of(event.switch, f"{path}.switch")
            yield from _down_and_up(at, until, links, f"switch {event.switch}")
        elif isinstance(event, LinkDown):
            yield from _down_and_up(at, until, self.between(event, path), link_name(event))
        elif isinstance(event, LinkFlap):
            links = self.between(event, path)
            for number in range(event.times):
                begin = at + number * event.period
                if until is None or begin < until:
                    yield from _down_and_up(begin, begin + event.down, links, link_name(event))

    def _find(self, name: str, path: str) -> int:
        if name not in self.node:
            names = self.network.node_names
            examples = [*names[:2], *names[self.network.ranks :][:3], *names[-1:]]
            some = ", ".join(dict.fromkeys(examples))
            raise RefusedError(path, f"expected the name of a node, such as {some}; or a rank")
        return self.node[name]

    def between(self, event: LinkEvent, path: str) -> tuple[int, ...]:
        """Return the links of an event; raise RefusedError if there are none."""
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


MOST_PAIRS = 2**20
"""Greatest number of pairs of ranks between which background traffic is sent."""


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


def _traffic(event: Traffic, path: str, ranks: int) -> Messages:
    everyone = tuple(range(ranks))
    sources, targets = event.sources or everyone, event.targets or everyone
    check_ranks(sources, f"{path}.sources", ranks)
    check_ranks(targets, f"{path}.targets", ranks)
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
    check_ranks((event.target,), f"{path}.target", ranks)
    check_ranks(event.sources, f"{path}.sources", ranks)
    if event.target in event.sources:
        raise RefusedError(f"{path}.sources", f"expected ranks other than {event.target}")
    pairs = tuple((source, event.target) for source in event.sources)
    text = f"incast of {len(pairs)} × {event.bytes.written()} to rank {event.target}"
    if event.period is None:  # a single burst: the next one would be after the end
        single = event.model_copy(update={"until": int(event.at) + 1})
        return _messages(single, text, pairs, 2, ((event.bytes, 1.0),), burst=True)
    text += f" every {event.period.written()}"
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
