"""Finds what instructions of thread blocks must wait for, from the places that they use."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from topology_gen.arrays import Numbers


class Waits(NamedTuple):
    """The waits of instructions for instructions of other blocks.

    Attributes
    ----------
    waiting, waited : int64 arrays, shape (waits,)
        The instruction that waits and the one that it waits for, ordered by the former and then by
        the block of the latter.
    turn : int64 array, shape (waits,)
        The number of a wait among those of its instruction.
    number : int64 array, shape (instructions,)
        Number of waits of each instruction.
    awaited : int64 array
        Instructions that others need, including those that a block has waited for before.
    """

    waiting: Numbers
    waited: Numbers
    turn: Numbers
    number: Numbers
    awaited: Numbers


def find_waits(
    block: Numbers, rank: Numbers, read: Numbers, write: Numbers, count: Numbers
) -> Waits:
    """Return the waits that order every instruction after those that wrote what it reads.

    Parameters
    ----------
    block, rank : array, shape (instructions,)
        The block and the rank of each instruction. A block executes its instructions in order.
    read, write : array, shape (instructions,)
        The first place that each instruction reads and writes, or -1.
    count : array, shape (instructions,)
        Number of places.
    """
    reader, writer = _last_writers(rank, read, write, count)
    other = block[reader] != block[writer]
    reader, writer = reader[other], writer[other]
    # Of the writers in one block, the last one suffices.
    order = np.lexsort((writer, block[writer], reader))
    reader, writer = reader[order], writer[order]
    last = np.ones(reader.size, np.bool_)
    last[:-1] = (reader[1:] != reader[:-1]) | (block[writer[1:]] != block[writer[:-1]])
    reader, writer = reader[last], writer[last]
    awaited = np.unique(writer)
    # A block need not wait again for what it has waited for before.
    order = np.lexsort((reader, block[writer], block[reader]))
    first, second = block[reader[order]], block[writer[order]]
    begins = np.ones(order.size, np.bool_)
    begins[1:] = (first[1:] != first[:-1]) | (second[1:] != second[:-1])
    group = np.cumsum(begins) * block.size
    greatest = np.maximum.accumulate(group + writer[order]) if order.size else order
    new = begins.copy()
    new[1:] |= greatest[1:] > greatest[:-1]
    kept = np.sort(order[new])
    waiting, waited = reader[kept], writer[kept]
    turn = np.arange(waiting.size) - np.searchsorted(waiting, waiting)
    return Waits(waiting, waited, turn, np.bincount(waiting, minlength=block.size), awaited)


def _last_writers(
    rank: Numbers, read: Numbers, write: Numbers, count: Numbers
) -> tuple[Numbers, Numbers]:
    """Return the pairs of an instruction and the last that wrote a place before it reads it."""
    reads, writes = np.flatnonzero(read >= 0), np.flatnonzero(write >= 0)
    who = np.concatenate([reads, writes])
    sizes = count[who]
    within = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    place = np.repeat(np.concatenate([read[reads], write[writes]]), sizes) + within
    writing = np.repeat(np.arange(who.size) >= reads.size, sizes)
    who = np.repeat(who, sizes)
    # An instruction reads before it writes.
    order = np.lexsort((2 * who + writing, place, rank[who]))
    who, place, writing = who[order], place[order], writing[order]
    last = np.maximum.accumulate(np.where(writing, np.arange(who.size), -1))
    reading = np.flatnonzero(~writing & (last >= 0))
    before = last[reading]
    same = (place[before] == place[reading]) & (rank[who[before]] == rank[who[reading]])
    return who[reading[same]], who[before[same]]
