"""Assigns a schedule's chunks to places in the ranks' buffers, and lists the moves between them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass, replace
from math import lcm
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topology_gen.arrays import Numbers
from topology_gen.errors import AlgorithmError
from topology_gen.lowering.algorithm import Buffer, Place
from topology_gen.schedules.all_reduce import AllReduce
from topology_gen.schedules.schedule import Schedule

MOST_COUNT = 71
"""Greatest number of chunks of a move, the limit of all MSCCL runtimes."""

BUFFERS = (Buffer.INPUT, Buffer.OUTPUT, Buffer.SCRATCH)
"""The buffers in the order of their codes."""

INPUT, OUTPUT, SCRATCH = range(3)

WIDTH = 2**32
"""A place is buffer code · WIDTH + offset; -1 is no place."""


class Move(NamedTuple):
    """Some chunks that move over a link: source, target, and the place of what is added to them."""

    source: Place
    target: Place
    operand: Place | None
    chunks: int


@dataclass(frozen=True, eq=False)
class Moves:
    """Moves in the order in which they happen, as arrays.

    Attributes
    ----------
    step_begin : array
        The moves of step t, counted from 1 over all parts, are step_begin[t-1] … step_begin[t]-1.
    link, source, target, operand, count : int64 arrays
        For each move, its link, its places (buffer code · WIDTH + offset; -1 for no operand), and
        its number of chunks.
    """

    step_begin: Numbers
    link: Numbers
    source: Numbers
    target: Numbers
    operand: Numbers
    count: Numbers

    @property
    def step(self) -> Numbers:
        """The step of each move, from 0."""
        sizes = np.diff(self.step_begin)
        return np.repeat(np.arange(sizes.size), sizes)


@dataclass(frozen=True, eq=False)
class Copies:
    """Copies from scratch memory to the output, each at the rank that a move reaches and after it.

    Attributes
    ----------
    move, source, target, count : int64 arrays
        For each copy, the move, its places and its number of chunks.
    """

    move: Numbers
    source: Numbers
    target: Numbers
    count: Numbers


def no_copies() -> Copies:
    """Return no copies."""
    return Copies(*(np.empty(0, np.int64) for _ in range(4)))


def place_of(code: int) -> Place:
    """Return a place from its number."""
    buffer, offset = divmod(code, WIDTH)
    return Place(BUFFERS[buffer], offset)


def joined(
    step: Numbers, steps: int, link: Numbers, source: Numbers, target: Numbers, operand: Numbers
) -> Moves:
    """Return the moves, with those over the same link joined if their places are adjacent."""
    own = operand == target

    def same(values: NDArray[np.generic]) -> NDArray[np.bool_]:
        result: NDArray[np.bool_] = values[1:] == values[:-1]
        return result

    def next_(values: Numbers) -> NDArray[np.bool_]:
        result: NDArray[np.bool_] = values[1:] == values[:-1] + 1
        return result

    follows = np.zeros(link.size, np.bool_)
    if link.size:
        bare = (operand[1:] < 0) & (operand[:-1] < 0)
        follows[1:] = same(step) & same(link) & next_(source) & next_(target)
        follows[1:] &= same(own) & (bare | next_(operand))
    run = np.flatnonzero(~follows)
    position = np.arange(link.size) - np.repeat(run, np.diff(np.append(run, link.size)))
    begin = np.flatnonzero(position % MOST_COUNT == 0)
    return Moves(
        np.searchsorted(step[begin], np.arange(steps + 1)).astype(np.int64),
        link[begin],
        source[begin],
        target[begin],
        operand[begin],
        np.diff(np.append(begin, link.size)),
    )


def concatenated(parts: list[Moves]) -> Moves:
    """Return the moves of parts that run one after the other."""
    begins = [np.zeros(1, np.int64)]
    for part in parts:
        begins.append(begins[-1][-1] + part.step_begin[1:])
    return Moves(
        np.concatenate(begins),
        *(
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("link", "source", "target", "operand", "count")
        ),
    )


MOST_MOVES = 2**22
"""Greatest number of chunks times the links that carry them."""


def common_chunks(schedule: Schedule | AllReduce) -> int:
    """Return the least number of chunks per shard that suits all parts of a schedule.

    Raises
    ------
    AlgorithmError
        There are more chunks on links than fit into memory.
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

    Data that a rank only forwards, and sums that are not finished, lie in its scratch buffer.

    Parameters
    ----------
    schedule : Schedule or AllReduce
        The schedule to execute.
    chunks : int
        Number of chunks per shard, a multiple of that of each part.

    Attributes
    ----------
    moves : Moves
    copies : Copies
        The copies from scratch memory that follow the moves.
    scratch : int64 array
        For each rank, the size of its scratch buffer in chunks.
    """

    def __init__(self, schedule: Schedule | AllReduce, chunks: int) -> None:
        parts = schedule.parts if isinstance(schedule, AllReduce) else (schedule,)
        self.operation = schedule.operation
        self.root = 0 if isinstance(schedule, AllReduce) else schedule.root or 0
        self.ranks = schedule.graph.nodes
        self.chunks = chunks
        self.scratch = np.zeros(self.ranks, np.int64)
        self._source = schedule.graph.source.astype(np.int64)
        self._target = schedule.graph.target.astype(np.int64)
        self.copies = no_copies()
        *earlier, self._last = parts
        self._earlier = [self._part(part) for part in earlier]
        self._scratch_before = self.scratch.copy()
        self.moves = concatenated([*self._earlier, self._part(self._last)])

    def through_scratch(self) -> Layout:
        """Return a layout in which the all-gather, the last part, goes through scratch memory.

        A rank receives what it brings into its scratch buffer, in the order in which it comes,
        forwards it from there, and copies it to the output. Chunks that are apart in the output
        then move together.
        """
        result = copy(self)
        result.scratch = self._scratch_before.copy()
        last = result._gathered(self._last)
        result.moves = concatenated([*self._earlier, last])
        before = sum(part.link.size for part in self._earlier)
        result.copies = replace(result.copies, move=result.copies.move + before)
        return result

    @property
    def shards(self) -> int:
        """Number of shards of the whole data."""
        return 1 if self.operation in ("broadcast", "reduce") else self.ranks

    def own(self, rank: int) -> tuple[Place, Place, int] | None:
        """Return (source, target, chunks) of a rank's copy of its own data, or None."""
        if self.operation in ("reduce_scatter", "all_reduce", "reduce"):
            return None
        if self.operation == "broadcast":
            whole = Place(Buffer.INPUT, 0), Place(Buffer.OUTPUT, 0), self.chunks
            return whole if rank == self.root else None
        first = rank * self.chunks if self.operation == "all_to_all" else 0
        source, target = Place(Buffer.INPUT, first), Place(Buffer.OUTPUT, rank * self.chunks)
        return source, target, self.chunks

    def steps(self) -> Iterator[list[tuple[int, Move]]]:
        """Yield the links and moves of each step."""
        moves = self.moves
        columns = (moves.link, moves.source, moves.target, moves.operand, moves.count)
        for begin, end in zip(moves.step_begin[:-1], moves.step_begin[1:], strict=True):
            rows = zip(*(column[begin:end].tolist() for column in columns), strict=True)
            yield [
                (
                    link,
                    Move(
                        place_of(source),
                        place_of(target),
                        place_of(operand) if operand >= 0 else None,
                        count,
                    ),
                )
                for link, source, target, operand, count in rows
            ]

    def _part(self, part: Schedule) -> Moves:
        """Return the moves of a part, joined to as few as the places allow."""
        step, link, shard, chunk = self._chunks_of(part)
        source, target, operand = self._places(part, link, shard, chunk)
        return joined(step, part.steps, link, source, target, operand)

    def _chunks_of(self, part: Schedule) -> tuple[Numbers, Numbers, Numbers, Numbers]:
        """Return step, link, shard and chunk of every chunk's move, in order."""
        scale = self.chunks // part.chunks
        count = part.count.astype(np.int64) * scale
        step = np.repeat(np.arange(part.steps), np.diff(part.step_begin.astype(np.int64)).tolist())
        first = part.first.astype(np.int64) * scale
        order = np.lexsort((first, part.shard, part.link, step))
        sizes = count[order]
        within = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return (
            np.repeat(step[order], sizes),
            np.repeat(part.link[order].astype(np.int64), sizes),
            np.repeat(part.shard[order].astype(np.int64), sizes),
            np.repeat(first[order], sizes) + within,
        )

    def _gathered(self, part: Schedule) -> Moves:
        """Return the moves of an all-gather through scratch memory."""
        step, link, shard, chunk = self._chunks_of(part)
        whole = self.shards * self.chunks
        place = np.full(self.ranks * whole, -1)
        own = np.arange(place.size // self.ranks)
        ranks, places = own // self.chunks, own % self.chunks
        if self.operation == "all_reduce":
            places = OUTPUT * WIDTH + own
        place[ranks * whole + own] = places
        unit = shard * self.chunks + chunk
        order, source, target = through_scratch(
            step,
            link,
            self._source[link] * whole + unit,
            self._target[link] * whole + unit,
            place,
            lambda keys: self._fresh(keys // whole, np.ones(keys.size, np.bool_)),
        )
        link, unit = link[order], unit[order]
        moves = joined(step, part.steps, link, source, target, np.full(link.size, -1))
        self.copies = copies_after(moves, step, link, target, OUTPUT * WIDTH + unit)
        return moves

    def _places(
        self, part: Schedule, link: Numbers, shard: Numbers, chunk: Numbers
    ) -> tuple[Numbers, Numbers, Numbers]:
        """Return the source, target and operand of every chunk's move, in order."""
        here, there = self._source[link], self._target[link]
        none = np.full(link.size, -1)
        whole = chunk if self.shards == 1 else shard * self.chunks + chunk
        if part.operation in ("all_gather", "broadcast"):
            # At the start, the input holds a rank's own shard, or the output holds its sum.
            starts = (here == shard) & (self.operation != "all_reduce")
            return np.where(starts, chunk, OUTPUT * WIDTH + whole), OUTPUT * WIDTH + whole, none
        if part.operation == "all_to_all":
            start = INPUT * WIDTH + shard % self.ranks * self.chunks + chunk
            ends = shard % self.ranks == there
            end = OUTPUT * WIDTH + shard // self.ranks * self.chunks + chunk
            target = np.where(ends, end, self._fresh(there, ~ends))
            # A chunk leaves the place to which its last move brought it.
            order = np.argsort(shard * self.chunks + chunk, kind="stable")
            source = start[order]
            again = np.flatnonzero(np.diff((shard * self.chunks + chunk)[order]) == 0) + 1
            source[again] = target[order][again - 1]
            result = np.empty_like(source)
            result[order] = source
            return result, target, none
        # The first of a rank's receives of a chunk adds it to the rank's own, in another place.
        units = self.shards * self.chunks
        key, passed = there * units + whole, here * units + whole
        first = np.full(self.ranks * units, -1)
        first[key[::-1]] = np.arange(link.size)[::-1]
        begins = first[key] == np.arange(link.size)
        at = 0 if self.operation == "reduce_scatter" else shard * self.chunks
        end = OUTPUT * WIDTH + chunk + (0 if self.shards == 1 else at)
        kept = np.where(there == shard, end, self._fresh(there, begins & (there != shard)))
        target = kept[first[key]]
        operand = np.where(begins, INPUT * WIDTH + whole, target)
        source = np.where(first[passed] >= 0, kept[first[passed]], INPUT * WIDTH + whole)
        return source, target, operand

    def _fresh(self, rank: Numbers, needed: NDArray[np.bool_]) -> Numbers:
        """Return a new place in scratch memory for each of the needed, in order of the moves."""
        chosen = np.flatnonzero(needed)
        owner = rank[chosen]
        order = np.argsort(owner, kind="stable")
        begin = np.searchsorted(owner[order], owner[order], side="left")
        offset = np.empty(chosen.size, np.int64)
        offset[order] = np.arange(chosen.size) - begin
        result = np.full(rank.size, -1)
        result[chosen] = SCRATCH * WIDTH + self.scratch[owner] + offset
        self.scratch += np.bincount(owner, minlength=self.ranks)
        return result


def through_scratch(
    step: Numbers,
    link: Numbers,
    here: Numbers,
    there: Numbers,
    place: Numbers,
    fresh: Callable[[Numbers], Numbers],
) -> tuple[Numbers, Numbers, Numbers]:
    """Return an order of the chunks' moves in which few of them are apart, and their places.

    Parameters
    ----------
    step, link : array, shape (chunks,)
        The step and the link of each chunk's move, ordered by step.
    here, there : array, shape (chunks,)
        Which chunk of which rank the move reads, and which one it writes.
    place : array
        The place of every chunk of every rank; -1 where it comes later. Places are filled in.
    fresh : callable
        Returns new places for an array of values of `there`, in order.

    Returns
    -------
    order, source, target : int64 arrays
        The order, in which steps still come one after the other, and the places in this order.
    """
    order = np.arange(step.size)
    source, target = np.empty(step.size, np.int64), np.empty(step.size, np.int64)
    ends = np.flatnonzero(np.diff(step)) + 1
    for begin, end in zip([0, *ends.tolist()], [*ends.tolist(), step.size], strict=True):
        now = slice(begin, end)
        order[now] = begin + np.lexsort((place[here[now]], link[now]))
        source[now] = place[here[order[now]]]
        target[now] = fresh(there[order[now]])
        place[there[order[now]]] = target[now]
    return order, source, target


def copies_after(
    moves: Moves, step: Numbers, link: Numbers, source: Numbers, target: Numbers
) -> Copies:
    """Return the copies that bring chunks to their last places, as few as the places allow.

    Parameters
    ----------
    moves : Moves
        The moves that bring the chunks.
    step, link : array, shape (chunks,)
        The step and the link of each chunk's move, in the order of the moves.
    source, target : array, shape (chunks,)
        The place to which it brings the chunk, and the chunk's last place.
    """
    groups = np.ones(step.size, np.bool_)
    groups[1:] = (step[1:] != step[:-1]) | (link[1:] != link[:-1])
    apart = groups.copy()
    apart[1:] |= (source[1:] != source[:-1] + 1) | (target[1:] != target[:-1] + 1)
    run = np.flatnonzero(apart)
    position = np.arange(step.size) - np.repeat(run, np.diff(np.append(run, step.size)))
    begin = np.flatnonzero(position % MOST_COUNT == 0)
    # A copy follows the last move of its step and link.
    last = np.append(np.flatnonzero(groups)[1:], step.size) - 1
    group = np.cumsum(groups) - 1
    move = np.searchsorted(np.cumsum(moves.count), last, side="right")
    return Copies(
        move[group[begin]].astype(np.int64),
        source[begin],
        target[begin],
        np.diff(np.append(begin, step.size)),
    )
