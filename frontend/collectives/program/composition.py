"""Programs made of programs: each runs over a subgroup, on a part of the data, in a later phase."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from frontend.collectives.program.errors import CollectiveError
from frontend.collectives.program.program import Ints, Op, Program, assemble, is_message, ranges


@dataclass(frozen=True)
class Piece:
    """A program at its place in a larger one.

    Parameters
    ----------
    program : Program
        What runs.
    members : sequence of int
        The member of the whole that takes the part of each member of `program`.
    phase : int
        The phase of the whole in which the first phase of `program` runs.
    base : tuple of int
        Where units of `program` lie in the whole: its data; for all-to-all also its output, and its
        scratch (if it has any).
    factor : int
        Units of the whole in one of `program`.
    gather : array, shape (len(members), program.units * factor), optional
        If given, each member first collects the data by COPY from these units of the whole; only
        steps that read what is collected wait for it.
    """

    program: Program
    members: Sequence[int]
    phase: int
    base: tuple[int, ...] = (0,)
    factor: int = 1
    gather: Ints | None = None

    def place(self, address: Ints) -> Ints:
        """Return the unit of the whole for each unit of `program`.

        Raises
        ------
        CollectiveError
            The program addresses output or scratch for which `base` has no place.
        """
        units = self.program.units
        region = np.minimum(address // units, 2)  # all from the second output on is one scratch
        if address.size and int(region.max()) >= len(self.base):
            raise CollectiveError(
                f"{self.program.operation} by {self.program.name!r} needs scratch space and cannot "
                "be a part of this program"
            )
        placed: Ints = np.array(self.base)[region] + (address - region * units) * self.factor
        return placed


def _steps(piece: Piece, first: int) -> tuple[Ints, Ints]:
    """Return the rows and edges (see `assemble`) of a piece whose first row gets number `first`."""
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

    width = program.units * piece.factor
    copies = np.empty((collected, 7), np.int64)
    copies[:, 0] = copies[:, 3] = np.repeat(members, width)
    copies[:, 1] = piece.phase
    copies[:, 2] = Op.COPY
    copies[:, 4] = piece.gather.reshape(-1)
    copies[:, 5] = 1
    copies[:, 6] = np.tile(piece.base[0] + np.arange(width), len(members))
    readers = np.flatnonzero(columns["offset"] < program.units)
    reads = rows[readers, 5]
    unit = np.repeat(rows[readers, 4] - piece.base[0], reads) + ranges(reads)
    waits = np.column_stack((
        start + np.repeat(readers, reads),
        first + np.repeat(own[readers], reads) * width + unit,
    ))  # fmt: skip
    return np.vstack((copies, rows)), np.vstack((edges, waits))


def _routes(piece: Piece, rows: int) -> Ints:
    """Return the routes of a piece's rows: those of its program, which are its last."""
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
    """Return the program in which each member runs its pieces, phase after phase.

    Pieces that share members and data must lie in different phases: a member begins a phase when
    it has finished the one before, and no other order between pieces is added.

    Raises
    ------
    CollectiveError
        A piece cannot be placed.
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
