"""Check that a program computes the result of its operation, in every order of its steps.

The check has four parts. Each part relies on the previous ones:

1. The program is well formed.
2. No step waits for itself.
3. Steps that access the same units have a fixed order, or only reduce into them. All executions
   therefore end with the same result.
4. One symbolic execution, with sets of contributions instead of numbers, reads only defined units,
   counts no contribution twice, and ends with the postcondition of the operation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from frontend.collectives.program.errors import Problem, ScheduleError
from frontend.collectives.program.program import Flags, Ints, Op, Program
from frontend.collectives.verify.contents import Execution, result_problems
from frontend.collectives.verify.happens_before import HappensBefore
from frontend.collectives.verify.structure import structure_problems


def problems(program: Program) -> list[Problem]:
    """Return all problems of a program; an empty list if it is correct.

    Structure, matching, deadlock and race problems end the check, because such a program has no
    unique result.
    """
    found = structure_problems(program)
    if found:
        return found
    order = HappensBefore(program)
    deadlock = order.deadlock()
    if deadlock:
        return [deadlock]
    found = order.races()
    if found:
        return found
    execution = Execution(program, order.level)
    return execution.problems + result_problems(program, execution.contents)


def check(program: Program) -> None:
    """Raise ScheduleError unless a program is correct.

    Raises
    ------
    ScheduleError
        If `problems` finds any; the error contains all of them.
    """
    found = problems(program)
    if found:
        name = f"{program.name} ({program.operation}, {program.group_size} members)"
        raise ScheduleError(name, found)


@dataclass(frozen=True, eq=False)
class Traffic:
    """The traffic of each member.

    Parameters
    ----------
    sent, received, messages : array, shape (members,)
        Units sent, units received, and number of messages sent.
    """

    sent: Ints
    received: Ints
    messages: Ints


def traffic(program: Program, phase: int | None = None) -> Traffic:
    """Return the traffic of a program, or of one of its phases.

    A unit is 1/`units` of the buffer, so ``sent / units`` counts buffers (of D bytes).
    """
    member = program.members()
    chosen = np.ones(program.steps, np.bool_) if phase is None else program.phase == phase
    sends = (program.op == Op.SEND) & chosen
    receives = ((program.op == Op.RECV) | (program.op == Op.RECV_REDUCE)) & chosen

    def total(steps: Flags) -> Ints:
        units = np.bincount(member[steps], program.count[steps], program.group_size)
        return units.astype(np.int64)

    return Traffic(
        total(sends), total(receives), np.bincount(member[sends], minlength=program.group_size)
    )
