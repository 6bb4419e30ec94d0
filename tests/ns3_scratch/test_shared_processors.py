"""Collectives that slow down the computations of their members while they run."""

from collections.abc import Sequence
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from frontend import collectives
from tests.ns3_scratch.streams import (
    Trace,
    collective,
    header,
    message_ps,
    program,
    ps,
    run,
    settings,
    star,
)

RANKS = 4
RING = collectives.build("all_reduce", "ring", RANKS)
RING_PS = 6 * message_ps(25_000)  # time of a ring with 100 kB


def end_ps(traces: Sequence[Trace], *slows_ppm: int) -> int:
    """Return the end of a run; the rings of collectives run one after the other."""
    records = [header(), settings(limits=[1]), star(RANKS), program(0, RING)]
    for number, slows in enumerate(slows_ppm):
        records.append(collective(number, 0, range(RANKS), 100_000, slows_ppm=slows))
    return ps(run([*records, *(trace.record() for trace in traces)])["time_ns"])


def test_a_computation_takes_longer_while_a_collective_runs() -> None:
    trace = Trace(range(RANKS))
    trace.issue(0)
    trace.compute(3 * RING_PS)
    # Two thirds of a ring's time are computed beside it.
    assert end_ps([trace], 0) == 3 * RING_PS
    assert end_ps([trace], 500_000) == 3 * RING_PS + RING_PS // 3


def test_only_the_time_of_the_collective_counts() -> None:
    """It begins and ends while a computation runs, and the next computation has its usual time."""
    trace = Trace(range(RANKS))
    trace.issue(0, [trace.timer(RING_PS)])
    trace.compute(3 * RING_PS)
    trace.compute(RING_PS)
    assert end_ps([trace], 250_000) == 4 * RING_PS + RING_PS // 5


def test_of_several_the_largest_counts() -> None:
    """Both are issued at once, and the second one waits for the first one's slot."""
    trace = Trace(range(RANKS))
    trace.issue(0)
    trace.issue(1)
    trace.compute(6 * RING_PS)
    assert end_ps([trace], 500_000, 250_000) == 6 * RING_PS + RING_PS // 3 + RING_PS // 5
    assert end_ps([trace], 250_000, 500_000) == 6 * RING_PS + 2 * (RING_PS // 3)


def test_ranks_that_are_no_members_compute_as_usual() -> None:
    ring = collectives.build("all_reduce", "ring", 2)
    both = Trace([0, 1]), Trace([2, 3])
    both[0].issue(0)
    for trace in both:
        trace.compute(10 * RING_PS)
    records = [header(), settings(), star(RANKS), program(0, ring)]
    records.append(collective(0, 0, [0, 1], 100_000, slows_ppm=500_000))
    found = run([*records, *(trace.record() for trace in both)])
    mean = sum(each["compute_ns"] for each in found["layers"])
    own = found["time_ns"]
    assert own > 10 * RING_PS / 1000
    assert mean == pytest.approx((own + 10 * RING_PS / 1000) / 2)


@st.composite
def workloads(draw: st.DrawFn) -> tuple[list[tuple[int, int]], list[int]]:
    """Return waits before rings and what they slow, and computations."""
    pauses = st.integers(1, 2 * RING_PS)
    rings = st.lists(st.tuples(pauses, st.integers(0, 2_000_000)), min_size=1, max_size=5)
    return draw(rings), draw(st.lists(st.integers(1, 3 * RING_PS), min_size=1, max_size=6))


@hypothesis_settings(max_examples=30)
@given(workloads())
def test_computation_is_conserved(work: tuple[list[tuple[int, int]], list[int]]) -> None:
    """The rates of all intervals add up to what is computed: an integral beside the simulator."""
    rings, computations = work
    trace = Trace(range(RANKS))
    last: list[int] = []
    for number, (pause, _) in enumerate(rings):
        last = [trace.issue(number, [trace.timer(pause, last)])]
    for duration in computations:
        trace.compute(duration)
    end, left = Fraction(0), Fraction(sum(computations))
    for pause, slows in rings:
        slowed = Fraction(1_000_000, 1_000_000 + slows)
        for duration, rate in ((pause, Fraction(1)), (RING_PS, slowed)):
            computed = min(left, duration * rate)
            end += computed / rate
            left -= computed
    rings_end = sum(pause + RING_PS for pause, _ in rings)
    expected = max(end + left, Fraction(rings_end))
    found = end_ps([trace], *(slows for _, slows in rings))
    assert abs(found - expected) <= 2 * len(rings) + len(computations)
