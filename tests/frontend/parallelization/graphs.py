"""Operator graphs for tests: a small DLRM, and hypothesis strategies."""

from __future__ import annotations

from hypothesis import strategies as st

from frontend.parallelization import Operator, OperatorGraph, Placement, Strategy
from frontend.roofline import Cost

NOTHING = Cost(0, 0)


def dense(name, inputs, width, outputs):
    """Return a fully connected layer of 4-byte elements."""
    weights = 4 * width * outputs
    forward = Cost(2 * width * outputs, 4 * (width + outputs))
    return Operator(
        name,
        inputs,
        forward,
        forward.times(2),
        weights,
        weights,
        4 * outputs,
        parts=outputs,
        input_bytes=4 * width if inputs else 0,
    )


def table(name, rows, columns):
    """Return an embedding of 4-byte elements that reads one row per sample."""
    return Operator(
        name,
        (),
        Cost(0, 8 * columns),
        Cost(0, 12 * columns),
        weight_bytes=4 * rows * columns,
        output_bytes=4 * columns,
        parts=columns,
        table=True,
    )


def small_dlrm(tables=4, layers=2, batch=64, width=64, rows=100_000, columns=16):
    """Return tables and a bottom layer that are read by a stack of top layers."""
    operators = [table(f"table_{index}", rows, columns) for index in range(tables)]
    operators.append(dense("bottom", (), width, columns))
    inputs = tuple(range(tables + 1))
    operators.append(dense("top_0", inputs, columns * (tables + 1), width))
    for layer in range(1, layers):
        operators.append(dense(f"top_{layer}", (len(operators) - 1,), width, width))
    return OperatorGraph("small DLRM", tuple(operators), batch)


@st.composite
def placements(draw, servers, parts, rows=1):
    """Draw a placement of an operator: any grid of any servers."""
    order = draw(st.permutations(range(servers)))
    count = draw(st.integers(1, servers))
    columns = draw(st.sampled_from(divisors(count, parts)))
    row_parts = draw(st.sampled_from(divisors(count // columns, rows)))
    return Placement(tuple(order[:count]), columns, row_parts)


def divisors(number, most):
    """Return the divisors of a number that are at most `most`."""
    return [one for one in range(1, min(number, most) + 1) if number % one == 0]


@st.composite
def jobs(draw, most_servers=5):
    """Draw a graph of a few operators, some with several inputs, and a strategy for it."""
    servers = draw(st.integers(2, most_servers))
    operators, placed = [], []
    for index in range(draw(st.integers(1, 5))):
        inputs = draw(st.lists(st.integers(0, index - 1), max_size=3)) if index else []
        parts, rows = draw(st.integers(1, 6)), draw(st.integers(1, 6))
        aligned = [number for number in range(len(inputs)) if draw(st.booleans())]
        cost = Cost(draw(st.integers(0, 10**6)), draw(st.integers(0, 10**6)))
        weights = draw(st.integers(0, 10**7))
        operators.append(
            Operator(
                f"operator_{index}",
                tuple(inputs),
                cost,
                cost.times(2),
                weights,
                weights,
                draw(st.integers(0, 5000)),
                parts,
                table=draw(st.booleans()),
                rows=rows,
                aligned=tuple(aligned),
            )
        )
        placed.append(draw(placements(servers, parts, rows)))
    batch = draw(st.integers(1, 40))
    graph = OperatorGraph("drawn", tuple(operators), batch)
    microbatches = draw(st.sampled_from(divisors(batch, 4)))
    return graph, Strategy(servers, tuple(placed), microbatches)
