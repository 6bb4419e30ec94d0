"""When hosts of jobs are down, and when their ranks are cut off from each other for too long."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from frontend.resolve.events import Happening, Kind, check_ranks, happenings, is_link_event
from frontend.resolve.outages import KEYS, outages, rates_of
from frontend.resolve.placement import Ranks
from frontend.scenario import Scenario
from frontend.scenario.work import Job
from frontend.schema.events import Failures, HostDown
from frontend.topologies import Layout
from topology_gen import Network
from topology_gen.networks.parts import HOST, hosts
from topology_gen.networks.survivors import reach


class Down(NamedTuple):
    """Ranks whose host is down for some time, or that are cut off from each other [ps]."""

    at: int
    until: int
    ranks: frozenset[int]


def fails(scenario: Scenario) -> bool:
    """Tell whether jobs can fail: their hosts do, or links without which they do."""
    return any(_hosts_fail(event) for event in scenario.events) or _breaks(scenario)


def _hosts_fail(event: object) -> bool:
    return isinstance(event, HostDown) or (isinstance(event, Failures) and event.hosts is not None)


def _breaks(scenario: Scenario) -> bool:
    return any(job.recovery.timeout is not None for job in scenario.jobs) and any(
        is_link_event(event) for event in scenario.events
    )


def downs(scenario: Scenario, layout: Layout) -> list[Down]:
    """Return when hosts are down, sorted; raise RefusedError if a rank does not exist."""
    found: list[Down] = []
    for number, event in enumerate(scenario.events):
        path = f"events.{number}"
        if isinstance(event, HostDown):
            check_ranks(event.ranks, f"{path}.ranks", layout.ranks)
            found.append(Down(int(event.at), int(event.until), frozenset(event.ranks)))
        elif isinstance(event, Failures) and event.hosts is not None:
            path = f"{path}.{KEYS[HOST]}"
            rates = dict(rates_of(event))[HOST]
            check_ranks(rates.ranks or (), f"{path}.ranks", layout.ranks)
            parts = hosts(layout.ranks, layout.super_node or 1)
            found += [
                Down(at, until, frozenset(part.ranks))
                for part, (at, until) in outages(parts, rates, scenario.seed, path)
            ]
    return sorted(found, key=lambda down: (down.at, down.until, sorted(down.ranks)))


class Cuts:
    """When ranks of jobs are cut off from each other for longer than their `recovery.timeout`.

    It is true if that can happen.

    Parameters
    ----------
    scenario : Scenario
        The scenario.
    layout : Layout
        The layout of its topology.
    """

    def __init__(self, scenario: Scenario, layout: Layout) -> None:
        self._timeouts: list[int | None] = []
        self._changes: list[tuple[int, frozenset[int]]] = []
        self._network: Network | None = None
        self._found: dict[tuple[int, Ranks], list[Down]] = {}
        if _breaks(scenario):
            jobs = [work.job for work in scenario.work]
            given = [None if job is None else job.recovery.timeout for job in jobs]
            self._timeouts = [None if one is None else int(one) for one in given]
            self._network = layout.network(0)
            self._changes = list(_links_down(happenings(scenario, self._network)))

    def __bool__(self) -> bool:
        return bool(self._changes)

    def at(self, job: int, members: Ranks, time: int) -> Down | None:
        """Return the cut of a job with some ranks that lasts at a time, from its timeout on."""
        cuts = self._of(job, members)
        return next((one for one in cuts if one.at <= time < one.until), None)

    def after(self, job: int, members: Ranks, time: int) -> Down | None:
        """Return the first cut that a job with some ranks notices after a time."""
        return next((one for one in self._of(job, members) if one.at > time), None)

    def _of(self, job: int, members: Ranks) -> list[Down]:
        timeout = self._timeouts[job] if self._timeouts else None
        if timeout is None:
            return []
        if (job, members) not in self._found:
            self._found[job, members] = list(self._cuts(timeout, members))
        return self._found[job, members]

    def _cuts(self, timeout: int, members: Ranks) -> Iterator[Down]:
        network = self._network
        assert network is not None
        usual = reach(network, (), members)
        begin = None
        for time, down in self._changes:
            if (usual & ~reach(network, down, members)).any():
                begin = time if begin is None else begin
            elif begin is not None:
                if begin + timeout < time:
                    yield Down(begin + timeout, time, frozenset(members))
                begin = None


def _links_down(changes: Sequence[Happening]) -> Iterator[tuple[int, frozenset[int]]]:
    """Yield the links that are down from each time on at which some fail or return."""
    count = Counter[int]()
    fails = [one for one in changes if one.kind in (Kind.LINK_DOWN, Kind.LINK_UP)]
    for time, some in groupby(sorted(fails, key=lambda one: one.time_ps), lambda one: one.time_ps):
        for one in some:
            (count.update if one.kind == Kind.LINK_DOWN else count.subtract)(one.links)
        yield time, frozenset(link for link, times in count.items() if times > 0)


def name_of(job: Job, attempt: int) -> str:
    """Return the name of an attempt in the stream."""
    return f"{job.name}.{attempt}" if attempt else job.name


def checkpoints_of(name: str) -> str:
    """Return the name of what an attempt writes while it goes on, as a job of the stream."""
    return f"{name}.checkpoint"
