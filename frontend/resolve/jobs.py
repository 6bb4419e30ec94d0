"""The plan of a scenario: that of its workload, or those of its jobs together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from frontend.errors import RefusedError, ScenarioError
from frontend.resolve.checkpoints import Reads, Writes, writers
from frontend.resolve.failures import checkpoints_of, name_of
from frontend.resolve.placement import Ranks
from frontend.resolve.turns import ROUTES_OF_TURN, Turn, iterations, places, times
from frontend.scenario import Scenario
from frontend.scenario.work import Job, Work, work_of_job
from frontend.topologies import Layout
from frontend.topologies.registry import LinkChanges, Provisioning
from frontend.workloads.composition import Composition, Placed, Start, StartOf
from frontend.workloads.plan import Node, NodeType, Plan
from topology_gen import Network

WAITS = "jobs"
"""Layer of the timers of jobs."""


class _OfJob(Layout):
    """A topology as the plan of a job sees it: with the ranks of the job only."""

    def __init__(self, whole: Layout, ranks: int) -> None:
        self.ranks = ranks
        self._whole = whole

    def network(self, ecn_threshold_bytes: int) -> Network:
        """Return the whole network."""
        return self._whole.network(ecn_threshold_bytes)

    @property
    def paths(self) -> int:
        """Routes over which the messages between two ranks are spread."""
        return self._whole.paths

    @property
    def changes(self) -> LinkChanges | None:
        """Settings for links that change during the run."""
        return self._whole.changes


def plan(scenario: Scenario, layout: Layout, order: Sequence[Turn]) -> Plan:
    """Return the work of all ranks.

    Parameters
    ----------
    scenario : Scenario
        The scenario.
    layout : Layout
        The layout of its topology.
    order : sequence of Turn
        The jobs in the order in which they start.

    Raises
    ------
    ScenarioError
        If a workload cannot be simulated.
    """
    if not scenario.jobs:
        work = scenario.work[0]
        return work.kind.plan(work.workload, layout, work.collective)
    queues = scenario.queueing != "none" or layout.provisioning is not None
    works = scenario.work
    waits = (
        queues
        or any(_waits(work.job) for work in works if work.job is not None)
        or any(turn.begin for turn in order)
    )
    whole = Composition(layout, (WAITS,) if waits else (), ROUTES_OF_TURN)
    plans = _Plans(layout, whole)
    starts = _Queue(whole, layout.provisioning) if queues else None
    beside: list[str] = []
    turns = zip(order, places(order), writers(works, order), strict=True)
    for number, (turn, place, writer) in enumerate(turns, 1):
        work = works[turn.job]
        assert work.job is not None
        if turn.attempt or turn.begin > work.job.arrival:
            work = _attempt(work, turn)
        assert work.job is not None
        own, first = plans.of(work, len(turn.members))
        name, written = work.job.name, work.job.recovery.write
        reads = Reads(work.job.restore, number, f"{name}.restore", turn.members, place)
        own_writers = _writers(work, own, turn.members)
        writes = Writes(written, number, f"{name}.checkpoint", own_writers, place, writer)
        if writer != number:
            beside.append(checkpoints_of(name))
        placed = Placed(
            name,
            own,
            turn.members,
            first,
            turn.job,
            turn=place,
            times=times(work.job),
            every=0 if written is None else work.job.recovery.interval or 0,
            pause=writes.after,
        )
        if starts is None:
            whole.add(placed, partial(_start, work.job, reads))
            timers = _arrival(work.job, f"{name}.arrival")
        else:
            timers = [starts.add(placed, work.job, turn, reads)]
        reads.send(whole, timers)
        writes.receive(whole, timers)
    for name in beside:
        whole.name(name)
    return whole.plan()


def _writers(work: Work, plan: Plan, members: Ranks) -> Ranks:
    """Return the ranks of a job that write checkpoints: those that have something to do.

    Raises RefusedError if the job cannot pause to write them.
    """
    assert work.job is not None
    working: list[int] = []
    for ranks, nodes in plan.work(len(members)) if work.job.recovery.write is not None else ():
        if (np.diff(nodes.iteration.astype(np.int64)) < 0).any():
            expected = "expected no value, because its ranks do not do one iteration after another"
            raise RefusedError(f"{work.prefix}recovery.write", expected)
        working += ranks
    return tuple(members[rank] for rank in sorted(working))


def _attempt(work: Work, turn: Turn) -> Work:
    """Return a job as it begins in an attempt."""
    job = work.job
    assert job is not None
    begun = {
        "name": name_of(job, turn.attempt),
        "arrival": turn.begin if turn.after is None else job.arrival,
        "iterations": iterations(work) - turn.first,
        "restore": job.recovery.restore if turn.first else job.restore,
    }
    return work_of_job(work.entry, work.label, job.model_copy(update=begun))


def _waits(job: Job) -> bool:
    reads_or_writes = job.restore is not None or job.recovery.write is not None
    return bool(job.arrival) or times(job) > 1 or reads_or_writes


def _arrival(job: Job, name: str) -> list[Node]:
    """Return the timer until a job arrives, if it does not arrive at the begin."""
    return [Node(name, NodeType.TIMER, 0, 0, job.arrival)] if job.arrival else []


def _start(job: Job, restore: Reads, ranks: Ranks, size: int) -> Start:
    """Return the timer until a job arrives, and what it reads before it begins."""
    return restore.after(_arrival(job, f"{job.name}.arrival"), size)


class _Plans:
    """The plan of each entry of `jobs`, which all of its arrivals share."""

    def __init__(self, layout: Layout, whole: Composition) -> None:
        self._layout = layout
        self._whole = whole
        self._found: dict[tuple[str, int], tuple[Plan, int]] = {}
        self._layers: dict[str, int] = {}

    def of(self, work: Work, ranks: int) -> tuple[Plan, int]:
        """Return the plan of a job, and the index of its first layer in the composition."""
        key = work.prefix, iterations(work)
        if key not in self._found:
            own = own_plan(work, self._layout, ranks)
            if work.prefix not in self._layers:
                self._layers[work.prefix] = self._whole.add_layers(work.label, own)
            self._found[key] = own, self._layers[work.prefix]
        return self._found[key]


class _Queue:
    """Jobs that start when others have ended.

    A timer that all ranks of a job share ends it on all of them at the same time. Another one
    starts it. A rank of the job that has to end before shares that one, too. It takes as long as
    switches that link the ranks of the job first. With look-ahead, another timer begins with the
    job before.
    """

    def __init__(self, whole: Composition, provisioning: Provisioning | None) -> None:
        self._whole, self._provisioning = whole, provisioning
        self._begins: dict[int, int] = {}
        """For each rank, the node that starts the job that it had before."""
        self._tag = 1
        """That of the timer that starts the next job; the one that ends it has the next tag."""
        self._ends: dict[int, int] = {}
        """For each rank, the node that ends the job that it had before."""
        self._places: dict[int, tuple[Ranks, int]] = {}
        """For each job, its ranks, and the node that ends the job on the first of them."""

    def add(self, placed: Placed, job: Job, turn: Turn, restore: Reads) -> Node:
        """Add a job that starts on its turn and first reads a checkpoint; return what starts it."""
        name, tag = f"{WAITS}.{job.name}", self._tag
        self._tag += 2
        restarts = turn.attempt and turn.after is not None
        wait = int(job.recovery.restart) if restarts else 0
        if (given := self._provisioning) is not None:
            wait += int(given.switch if given.look_ahead else given.latency)
        start = Node(f"{name}_start", NodeType.TIMER, 0, 0, wait, tag=tag)
        if turn.after is not None:
            members, end = self._places[turn.after]
            if not set(members).intersection(turn.members):
                self._whole.append(members[:1], start._replace(dependencies=(end,)))
        last = self._whole.add(placed, self._start_of(name, job, start, restore))
        for ranks, done in last.items():
            timer = Node(f"{name}_end", NodeType.TIMER, 0, 0, dependencies=done, tag=tag + 1)
            self._ends |= dict.fromkeys(ranks, self._whole.append(ranks, timer))
        self._places[turn.job] = placed.members, self._ends[placed.members[0]]
        return start

    def _start_of(self, name: str, job: Job, start: Node, restore: Reads) -> StartOf:
        def start_on(ranks: Ranks, size: int) -> Start:
            before = (self._ends[ranks[0]],) if ranks[0] in self._ends else ()
            timers = [Node(f"{name}_arrival", NodeType.TIMER, 0, 0, job.arrival)]
            given = self._provisioning
            if given is not None and given.look_ahead:
                since = (self._begins[ranks[0]],) if ranks[0] in self._begins else ()
                look = Node(f"{name}_look_ahead", NodeType.TIMER, 0, 0, given.latency)
                timers.append(look._replace(dependencies=since))
            after = (*before, *range(size, size + len(timers)))
            self._begins |= dict.fromkeys(ranks, size + len(timers))
            return restore.after([*timers, start._replace(dependencies=after)], size)

        return start_on


def own_plan(work: Work, layout: Layout, ranks: int) -> Plan:
    """Return the plan of a job, in ranks of the job; raise ScenarioError if there is none."""
    try:
        plan = work.kind.plan(work.workload, _OfJob(layout, ranks), work.collective)
    except ScenarioError as error:
        raise ScenarioError([work.path(sentence) for sentence in error.problems]) from None
    if work.job is None or work.job.transport is None:
        return plan
    protocol = work.job.transport.protocol
    return replace(plan, issues=[issue._replace(protocol=protocol) for issue in plan.issues])
