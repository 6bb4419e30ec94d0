"""Idle time causes no events: no fabric and no layer above it polls."""

import pytest

from frontend import collectives
from tests.ns3_scratch.streams import (
    Trace,
    collective,
    header,
    program,
    run,
    settings,
    star,
)

RANKS = 4
RING = collectives.build("all_reduce", "ring", RANKS)
PS_PER_S = 10**12


def events(fabric: str, idle_ps: int) -> int:
    """Return the number of events of two all-reduces with idle time between and after them."""
    trace = Trace(range(RANKS))
    for number in range(2):
        done = trace.issue(number)
        trace.compute(idle_ps, after=[done])
    trace.rows[2]["after"] = [1]
    work = [collective(number, 0, range(RANKS), 100_000) for number in range(2)]
    start = [header(), settings(fabric=fabric, injection_ps=10_000), star(RANKS)]
    result = run([*start, program(0, RING), *work, trace.record()])
    assert result["time_ns"] > 2 * idle_ps / 1000
    count: int = result["simulator"]["events"]
    return count


@pytest.mark.parametrize("fabric", ["native", "express", "flow", "analytical"])
def test_a_thousand_times_the_idle_time_takes_no_more_events(fabric: str) -> None:
    """Both idle times are longer than every timer of an idle connection."""
    assert events(fabric, PS_PER_S) == events(fabric, 1000 * PS_PER_S) < 10_000
