"""Programs by repetition: members run their steps several times, each time on other units."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from frontend.collectives.program.program import (
    Array,
    Ints,
    Program,
    is_message,
    lengths,
    narrowed,
    ranges,
)


@dataclass(frozen=True, eq=False)
class Repetition(Program):
    """A program whose members run some steps several times, independently.

    The arrays hold the steps of the first repetition, in one phase; `units` and `space` are those
    of all repetitions. Repetition r adds ``r * step`` to the addresses. All steps of a repetition
    stand before those of the next one.

    Parameters
    ----------
    times : int
        Number of repetitions, at least 2.
    step : int
        Number of units between the addresses of a repetition and of the next one.
    """

    times: int = field(kw_only=True)
    step: int = field(kw_only=True)

    @property
    def steps(self) -> int:
        """Total number of steps of all members."""
        return self.times * int(self.op.size)

    def table(self) -> Program:
        """Return the program with every step of every member."""
        own = lengths(self.step_begin)  # steps of each member
        first = self.step_begin[:-1].astype(np.int64)
        member = self.members()
        number = first[member] * (self.times - 1) + np.arange(self.op.size)  # in repetition 0
        width = own[member]
        place = ranges(own * self.times)
        of_member = np.repeat(np.arange(own.size), own * self.times)
        turn = place // own[of_member]
        source = first[of_member] + place - turn * own[of_member]

        def moved(steps: Ints, turns: Ints) -> Ints:
            """Return the numbers of steps in their repetitions."""
            return number[steps] + turns * width[steps]

        def address(units: Array) -> Array:
            return narrowed(units[source] + turn * self.step)

        message = is_message(self.op)
        partner = np.where(message, self.target, 0).astype(np.int64)
        waits = lengths(self.dep_begin)[source]
        dep = np.repeat(self.dep_begin[source].astype(np.int64), waits) + ranges(waits)
        return Program(
            **self.head,
            step_begin=self.step_begin * np.uint32(self.times),
            op=self.op[source],
            phase=self.phase[source],
            peer=self.peer[source],
            offset=address(self.offset),
            count=self.count[source],
            target=np.where(message[source], moved(partner[source], turn), address(self.target)),
            dep_begin=np.concatenate(([0], np.cumsum(waits))),
            dep=narrowed(moved(self.dep[dep].astype(np.int64), np.repeat(turn, waits))),
            route=self.route[source] if self.route.size else self.route,
        )


def repetition(once: Program, times: int, step: int) -> Repetition:
    """Return the `Repetition` of a program in one phase, whose units are those of all of them."""
    return Repetition(**vars(once), times=times, step=step)


def repeated(program: Program, times: int) -> Program | Repetition:
    """Return the program in which each member runs its steps once for each part of the units.

    Parameters
    ----------
    program : Program
        A program with one phase, whose steps access one unit each, without output and scratch.
    times : int
        Number of parts into which each unit is divided.
    """
    if times == 1:
        return program
    scale = np.uint32(times)
    target = np.where(is_message(program.op), program.target, program.target * scale)
    once = replace(
        program,
        units=program.units * times,
        space=program.space * times,
        offset=program.offset * scale,
        target=target,
    )
    return repetition(once, times, 1)
