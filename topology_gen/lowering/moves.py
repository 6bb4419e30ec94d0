"""Moves of chunks over links, between places of the ranks' buffers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topology_gen.arrays import Numbers
from topology_gen.lowering.algorithm import Buffer, Place

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
