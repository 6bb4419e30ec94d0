"""Policies that choose the ranks of a job among those that are free.

An installed package adds its own through the entry points ``cosim.placements``.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from operator import index

import numpy as np

from frontend.errors import RefusedError
from frontend.topologies import Layout
from topology_gen import Network
from topology_gen.registry import Registry


class Cluster:
    """The topology, as a policy sees it.

    Parameters
    ----------
    layout : Layout, optional
        The topology. None if an optimiser makes its links.
    label : str
        Name of its family, for messages.
    """

    def __init__(self, layout: Layout | None, label: str) -> None:
        self._layout = layout
        self._label = label
        self._pods: Sequence[int] | None = None

    @property
    def network(self) -> Network:
        """All nodes and links. Raises UnsuitableError if an optimiser makes the links."""
        return self._known().network(0)

    @property
    def server(self) -> int:
        """GPUs of a server. Raises UnsuitableError if the topology has no servers with rails."""
        size = self._known().super_node
        if size is None:
            raise UnsuitableError(f"a {self._label} topology has no servers with rails")
        return size

    @property
    def pods(self) -> Sequence[int]:
        """The number of the pod of each rank, or of its server if there are no pods. Raises
        UnsuitableError if there are neither."""
        if self._pods is None:
            found: Sequence[int] | None = pods_of(self.network)
            if found is None:
                size = self._known().super_node
                if size is None:
                    raise UnsuitableError(
                        f"this {self._label} topology has neither pods nor servers"
                    )
                found = [rank // size for rank in range(self._known().ranks)]
            self._pods = found
        return self._pods

    def _known(self) -> Layout:
        if self._layout is None:
            raise UnsuitableError("an optimiser makes the links of this topology")
        return self._layout


class UnsuitableError(ValueError):
    """Raised if a policy does not suit the topology; the text says why."""


@dataclass(frozen=True)
class Request:
    """A job that starts, and where it can."""

    count: int
    """Number of ranks that it needs."""
    free: tuple[int, ...]
    """The free ranks in ascending order, at least `count`."""
    cluster: Cluster
    """The topology."""
    draw: random.Random
    """Random numbers that follow from the seed of the scenario and the number of the job."""


Choose = Callable[[Request], Sequence[int]]


@dataclass(frozen=True)
class PlacementPolicy:
    """A way to choose the ranks of a job.

    Parameters
    ----------
    name : str
        The value of ``placement``.
    description : str
        One line.
    choose : callable
        Takes a `Request` and returns `count` of its free ranks, in the order of the ranks of the
        job. Raises `UnsuitableError` if the policy does not suit the topology.
    """

    name: str
    description: str
    choose: Choose

    def ranks(self, path: str, request: Request) -> tuple[int, ...]:
        """Return the ranks of a job.

        Parameters
        ----------
        path : str
            Key path of its placement.
        request : Request
            The job.

        Raises
        ------
        RefusedError
            The policy does not suit the topology, or returns something else.
        """
        try:
            found = self.choose(request)
        except UnsuitableError as error:
            expected = f"expected packed, spread, random or a list, because {error}"
            raise RefusedError(path, expected) from None
        with suppress(TypeError):
            ranks = tuple(map(index, found))
            if len(set(ranks)) == len(ranks) == request.count and set(ranks) <= set(request.free):
                return ranks
        raise RefusedError(
            path,
            f"expected another one, because the policy returns {found!r:.60}, and not "
            f"{request.count} different ranks of those that are free",
        )


PLACEMENTS = Registry[PlacementPolicy]("placement", "cosim.placements", PlacementPolicy)
"""The policies by name."""


def _packed(request: Request) -> Sequence[int]:
    return request.free[: request.count]


def _spread(request: Request) -> Sequence[int]:
    free, count = request.free, request.count
    return [free[place * len(free) // count] for place in range(count)]


def _by_rail(request: Request) -> Sequence[int]:
    size = request.cluster.server
    return sorted(request.free, key=lambda rank: (rank % size, rank))[: request.count]


def _by_pod(request: Request) -> Sequence[int]:
    pod = request.cluster.pods
    left: dict[int, list[int]] = {}
    for rank in request.free:
        left.setdefault(pod[rank], []).append(rank)
    members: list[int] = []
    while len(members) < request.count:
        missing = request.count - len(members)
        enough = [one for one in left if len(left[one]) >= missing]
        if enough:
            chosen = min(enough, key=lambda one: (len(left[one]), one))
        else:
            chosen = max(left, key=lambda one: (len(left[one]), -one))
        members += left.pop(chosen)[:missing]
    return members


def _random(request: Request) -> Sequence[int]:
    return request.draw.sample(request.free, request.count)


for _policy in (
    PlacementPolicy("packed", "the lowest free ranks", _packed),
    PlacementPolicy("spread", "free ranks at equal distances", _spread),
    PlacementPolicy("by_rail", "ranks of rail 0, then those of rail 1, …", _by_rail),
    PlacementPolicy("by_pod", "the fullest pod that has enough, or as few as possible", _by_pod),
    PlacementPolicy("random", "any free ranks, in any order, as the seed says", _random),
):
    PLACEMENTS.register(_policy)


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
