"""Whether a program does what its operation promises, in every order its steps may run.

The proof has four parts, each on what the one before has shown: the program is well formed; no
step waits for itself; steps that touch the same units have a fixed order (or only add), so that all
executions end alike; one execution, with sets of contributions in place of numbers, sends only what
is defined, counts no contribution twice, and ends with the operation's postcondition.
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
    """Return everything that is wrong with a program; an empty list if it is right.

    A program with structure, matching, deadlock or race problems is not looked at further, as it
    has no single result.
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
    """Raise unless a program is right.

    Raises
    ------
    ScheduleError
        With everything that `problems` finds.
    """
    found = problems(program)
    if found:
        name = f"{program.name} ({program.operation}, {program.group_size} members)"
        raise ScheduleError(name, found)


@dataclass(frozen=True, eq=False)
class Traffic:
    """What each member sends and receives, in units and messages.

    Parameters
    ----------
    sent, received, messages : array, shape (members,)
        Units sent, units received, and messages sent.
    """

    sent: Ints
    received: Ints
    messages: Ints


def traffic(program: Program, phase: int | None = None) -> Traffic:
    """Return the traffic of a program, or of one phase of it.

    A unit is 1/`units` of the buffer: ``sent / units`` is in buffers (of D bytes).
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
