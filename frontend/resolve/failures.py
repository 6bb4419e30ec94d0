"""When jobs fail, and how they go on.

A job fails with a host of it, or when its ranks are cut off from each other for too long. A failure
ends what the job runs. Its next attempt begins when its ranks are up again, with the iterations
since its last checkpoint. How many iterations it had done, only a simulation tells, so `restarts`
takes what one told.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import groupby
from typing import NamedTuple

from frontend.resolve.events import Happening, Kind, check_ranks, happenings, is_link_event
from frontend.resolve.outages import KEYS, outages, rates_of
from frontend.resolve.queueing import Turn
from frontend.scenario import Scenario
from frontend.scenario.work import Job
from frontend.schema.events import Failures, HostDown
from frontend.topologies import Layout
from topology_gen.networks.parts import HOST, hosts
from topology_gen.networks.survivors import reach


class Down(NamedTuple):
    """Ranks whose host is down for some time, or that are cut off from each other [ps]."""

    at: int
    until: int
    ranks: frozenset[int]


class Restart(NamedTuple):
    """A failure of a job, and its next attempt."""

    failed: int
    """When the job failed [ps]."""
    begin: int
    """When the next attempt begins [ps]."""
    first: int
    """The iteration with which it begins."""


Restarts = Mapping[str, tuple[Restart, ...]]
"""The failures of each job that has some, by name."""

Ends = Mapping[str, Sequence[Sequence[int]]]
"""For each job, the ends of the iterations of its attempts, as far as a run has them [ps]."""


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


def _cuts(scenario: Scenario, layout: Layout, order: Sequence[Turn]) -> dict[int, list[Down]]:
    """Return when ranks of jobs are cut off from each other for too long, by the job's number."""
    works = scenario.work
    limits = {
        turn.job: (turn.members, job.recovery.timeout)
        for turn in order
        if (job := works[turn.job].job) is not None and job.recovery.timeout is not None
    }
    found: dict[int, list[Down]] = {number: [] for number in limits}
    if not limits or not _breaks(scenario):
        return found
    network = layout.network(0)
    usual = {number: reach(network, (), members) for number, (members, _) in limits.items()}

    @cache
    def is_cut(number: int, down: frozenset[int]) -> bool:
        return bool((usual[number] & ~reach(network, down, limits[number][0])).any())

    begins: dict[int, int] = {}
    for time, down in _links_down(happenings(scenario, network)):
        for number, (members, timeout) in limits.items():
            if is_cut(number, down):
                begins.setdefault(number, time)
            elif number in begins:
                at = begins.pop(number) + int(timeout)
                if at < time:
                    found[number].append(Down(at, time, frozenset(members)))
    return found


def _links_down(changes: Sequence[Happening]) -> Iterator[tuple[int, frozenset[int]]]:
    """Yield the links that are down from each time on at which some fail or return."""
    count = Counter[int]()
    fails = [one for one in changes if one.kind in (Kind.LINK_DOWN, Kind.LINK_UP)]
    for time, some in groupby(sorted(fails, key=lambda one: one.time_ps), lambda one: one.time_ps):
        for one in some:
            (count.update if one.kind == Kind.LINK_DOWN else count.subtract)(one.links)
        yield time, frozenset(link for link, times in count.items() if times > 0)


def restarts(
    scenario: Scenario, layout: Layout, order: Sequence[Turn], ends: Ends
) -> dict[str, tuple[Restart, ...]]:
    """Return the failures of all jobs that follow from the iterations of their attempts.

    Parameters
    ----------
    scenario : Scenario
        The scenario.
    layout : Layout
        The layout of its topology.
    order : sequence of Turn
        The first attempts of the jobs.
    ends : mapping
        What a simulation tells. The failures of a job are known up to the first attempt that is
        not in it.
    """
    found = {}
    down, cut = downs(scenario, layout), _cuts(scenario, layout, order)
    for turn in order:
        job = scenario.work[turn.job].job
        assert job is not None
        own = [one for one in down if not one.ranks.isdisjoint(turn.members)]
        own = sorted(own + cut.get(turn.job, []), key=lambda one: (one.at, one.until))
        if own and (failed := tuple(_of_job(job, own, ends.get(job.name, ())))):
            found[job.name] = failed
    return found


def _of_job(job: Job, downs: Sequence[Down], ends: Sequence[Sequence[int]]) -> Iterator[Restart]:
    first, up, begin = 0, int(job.arrival), int(job.arrival)
    recovery = job.recovery
    for iterations in ends:
        end = max(iterations, default=begin)
        down = next((one for one in downs if one.until > up and one.at <= end), None)
        if down is None:
            return
        failed = max(down.at, up)
        if recovery.interval is not None:
            done = first + sum(time < failed for time in iterations)
            first = max(first, done - done % recovery.interval)
        up = down.until
        for other in downs:
            if other.at <= up:
                up = max(up, other.until)
        begin = up + int(recovery.restart)
        yield Restart(failed, begin, first)


def attempts(scenario: Scenario, order: Sequence[Turn], failed: Restarts) -> list[Turn]:
    """Return the attempts of jobs in place of the jobs."""
    found = []
    for turn in order:
        job = scenario.work[turn.job].job
        found.append(turn)
        if job is not None:
            for number, restart in enumerate(failed.get(job.name, ()), 1):
                found.append(
                    turn._replace(attempt=number, begin=restart.begin, first=restart.first)
                )
    return found


def name_of(job: Job, attempt: int) -> str:
    """Return the name of an attempt in the stream."""
    return f"{job.name}.{attempt}" if attempt else job.name
