"""Finds what instructions of thread blocks must wait for, from the places that they use."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from topology_gen import kernels
from topology_gen.arrays import Numbers
from topology_gen.lowering.moves import WIDTH


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


def find_waits(block: Numbers, reader: Numbers, writer: Numbers) -> Waits:
    """Return the waits of instructions for instructions of other blocks.

    Parameters
    ----------
    block : array, shape (instructions,)
        The block of each instruction. A block executes its instructions in order.
    reader, writer : array
        Pairs of instructions, of which the first must run after the second; see `last_writers`.
    """
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


def last_writers(
    rank: Numbers, read: Numbers, write: Numbers, count: Numbers
) -> tuple[Numbers, Numbers]:
    """Return the pairs of an instruction and the last that wrote a place before it reads it.

    Parameters
    ----------
    rank : array, shape (instructions,)
        The rank of each instruction, in an order in which they can be executed.
    read, write : array, shape (instructions,)
        The first place that each instruction reads and writes, or -1.
    count : array, shape (instructions,)
        Number of places.

    Returns
    -------
    reader, writer : int64 arrays
        The pairs, in ascending order.
    """
    return kernels.last_writers(rank, read, write, count, WIDTH)
