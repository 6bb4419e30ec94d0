"""Turns schedules into algorithms of thread blocks.

Every link gets a thread block that sends at its source and one that receives at its target.
Parallel links use different channels. Data that a rank only forwards, and sums that are not
finished, lie in the rank's scratch buffer, so that the input is never overwritten out of place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from topology_gen.lowering.algorithm import (
    Algorithm,
    Block,
    Buffer,
    Gpu,
    Instruction,
    Kind,
    Place,
    Step,
)
from topology_gen.lowering.layout import MOST_COUNT, Layout, Move, common_chunks
from topology_gen.schedules.all_reduce import AllReduce
from topology_gen.schedules.schedule import Schedule

_NOWHERE = Place(Buffer.INPUT, -1), Place(Buffer.OUTPUT, -1)


def lower(schedule: Schedule | AllReduce, channels: int = 1, protocol: str = "Simple") -> Algorithm:
    """Return the algorithm that executes a schedule.

    The algorithm works in place and out of place, except for an all-to-all, which works out of
    place only. Connections need no buffers: the algorithm also completes if every send waits for
    its receive.

    Parameters
    ----------
    schedule : Schedule or AllReduce
        A schedule that `topology_gen.schedules.replay.replay` accepts.
    channels : int
        Number of thread block pairs for each link. The messages of the link use them in turn.
    protocol : str
        "Simple", "LL" or "LL128".

    Raises
    ------
    AlgorithmError
        There are more chunks on links than fit into memory as objects.

    Examples
    --------
    >>> from topology_gen.schedules import bfb
    >>> from topology_gen import graphs
    >>> algorithm = lower(bfb.all_gather(graphs.hypercube(8)))
    >>> algorithm.operation, algorithm.ranks, len(algorithm.gpus[0].blocks)
    ('all_gather', 8, 7)
    """
    chunks = common_chunks(schedule)
    layout = Layout(schedule, chunks)
    blocks = _Blocks(schedule, channels)
    for rank in range(layout.ranks):
        own = layout.own(rank)
        if own is not None:
            blocks.copy(rank, *own)
    for part in schedule.parts if isinstance(schedule, AllReduce) else (schedule,):
        for step in range(1, part.steps + 1):
            for link, moved in layout.step(part, step):
                blocks.message(link, moved)
    return Algorithm(
        name=f"{schedule.operation}_{schedule.graph.name}",
        operation=schedule.operation,
        chunks=layout.ranks * chunks,
        in_place=schedule.operation != "all_to_all",
        out_of_place=True,
        gpus=tuple(blocks.gpu(rank, layout) for rank in range(layout.ranks)),
        protocol=protocol,
    )


def _each(place: Place, chunks: int) -> Iterator[Place]:
    for chunk in range(chunks):
        yield Place(place.buffer, place.offset + chunk)


class _Blocks:
    """The thread blocks of all ranks, to which instructions are added."""

    def __init__(self, schedule: Schedule | AllReduce, channels: int) -> None:
        graph = schedule.graph
        parts = schedule.parts if isinstance(schedule, AllReduce) else (schedule,)
        used = np.unique(np.concatenate([part.link for part in parts])).tolist()
        self._ends = graph.edges()
        self._channels = channels
        self._turn = dict.fromkeys(used, 0)
        self._blocks: list[list[_Filling]] = [[] for _ in range(graph.nodes)]
        if Layout(schedule, 1).own(0) is not None:
            for blocks in self._blocks:
                blocks.append(_Filling(None, None, 0))
        self._of: dict[tuple[int, int, bool], int] = {}
        parallel: dict[tuple[int, int], int] = {}
        for sending in (True, False):
            parallel.clear()
            for link in used:
                source, target = self._ends[link]
                for turn in range(channels):
                    channel = parallel.setdefault((source, target), 0)
                    parallel[source, target] += 1
                    rank = source if sending else target
                    self._of[link, turn, sending] = len(self._blocks[rank])
                    self._blocks[rank].append(
                        _Filling(target, None, channel)
                        if sending
                        else _Filling(None, source, channel)
                    )
        self._writer: list[dict[Place, Step]] = [{} for _ in range(graph.nodes)]

    def copy(self, rank: int, source: Place, target: Place, count: int) -> None:
        """Add a copy to the block of a rank that has no peers."""
        for first in range(0, count, MOST_COUNT):
            self._blocks[rank][0].add(
                Instruction(
                    Kind.COPY,
                    source._replace(offset=source.offset + first),
                    target._replace(offset=target.offset + first),
                    min(MOST_COUNT, count - first),
                ),
                (),
            )

    def message(self, link: int, move: Move) -> None:
        """Add a send and its receive."""
        here, there = self._ends[link]
        turn = self._turn[link]
        self._turn[link] = (turn + 1) % self._channels
        send = Instruction(Kind.SEND, move.source, move.target, move.chunks)
        self._add(here, self._of[link, turn, True], send, move.source)
        if move.operand is None:
            receive = Instruction(Kind.RECEIVE, move.source, move.target, move.chunks)
        else:
            kind = Kind.RECEIVE_REDUCE_COPY
            receive = Instruction(kind, move.operand, move.target, move.chunks)
        self._add(there, self._of[link, turn, False], receive, move.operand)

    def gpu(self, rank: int, layout: Layout) -> Gpu:
        """Return a rank with its blocks."""
        whole, shard = layout.ranks * layout.chunks, layout.chunks
        return Gpu(
            shard if layout.operation == "all_gather" else whole,
            shard if layout.operation == "reduce_scatter" else whole,
            layout.scratch[rank],
            tuple(block.done() for block in self._blocks[rank]),
        )

    def _add(self, rank: int, number: int, step: Instruction, read: Place | None) -> None:
        """Add an instruction, ordered after the instructions that wrote what it reads."""
        blocks, writer = self._blocks[rank], self._writer[rank]
        needed: dict[int, int] = {}
        for place in _each(read, step.chunks) if read is not None else ():
            wrote = writer.get(place)
            if wrote is not None and wrote.block != number:
                needed[wrote.block] = max(needed.get(wrote.block, 0), wrote.number)
        index = blocks[number].add(step, (Step(*item) for item in sorted(needed.items())))
        for block, waited in needed.items():
            blocks[block].awaited.add(waited)
        if step.kind.writes:
            for place in _each(step.target, step.chunks):
                writer[place] = Step(number, index)


class _Filling:
    """A thread block to which instructions are added."""

    def __init__(self, send: int | None, receive: int | None, channel: int) -> None:
        self._head = (send, receive, channel)
        self._steps: list[Instruction] = []
        self._waited: dict[int, int] = {}
        self.awaited: set[int] = set()

    def add(self, step: Instruction, needed: Iterable[Step]) -> int:
        """Add an instruction and return its index.

        The instruction itself waits for one step; a nop before it waits for each of the others.
        Steps that the block has already waited for are left out.
        """
        new = [wait for wait in needed if self._waited.get(wait.block, -1) < wait.number]
        self._waited.update((wait.block, wait.number) for wait in new)
        for wait in new[:-1]:
            self._steps.append(Instruction(Kind.NOP, *_NOWHERE, 0, wait))
        self._steps.append(step._replace(after=new[-1]) if new else step)
        return len(self._steps) - 1

    def done(self) -> Block:
        """Return the finished block."""
        return Block(
            *self._head,
            tuple(
                step._replace(awaited=True) if index in self.awaited else step
                for index, step in enumerate(self._steps)
            ),
        )
