"""Compose a program of smaller ones that run side by side, and one phase after another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from frontend.collectives.program.program import (
    Array,
    CollectiveError,
    Head,
    Ints,
    Op,
    Program,
    assemble,
    edges_of,
    is_message,
    narrowed,
    ranges,
    routes_of,
    rows_of,
)
from frontend.collectives.program.rotation import Repetition, Rotation, Stepped


@dataclass(frozen=True)
class Piece:
    """A program that one group or several groups of members of a larger program run.

    Member j of group k is member ``first + k * group_step + j * member_step`` of the larger
    program, and unit u of group k is its unit ``u + k * unit_step``.

    Parameters
    ----------
    program : Program, Rotation or Repetition
        The smaller program, with the units and the space of the larger one; see `placed`.
    phase : int
        Phase of the larger program in which the first phase of `program` runs.
    first : int
        Member 0 of group 0.
    groups : int
        Number of groups.
    group_step, member_step, unit_step : int
        See above.
    """

    program: Stepped
    phase: int = 0
    first: int = 0
    groups: int = 1
    group_step: int = 0
    member_step: int = 1
    unit_step: int = 0

    def members(self) -> Ints:
        """Return the member of the larger program for each group and member, shape (groups, n)."""
        group = np.arange(self.groups)[:, None] * self.group_step
        return self.first + group + np.arange(self.program.group_size) * self.member_step


@dataclass(frozen=True, eq=False)
class Composition(Head):
    """A program that consists of pieces.

    A member starts a phase when it has finished the previous one; there is no other order between
    pieces. No member is in two pieces, or in two groups of a piece, of the same phase.

    Parameters
    ----------
    pieces : tuple of Piece
        The pieces, sorted by phase.
    """

    pieces: tuple[Piece, ...]

    @property
    def steps(self) -> int:
        """Total number of steps of all members."""
        return sum(piece.groups * piece.program.steps for piece in self.pieces)

    def table(self) -> Program:
        """Return the program with the steps of every member."""
        rows = [np.zeros((0, 7), np.int64)]
        edges = [np.zeros((0, 2), np.int64)]
        routes = [np.zeros(0, np.int64)]
        first = 0
        for piece in self.pieces:
            table = piece.program.table()
            message = is_message(table.op)
            for group, members in enumerate(piece.members()):
                own = rows_of(table, first)
                own[:, [0, 3]] = members[own[:, [0, 3]]]
                own[:, 1] += piece.phase
                own[:, 4] += group * piece.unit_step
                own[~message, 6] += group * piece.unit_step
                rows.append(own)
                edges.append(edges_of(table) + first)
                routes.append(routes_of(table))
                first += table.steps
        return assemble(self, np.vstack(rows), np.vstack(edges), np.concatenate(routes))


AnyProgram = Stepped | Composition
"""A program, by the steps of each member or by a rule; `table` returns the steps."""


def compose(
    name: str,
    operation: str,
    group_size: int,
    *,
    units: int,
    dimensions: tuple[str, ...],
    pieces: Iterable[Piece],
    space: int | None = None,
    equal_units: bool = False,
) -> Composition:
    """Return the program that consists of some pieces."""
    in_order = sorted(pieces, key=lambda piece: piece.phase)
    return Composition(
        name, operation, group_size, units, space or units, equal_units, dimensions, tuple(in_order)
    )


def side_by_side(program: AnyProgram, groups: int) -> AnyProgram:
    """Return the program in which several groups of equal size each run `program` on their own.

    Group g has the members ``g * group_size … (g + 1) * group_size - 1``. The groups exchange no
    messages, so the result is for running and not for `check`.
    """
    if groups == 1:
        return program
    size = program.group_size
    if isinstance(program, Composition):
        pieces = [
            replace(piece, first=piece.first + group * size)
            for piece in program.pieces
            for group in range(groups)
        ]
    else:
        pieces = [Piece(program, groups=groups, group_step=size)]
    return Composition(**{**program.head, "group_size": groups * size}, pieces=tuple(pieces))


def on_routes(program: AnyProgram, first: int) -> AnyProgram:
    """Return a program whose messages take the routes from `first` on."""
    if not first:
        return program
    if isinstance(program, Composition):
        moved = {id(part): _on_routes(part, first) for part in parts_of(program)}
        pieces = (replace(piece, program=moved[id(piece.program)]) for piece in program.pieces)
        return replace(program, pieces=tuple(pieces))
    return _on_routes(program, first)


def _on_routes(program: Stepped, first: int) -> Stepped:
    taken = program.route if program.route.size else np.zeros(program.op.size, np.uint32)
    return replace(program, route=taken + np.uint32(first))


def parts_of(program: AnyProgram) -> Sequence[Stepped]:
    """Return the distinct programs of the pieces of a program, in the order of their first use."""
    if not isinstance(program, Composition):
        return ()
    return tuple({id(piece.program): piece.program for piece in program.pieces}.values())


def placed(
    program: Stepped,
    *,
    units: int,
    space: int,
    equal_units: bool,
    base: tuple[int, ...],
    factor: int,
) -> Stepped:
    """Return a program in the units of a larger one.

    Parameters
    ----------
    program : Program, Rotation or Repetition
        The smaller program.
    units, space, equal_units
        Of the larger program.
    base : tuple of int
        First units in the larger program of the regions of `program`: its data and, for an
        all-to-all, its output and its scratch (if it has any).
    factor : int
        Number of units of the larger program in one unit of `program`.

    Raises
    ------
    CollectiveError
        If the program uses output or scratch that `base` has no entry for.
    """
    region = program.units

    def place(address: Array) -> Array:
        index = np.minimum(address // region, 2)  # everything after the output is scratch
        if address.size and int(index.max()) >= len(base):
            raise CollectiveError(
                f"{program.operation} by {program.name!r} needs scratch space and cannot be a part "
                "of this program"
            )
        return narrowed(
            np.array(base)[index] + (address - index * region).astype(np.int64) * factor
        )

    message = is_message(program.op)
    target = program.target.copy()
    target[~message] = place(target[~message])
    result = replace(
        program,
        units=units,
        space=space,
        equal_units=equal_units,
        offset=place(program.offset),
        count=narrowed(program.count.astype(np.int64) * factor),
        target=target,
    )
    if isinstance(result, Repetition):
        return replace(result, step=result.step * factor)
    if isinstance(result, Rotation):
        scale = np.uint32(factor)
        return replace(
            result,
            offset_turn=result.offset_turn * scale,
            target_turn=result.target_turn * scale,
        )
    return result


def collected(program: Program, source: Ints, base: int, run: int) -> Program:
    """Return a program whose members first copy their data, run by run, from elsewhere.

    Steps that read or reduce into the data wait for the copies of what they access.

    Parameters
    ----------
    program : Program
        The program, already in the units of the larger one. The copies are part of its first phase.
    source : array of int
        First unit of each run, the same for every member.
    base : int
        First unit of the data. Run i goes to the unit ``base + i * run``.
    run : int
        Number of units in each copy.
    """
    size, copies = program.group_size, source.size
    own = program.members()
    rows = np.zeros((size, copies, 7), np.int64)
    rows[:, :, 0] = rows[:, :, 3] = np.arange(size)[:, None]
    rows[:, :, 2] = Op.COPY
    rows[:, :, 4] = source
    rows[:, :, 5] = run
    rows[:, :, 6] = base + np.arange(copies) * run
    first = size * copies
    offset = program.offset.astype(np.int64)
    readers = np.flatnonzero(
        (offset >= base) & (offset < base + copies * run) & (program.phase == 0)
    )
    counts = program.count[readers].astype(np.int64)
    unit = np.repeat(offset[readers] - base, counts) + ranges(counts)
    waits = np.column_stack((
        first + np.repeat(readers, counts),
        np.repeat(own[readers], counts) * copies + unit // run,
    ))  # fmt: skip
    return assemble(
        program,
        np.vstack((rows.reshape(-1, 7), rows_of(program, first))),
        np.vstack((waits, edges_of(program) + first)),
        np.concatenate((np.zeros(first, np.int64), routes_of(program))),
    )
