"""The ranks of each job: those that the scenario lists, or that a policy chooses."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

import numpy as np

from frontend.errors import RefusedError
from frontend.scenario import Scenario
from frontend.scenario.work import Job
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
    found: dict[int, Ranks] = {}
    owner: dict[int, str] = {}
    lists = [number for number, job in enumerate(scenario.jobs) if isinstance(job.placement, tuple)]
    others = [number for number in range(len(scenario.jobs)) if number not in set(lists)]
    for number in (*lists, *others):
        job, path = scenario.jobs[number], f"jobs.{number}"
        if isinstance(job.placement, tuple):
            members = job.placement
            _check_list(job, members, path, ranks, owner)
        else:
            free = [rank for rank in range(ranks) if rank not in owner]
            _check_count(job, path, ranks, len(free))
            chooser = _Chooser(scenario, number, free, layout)
            members = chooser.choose(job.placement, job.ranks or 0)
        found[number] = members
        owner |= dict.fromkeys(members, job.name)
    return [found[number] for number in range(len(scenario.jobs))]


def _check_list(job: Job, members: Ranks, path: str, ranks: int, owner: Mapping[int, str]) -> None:
    if job.ranks is not None and job.ranks != len(members):
        raise RefusedError(f"{path}.ranks", f"expected {len(members)}, as many as placement lists")
    if max(members) >= ranks:
        raise RefusedError(f"{path}.placement", f"expected ranks from 0 to {ranks - 1}")
    for rank in members:
        if rank in owner:
            raise RefusedError(
                f"{path}.placement",
                f"expected ranks that no other job has: rank {rank} is of job {owner[rank]}",
            )


def _check_count(job: Job, path: str, ranks: int, free: int) -> None:
    if job.ranks is None:
        expected = f"expected a number of ranks, because placement is {job.placement}"
        raise RefusedError(f"{path}.ranks", expected)
    if job.ranks > free:
        taken = f", and other jobs have {ranks - free}" if free < ranks else ""
        raise RefusedError(
            f"{path}.ranks", f"expected at most {free}: the topology has {ranks} ranks{taken}"
        )


class _Chooser:
    """Chooses ranks for a job among those that are free."""

    def __init__(
        self, scenario: Scenario, number: int, free: Sequence[int], layout: Layout | None
    ) -> None:
        self._family = TOPOLOGIES[scenario.topology.family]
        self._seed = scenario.seed
        self._number = number
        self._free = free
        self._layout = layout

    def choose(self, policy: str, count: int) -> Ranks:
        free = self._free
        if policy == "packed":
            return tuple(free[:count])
        if policy == "spread":
            return tuple(free[place * len(free) // count] for place in range(count))
        if policy == "random":
            return tuple(random.Random(f"{self._seed} {self._number}").sample(free, count))
        if policy == "by_rail":
            size = self._server()
            return tuple(sorted(free, key=lambda rank: (rank % size, rank))[:count])
        return self._by_pod(count)

    def _by_pod(self, count: int) -> Ranks:
        pod = self._pods()
        left: dict[int, list[int]] = {}
        for rank in self._free:
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
        path = f"jobs.{self._number}.placement"
        return RefusedError(path, f"expected packed, spread, random or a list, because {why}")


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
