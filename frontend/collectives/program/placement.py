"""Place a program in the units of a larger one, of which it becomes a piece."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

import numpy as np

from frontend.collectives.program.errors import CollectiveError
from frontend.collectives.program.program import (
    Array,
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
from frontend.collectives.program.repetition import Repetition
from frontend.collectives.program.rotation import Rotation, Stepped


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
    if isinstance(program, Repetition):
        once = _placed(program.once, units, space, equal_units, base, factor)
        return replace(program, once=once, step=program.step * factor)
    result = _placed(program, units, space, equal_units, base, factor)
    if isinstance(result, Rotation):
        scale = np.uint32(factor)
        return replace(
            result,
            offset_turn=result.offset_turn * scale,
            target_turn=result.target_turn * scale,
        )
    return result


_Own = TypeVar("_Own", bound=Program | Rotation)


def _placed(
    program: _Own,
    units: int,
    space: int,
    equal_units: bool,
    base: tuple[int, ...],
    factor: int,
) -> _Own:
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
    return replace(
        program,
        units=units,
        space=space,
        equal_units=equal_units,
        offset=place(program.offset),
        count=narrowed(program.count.astype(np.int64) * factor),
        target=target,
    )


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
        program.name,
        program.operation,
        size,
        program.units,
        program.space,
        program.equal_units,
        program.phase_dimension,
        np.vstack((rows.reshape(-1, 7), rows_of(program, first))),
        np.vstack((waits, edges_of(program) + first)),
        np.concatenate((np.zeros(first, np.int64), routes_of(program))),
    )
