"""When hosts are down, and how the jobs on them go on.

A failure ends what a job runs. Its next attempt begins when its ranks are up again, with the
iterations since its last checkpoint. How many iterations it had done, only a simulation tells, so
`restarts` takes what one told.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from frontend.resolve.events import check_ranks
from frontend.resolve.queueing import Turn
from frontend.scenario import Scenario
from frontend.scenario.work import Job
from frontend.schema.events import HostDown, HostFailures
from frontend.topologies import Layout


class Down(NamedTuple):
    """Ranks whose host is down for some time [ps]."""

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


FAILING = ("host_down", "host_failures")
"""The events of which jobs fail."""


def fails(scenario: Scenario) -> bool:
    """Tell whether hosts fail."""
    return any(isinstance(event, HostDown | HostFailures) for event in scenario.events)


def downs(scenario: Scenario, layout: Layout) -> list[Down]:
    """Return when hosts are down, sorted; raise RefusedError if a rank does not exist."""
    found: list[Down] = []
    for number, event in enumerate(scenario.events):
        if not isinstance(event, HostDown | HostFailures):
            continue
        check_ranks(event.ranks or (), f"events.{number}.ranks", layout.ranks)
        if isinstance(event, HostDown):
            found.append(Down(int(event.at), int(event.until or 0), frozenset(event.ranks)))
        else:
            found += _random_downs(event, scenario.seed, layout)
    return sorted(found, key=lambda down: (down.at, down.until, sorted(down.ranks)))


def _random_downs(event: HostFailures, seed: int, layout: Layout) -> Iterator[Down]:
    size, wanted = layout.super_node or 1, set(event.ranks or range(layout.ranks))
    for number, first in enumerate(range(0, layout.ranks, size)):
        ranks = frozenset(range(first, min(layout.ranks, first + size)))
        if wanted.isdisjoint(ranks):
            continue
        draw, time = random.Random(f"host {seed} {number}"), int(event.at)
        while True:
            time += max(1, round(draw.expovariate(1 / event.mtbf)))
            if time >= (event.until or 0):
                break
            yield Down(time, time + int(event.repair), ranks)
            time += int(event.repair)


def restarts(
    scenario: Scenario, order: Sequence[Turn], hosts: Sequence[Down], ends: Ends
) -> dict[str, tuple[Restart, ...]]:
    """Return the failures of all jobs that follow from the iterations of their attempts.

    Parameters
    ----------
    scenario : Scenario
        The scenario.
    order : sequence of Turn
        The first attempts of the jobs.
    hosts : sequence of Down
        When hosts are down, sorted.
    ends : mapping
        What a simulation tells. The failures of a job are known up to the first attempt that is
        not in it.
    """
    found = {}
    for turn in order:
        job = scenario.work[turn.job].job
        assert job is not None
        own = [down for down in hosts if not down.ranks.isdisjoint(turn.members)]
        if own and (failed := tuple(_of_job(job, own, ends.get(job.name, ())))):
            found[job.name] = failed
    return found


def _of_job(job: Job, hosts: Sequence[Down], ends: Sequence[Sequence[int]]) -> Iterator[Restart]:
    first, up, begin = 0, int(job.arrival), int(job.arrival)
    recovery = job.recovery
    for iterations in ends:
        end = max(iterations, default=begin)
        down = next((one for one in hosts if one.until > up and one.at <= end), None)
        if down is None:
            return
        failed = max(down.at, up)
        if recovery.interval is not None:
            done = first + sum(time < failed for time in iterations)
            first = max(first, done - done % recovery.interval)
        up = down.until
        for other in hosts:
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
