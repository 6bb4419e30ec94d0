"""Execute a program symbolically, and compare the contents of all units with the result.

The content of a unit is symbolic. `origin` is the input unit whose values it holds, or -1 if it is
undefined. `members` is the set of members whose values it sums, as bits of 64-bit words.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from frontend.collectives.program.program import (
    Flags,
    Ints,
    Op,
    Problem,
    Program,
    block_places,
    ranges,
)

Bits = npt.NDArray[np.uint64]

_SHOWN = 5
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


class Execution:
    """Executes the steps of a program, level by level, on symbolic contents.

    Parameters
    ----------
    program : Program
        A program without structure problems.
    level : array
        Level of each step. A step runs after all steps of lower levels. Steps of level -1 do not
        run.

    Attributes
    ----------
    problems : list of Problem
        Reads of undefined units, sums of different units, contributions that were counted twice,
        and units that were received again.
    contents : Contents
        Contents of all units at the end.
    """

    def __init__(self, program: Program, level: Ints) -> None:
        self.problems: list[Problem] = []
        self._program = program
        self.contents = precondition(program)
        words = self.contents.members.shape[-1]
        self._origin = self.contents.origin.reshape(-1)  # views: a unit is member·space + address
        self._members = self.contents.members.reshape(-1, words)
        self._op = program.op
        self._count = program.count.astype(np.int64)
        member = program.members() * program.space
        self._unit = member + program.offset
        self._into = member + program.target  # not used for messages
        # One buffer holds the units of all messages; the SEND of a message gives its place.
        sent = np.where(program.op == Op.SEND, self._count, 0)
        place = np.cumsum(sent) - sent
        receives = (program.op == Op.RECV) | (program.op == Op.RECV_REDUCE)
        place[receives] = place[program.target[receives]]
        self._place = place
        self._sent_origin = np.empty(int(sent.sum()), np.int64)
        self._sent_members = np.empty((self._sent_origin.size, words), np.uint64)

        order = np.argsort(level, kind="stable")
        cuts = np.searchsorted(level[order], np.arange(int(level.max(initial=-1)) + 2))
        for begin, end in pairwise(cuts.tolist()):
            self._run(order[begin:end])

    def _run(self, steps: Ints) -> None:
        """Run the steps of one level: all reads first, then all writes."""
        op = self._op[steps]
        send, copy = steps[op == Op.SEND], steps[op == Op.COPY]
        reduce, receive = steps[op == Op.REDUCE], steps[op == Op.RECV]
        add = steps[op == Op.RECV_REDUCE]
        copied = self._read(copy)
        local = self._read(reduce)
        if send.size:
            place = self._expand(self._place, send)
            self._sent_origin[place], self._sent_members[place] = self._read(send)
        if receive.size:
            self._receive(receive)
        if copy.size:
            unit = self._expand(self._into, copy)
            self._origin[unit], self._members[unit] = copied
        if add.size:
            place = self._expand(self._place, add)
            self._add(
                add,
                self._expand(self._unit, add),
                self._sent_origin[place],
                self._sent_members[place],
            )
        if reduce.size:
            self._add(reduce, self._expand(self._into, reduce), *local)

    def _receive(self, steps: Ints) -> None:
        """Write received units, and report receives of units that are already there."""
        place = self._expand(self._place, steps)
        unit = self._expand(self._unit, steps)
        origin, members = self._sent_origin[place], self._sent_members[place]
        old = (self._origin[unit] == origin) & np.all(self._members[unit] == members, axis=-1)
        known = old & (origin >= 0)
        if known.any():
            self._report("duplicate", steps, known, "receives units that are there already")
        self._origin[unit] = origin
        self._members[unit] = members

    def _expand(self, first: Ints, steps: Ints) -> Ints:
        count = self._count[steps]
        return np.repeat(first[steps], count) + ranges(count)

    def _read(self, steps: Ints) -> tuple[Ints, Bits]:
        unit = self._expand(self._unit, steps)
        origin = self._origin[unit]
        undefined = origin < 0
        if undefined.any():
            self._report("undefined", steps, undefined, "reads units that hold nothing yet")
        return origin, self._members[unit]

    def _add(self, steps: Ints, unit: Ints, origin: Ints, members: Bits) -> None:
        """Reduce into units; a unit may appear several times."""
        unlike = (self._origin[unit] != origin) & (origin >= 0)
        if unlike.any():
            self._report("mixed", steps, unlike, "adds to units of other data")
        order = np.argsort(unit, kind="stable")
        cuts = np.flatnonzero(np.diff(unit[order], prepend=-1))
        cells = unit[order][cuts]
        ones = np.bitwise_count(members).sum(axis=1, dtype=np.int64)
        expected = np.add.reduceat(ones[order], cuts)
        expected += np.bitwise_count(self._members[cells]).sum(axis=1, dtype=np.int64)
        self._members[cells] |= np.bitwise_or.reduceat(members[order], cuts, axis=0)
        total = np.bitwise_count(self._members[cells]).sum(axis=1, dtype=np.int64)
        twice = np.zeros(unit.size, np.bool_)
        twice[order] = np.repeat(total != expected, np.diff(np.append(cuts, unit.size)))
        if twice.any():
            self._report("double", steps, twice, "adds a contribution that is there already")

    def _report(self, kind: str, steps: Ints, bad: Flags, what: str) -> None:
        """Report the steps of the flagged units, which are in the order of `_expand`."""
        guilty = np.unique(np.repeat(steps, self._count[steps])[bad])
        self.problems.extend(
            Problem(kind, f"{self._program.describe(step)} {what}", (step,))
            for step in guilty.tolist()
        )


def result_problems(program: Program, contents: Contents) -> list[Problem]:
    """Return the units whose contents differ from the result of the operation."""
    if program.group_size == 1:
        return []  # the program has no steps: the input is the result
    wanted, right = _postcondition(program)
    wrong = (contents.origin != right.origin) | np.any(contents.members != right.members, axis=-1)
    where = np.argwhere(wanted & wrong)
    found = [Problem("result", _fault(contents, right, g, u)) for g, u in where[:_SHOWN].tolist()]
    if len(where) > _SHOWN:
        found.append(Problem("result", f"{len(where) - _SHOWN} other units are wrong"))
    return found


def _fault(contents: Contents, right: Contents, member: int, unit: int) -> str:
    """Return what is wrong about a unit of a member at the end."""
    held, wanted = (_members(one.members[member, unit]) for one in (contents, right))
    origin = int(contents.origin[member, unit])
    if origin == right.origin[member, unit] and held < wanted:
        names = _names(wanted - held)
        return f"member {member} ends without the contribution of {names} to unit {unit}"
    holds = f"unit {origin} of {_names(held)}" if origin >= 0 else "nothing"
    return (
        f"member {member} ends with {holds} in unit {unit}, not with unit "
        f"{right.origin[member, unit]} of {_names(wanted)}"
    )


def _members(words: Bits) -> set[int]:
    bits = np.unpackbits(words.view(np.uint8), bitorder="little")
    return set(np.flatnonzero(bits).tolist())


def _names(members: set[int]) -> str:
    shown = sorted(members)[:_SHOWN]
    more = f" and {len(members) - _SHOWN} more" if len(members) > _SHOWN else ""
    return ", ".join(f"member {member}" for member in shown) + more


def _sets(members: Ints, size: int) -> Bits:
    """Return the set {m} for each m in `members`, in a group of `size`; shape (…, words)."""
    bits = np.zeros((*members.shape, -(-size // 64)), np.uint64)
    word = (members // 64)[..., None]
    bit = np.left_shift(np.uint64(1), (members % 64).astype(np.uint64))
    np.put_along_axis(bits, word, bit[..., None], axis=-1)
    return bits


def _full_set(size: int) -> Bits:
    """Return the set of all members."""
    members: Bits = np.bitwise_or.reduce(_sets(np.arange(size), size), axis=0)
    return members


def precondition(program: Program) -> Contents:
    """Return the contents of all units before the first step."""
    size, units, own = program.group_size, program.units, program.rank_numbers()
    origin = np.full((size, program.space), -1, np.int64)
    origin[:, :units] = np.arange(units)
    if program.operation in _SHARDS:
        origin[:, :units][own[:, None] != _shard_owner(program)] = -1
    if program.operation in ("broadcast", "scatter"):
        origin[own != program.root, :units] = -1
    members = np.zeros((size, program.space, -(-program.ranks // 64)), np.uint64)
    members[:, :units] = _sets(np.maximum(own, 0), program.ranks)[:, None, :]
    members[(origin < 0) | (own < 0)[:, None]] = 0
    return Contents(origin, members)


def _postcondition(program: Program) -> tuple[Flags, Contents]:
    """Return which units matter after the last step, and their required contents."""
    if program.blocks is not None:
        return _received_blocks(program)
    size, units, own = program.ranks, program.units, program.rank_numbers()
    shape = (program.group_size, program.space)
    wanted = np.zeros(shape, np.bool_)
    origin = np.full(shape, -1, np.int64)
    members = np.zeros((*shape, -(-size // 64)), np.uint64)
    if program.operation == "all_to_all":
        block = units // size
        output = slice(units, 2 * units)
        wanted[:, output] = True
        source, within = np.divmod(np.arange(units), block)
        origin[:, output] = own[:, None] * block + within
        members[:, output] = _sets(source, size)
        return wanted, Contents(origin, members)
    wanted[own >= 0, :units] = True
    origin[:, :units] = np.arange(units)
    if program.operation in _SHARDS:
        members[:, :units] = _sets(_shard_owner(program), size)
    elif program.operation in ("broadcast", "scatter"):
        members[:, :units] = _sets(np.array(program.root), size)
    else:
        members[:, :units] = _full_set(size)
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
        members[target, place][:count] = _sets(np.array(source), size)
    return wanted, Contents(origin, members)


def _shard_owner(program: Program) -> Ints:
    return np.arange(program.units) // (program.units // program.ranks)
