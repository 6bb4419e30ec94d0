"""Which placements of a job are alike: those on which it does the same over equal links."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from frontend.compiler import network as networks
from frontend.compiler.programs import ProgramLibrary, Use
from frontend.nodes import NodeType
from frontend.resolve import Resolved
from frontend.resolve.jobs import own_plan
from frontend.scenario.work import Work
from frontend.workloads.plan import Issue, Plan
from topology_gen import Network

Ids = NDArray[np.int64]


class Shape(NamedTuple):
    """A placement of a job, apart from the names of its nodes and links."""

    exact: bytes
    """Equal for placements with equal links: the job alone takes the same time on them."""
    kind: bytes
    """Equal for placements on which each message takes links of the same rates and latencies.
    Other messages may share these links."""
    connections: Ids
    """Rows of source, target and route, sorted. Ranks are those of the job; switches follow."""
    nodes: Ids
    """The node of the topology that has each of these numbers."""
    begin: Ids
    """Where the path of each connection begins in `links`."""
    links: Ids
    """The links of the paths."""


class _Kind(NamedTuple):
    """What all jobs with the same workload and transport have in common, in ranks of the job."""

    issues: Sequence[Issue]
    """The collectives that differ."""
    flows: networks.Flows
    """Messages that are not part of a collective."""


class Shapes:
    """Finds the shapes of placements on one network.

    `Shape.exact` is a digest of everything that the stream of the job alone says: its programs, the
    order of its ranks, the paths of its messages, and rates, latencies and buffers of their links.
    Nodes and links have numbers in the order in which the paths use them.

    Parameters
    ----------
    resolved : Resolved
        The scenario with all jobs.
    network : Network, optional
        Its network, if that is another one with the same nodes and links.
    """

    def __init__(self, resolved: Resolved, network: Network | None = None) -> None:
        self._resolved = resolved
        self._network = network or resolved.network
        self._library = ProgramLibrary(resolved)
        self._kinds: dict[str, _Kind] = {}
        self._found: dict[tuple[str, tuple[int, ...], int], Shape] = {}

    def of(self, work: Work, members: tuple[int, ...]) -> Shape:
        """Return the shape of a job on some ranks.

        Raises
        ------
        ScenarioError
            If the workload cannot be simulated on these ranks.
        """
        transport = self._resolved.scenario.transport_of(work.job)
        parts = (work.workload.model_dump_json(), work.collective, len(members), transport)
        name = " ".join(map(str, parts))
        route = 0 if work.job is None else work.job.route
        key = name, members, route
        if key not in self._found:
            if name not in self._kinds:
                self._kinds[name] = self._kind(work, len(members))
            self._found[key] = self._shape(name, members, route)
        return self._found[key]

    def _kind(self, work: Work, ranks: int) -> _Kind:
        plan = own_plan(work, self._resolved.layout, ranks)
        alike = dict.fromkeys(
            issue._replace(name="", iteration=0, layer=0) for issue in plan.issues
        )
        return _Kind(tuple(alike), _messages(plan, ranks))

    def _shape(self, name: str, members: tuple[int, ...], route: int) -> Shape:
        kind, place = self._kinds[name], np.array(members, np.int64)
        uses = [self._library.use(_placed(issue, members)) for issue in kind.issues]
        own = kind.flows.copy()
        own[:, :2] = place[own[:, :2]]
        flows = [own]
        groups = []
        for use in uses:
            group = place if use.members is None else np.array(use.members, np.int64)
            rows = networks.flows(self._library.programs[use.program])
            rows[:, :2] = group[rows[:, :2]]
            flows.append(rows)
            groups.append(group)
        nodes = _by_first_use(np.concatenate([place, *groups]))[0]
        return self._of_paths(name, place, nodes, np.concatenate(flows), uses, route)

    def _of_paths(
        self,
        name: str,
        place: Ids,
        nodes: Ids,
        flows: networks.Flows,
        uses: Sequence[Use],
        route: int,
    ) -> Shape:
        network = self._network
        number = np.full(network.nodes, -1)
        number[nodes] = np.arange(len(nodes))
        pairs = networks.both_ways(flows)
        pairs[:, :2] = number[pairs[:, :2]]
        pairs = pairs[np.lexsort(pairs.T[::-1])]
        routes = self._resolved.connection_routes(pairs[:, 2])
        rows = np.column_stack([np.repeat(pairs[:, :2], routes.shape[1], axis=0), routes.ravel()])
        paths = network.node_paths(nodes[rows[:, 0]], nodes[rows[:, 1]], rows[:, 2] + route)
        begin, links = paths.begin.astype(np.int64), paths.links.astype(np.int64)
        used, order = _by_first_use(links)
        ends = np.concatenate([nodes, network.source[used], network.target[used]])
        chosen = [(use.program, use.chunks) for use in uses]
        members = [number[np.array(use.members or place, np.int64)] for use in uses]
        alike = [
            *(np.array(chosen), *members, rows, begin),
            *(network.rate_bps[links], network.latency_ps[links], network.dimension[links]),
        ]
        equal = [
            *(np.argsort(place), order, network.buffer_bytes[used]),
            _by_first_use(ends.astype(np.int64))[1],
        ]
        kind = _digest(name.encode(), alike)
        return Shape(_digest(kind, equal), kind, rows, nodes, begin, links)


def _digest(before: bytes, arrays: Sequence[NDArray[np.integer]]) -> bytes:
    digest = hashlib.sha256(before)
    for values in arrays:
        digest.update(f"{values.size} ".encode() + values.astype(np.int64).tobytes())
    return digest.digest()


def _messages(plan: Plan, ranks: int) -> networks.Flows:
    """Return the flows of the messages of traces, in ranks of the job."""
    flows = [np.empty((0, 3), np.int64)]
    for some, nodes in plan.work(ranks):
        sends = nodes.type == NodeType.SEND
        ends = np.unique(np.stack([nodes.peer[sends], nodes.route[sends]], axis=1), axis=0)
        members = np.repeat(np.array(some, np.int64), len(ends))
        peer, route = np.tile(ends.astype(np.int64), (len(some), 1)).T
        flows.append(np.stack([members, nodes.peer_of(members, peer), route], axis=1))
    return np.concatenate(flows)


def _placed(issue: Issue, members: Sequence[int]) -> Issue:
    ranks = range(len(members)) if issue.ranks is None else issue.ranks
    rings = issue.rings
    if rings is not None:
        orders = tuple(tuple(members[rank] for rank in order) for order in rings.orders)
        rings = rings._replace(orders=orders)
    return issue._replace(
        ranks=tuple(members[rank] for rank in ranks), root=members[issue.root], rings=rings
    )


def _by_first_use(values: Ids) -> tuple[Ids, Ids]:
    """Return the distinct values in the order of their first use, and each value's place in it."""
    distinct, first, inverse = np.unique(values, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return distinct[order], place[inverse]
