"""The ranks of each job: those that the scenario lists, or that a policy chooses."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from frontend.errors import RefusedError
from frontend.placements import PLACEMENTS, Cluster, Request, UnsuitableError
from frontend.rank_orders import along_network
from frontend.scenario import Scenario
from frontend.scenario.work import Work, job_of
from frontend.topologies import TOPOLOGIES, Layout

Ranks = tuple[int, ...]


def placements(scenario: Scenario, ranks: int, layout: Layout | None) -> list[Ranks]:
    """Return the ranks of each job; one tuple with all ranks if the scenario has no jobs.

    Lists come first. The other jobs then choose among the ranks that are left, one after another.
    If jobs take turns, and too few ranks are left, each has those of an earlier one.

    Parameters
    ----------
    scenario : Scenario
        The scenario.
    ranks : int
        Number of ranks of the topology.
    layout : Layout, optional
        The topology. None if its links depend on the jobs.

    Raises
    ------
    RefusedError
        If the jobs do not fit, or a policy does not apply to the topology.
    """
    if not scenario.jobs:
        return [tuple(range(ranks))]
    if scenario.queueing == "in_turn":
        return _in_turn(scenario, ranks, layout)
    jobs = scenario.work
    found: dict[int, Ranks] = {}
    owner = dict.fromkeys(scenario.storage, "storage")
    chooser = Chooser(scenario, layout)
    listed = [
        number for number, work in enumerate(jobs) if isinstance(job_of(work).placement, tuple)
    ]
    others = sorted(set(range(len(jobs))) - set(listed))
    for number in (*listed, *others):
        free = [rank for rank in range(ranks) if rank not in owner]
        check_size(jobs[number], ranks, len(free), len(scenario.storage))
        members = chooser.choose(number, jobs[number], free)
        _check_owner(jobs[number], members, owner)
        found[number] = members
        owner |= dict.fromkeys(members, f"of job {job_of(jobs[number]).name}")
    return [found[number] for number in range(len(jobs))]


def by_arrival(scenario: Scenario) -> list[int]:
    """Return the numbers of all jobs in the order in which they arrive."""
    jobs = scenario.work
    return sorted(range(len(jobs)), key=lambda number: int(job_of(jobs[number]).arrival))


def _in_turn(scenario: Scenario, ranks: int, layout: Layout | None) -> list[Ranks]:
    jobs, chooser = scenario.work, Chooser(scenario, layout)
    free = [rank for rank in range(ranks) if rank not in scenario.storage]
    first = scenario.jobs[0]
    for work in sorted(jobs, key=lambda work: work.entry):
        if isinstance(job_of(work).placement, tuple):
            expected = "expected a name, because jobs take turns on ranks that are free"
            raise RefusedError(f"{work.prefix}placement", expected)
        check_size(work, ranks, len(free), len(scenario.storage))
        if job_of(work).ranks != first.ranks:
            expected = f"expected {first.ranks}, as job {first.name} has, because jobs take turns"
            raise RefusedError(f"{work.prefix}ranks", expected)
    found: dict[int, Ranks] = {}
    order = by_arrival(scenario)
    parts = len(free) // (first.ranks or 1)
    for place, number in enumerate(order):
        own = sorted(found[order[place - parts]]) if place >= parts else free
        found[number] = chooser.choose(number, jobs[number], own)
        if place < parts:
            free = [rank for rank in free if rank not in found[number]]
    return [found[number] for number in range(len(jobs))]


def _check_owner(work: Work, members: Ranks, owner: Mapping[int, str]) -> None:
    for rank in members:
        if rank in owner:
            raise RefusedError(
                f"{work.prefix}placement",
                f"expected ranks that no other job has: rank {rank} is {owner[rank]}",
            )


def check_size(work: Work, ranks: int, free: int, storage: int = 0) -> None:
    """Raise RefusedError if a job names ranks that do not exist, or more than are free.

    Some of those that are not free may be storage.
    """
    job, path = job_of(work), work.prefix.removesuffix(".")
    if isinstance(job.placement, tuple):
        count = len(job.placement)
        if job.ranks is not None and job.ranks != count:
            raise RefusedError(f"{path}.ranks", f"expected {count}, as many as placement lists")
        if max(job.placement) >= ranks:
            raise RefusedError(f"{path}.placement", f"expected ranks from 0 to {ranks - 1}")
        return
    if job.ranks is None:
        expected = f"expected a number of ranks, because placement is {job.placement}"
        raise RefusedError(f"{path}.ranks", expected)
    if job.ranks > free:
        others = "other jobs and storage" if storage else "other jobs"
        taken = f", and {others} have {ranks - free}" if free < ranks else ""
        raise RefusedError(
            f"{path}.ranks", f"expected at most {free}: the topology has {ranks} ranks{taken}"
        )


class Chooser:
    """Chooses ranks for jobs among those that are free.

    Parameters
    ----------
    scenario, layout
        As for `placements`.
    """

    def __init__(self, scenario: Scenario, layout: Layout | None) -> None:
        family = TOPOLOGIES[scenario.topology.family]
        self._seed = scenario.seed
        self._cluster = Cluster(None if family.optimised else layout, family.label)

    def choose(self, number: int, work: Work, free: Sequence[int]) -> Ranks:
        """Return the ranks of a job, of which enough are free.

        Parameters
        ----------
        number : int
            Number of the job; with the seed, it decides what is random.
        work : Work
            The job.
        free : sequence of int
            The free ranks, in ascending order.

        Raises
        ------
        RefusedError
            If its policy does not suit the topology.
        """
        members = self._chosen(number, work, free)
        if job_of(work).rank_order == "placed":
            return members
        try:
            return along_network(self._cluster.network, members)
        except UnsuitableError as error:
            raise RefusedError(
                f"{work.prefix}rank_order", f"expected placed, because {error}"
            ) from None

    def _chosen(self, number: int, work: Work, free: Sequence[int]) -> Ranks:
        job = job_of(work)
        if isinstance(job.placement, tuple):
            return job.placement
        draw = random.Random(f"{self._seed} {number}")
        request = Request(job.ranks or 0, tuple(free), self._cluster, draw)
        return PLACEMENTS[job.placement].ranks(f"{work.prefix}placement", request)
