"""Compute times by a roofline: an operator is bound by arithmetic or by memory traffic."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from frontend.errors import ScenarioError
from frontend.schema.compute import Compute

_PS_PER_S = 10**12
LONGEST_PS = 10**18  # of one operator: sums of them must fit ns-3's 63-bit time


class Cost(NamedTuple):
    """What an operator asks of a rank: floating-point operations, and bytes to and from memory."""

    flop: int
    memory_bytes: int

    def plus(self, *others: Cost) -> Cost:
        """Return the cost of this and others as one operator."""
        every = (self, *others)
        return Cost(sum(c.flop for c in every), sum(c.memory_bytes for c in every))

    def times(self, factor: int) -> Cost:
        """Return the cost of so many such operators as one."""
        return Cost(self.flop * factor, self.memory_bytes * factor)


def checked_duration_ps(name: str, cost: Cost, compute: Compute) -> int:
    """Return `duration_ps`, unless it is longer than the simulator's time can be.

    Raises
    ------
    ScenarioError
        With the operator's name.
    """
    duration = duration_ps(cost, compute)
    if duration > LONGEST_PS:
        raise ScenarioError(
            f"workload.compute: {name} would last {duration // 10**12} s: expected "
            f"rates that keep it below {LONGEST_PS // 10**12} s"
        )
    return duration


def duration_ps(cost: Cost, compute: Compute) -> int:
    """Return max(FLOP / peak, bytes / memory bandwidth) / efficiency, rounded to picoseconds."""
    bound = max(
        Fraction(cost.flop, compute.peak_flops),
        Fraction(cost.memory_bytes, compute.memory_bandwidth),
    )
    # str: the decimal that the scenario shows, not its binary neighbour.
    return round(bound / Fraction(str(compute.efficiency)) * _PS_PER_S)


def matrix_product(rows: int, inner: int, columns: int, element_bytes: int) -> Cost:
    """Return the cost of (rows × inner) · (inner × columns), each matrix moved once.

    A layer of B samples, I inputs and O outputs is (B, I, O) forward, (I, B, O) for the weight
    gradient and (B, O, I) for the input gradient.
    """
    elements = rows * inner + inner * columns + rows * columns
    return Cost(2 * rows * inner * columns, elements * element_bytes)
