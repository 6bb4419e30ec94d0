"""Compute times by a roofline: an operator is bound by arithmetic or by memory traffic."""

from fractions import Fraction
from typing import NamedTuple

from frontend.schema.workload import Compute

_PS_PER_S = 10**12


class Cost(NamedTuple):
    """What an operator asks of a rank: floating-point operations, and bytes to and from memory."""

    flop: int
    memory_bytes: int


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
