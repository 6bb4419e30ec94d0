"""Programs by rotation: members run the steps of the first ones, turned to their places."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from frontend.collectives.program.program import (
    Array,
    Head,
    Ints,
    Program,
    is_message,
    lengths,
    narrowed,
    ranges,
)


@dataclass(frozen=True, eq=False)
class Repetition(Program):
    """A program whose members run some steps several times, independently.

    The arrays hold the steps of the first repetition, in one phase; `units` and `space` are those
    of all repetitions. Repetition r adds ``r * step`` to the addresses. All steps of a repetition
    stand before those of the next one.

    Parameters
    ----------
    times : int
        Number of repetitions, at least 2.
    step : int
        Number of units between the addresses of a repetition and of the next one.
    """

    times: int = field(kw_only=True)
    step: int = field(kw_only=True)

    @property
    def steps(self) -> int:
        """Total number of steps of all members."""
        return self.times * int(self.op.size)

    def table(self) -> Program:
        """Return the program with every step of every member."""
        own = lengths(self.step_begin)  # steps of each member
        first = self.step_begin[:-1].astype(np.int64)
        member = self.members()
        number = first[member] * (self.times - 1) + np.arange(self.op.size)  # in repetition 0
        width = own[member]
        place = ranges(own * self.times)
        of_member = np.repeat(np.arange(own.size), own * self.times)
        turn = place // own[of_member]
        source = first[of_member] + place - turn * own[of_member]

        def moved(steps: Ints, turns: Ints) -> Ints:
            """Return the numbers of steps in their repetitions."""
            return number[steps] + turns * width[steps]

        def address(units: Array) -> Array:
            return narrowed(units[source] + turn * self.step)

        message = is_message(self.op)
        partner = np.where(message, self.target, 0).astype(np.int64)
        waits = lengths(self.dep_begin)[source]
        dep = np.repeat(self.dep_begin[source].astype(np.int64), waits) + ranges(waits)
        return Program(
            **self.head,
            step_begin=self.step_begin * np.uint32(self.times),
            op=self.op[source],
            phase=self.phase[source],
            peer=self.peer[source],
            offset=address(self.offset),
            count=self.count[source],
            target=np.where(message[source], moved(partner[source], turn), address(self.target)),
            dep_begin=np.concatenate(([0], np.cumsum(waits))),
            dep=narrowed(moved(self.dep[dep].astype(np.int64), np.repeat(turn, waits))),
            route=self.route[source] if self.route.size else self.route,
        )


def repetition(once: Program, times: int, step: int) -> Repetition:
    """Return the `Repetition` of a program in one phase, whose units are those of all of them."""
    return Repetition(**vars(once), times=times, step=step)


def repeated(program: Program, times: int) -> Program | Repetition:
    """Return the program in which each member runs its steps once for each part of the units.

    Parameters
    ----------
    program : Program
        A program with one phase, whose steps access one unit each, without output and scratch.
    times : int
        Number of parts into which each unit is divided.
    """
    if times == 1:
        return program
    scale = np.uint32(times)
    target = np.where(is_message(program.op), program.target, program.target * scale)
    once = replace(
        program,
        units=program.units * times,
        space=program.space * times,
        offset=program.offset * scale,
        target=target,
    )
    return repetition(once, times, 1)


@dataclass(frozen=True, eq=False)
class Rotation(Head):
    """A program given by the T steps of the first B of N members, in one phase.

    Member ``q * B + b`` runs those of member b with other peers and addresses. Its peer is the one
    of member b, plus ``q * B``, modulo N. An address with the turn t is ``q * t`` units further in
    its region. The region has ``N / B * t`` units and begins at a multiple of this size; its first
    unit follows its last one. An address with turn 0 is the same for all q.

    Parameters
    ----------
    step_begin, op, peer, offset, count, target, route : array of uint32
        As in `Program`, for the first B members. For messages, `target` is the index of the partner
        step, which is the same for all q. `route` may be empty.
    edges : array, shape (m, 2)
        Dependencies, sorted by the first index. Each row is the index of a step and the index of a
        step that it waits for.
    offset_turn, target_turn : array of uint32, shape (T,)
        Turns of `offset`, and of `target` if it is an address.
    """

    step_begin: Array
    op: Array
    peer: Array
    offset: Array
    count: Array
    target: Array
    edges: Ints
    offset_turn: Array
    target_turn: Array
    route: Array = field(default_factory=lambda: np.zeros(0, np.uint32))

    @property
    def block(self) -> int:
        """Number of members whose steps are given."""
        return int(self.step_begin.size) - 1

    @property
    def turns(self) -> int:
        """Number of blocks, each of which runs the same steps."""
        return self.group_size // self.block

    @property
    def steps(self) -> int:
        """Total number of steps of all members."""
        return self.turns * int(self.op.size)

    def table(self) -> Program:
        """Return the program with the steps of every member."""
        moved = np.arange(self.turns)[:, None] * self.block
        return symmetric(
            self,
            op=self.op,
            peer=(self.peer + moved) % self.group_size,
            offset=self._turned(self.offset, self.offset_turn),
            count=self.count,
            target=self._turned(self.target, self.target_turn),
            edges=self.edges,
            route=np.tile(self.route, self.turns),
            step_begin=self.step_begin,
        )

    def _turned(self, address: Array, turn: Array) -> Ints:
        """Return an address of each block and step, shape (N / B, T)."""
        size = np.maximum(self.turns * turn.astype(np.int64), 1)
        region, place = np.divmod(address.astype(np.int64), size)
        further = np.arange(self.turns)[:, None] * turn.astype(np.int64)
        return region * size + (place + further) % size


Stepped = Program | Rotation | Repetition
"""A program by its own steps: all of them, those of a block, or those of one repetition."""


def rotation(
    name: str,
    operation: str,
    group_size: int,
    *,
    units: int,
    dimension: str,
    op: npt.ArrayLike,
    peer: npt.ArrayLike,
    offset: npt.ArrayLike,
    target: npt.ArrayLike,
    edges: Ints | None = None,
    count: npt.ArrayLike = 1,
    offset_turn: npt.ArrayLike = 1,
    target_turn: npt.ArrayLike = 0,
    space: int | None = None,
    equal_units: bool = False,
    route: npt.ArrayLike = (),
    step_begin: npt.ArrayLike | None = None,
) -> Rotation:
    """Return the `Rotation` of some steps, by default of member 0.

    Single values stand for all steps.
    """
    ops = narrowed(op)

    def column(values: npt.ArrayLike) -> Array:
        return narrowed(np.broadcast_to(np.asarray(values), ops.shape))

    return Rotation(
        name=name,
        operation=operation,
        group_size=group_size,
        units=units,
        space=space or units,
        equal_units=equal_units,
        phase_dimension=(dimension,),
        step_begin=narrowed([0, ops.size] if step_begin is None else step_begin),
        op=ops,
        peer=np.where(is_message(ops), column(peer), np.uint32(0)),
        offset=column(offset),
        count=column(count),
        target=column(target),
        edges=np.zeros((0, 2), np.int64) if edges is None else edges,
        offset_turn=column(offset_turn),
        target_turn=np.where(is_message(ops), np.uint32(0), column(target_turn)),
        route=narrowed(route),
    )


def symmetric(
    head: Head,
    *,
    op: npt.ArrayLike,
    peer: npt.ArrayLike,
    offset: npt.ArrayLike,
    target: npt.ArrayLike,
    edges: Ints | None = None,
    count: npt.ArrayLike = 1,
    route: npt.ArrayLike = (),
    step_begin: npt.ArrayLike | None = None,
) -> Program:
    """Return the program in which each block of B of N members runs T steps in one phase.

    It is made without a Python loop over members.

    Parameters
    ----------
    head : Head
        The head of the program.
    op : array_like, shape (T,)
        Operation of each step.
    peer, offset, count, target : array_like, broadcast to (N / B, T)
        Values for each block and step. For messages, `target` is the index (0 … T-1) of the
        partner step in the list of the peer's block.
    edges : array, shape (m, 2), optional
        Dependencies, which are the same for each block. Each row is the index of a step and the
        index of a step that it waits for. Rows are sorted by the first index.
    route : array_like, shape (N / B · T,), optional
        As in `Program`.
    step_begin : array_like, shape (B + 1,), optional
        Where the steps of each member of a block begin; by default, a block is one member.
    """
    ops = np.asarray(op, np.uint32)
    steps = ops.size
    begin = narrowed([0, steps] if step_begin is None else step_begin)
    block = begin.size - 1
    shape = (head.group_size // block, steps)
    turn = np.arange(shape[0], dtype=np.uint32)[:, None]
    own = turn * np.uint32(block) + np.repeat(np.arange(block, dtype=np.uint32), lengths(begin))
    message = is_message(ops)
    peers = np.where(message, np.broadcast_to(np.asarray(peer, np.uint32), shape), own)
    targets = np.broadcast_to(np.asarray(target, np.uint32), shape)
    targets = np.where(message, peers // np.uint32(block) * np.uint32(steps) + targets, targets)
    edges = np.zeros((0, 2), np.int64) if edges is None else edges
    waits = np.bincount(edges[:, 0], minlength=steps).astype(np.uint32)
    first = turn * np.uint32(steps)

    def flat(array: npt.ArrayLike) -> Array:
        return np.ascontiguousarray(
            np.broadcast_to(np.asarray(array, np.uint32), shape), np.uint32
        ).reshape(-1)

    return Program(
        **head.head,
        step_begin=np.append(first + begin[:-1], np.uint32(shape[0] * steps)),
        op=flat(ops),
        phase=np.zeros(shape, np.uint32).reshape(-1),
        peer=flat(peers),
        offset=flat(offset),
        count=flat(count),
        target=flat(targets),
        dep_begin=np.concatenate(([0], np.cumsum(np.tile(waits, shape[0])))).astype(np.uint32),
        dep=(first + edges[:, 1].astype(np.uint32)[None, :]).reshape(-1),
        route=narrowed(route),
    )


def edge_list(pairs: list[tuple[int, int]]) -> Ints:
    """Return (step, step that it waits for) pairs as the sorted array that `symmetric` takes."""
    return np.array(sorted(pairs), np.int64).reshape(-1, 2)
