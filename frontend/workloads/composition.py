"""Plans of several jobs, each on ranks of its own, as one plan.

The plan of a job has the ranks 0, 1, … of the job. Here they become ranks of the topology; layers,
nodes and collectives get the name of the job, and timers let the job begin.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from frontend.collectives.group_rings import group_rings
from frontend.nodes import NodeColumns, NodeType, concatenated
from frontend.topologies.registry import Layout
from frontend.workloads.plan import Issue, Node, Plan, Ranks, columns

_TAGS_OF_TURN = 2**48
"""Distance between the tags of messages of two jobs with the same ranks. The first can fail, and
leave receives behind."""

_TAGS = 2**32
"""Distance between the tags of timers of two jobs."""


class Placed(NamedTuple):
    """A job with its ranks."""

    name: str
    plan: Plan
    """What its ranks do; rank i is `members[i]` of the topology."""
    members: Ranks
    first_layer: int
    """Index of its first layer in the composition."""
    number: int = 0
    """Number of the job, from 0, of which its links are, if each job has its own."""
    turn: int = 0
    """Position among the jobs that use these ranks one after another, from 0."""
    times: int = 1
    """How often it does what its plan says."""
    every: int = 0
    """After so many iterations, it pauses; 0: never. The nodes of each rank are then in the order
    of their iterations."""
    pause: PauseOf | None = None


class Start(NamedTuple):
    """What comes before a job on some ranks."""

    timers: Sequence[Node]
    """Nodes to append. Their dependencies are indices in the trace of these ranks."""
    begin: int | None
    """Index of the node that the job waits for; None if it waits for nothing."""


StartOf = Callable[[Ranks, int], Start]
"""Returns what comes before a job on some ranks, whose trace has so many nodes."""


class Pause(NamedTuple):
    """What a job does between two iterations."""

    nodes: Sequence[Node]
    """Nodes to append."""
    goes_on: int
    """Index among these nodes of the one that the next iteration waits for."""


PauseOf = Callable[[int, tuple[int, ...], int, int | None], Pause]
"""Returns what a job does after an iteration, by its number and last nodes, the number of nodes of
the trace, and the last node of the pause before (None: there was none)."""


class Composition:
    """The plan of all jobs.

    Parameters
    ----------
    layout : Layout
        The topology, which may have links for each job.
    layers : sequence of str
        Layers of the nodes that belong to no job.
    routes : int
        Number of routes between those of two turns.
    """

    def __init__(self, layout: Layout, layers: Sequence[str], routes: int) -> None:
        self._found = layout.job_topologies
        self._routes = routes
        self._layers = list(layers)
        self._issues: list[Issue] = []
        self._jobs: list[str] = []
        self._traces: dict[int, list[NodeColumns]] = {}
        """For each rank, the parts of its trace. Ranks with the same list share the trace."""

    def add_layers(self, name: str, plan: Plan) -> int:
        """Add the layers of a plan, with a name before each, and return the index of the first."""
        self._layers += [f"{name}.{layer}" for layer in plan.layers]
        return len(self._layers) - len(plan.layers)

    def name(self, job: str) -> None:
        """Add the name of a job whose nodes are appended."""
        self._jobs.append(job)

    def append(self, ranks: Ranks, *nodes: Node) -> int:
        """Append nodes to the trace of some ranks that share it; return the index of the last."""
        parts = self._own_trace(ranks)
        parts.append(columns(nodes))
        return _size(parts) - 1

    def add(self, job: Placed, start: StartOf) -> dict[Ranks, tuple[int, ...]]:
        """Add a job, and return its last nodes in the trace of each set of its ranks."""
        self._jobs.append(job.name)
        work = job.plan.work(len(job.members))
        span = 1 + max((int(nodes.iteration.max(initial=0)) for _, nodes in work), default=0)
        first = len(self._issues)
        for turn in range(job.times):
            self._issues += [self._issue(job, issue, turn * span) for issue in job.plan.issues]
        last: dict[Ranks, tuple[int, ...]] = {}
        for ranks, nodes in work:
            relative = nodes.peer_modulus and _communicates(nodes).any()
            own = None if relative else self._placed(job, ranks[0], nodes)
            groups: dict[int, list[int]] = {}
            for rank in ranks:
                trace = id(self._traces.get(job.members[rank]))
                key = rank if relative else trace
                groups.setdefault(key, []).append(rank)
            for some in groups.values():
                placed = self._placed(job, some[0], nodes) if own is None else own
                members = tuple(job.members[rank] for rank in some)
                last[members] = self._append(job, members, placed, start, first, span)
        return last

    def _own_trace(self, ranks: Ranks) -> list[NodeColumns]:
        """Return the trace of some ranks, which no other rank shares from now on."""
        parts = list(self._traces.get(ranks[0], ()))
        self._traces |= dict.fromkeys(ranks, parts)
        return parts

    def plan(self) -> Plan:
        """Return the plan of all jobs."""
        shared: dict[int, list[int]] = {}
        for rank, parts in self._traces.items():
            shared.setdefault(id(parts), []).append(rank)
        work = [(tuple(ranks), concatenated(self._traces[ranks[0]])) for ranks in shared.values()]
        return Plan(tuple(self._layers), issues=self._issues, tables=work, jobs=tuple(self._jobs))

    def _issue(self, job: Placed, issue: Issue, iteration: int) -> Issue:
        ranks = issue.ranks or tuple(range(len(job.members)))
        rings = issue.rings
        if self._found:
            rings = group_rings(ranks, self._found[job.number])
        if rings is not None:
            orders = tuple(tuple(job.members[rank] for rank in order) for order in rings.orders)
            rings = rings._replace(orders=orders)
        return issue._replace(
            name=f"{job.name}.{issue.name}",
            layer=job.first_layer + issue.layer,
            iteration=iteration + issue.iteration,
            ranks=tuple(job.members[rank] for rank in ranks),
            root=job.members[issue.root],
            rings=rings,
            route=job.turn * self._routes + issue.route,
        )

    def _append(
        self, job: Placed, key: Ranks, own: NodeColumns, start: StartOf, first: int, span: int
    ) -> tuple[int, ...]:
        """Append a job to the trace of some of its ranks, and return its last nodes there."""
        parts = self._own_trace(key)
        done: tuple[int, ...] = ()
        paused: int | None = None
        size = _size(parts)
        timers, begin = start(key, size)
        for turn in range(job.times):
            if timers:
                parts.append(columns(timers))
                size += len(timers)
            again = replace(
                own,
                collective=own.collective
                + np.where(own.type == NodeType.COLLECTIVE, first, 0).astype(np.uint32),
                iteration=(own.iteration + turn * span).astype(np.uint32),
            )
            for piece, pauses_after in _pieces(again, turn * span, (turn + 1) * span, job.every):
                if piece.size:
                    parts.append(piece.later(size, begin))
                    done = tuple((piece.last() + size).tolist())
                    size += piece.size
                if job.pause is not None and pauses_after is not None:
                    pause = job.pause(pauses_after, done, size, paused)
                    parts.append(columns(pause.nodes))
                    begin = size + pause.goes_on
                    size += len(pause.nodes)
                    done, paused = (begin,), size - 1
            begin = size
            first += len(job.plan.issues)
            # The next time begins when this one is done on these ranks.
            timers = [
                Node(
                    f"{job.name}.again",
                    NodeType.TIMER,
                    layer=0,
                    iteration=(turn + 1) * span,
                    dependencies=done,
                    job=len(self._jobs),
                )
            ]
        return done if paused is None else (*done, paused)

    def _placed(self, job: Placed, rank: int, nodes: NodeColumns) -> NodeColumns:
        """Return the nodes of a rank of a job with ranks, layers and names of all."""
        messages = _communicates(nodes)
        peer = nodes.peer_of(rank, nodes.peer.astype(np.int64))
        members = np.array(job.members, np.uint32)
        shared = (nodes.type == NodeType.TIMER) & (nodes.tag != 0)
        number = len(self._jobs)
        own, later = np.uint64(number * _TAGS), np.uint64(job.turn * _TAGS_OF_TURN)
        return replace(
            nodes,
            names=[f"{job.name}.{name}" for name in nodes.names],
            layer=(nodes.layer + job.first_layer).astype(np.uint32),
            peer=np.where(messages, members[np.where(messages, peer, 0)], 0).astype(np.uint32),
            peer_modulus=0,
            tag=np.where(shared, nodes.tag + own, nodes.tag + messages * later),
            route=np.where(
                nodes.type == NodeType.SEND, nodes.route + job.turn * self._routes, 0
            ).astype(np.uint32),
            job=np.full(nodes.size, number, np.uint32),
        )


def _pieces(
    nodes: NodeColumns, first: int, end: int, every: int
) -> Iterator[tuple[NodeColumns, int | None]]:
    """Yield the nodes of some iterations up to each pause, and the iteration before it."""
    if not every:
        yield nodes, None
        return
    for period in range(first // every, -(-end // every)):
        last = (period + 1) * every
        own = np.searchsorted(nodes.iteration, [period * every, last]).tolist()
        yield nodes.part(*own), last - 1 if last <= end else None


def _size(parts: Sequence[NodeColumns]) -> int:
    return sum(part.size for part in parts)


def _communicates(nodes: NodeColumns) -> NDArray[np.bool_]:
    return np.isin(nodes.type, (NodeType.SEND, NodeType.RECV))
