"""Compute times by the roofline model: arithmetic or memory traffic bounds an operator."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from frontend.errors import ScenarioError
from frontend.schema.compute import Compute

_PS_PER_S = 10**12
LONGEST_PS = 10**18  # limit for one operator, so that sums still fit ns-3's 63-bit time


class Cost(NamedTuple):
    """Work of an operator on a rank: floating-point operations, and bytes to and from memory."""

    flop: int
    memory_bytes: int

    def plus(self, *others: Cost) -> Cost:
        """Return the total cost of this operator and others."""
        every = (self, *others)
        return Cost(sum(c.flop for c in every), sum(c.memory_bytes for c in every))

    def times(self, factor: int) -> Cost:
        """Return the total cost of `factor` such operators."""
        return Cost(self.flop * factor, self.memory_bytes * factor)


def checked_duration_ps(name: str, cost: Cost, compute: Compute) -> int:
    """Return `duration_ps` and check that the simulator can represent it.

    Raises
    ------
    ScenarioError
        If the operator lasts longer than `LONGEST_PS`; the text names the operator.
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
    # str() gives the decimal as written in the scenario, not the nearest binary fraction.
    return round(bound / Fraction(str(compute.efficiency)) * _PS_PER_S)


def matrix_product(rows: int, inner: int, columns: int, element_bytes: int) -> Cost:
    """Return the cost of (rows × inner) · (inner × columns), with each matrix moved once.

    For a layer with B samples, I inputs and O outputs, pass (B, I, O) for the forward phase,
    (I, B, O) for the weight gradient and (B, O, I) for the input gradient.
    """
    elements = rows * inner + inner * columns + rows * columns
    return Cost(2 * rows * inner * columns, elements * element_bytes)
