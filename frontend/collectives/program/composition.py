"""Compose a program of smaller ones that run side by side, and one phase after another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from frontend.collectives.program.program import (
    Ints,
    Program,
    assemble,
    edges_of,
    is_message,
    routes_of,
    rows_of,
)
from frontend.collectives.program.repetition import Repetition
from frontend.collectives.program.rotation import Rotation, Stepped


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
class Composition:
    """A program that consists of pieces.

    A member starts a phase when it has finished the previous one; there is no other order between
    pieces. No member is in two pieces, or in two groups of a piece, of the same phase.

    Parameters
    ----------
    name, operation, group_size, units, space, equal_units, phase_dimension, root
        As in `Program`.
    pieces : tuple of Piece
        The pieces, sorted by phase.
    """

    name: str
    operation: str
    group_size: int
    units: int
    space: int
    equal_units: bool
    phase_dimension: tuple[str, ...]
    pieces: tuple[Piece, ...]
    root: int = 0

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
        return assemble(
            self.name,
            self.operation,
            self.group_size,
            self.units,
            self.space,
            self.equal_units,
            self.phase_dimension,
            np.vstack(rows),
            np.vstack(edges),
            np.concatenate(routes),
            self.root,
        )


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
    return compose(
        program.name,
        program.operation,
        groups * size,
        units=program.units,
        space=program.space,
        equal_units=program.equal_units,
        dimensions=program.phase_dimension,
        pieces=pieces,
    )


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
    if isinstance(program, Repetition):
        return replace(program, once=_moved(program.once, first))
    return _moved(program, first)


_Own = TypeVar("_Own", bound=Program | Rotation)


def _moved(program: _Own, first: int) -> _Own:
    taken = program.route if program.route.size else np.zeros(program.op.size, np.uint32)
    return replace(program, route=taken + np.uint32(first))


def parts_of(program: AnyProgram) -> Sequence[Stepped]:
    """Return the distinct programs of the pieces of a program, in the order of their first use."""
    if not isinstance(program, Composition):
        return ()
    return tuple({id(piece.program): piece.program for piece in program.pieces}.values())
