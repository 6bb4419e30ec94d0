"""Repeat a program on the parts of its units."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from frontend.collectives.program.program import (
    Ints,
    Program,
    is_message,
    lengths,
    narrowed,
    ranges,
)


def repeated(program: Program, times: int) -> Program:
    """Return the program in which each member runs its steps several times, independently.

    Each unit is divided into as many units, one for each repetition. All steps of a repetition
    stand before those of the next one.

    Parameters
    ----------
    program : Program
        A program with one phase, whose steps access one unit each, without output and scratch.
    times : int
        Number of repetitions.
    """
    if times == 1:
        return program
    own = lengths(program.step_begin)  # steps of each member
    first = program.step_begin[:-1].astype(np.int64)
    member = program.members()
    number = first[member] * (times - 1) + np.arange(program.steps)  # in the first repetition
    width = own[member]
    place = ranges(own * times)
    of_member = np.repeat(np.arange(own.size), own * times)
    turn = place // own[of_member]
    source = first[of_member] + place - turn * own[of_member]

    def moved(steps: Ints, turns: Ints) -> Ints:
        """Return the numbers of steps in their repetitions."""
        return number[steps] + turns * width[steps]

    message = is_message(program.op)
    target = program.target.astype(np.int64)
    waits = lengths(program.dep_begin)[source]
    dep = np.repeat(program.dep_begin[source].astype(np.int64), waits) + ranges(waits)
    return replace(
        program,
        units=program.units * times,
        space=program.space * times,
        step_begin=program.step_begin * np.uint32(times),
        op=program.op[source],
        phase=program.phase[source],
        peer=program.peer[source],
        offset=program.offset[source] * times + turn,
        count=program.count[source],
        target=np.where(
            message[source],
            moved(np.where(message, target, 0)[source], turn),
            target[source] * times + turn,
        ),
        dep_begin=np.concatenate(([0], np.cumsum(waits))),
        dep=narrowed(moved(program.dep[dep].astype(np.int64), np.repeat(turn, waits))),
        route=program.route[source] if program.route.size else program.route,
    )
