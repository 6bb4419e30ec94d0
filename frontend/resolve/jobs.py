"""The plan of a scenario: that of its workload, or those of its jobs together."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from frontend.errors import ScenarioError
from frontend.resolve.failures import name_of
from frontend.resolve.placement import Ranks
from frontend.resolve.turns import ROUTES_OF_TURN, Turn, iterations, places, times
from frontend.scenario import Scenario
from frontend.scenario.work import Job, Work, work_of_job
from frontend.topologies import Layout
from frontend.topologies.registry import LinkChanges, Provisioning
from frontend.transports import PROTOCOLS
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
    for number, (turn, place) in enumerate(zip(order, places(order), strict=True), 1):
        work = works[turn.job]
        assert work.job is not None
        if turn.attempt or turn.begin > work.job.arrival:
            work = _attempt(work, turn)
        assert work.job is not None
        own, first = plans.of(work, len(turn.members))
        placed = Placed(
            work.job.name,
            own,
            turn.members,
            first,
            turn.job,
            turn=place,
            times=times(work.job),
        )
        restore = _Restore(number, work.job, turn.members, place)
        if starts is None:
            whole.add(placed, partial(_start, work.job, restore))
            restore.send(whole, _arrival(work.job, f"{work.job.name}.arrival"))
        else:
            starts.add(placed, work.job, turn, restore)
    return whole.plan()


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


def rank_classes(scenario: Scenario, ranks: int, order: Sequence[Turn]) -> list[int]:
    """Return the traffic class of the data of each rank; nothing if no job has a class.

    A rank without a job, or whose job has no class, has that of the transport.
    """
    if not scenario.has_classes:
        return []
    found = [PROTOCOLS[scenario.transport.protocol].data_class] * ranks
    works = scenario.work
    for turn in order:
        job = works[turn.job].job
        if job is not None and job.traffic_class is not None:
            for rank in turn.members:
                found[rank] = job.traffic_class
    return found


def _waits(job: Job) -> bool:
    return bool(job.arrival) or times(job) > 1 or job.restore is not None


def _arrival(job: Job, name: str) -> list[Node]:
    """Return the timer until a job arrives, if it does not arrive at the begin."""
    return [Node(name, NodeType.TIMER, 0, 0, job.arrival)] if job.arrival else []


def _start(job: Job, restore: _Restore, ranks: Ranks, size: int) -> Start:
    """Return the timer until a job arrives, and what it reads before it begins."""
    return restore.after(_arrival(job, f"{job.name}.arrival"), size)


class _Restore:
    """The checkpoint that a job reads: the messages of its ranks, and those of the storage.

    Parameters
    ----------
    number : int
        Number of the job in the composition, from 1.
    job : Job
        The job.
    members : tuple of int
        Its ranks.
    turn : int
        Its place among the jobs on these ranks, from 0.
    """

    def __init__(self, number: int, job: Job, members: Ranks, turn: int) -> None:
        self._route = turn * ROUTES_OF_TURN
        self._number, self._name, self._members = number, f"{job.name}.restore", members
        self._storage = () if job.restore is None else job.restore.storage
        total = 0 if job.restore is None else int(job.restore.bytes)
        self._bytes = -(-total // max(1, len(members) * len(self._storage)))

    def after(self, timers: Sequence[Node], size: int) -> Start:
        """Return what comes before the job on its ranks: timers, and then the messages."""
        first = size + len(timers)
        before = (first - 1,) if timers else ()
        if not self._storage:
            return Start(timers, *(before or (None,)))
        reads = [
            self._message(NodeType.RECV, rank, before)._replace(job=self._number)
            for rank in self._storage
        ]
        done = first + len(reads)
        end = Node(
            self._name,
            NodeType.TIMER,
            layer=0,
            iteration=0,
            dependencies=tuple(range(first, done)),
            job=self._number,
        )
        return Start([*timers, *reads, end], done)

    def send(self, whole: Composition, timers: Sequence[Node]) -> None:
        """Let the storage send the messages after timers, each rank of it to another one first."""
        for place, rank in enumerate(self._storage):
            before = (whole.append((rank,), *timers),) if timers else ()
            first = place % len(self._members)
            targets = (*self._members[first:], *self._members[:first])
            sends = [self._message(NodeType.SEND, one, before) for one in targets]
            whole.append((rank,), *sends)

    def _message(self, kind: NodeType, peer: int, before: tuple[int, ...]) -> Node:
        return Node(
            self._name,
            kind,
            layer=0,
            iteration=0,
            dependencies=before,
            peer=peer,
            bytes=self._bytes,
            tag=self._number,
            route=self._route if kind is NodeType.SEND else 0,
        )


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

    def add(self, placed: Placed, job: Job, turn: Turn, restore: _Restore) -> None:
        """Add a job that starts on its turn, and what it reads before it begins."""
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
        restore.send(self._whole, [start])
        for ranks, done in last.items():
            timer = Node(f"{name}_end", NodeType.TIMER, 0, 0, dependencies=done, tag=tag + 1)
            self._ends |= dict.fromkeys(ranks, self._whole.append(ranks, timer))
        self._places[turn.job] = placed.members, self._ends[placed.members[0]]

    def _start_of(self, name: str, job: Job, start: Node, restore: _Restore) -> StartOf:
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
        return work.kind.plan(work.workload, _OfJob(layout, ranks), work.collective)
    except ScenarioError as error:
        raise ScenarioError([work.path(sentence) for sentence in error.problems]) from None
