"""Compose a program of smaller ones that run over subgroups, on parts of the data, in phases."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from frontend.collectives.program.errors import CollectiveError
from frontend.collectives.program.program import (
    Array,
    Ints,
    Op,
    Program,
    assemble,
    is_message,
    ranges,
)


@dataclass(frozen=True)
class Piece:
    """A program that is part of a larger program.

    Parameters
    ----------
    program : Program
        The smaller program.
    members : sequence of int
        For each member of `program`, the member of the larger program that runs its steps.
    phase : int
        Phase of the larger program in which the first phase of `program` runs.
    base : tuple of int
        First units in the larger program of the regions of `program`: its data and, for an
        all-to-all, its output and its scratch (if it has any).
    factor : int
        Number of units of the larger program in one unit of `program`.
    gather : array, shape (len(members), program.units * factor / run), optional
        If given, each member first copies its data from these units of the larger program and the
        ones that follow. Only steps that read this data wait for the copies.
    run : int
        Number of units in each copy.
    """

    program: Program
    members: Sequence[int]
    phase: int
    base: tuple[int, ...] = (0,)
    factor: int = 1
    gather: Ints | None = None
    run: int = 1

    def place(self, address: Ints) -> Ints:
        """Return the unit of the larger program for each unit of `program`.

        Raises
        ------
        CollectiveError
            If the program uses output or scratch that `base` has no entry for.
        """
        units = self.program.units
        region = np.minimum(address // units, 2)  # everything after the output is scratch
        if address.size and int(region.max()) >= len(self.base):
            raise CollectiveError(
                f"{self.program.operation} by {self.program.name!r} needs scratch space and cannot "
                "be a part of this program"
            )
        placed: Ints = np.array(self.base)[region] + (address - region * units) * self.factor
        return placed


def _steps(piece: Piece, first: int) -> tuple[Ints, Ints]:
    """Return the rows and edges (see `assemble`) of a piece; its first row has number `first`."""
    program = piece.program
    members = np.array(piece.members, np.int64)
    own = program.members()
    columns = {
        name: getattr(program, name).astype(np.int64)
        for name in ("op", "phase", "peer", "offset", "count", "target")
    }
    message = is_message(program.op)
    target = columns["target"]
    collected = 0 if piece.gather is None else piece.gather.size
    start = first + collected
    rows = np.empty((program.steps, 7), np.int64)
    rows[:, 0] = members[own]
    rows[:, 1] = columns["phase"] + piece.phase
    rows[:, 2] = columns["op"]
    rows[:, 3] = members[columns["peer"]]
    rows[:, 4] = piece.place(columns["offset"])
    rows[:, 5] = columns["count"] * piece.factor
    rows[message, 6] = target[message] + start
    rows[~message, 6] = piece.place(target[~message])
    edges = np.column_stack((program.dependents(), program.dep)).astype(np.int64) + start
    if piece.gather is None:
        return rows, edges

    width = program.units * piece.factor // piece.run
    copies = np.empty((collected, 7), np.int64)
    copies[:, 0] = copies[:, 3] = np.repeat(members, width)
    copies[:, 1] = piece.phase
    copies[:, 2] = Op.COPY
    copies[:, 4] = piece.gather.reshape(-1)
    copies[:, 5] = piece.run
    copies[:, 6] = np.tile(piece.base[0] + np.arange(width) * piece.run, len(members))
    readers = np.flatnonzero(columns["offset"] < program.units)
    reads = rows[readers, 5]
    unit = np.repeat(rows[readers, 4] - piece.base[0], reads) + ranges(reads)
    waits = np.column_stack((
        start + np.repeat(readers, reads),
        first + np.repeat(own[readers], reads) * width + unit // piece.run,
    ))  # fmt: skip
    return np.vstack((copies, rows)), np.vstack((edges, waits))


def _routes(piece: Piece, rows: int) -> Ints:
    """Return the route of each row of a piece. The rows of its program come last."""
    result = np.zeros(rows, np.int64)
    if piece.program.route.size:
        result[rows - piece.program.steps :] = piece.program.route
    return result


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
) -> Program:
    """Return the program in which each member runs its pieces, one phase after another.

    Pieces that share members and data must be in different phases. A member starts a phase when it
    has finished the previous one; there is no other order between pieces.

    Raises
    ------
    CollectiveError
        If a piece cannot be placed.
    """
    rows: list[Ints] = [np.zeros((0, 7), np.int64)]
    routes: list[Ints] = [np.zeros(0, np.int64)]
    edges: list[Ints] = [np.zeros((0, 2), np.int64)]
    first = 0
    for piece in pieces:
        piece_rows, piece_edges = _steps(piece, first)
        rows.append(piece_rows)
        edges.append(piece_edges)
        routes.append(_routes(piece, len(piece_rows)))
        first += len(piece_rows)
    return assemble(
        name,
        operation,
        group_size,
        units,
        space or units,
        equal_units,
        dimensions,
        np.vstack(rows),
        np.vstack(edges),
        np.concatenate(routes),
    )


def side_by_side(program: Program, groups: int) -> Program:
    """Return the program in which several groups of equal size each run `program` on their own.

    Group g has the members ``g * group_size … (g + 1) * group_size - 1``. The groups exchange no
    messages, so the result is for running and not for `check`.
    """
    if groups == 1:
        return program
    size, steps = program.group_size, program.steps
    group = np.arange(groups, dtype=np.uint32)[:, None]

    def moved(array: Array, by: int) -> Array:
        shifted: Array = (array + group * np.uint32(by)).reshape(-1)
        return shifted

    def every(array: Array) -> Array:
        return np.tile(array, groups)

    message = is_message(program.op)
    target = np.where(message, program.target + group * np.uint32(steps), program.target)
    return replace(
        program,
        group_size=groups * size,
        step_begin=np.append(moved(program.step_begin[:-1], steps), groups * steps),
        op=every(program.op),
        phase=every(program.phase),
        peer=moved(program.peer, size),
        offset=every(program.offset),
        count=every(program.count),
        target=target.reshape(-1),
        dep_begin=np.append(
            moved(program.dep_begin[:-1], program.dep.size), groups * program.dep.size
        ),
        dep=moved(program.dep, steps),
        route=every(program.route),
    )
