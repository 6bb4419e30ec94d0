"""The ranks of each job: those that the scenario lists, or that a policy chooses."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from frontend.errors import RefusedError
from frontend.scenario import Scenario
from frontend.scenario.work import Job, Work
from frontend.topologies import TOPOLOGIES, Layout
from topology_gen import Network

Ranks = tuple[int, ...]


def placements(scenario: Scenario, ranks: int, layout: Layout | None) -> list[Ranks]:
    """Return the ranks of each job; one tuple with all ranks if the scenario has no jobs.

    Lists come first. The other jobs then choose among the ranks that are left, one after another.

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
    jobs = scenario.work
    found: dict[int, Ranks] = {}
    owner: dict[int, str] = {}
    chooser = Chooser(scenario, layout)
    listed = [number for number, work in enumerate(jobs) if isinstance(_job(work).placement, tuple)]
    others = sorted(set(range(len(jobs))) - set(listed))
    for number in (*listed, *others):
        free = [rank for rank in range(ranks) if rank not in owner]
        check_size(jobs[number], ranks, len(free))
        members = chooser.choose(number, jobs[number], free)
        _check_owner(jobs[number], members, owner)
        found[number] = members
        owner |= dict.fromkeys(members, _job(jobs[number]).name)
    return [found[number] for number in range(len(jobs))]


def _job(work: Work) -> Job:
    assert work.job is not None
    return work.job


def _check_owner(work: Work, members: Ranks, owner: Mapping[int, str]) -> None:
    for rank in members:
        if rank in owner:
            raise RefusedError(
                f"{work.prefix}placement",
                f"expected ranks that no other job has: rank {rank} is of job {owner[rank]}",
            )


def check_size(work: Work, ranks: int, free: int) -> None:
    """Raise RefusedError if a job names ranks that do not exist, or more than are free."""
    job, path = _job(work), work.prefix.removesuffix(".")
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
        taken = f", and other jobs have {ranks - free}" if free < ranks else ""
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
        self._family = TOPOLOGIES[scenario.topology.family]
        self._seed = scenario.seed
        self._layout = layout
        self._path = ""

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
            If its policy does not apply to the topology.
        """
        policy, count = _job(work).placement, _job(work).ranks or 0
        self._path = f"{work.prefix}placement"
        if isinstance(policy, tuple):
            return policy
        if policy == "packed":
            return tuple(free[:count])
        if policy == "spread":
            return tuple(free[place * len(free) // count] for place in range(count))
        if policy == "random":
            return tuple(random.Random(f"{self._seed} {number}").sample(free, count))
        if policy == "by_rail":
            size = self._server()
            return tuple(sorted(free, key=lambda rank: (rank % size, rank))[:count])
        return self._by_pod(count, free)

    def _by_pod(self, count: int, free: Sequence[int]) -> Ranks:
        pod = self._pods
        left: dict[int, list[int]] = {}
        for rank in free:
            left.setdefault(pod[rank], []).append(rank)
        members: list[int] = []
        while len(members) < count:
            missing = count - len(members)
            enough = [one for one in left if len(left[one]) >= missing]
            if enough:
                chosen = min(enough, key=lambda one: (len(left[one]), one))
            else:
                chosen = max(left, key=lambda one: (len(left[one]), -one))
            members += left.pop(chosen)[:missing]
        return tuple(members)

    def _known(self) -> Layout:
        if self._layout is None or self._family.optimised:
            raise self._refuse("an optimiser makes the links of this topology")
        return self._layout

    def _server(self) -> int:
        size = self._known().super_node
        if size is None:
            raise self._refuse(f"a {self._family.label} topology has no servers with rails")
        return size

    @cached_property
    def _pods(self) -> list[int]:
        layout = self._known()
        pods = pods_of(layout.network(0))
        if pods is not None:
            return pods
        size = layout.super_node
        if size is None:
            raise self._refuse(f"this {self._family.label} topology has neither pods nor servers")
        return [rank // size for rank in range(layout.ranks)]

    def _refuse(self, why: str) -> RefusedError:
        return RefusedError(self._path, f"expected packed, spread, random or a list, because {why}")


def pods_of(network: Network) -> list[int] | None:
    """Return the number of the pod of each rank, or None if the network has no pods.

    A pod has the ranks that stay connected without the top switches: those that are furthest from
    the ranks. There are no pods if all switches are linked to ranks, or if there are none.
    """
    # Imported here, as few scenarios have pods, and it takes a tenth of a second.
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components, dijkstra

    ones, ends = np.ones(network.links), (network.source, network.target)
    links = coo_array((ones, ends), shape=(network.nodes, network.nodes)).tocsr()
    ranks = np.arange(network.ranks)
    tier = dijkstra(links, indices=ranks, unweighted=True, min_only=True)
    top = np.max(tier, initial=0, where=np.isfinite(tier))
    if top <= 1:
        return None
    kept = np.flatnonzero(tier < top)  # all ranks are first
    _, label = connected_components(links[kept][:, kept], directed=False)
    return [int(one) for one in label[: network.ranks]]
