"""Resolve the events of a scenario: names of nodes become links, and ends become events."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from frontend.errors import RefusedError
from frontend.resolve.event_settings import Settings, changed, slower
from frontend.resolve.happening import Happening, Kind, check_ranks, link_name
from frontend.scenario import Scenario
from frontend.schema.events import (
    LinkDown,
    LinkEvent,
    LinkFlap,
    LinkLoss,
    LinkRate,
    Straggler,
    SwitchDown,
)
from topology_gen import Network


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
            check_ranks(event.ranks, f"{path}.ranks", network.ranks)
            settings.add(event, event.ranks)
        elif isinstance(event, LinkRate | LinkLoss):
            settings.add(event, finder.between(event, path))
    for number, event in enumerate(scenario.events):
        path = f"events.{number}"
        if isinstance(event, Straggler):
            found += slower(event, settings)
        elif isinstance(event, LinkRate | LinkLoss):
            found += changed(event, finder.between(event, path), network, settings)
        else:
            found += finder.failures(event, path)
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
