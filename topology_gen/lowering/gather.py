"""Moves of an all-gather through scratch memory.

A rank puts what it receives one after the other into its scratch memory. What came together lies
together, so that it can also be forwarded together, by one instruction. Copies then bring it to
its places in the output.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from topology_gen.arrays import Numbers
from topology_gen.lowering.moves import MOST_COUNT, Copies, Moves


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
