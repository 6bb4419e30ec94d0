"""Write programs as records of the stream: tables, rules and compositions."""

from collections.abc import Iterator, Sequence

import numpy as np

from frontend import network_api_pb2 as api
from frontend.collectives.program.composition import AnyProgram, Composition
from frontend.collectives.program.program import COLUMNS, dimension_and_level, starts
from frontend.collectives.program.repetition import Repetition
from frontend.collectives.program.rotation import Rotation, Stepped
from frontend.stream import append

_TURNED = ("op", "peer", "offset", "count", "target", "route", "offset_turn", "target_turn")


def program_records(
    programs: Sequence[AnyProgram], dimensions: Sequence[str]
) -> Iterator[api.Record]:
    """Yield the records of programs, whose ids are their indices.

    Parameters
    ----------
    programs : sequence of programs
        Those of the pieces of a composition come before it.
    dimensions : sequence of str
        Names of the dimensions of the topology.
    """
    number = {id(program): index for index, program in enumerate(programs)}
    for index, program in enumerate(programs):
        phases = [dimension_and_level(name) for name in program.phase_dimension]
        record = api.Program(
            id=index,
            name=program.name,
            operation=program.operation,
            group_size=program.group_size,
            units=program.units,
            space=program.space,
            equal_units=program.equal_units,
            phase_dimension=[dimensions.index(name) for name, _ in phases],
        )
        if any(level for _, level in phases):
            record.phase_level.extend(level for _, level in phases)
        if isinstance(program, Composition):
            record.pieces.extend(
                api.Piece(
                    program=number[id(piece.program)],
                    phase=piece.phase,
                    first=piece.first,
                    groups=piece.groups,
                    group_step=piece.group_step,
                    member_step=piece.member_step,
                    unit_step=piece.unit_step,
                )
                for piece in program.pieces
            )
        else:
            _add_steps(record, program)
        yield api.Record(program=record)


def _add_steps(record: api.Program, program: Stepped) -> None:
    """Add the steps of all members, or some of them and the rule for the others."""
    if isinstance(program, Repetition):
        record.repeat, record.repeat_step = program.times, program.step
    if isinstance(program, Rotation):
        steps = program.op.size
        columns = {name: getattr(program, name) for name in _TURNED} | {
            "step_begin": np.array([0, steps]),
            "phase": np.zeros(steps, np.uint32),
            "dep_begin": starts(program.edges[:, 0], steps),
            "dep": program.edges[:, 1],
        }
    else:
        columns = {name: getattr(program, name) for name in COLUMNS}
    for name, column in columns.items():
        append(record, name, column)
