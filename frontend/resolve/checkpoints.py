"""Checkpoints of jobs, as messages between their ranks and those of a storage."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from frontend.resolve.placement import Ranks
from frontend.resolve.turns import ROUTES_OF_TURN
from frontend.scenario.work import Checkpoint
from frontend.workloads.composition import Composition, Start
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
    """The checkpoints that a job writes. It goes on when the storage has all of one."""

    def __init__(
        self, checkpoint: Checkpoint | None, number: int, name: str, members: Ranks, turn: int
    ) -> None:
        super().__init__(checkpoint, number, name, members, turn)
        self._iterations: set[int] = set()
        """Those after which it writes one."""

    def after(self, iteration: int, done: tuple[int, ...]) -> list[Node]:
        """Return the nodes with which a rank writes its part after an iteration.

        Parameters
        ----------
        iteration : int
            The iteration.
        done : tuple of int
            The last nodes of the rank.
        """
        self._iterations.add(iteration)
        sends = [self._message(NodeType.SEND, rank, done) for rank in self._storage]
        return [self._of(one, iteration) for one in (*sends, self._timer(done))]

    def receive(self, whole: Composition, timers: Sequence[Node]) -> None:
        """Let the storage receive after timers what the job writes."""
        for rank, sources in self._peers():
            before = (whole.append((rank,), *timers),) if timers else ()
            for iteration in sorted(self._iterations):
                nodes = [self._message(NodeType.RECV, one, before) for one in sources]
                last = whole.append((rank,), *(self._of(one, iteration) for one in nodes))
                own = tuple(range(last - len(nodes) + 1, last + 1))
                before = (whole.append((rank,), self._of(self._timer(own), iteration)),)

    def _of(self, node: Node, iteration: int) -> Node:
        tag = iteration * _TAGS + self._number
        if node.type is NodeType.TIMER:
            tag += _TIMERS
        return node._replace(iteration=iteration, tag=tag, job=self._number)
