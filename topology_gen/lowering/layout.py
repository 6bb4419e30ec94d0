"""Where a schedule's chunks lie in the buffers of ranks, and what goes from where to where."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import lcm
from typing import NamedTuple

import numpy as np

from topology_gen.errors import AlgorithmError
from topology_gen.lowering.algorithm import Buffer, Place
from topology_gen.schedules.all_reduce import AllReduce
from topology_gen.schedules.schedule import Schedule

MOST_MOVES = 2**22
"""Chunks times links that they go over, at most: a few objects each."""

MOST_COUNT = 71
"""Chunks of a move: more than that no MSCCL runtime takes."""


class Move(NamedTuple):
    """Some chunks that go over a link: from where, to where, and what is added on arrival."""

    source: Place
    target: Place
    operand: Place | None
    chunks: int


def common_chunks(schedule: Schedule | AllReduce) -> int:
    """Return the least chunks of a shard that suit all parts of a schedule.

    Raises
    ------
    AlgorithmError
        More chunks on links than fit into memory as objects.
    """
    parts = schedule.parts if isinstance(schedule, AllReduce) else (schedule,)
    chunks = lcm(*(part.chunks for part in parts))
    moves = sum(int(part.count.sum()) * (chunks // part.chunks) for part in parts)
    if moves > MOST_MOVES:
        raise AlgorithmError(
            f"{schedule.operation} on {schedule.graph.name}: {moves} chunks on links: "
            f"expected at most {MOST_MOVES} for thread blocks"
        )
    return chunks


class Layout:
    """Where a schedule's chunks lie while it is carried out.

    Parameters
    ----------
    schedule : Schedule or AllReduce
    chunks : int
        Chunks of a shard, a multiple of those of each part.
    """

    def __init__(self, schedule: Schedule | AllReduce, chunks: int) -> None:
        self.operation = schedule.operation
        self.ranks = schedule.graph.nodes
        self.chunks = chunks
        self.scratch = [0] * self.ranks
        self._source = schedule.graph.source.tolist()
        self._target = schedule.graph.target.tolist()
        self._kept: list[dict[tuple[int, int], Place]] = [{} for _ in range(self.ranks)]
        """Of each rank, by shard and chunk: where it has what it did not have at the beginning."""

    def own(self, rank: int) -> tuple[Place, Place, int] | None:
        """Return (from, to, count) of what a rank keeps for itself, if it is not there already."""
        if self.operation in ("reduce_scatter", "all_reduce"):
            return None
        first = rank * self.chunks if self.operation == "all_to_all" else 0
        source, target = Place(Buffer.INPUT, first), Place(Buffer.OUTPUT, rank * self.chunks)
        return source, target, self.chunks

    def step(self, part: Schedule, number: int) -> Iterator[tuple[int, Move]]:
        """Yield the links and moves of a step, as few as their places allow."""
        where, scale = part.step(number), self.chunks // part.chunks
        sends = np.stack(
            [a[where].astype(np.int64) for a in (part.link, part.shard, part.first, part.count)], 1
        )
        sends[:, 2:] *= scale
        order = np.lexsort((sends[:, 2], sends[:, 1], sends[:, 0]))
        single = [
            (link, self._move(part.operation, link, shard, chunk))
            for link, shard, first, count in sends[order].tolist()
            for chunk in range(first, first + count)
        ]
        yield from _joined(single)

    def _move(self, operation: str, link: int, shard: int, chunk: int) -> Move:
        """Return the move of one chunk, and remember where it is then."""
        here, there = self._source[link], self._target[link]
        key = (shard, chunk)
        source = self._kept[here].get(key) or self._start(operation, here, shard, chunk)
        if operation != "reduce_scatter":
            target = self._end(operation, there, shard, chunk)
            self._kept[there][key] = target
            return Move(source, target, None, 1)
        operand = self._kept[there].get(key)
        if operand is not None:
            return Move(source, operand, operand, 1)
        target = self._end(operation, there, shard, chunk)
        self._kept[there][key] = target
        return Move(source, target, self._start(operation, there, shard, chunk), 1)

    def _start(self, operation: str, rank: int, shard: int, chunk: int) -> Place:
        """Return where a rank has a chunk at the beginning."""
        if operation == "all_gather":  # of its own shard
            return Place(Buffer.INPUT, chunk)
        block = shard % self.ranks  # an all-to-all's shard is source · ranks + target
        return Place(Buffer.INPUT, block * self.chunks + chunk)

    def _end(self, operation: str, rank: int, shard: int, chunk: int) -> Place:
        """Return where a rank keeps a chunk that comes in for the first time."""
        if operation == "all_gather":
            return Place(Buffer.OUTPUT, shard * self.chunks + chunk)
        if operation == "all_to_all" and shard % self.ranks == rank:
            return Place(Buffer.OUTPUT, shard // self.ranks * self.chunks + chunk)
        if operation == "reduce_scatter" and shard == rank:
            first = rank * self.chunks if self.operation == "all_reduce" else 0
            return Place(Buffer.OUTPUT, first + chunk)
        self.scratch[rank] += 1
        return Place(Buffer.SCRATCH, self.scratch[rank] - 1)


def _joined(moves: Iterable[tuple[int, Move]]) -> Iterator[tuple[int, Move]]:
    """Join moves over the same link from and to adjacent places."""
    last: tuple[int, Move] | None = None
    for link, move in moves:
        if last is not None:
            before = last[1]
            places = zip(
                (before.source, before.target, before.operand),
                (move.source, move.target, move.operand),
                strict=True,
            )
            if (
                last[0] == link
                and before.chunks < MOST_COUNT
                and (before.operand == before.target) == (move.operand == move.target)
                and all(_adjacent(a, b, before.chunks) for a, b in places)
            ):
                last = (link, before._replace(chunks=before.chunks + 1))
                continue
            yield last
        last = (link, move)
    if last is not None:
        yield last


def _adjacent(before: Place | None, after: Place | None, count: int) -> bool:
    if before is None or after is None:
        return before is after
    return before.buffer is after.buffer and before.offset + count == after.offset
