"""Preconditions and postconditions of the operations, for each unit.

The content of a unit is symbolic. `origin` is the input unit whose values it holds, or -1 if it is
undefined. `members` is the set of members whose values it sums, as bits of 64-bit words.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from frontend.collectives.program.blocks import block_places
from frontend.collectives.program.program import Flags, Ints, Program

Bits = npt.NDArray[np.uint64]

_SHARDS = ("all_gather", "gather", "barrier")
"""Operations in which each member begins with its shard. A barrier gathers tokens of arrival."""


@dataclass
class Contents:
    """The symbolic contents of all units of all members.

    Parameters
    ----------
    origin : array, shape (members, space)
    members : array, shape (members, space, words)
    """

    origin: Ints
    members: Bits


def sets(members: Ints, size: int) -> Bits:
    """Return the set {m} for each m in `members`, in a group of `size`; shape (…, words)."""
    bits = np.zeros((*members.shape, -(-size // 64)), np.uint64)
    word = (members // 64)[..., None]
    bit = np.left_shift(np.uint64(1), (members % 64).astype(np.uint64))
    np.put_along_axis(bits, word, bit[..., None], axis=-1)
    return bits


def full_set(size: int) -> Bits:
    """Return the set of all members."""
    members: Bits = np.bitwise_or.reduce(sets(np.arange(size), size), axis=0)
    return members


def precondition(program: Program) -> Contents:
    """Return the contents of all units before the first step."""
    size, units = program.group_size, program.units
    own = np.arange(size)
    origin = np.full((size, program.space), -1, np.int64)
    origin[:, :units] = np.arange(units)
    if program.operation in _SHARDS:
        origin[:, :units][own[:, None] != _shard_owner(program)] = -1
    if program.operation in ("broadcast", "scatter"):
        origin[own != program.root, :units] = -1
    members = np.zeros((size, program.space, -(-size // 64)), np.uint64)
    members[:, :units] = sets(own, size)[:, None, :]
    members[origin < 0] = 0
    return Contents(origin, members)


def postcondition(program: Program) -> tuple[Flags, Contents]:
    """Return which units matter after the last step, and their required contents."""
    size, units = program.group_size, program.units
    wanted = np.zeros((size, program.space), np.bool_)
    origin = np.full((size, program.space), -1, np.int64)
    members = np.zeros((size, program.space, -(-size // 64)), np.uint64)
    if program.blocks is not None:
        return _received_blocks(program)
    if program.operation == "all_to_all":
        block = units // size
        output = slice(units, 2 * units)
        wanted[:, output] = True
        source, within = np.divmod(np.arange(units), block)
        origin[:, output] = np.arange(size)[:, None] * block + within
        members[:, output] = sets(source, size)
        return wanted, Contents(origin, members)
    wanted[:, :units] = True
    origin[:, :units] = np.arange(units)
    own = np.arange(size)
    if program.operation in _SHARDS:
        members[:, :units] = sets(_shard_owner(program), size)
    elif program.operation in ("broadcast", "scatter"):
        members[:, :units] = sets(np.array(program.root), size)
    else:
        members[:, :units] = full_set(size)
    if program.operation in ("reduce_scatter", "scatter"):
        wanted[:, :units] = own[:, None] == _shard_owner(program)
    if program.operation in ("reduce", "gather"):
        wanted[own != program.root] = False
    return wanted, Contents(origin, members)


def _received_blocks(program: Program) -> tuple[Flags, Contents]:
    """Return the postcondition of an all-to-all with unequal blocks."""
    size, units = program.group_size, program.units
    assert program.blocks is not None
    blocks = program.blocks.astype(np.int64)
    sent, received = block_places(blocks)
    wanted = np.zeros((size, program.space), np.bool_)
    origin = np.full((size, program.space), -1, np.int64)
    members = np.zeros((size, program.space, -(-size // 64)), np.uint64)
    for source, target in np.argwhere(blocks).tolist():
        count = int(blocks[source, target])
        place = slice(units + int(received[source, target]), None)
        first = int(sent[source, target])
        wanted[target, place][:count] = True
        origin[target, place][:count] = np.arange(first, first + count)
        members[target, place][:count] = sets(np.array(source), size)
    return wanted, Contents(origin, members)


def _shard_owner(program: Program) -> Ints:
    return np.arange(program.units) // (program.units // program.group_size)
