"""Checkpoints of jobs, as messages between their ranks and those of a storage."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count

from frontend.resolve.placement import Ranks
from frontend.resolve.turns import ROUTES_OF_TURN, Turn
from frontend.scenario.work import Checkpoint, Work, WrittenCheckpoint, job_of
from frontend.workloads.composition import Composition, Pause, Start
from frontend.workloads.plan import Node, NodeType

_TAGS = 2**32
"""Distance between the tags of two checkpoints that a job writes."""

_TIMERS = 2**63
"""The tags of the timers with which a job and the storage end a checkpoint begin here."""


class _Transfer:
    """A checkpoint of a job on its way.

    Parameters
    ----------
    checkpoint : Checkpoint, optional
        Its size and the storage; None: there is none.
    number : int
        Number of the job in the composition, from 1.
    name : str
        Name of the nodes.
    members : tuple of int
        Ranks of the job.
    turn : int
        Its place among the jobs on these ranks, from 0.
    """

    def __init__(
        self, checkpoint: Checkpoint | None, number: int, name: str, members: Ranks, turn: int
    ) -> None:
        self._number, self._name, self._members = number, name, members
        self._route = turn * ROUTES_OF_TURN
        self._storage = () if checkpoint is None else checkpoint.storage
        total = 0 if checkpoint is None else int(checkpoint.bytes)
        self._bytes = -(-total // max(1, len(members) * len(self._storage)))

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

    def _timer(self, before: tuple[int, ...]) -> Node:
        return Node(self._name, NodeType.TIMER, 0, 0, dependencies=before, job=self._number)

    def _peers(self) -> Iterator[tuple[int, Ranks]]:
        """Yield the ranks of the storage with those of the job, each with another one first."""
        for place, rank in enumerate(self._storage):
            first = place % len(self._members)
            yield rank, (*self._members[first:], *self._members[:first])


class Reads(_Transfer):
    """The checkpoint that a job reads before it begins."""

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
        return Start([*timers, *reads, self._timer(tuple(range(first, done)))], done)

    def send(self, whole: Composition, timers: Sequence[Node]) -> None:
        """Let the storage send the messages after timers, each rank of it to another one first."""
        for rank, targets in self._peers():
            before = (whole.append((rank,), *timers),) if timers else ()
            whole.append((rank,), *(self._message(NodeType.SEND, one, before) for one in targets))


class Writes(_Transfer):
    """The checkpoints that a job writes.

    Parameters
    ----------
    checkpoint : WrittenCheckpoint, optional
        As `_Transfer`, and how long the job stops for it.
    number, name, members, turn
        As `_Transfer`.
    writer : int
        The number of the job that the messages belong to: its own if it waits for them.
    """

    def __init__(
        self,
        checkpoint: WrittenCheckpoint | None,
        number: int,
        name: str,
        members: Ranks,
        turn: int,
        writer: int,
    ) -> None:
        super().__init__(checkpoint, number, name, members, turn)
        self._stall = None if checkpoint is None else checkpoint.stall
        self._writer = writer
        self._iterations: dict[int, int] = {}
        """Those after which it writes one, and the number of each checkpoint, from 0."""

    def after(self, iteration: int, done: tuple[int, ...], size: int, before: int | None) -> Pause:
        """Return the nodes with which a rank writes its part after an iteration (see `PauseOf`)."""
        self._iterations.setdefault(iteration, len(self._iterations))
        if self._stall is None:
            own = self._written(iteration, done)
            return Pause(own, len(own) - 1)
        waits = done if before is None else (*done, before)
        stop = Node(self._name, NodeType.TIMER, 0, iteration, self._stall, dependencies=waits)
        return Pause([stop._replace(job=self._number), *self._written(iteration, (size,))], 0)

    def receive(self, whole: Composition, timers: Sequence[Node]) -> None:
        """Let the storage receive after timers what the job writes."""
        for rank, sources in self._peers():
            size = whole.append((rank,), *timers) + 1
            before = (size - 1,) if timers else ()
            nodes: list[Node] = []
            for iteration in self._iterations:
                own = [self._message(NodeType.RECV, one, before) for one in sources]
                first = size + len(nodes)
                own.append(self._timer(tuple(range(first, first + len(own)))))
                before = (first + len(own) - 1,)
                nodes += [self._of(one, iteration) for one in own]
            whole.append((rank,), *nodes)

    def _written(self, iteration: int, before: tuple[int, ...]) -> list[Node]:
        sends = [self._message(NodeType.SEND, rank, before) for rank in self._storage]
        return [self._of(one, iteration) for one in (*sends, self._timer(before))]

    def _of(self, node: Node, iteration: int) -> Node:
        tag = iteration * _TAGS + self._number
        if node.type is NodeType.TIMER:
            tag += _TIMERS
        if self._stall is not None:
            iteration = self._iterations[iteration]
        return node._replace(iteration=iteration, tag=tag, job=self._writer)


def writers(works: Sequence[Work], order: Sequence[Turn]) -> list[int]:
    """Return the number of the job of the plan, from 1, that writes the checkpoints of each turn.

    That is the job itself, or, if it goes on meanwhile, another one after those of all turns, whose
    iterations are checkpoints.

    Parameters
    ----------
    works : sequence of Work
        The jobs of the scenario.
    order : sequence of Turn
        Their turns.
    """
    more = count(len(order) + 1)
    return [
        next(more) if job_of(works[turn.job]).recovery.writes_beside else number
        for number, turn in enumerate(order, 1)
    ]
