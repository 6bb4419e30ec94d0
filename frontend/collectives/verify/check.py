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

from frontend.collectives.program.program import (
    Flags,
    Ints,
    Op,
    Problem,
    Program,
    ScheduleError,
    is_message,
)
from frontend.collectives.verify.contents import Execution, result_problems
from frontend.collectives.verify.happens_before import HappensBefore
from topology_gen.lowering.algorithm import WHOLE

_SHOWN = 5


def structure_problems(program: Program) -> list[Problem]:
    """Return the structure and matching problems of a program.

    The checks are: Arrays have the right lengths. Members, units, phases and dependencies are in
    range. Steps are sorted by phase. Dependencies are on steps of the same member that are not in a
    later phase. Each SEND has exactly one receive as its partner and vice versa, with equal counts,
    phases and unit sizes.
    """
    return _shape_problems(program) or _step_problems(program)


def _shape_problems(program: Program) -> list[Problem]:
    steps = program.steps
    wrong = []
    lengths = {
        "step_begin": program.group_size + 1,
        "phase": steps,
        "peer": steps,
        "offset": steps,
        "count": steps,
        "target": steps,
        "dep_begin": steps + 1,
    }
    if program.route.size:
        lengths["route"] = steps
    for name, length in lengths.items():
        if getattr(program, name).size != length:
            wrong.append(f"{name} has {getattr(program, name).size} entries, not {length}")
    if wrong:
        return [Problem("structure", text) for text in wrong]
    for name, last in (("step_begin", steps), ("dep_begin", program.dep.size)):
        begin = getattr(program, name).astype(np.int64)
        if begin[0] != 0 or begin[-1] != last or np.any(np.diff(begin) < 0):
            wrong.append(f"{name} does not rise from 0 to {last}")
    if program.group_size < 1 or program.units < 1 or program.space < program.units:
        wrong.append("group size and units must be positive, and space no less than units")
    if not program.phase_dimension:
        wrong.append("there is no phase")
    if program.group_size > 1:
        sharded = program.operation not in WHOLE and program.blocks is None
        if sharded and program.units % program.ranks:
            wrong.append(f"{program.units} units do not divide into {program.ranks} equal shards")
        if program.operation == "all_to_all" and program.space < 2 * program.units:
            wrong.append("all_to_all needs as many units of output as of input")
    return [Problem("structure", text) for text in wrong]


def _step_problems(program: Program) -> list[Problem]:
    found: list[Problem] = []

    def report(kind: str, bad: Flags, what: str, among: Ints | None = None) -> None:
        where = np.flatnonzero(bad) if among is None else among[bad]
        if where.size:
            shown = ", ".join(program.describe(int(s)) for s in where[:_SHOWN])
            more = f" and {where.size - _SHOWN} more" if where.size > _SHOWN else ""
            found.append(Problem(kind, f"{what}: {shown}{more}", tuple(map(int, where))))

    op, phase, peer, offset, count, target = (
        getattr(program, name).astype(np.int64)
        for name in ("op", "phase", "peer", "offset", "count", "target")
    )
    if op.size and op.max() > max(Op):
        return [Problem("structure", f"step {int(op.argmax())} has the unknown op {op.max()}")]
    member, steps = program.members(), program.steps
    message = is_message(op)

    report("structure", (count < 1) & ~message, "no units")
    report("structure", offset + count > program.space, "units beyond the space")
    local = ~message & (target + count > program.space)
    report("structure", local, "target units beyond the space")
    shift = np.abs(target - offset)
    report("structure", ~message & (shift > 0) & (shift < count), "source and target overlap")
    report("structure", phase >= len(program.phase_dimension), "a phase that is not declared")
    disorder = np.zeros(steps, np.bool_)
    disorder[1:] = (np.diff(phase) < 0) & (np.diff(member) == 0)
    report("structure", disorder, "a phase before that of the previous step")
    report("structure", message & (peer >= program.group_size), "a peer outside the group")
    report("structure", message & (peer == member), "a message to itself")
    report("structure", message & (target >= steps), "a partner that does not exist")

    waiting, waited = program.dependents(), program.dep.astype(np.int64)
    outside = waited >= steps
    report("structure", outside, "waits for a step that does not exist", waiting)
    if found:
        return found
    report("structure", member[waiting] != member[waited], "waits for another member", waiting)
    report("structure", phase[waiting] < phase[waited], "waits for a later phase", waiting)

    ids = np.flatnonzero(message)
    partner = target[ids]
    pair = np.where(op[ids] == Op.SEND, message[partner] & (op[partner] != Op.SEND),
                    op[partner] == Op.SEND)  # fmt: skip
    pair &= target[partner] == ids
    pair &= (peer[ids] == member[partner]) & (member[ids] == peer[partner])
    report("matching", ~pair, "not matched with its partner", ids)
    sends = ids[pair & (op[ids] == Op.SEND)]
    partner = target[sends]
    report("matching", count[sends] != count[partner], "a different count than its receive", sends)
    report("matching", phase[sends] != phase[partner], "a different phase than its receive", sends)
    # An unequal block moves as a whole, to a place that depends on the other blocks.
    if not program.equal_units and program.blocks is None:
        size = program.units
        moved = (offset[sends] - offset[partner]) % size != 0
        report("structure", moved, "received into units of different sizes", sends)
        moves = np.flatnonzero(~message)
        moved = (offset[moves] - target[moves]) % size != 0
        report("structure", moved, "moved into units of different sizes", moves)
    return found


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
