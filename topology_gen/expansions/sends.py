"""Sends as arrays, and the schedules that they form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topology_gen.arrays import Ids, ids
from topology_gen.errors import ParameterError
from topology_gen.graphs.digraph import Digraph
from topology_gen.schedules.schedule import Schedule

GREATEST_SENDS = 2**27
"""Greatest number of sends of an expanded schedule; a send takes 16 bytes, and several times that
while the schedule is made."""


class Sends(NamedTuple):
    """Send i moves the chunks first[i] … first[i]+length[i]-1 of shard[i] over link[i]."""

    link: Ids
    shard: Ids
    first: Ids
    length: Ids


def check_sends(sends: int) -> None:
    """Check that an expansion has few enough sends to fit into memory.

    Raises
    ------
    ParameterError
        There are more than 2²⁷ sends.
    """
    if sends > GREATEST_SENDS:
        raise ParameterError(f"an expansion to {sends} sends: expected at most {GREATEST_SENDS}")


def check_all_gather(schedule: Schedule) -> None:
    """Check that a schedule is an all-gather, the operation that expansions work on.

    Raises
    ------
    ParameterError
        The schedule has another operation.
    """
    if schedule.operation != "all_gather":
        raise ParameterError(f"a {schedule.operation}: expected an all_gather to expand")


def joined(graph: Digraph, chunks: int, parts: Sequence[Sends], step_begin: ArrayLike) -> Schedule:
    """Return the all-gather of sends that are sorted by step.

    Parameters
    ----------
    graph : Digraph
        The digraph of the links.
    chunks : int
        Number of chunks per shard.
    parts : sequence of Sends
        The sends of all steps, one part after the other.
    step_begin : array of int, shape (steps+1,)
        The index of each step's first send in the concatenation of the parts, and its length.
    """
    arrays = [ids(np.concatenate(each)) for each in zip(*parts, strict=True)]
    begin = np.asarray(step_begin, dtype=np.uint64)
    return Schedule("all_gather", graph, chunks, begin, *arrays)


def sorted_by_step(
    graph: Digraph, chunks: int, parts: Sequence[Sends], steps: NDArray[np.int64]
) -> Schedule:
    """Return the all-gather of sends in any order; `steps` holds the step of each send, from 1."""
    order = np.argsort(steps, kind="stable")
    sends = Sends(*(np.concatenate(arrays)[order] for arrays in zip(*parts, strict=True)))
    begin = np.concatenate([[0], np.cumsum(np.bincount(steps)[1:])])
    return joined(graph, chunks, [sends], begin)


def steps_of(schedule: Schedule) -> NDArray[np.int64]:
    """Return the step of every send, counted from 1."""
    begin = schedule.step_begin.astype(np.int64)
    result: NDArray[np.int64] = np.repeat(np.arange(1, schedule.steps + 1), begin[1:] - begin[:-1])
    return result
