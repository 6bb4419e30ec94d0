"""The plan of a scenario: that of its workload, or those of its jobs together."""

from __future__ import annotations

from functools import partial

from frontend.errors import ScenarioError
from frontend.resolve.placement import Ranks, placements
from frontend.scenario import Scenario
from frontend.scenario.work import Job, Work
from frontend.topologies import Layout
from frontend.topologies.registry import LinkChanges
from frontend.workloads.composition import Composition, Placed, Start
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


def plan(scenario: Scenario, layout: Layout) -> Plan:
    """Return the work of all ranks.

    Raises
    ------
    ScenarioError
        If a workload cannot be simulated.
    """
    if not scenario.jobs:
        work = scenario.work[0]
        return work.kind.plan(work.workload, layout, work.collective)
    members = placements(scenario, layout.ranks, layout)
    waits = any(job.arrival or _times(job) > 1 for job in scenario.jobs)
    whole = Composition(layout, (WAITS,) if waits else ())
    for number, work in enumerate(scenario.work):
        job = scenario.jobs[number]
        own = _own_plan(work, layout, members[number])
        first = whole.add_layers(job.name, own)
        placed = Placed(job.name, own, members[number], first, demand=number, times=_times(job))
        whole.add(placed, partial(_start, job))
    return whole.plan()


def _times(job: Job) -> int:
    """Return how often a job does what its plan says."""
    trains = "iterations" in type(job.workload).model_fields
    return 1 if trains or job.iterations is None else job.iterations


def _start(job: Job, ranks: Ranks, size: int) -> Start:
    """Return the timer until a job arrives."""
    if not job.arrival:
        return Start((), None)
    return Start([Node(f"{job.name}.arrival", NodeType.TIMER, 0, 0, job.arrival)], size)


def _own_plan(work: Work, layout: Layout, members: Ranks) -> Plan:
    try:
        return work.kind.plan(work.workload, _OfJob(layout, len(members)), work.collective)
    except ScenarioError as error:
        raise ScenarioError([work.path(sentence) for sentence in error.problems]) from None
