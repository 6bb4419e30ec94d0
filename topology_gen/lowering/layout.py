"""Assigns a schedule's chunks to places in the ranks' buffers, and lists the moves between them."""

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
"""Greatest number of chunks times the links that carry them; each takes a few objects."""

MOST_COUNT = 71
"""Greatest number of chunks of a move, the limit of all MSCCL runtimes."""


class Move(NamedTuple):
    """Some chunks that move over a link: source, target, and the place of what is added to them."""

    source: Place
    target: Place
    operand: Place | None
    chunks: int


def common_chunks(schedule: Schedule | AllReduce) -> int:
    """Return the least number of chunks per shard that suits all parts of a schedule.

    Raises
    ------
    AlgorithmError
        There are more chunks on links than fit into memory as objects.
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
    """The places of a schedule's chunks while it is executed.

    Parameters
    ----------
    schedule : Schedule or AllReduce
        The schedule to execute.
    chunks : int
        Number of chunks per shard, a multiple of that of each part.
    """

    def __init__(self, schedule: Schedule | AllReduce, chunks: int) -> None:
        self.operation = schedule.operation
        self.ranks = schedule.graph.nodes
        self.chunks = chunks
        self.scratch = [0] * self.ranks
        self._source = schedule.graph.source.tolist()
        self._target = schedule.graph.target.tolist()
        self._kept: list[dict[tuple[int, int], Place]] = [{} for _ in range(self.ranks)]
        """For each rank, by (shard, chunk): the place of chunks that it has received."""

    def own(self, rank: int) -> tuple[Place, Place, int] | None:
        """Return (source, target, chunks) of a rank's copy of its own data, or None."""
        if self.operation in ("reduce_scatter", "all_reduce"):
            return None
        first = rank * self.chunks if self.operation == "all_to_all" else 0
        source, target = Place(Buffer.INPUT, first), Place(Buffer.OUTPUT, rank * self.chunks)
        return source, target, self.chunks

    def step(self, part: Schedule, number: int) -> Iterator[tuple[int, Move]]:
        """Yield the links and moves of a step, joined to as few as the places allow."""
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
        """Return the move of one chunk, and remember the chunk's new place."""
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
        """Return the place that a rank's chunk has at the start."""
        if operation == "all_gather":  # the input holds only the rank's own shard
            return Place(Buffer.INPUT, chunk)
        block = shard % self.ranks  # an all-to-all's shard is source · ranks + target
        return Place(Buffer.INPUT, block * self.chunks + chunk)

    def _end(self, operation: str, rank: int, shard: int, chunk: int) -> Place:
        """Return the place at which a rank keeps a chunk that it receives for the first time."""
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
    """Yield the moves, with those over the same link joined if their places are adjacent."""
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
