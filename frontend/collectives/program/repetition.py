"""Programs by repetition: members run their steps several times, each time on other units."""

from __future__ import annotations

from dataclasses import dataclass, replace

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
class Repetition:
    """A program whose members run the steps of another one several times, independently.

    Repetition r adds ``r * step`` to the addresses. All steps of a repetition stand before those of
    the next one.

    Parameters
    ----------
    once : Program
        The steps of the first repetition, in one phase. `units` and `space` are those of all
        repetitions.
    times : int
        Number of repetitions, at least 2.
    step : int
        Number of units between the addresses of a repetition and of the next one.
    """

    once: Program
    times: int
    step: int

    @property
    def name(self) -> str:
        """The algorithm."""
        return self.once.name

    @property
    def operation(self) -> str:
        """The operation that the program computes."""
        return self.once.operation

    @property
    def group_size(self) -> int:
        """Number of members of the group."""
        return self.once.group_size

    @property
    def units(self) -> int:
        """Number of parts into which the bytes of a chunk are divided."""
        return self.once.units

    @property
    def space(self) -> int:
        """Number of units that each member addresses."""
        return self.once.space

    @property
    def equal_units(self) -> bool:
        """Whether all units have the same size."""
        return self.once.equal_units

    @property
    def phase_dimension(self) -> tuple[str, ...]:
        """The network dimension of the only phase."""
        return self.once.phase_dimension

    @property
    def root(self) -> int:
        """As in `Program`."""
        return self.once.root

    @property
    def steps(self) -> int:
        """Total number of steps of all members."""
        return self.times * self.once.steps

    def table(self) -> Program:
        """Return the program with every step of every member."""
        once = self.once
        own = lengths(once.step_begin)  # steps of each member
        first = once.step_begin[:-1].astype(np.int64)
        member = once.members()
        number = first[member] * (self.times - 1) + np.arange(once.steps)  # in repetition 0
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

        message = is_message(once.op)
        partner = np.where(message, once.target, 0).astype(np.int64)
        waits = lengths(once.dep_begin)[source]
        dep = np.repeat(once.dep_begin[source].astype(np.int64), waits) + ranges(waits)
        return replace(
            once,
            step_begin=once.step_begin * np.uint32(self.times),
            op=once.op[source],
            phase=once.phase[source],
            peer=once.peer[source],
            offset=address(once.offset),
            count=once.count[source],
            target=np.where(message[source], moved(partner[source], turn), address(once.target)),
            dep_begin=np.concatenate(([0], np.cumsum(waits))),
            dep=narrowed(moved(once.dep[dep].astype(np.int64), np.repeat(turn, waits))),
            route=once.route[source] if once.route.size else once.route,
        )


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
    return Repetition(once, times, 1)
