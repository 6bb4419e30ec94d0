"""The flow fabric, compared with progressive filling and with SimGrid."""

import importlib.util
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.ns3_scratch import fluid
from tests.ns3_scratch.fluid import Line, Message, parcels

GBPS = 10**9

# Few distinct rates make ties; many make long chains of bottlenecks.
RATES = st.one_of(
    st.sampled_from([10 * GBPS, 20 * GBPS, 40 * GBPS]), st.integers(1 * GBPS, 100 * GBPS)
)


@st.composite
def lines(draw: st.DrawFn) -> Line:
    ranks, switches = draw(st.integers(2, 5)), draw(st.integers(1, 3))

    def rates(count: int) -> list[int]:
        return draw(st.lists(RATES, min_size=count, max_size=count))

    return Line(
        places=draw(st.lists(st.integers(0, switches - 1), min_size=ranks, max_size=ranks)),
        up_bps=rates(ranks),
        down_bps=rates(ranks),
        right_bps=rates(switches - 1),
        left_bps=rates(switches - 1),
        latency_ps=draw(st.sampled_from([0, 500_000])),
    )


@st.composite
def traffic(draw: st.DrawFn) -> tuple[Line, list[Message]]:
    line = draw(lines())
    rank = st.integers(0, len(line.places) - 1)
    pair = st.tuples(rank, rank).filter(lambda pair: pair[0] != pair[1])
    # 20 of these fit into the first window, so that no message waits for acknowledgments.
    size = st.one_of(st.sampled_from([0, 1, 1460, 3000]), st.integers(0, 3200))
    start = st.one_of(st.just(0), st.integers(0, 10**7))
    rows = draw(st.lists(st.tuples(pair, size, start), min_size=1, max_size=20))
    return line, [Message(*ends, size, start) for ends, size, start in rows]


@settings(max_examples=300, deadline=None)
@given(traffic())
def test_textbook(case: tuple[Line, list[Message]]) -> None:
    """Every message arrives at the time from progressive filling, and no byte is lost."""
    line, messages = case
    arrived, statistics = fluid.carry(line, messages)
    # The clock counts whole picoseconds, so every earlier event may have been rounded.
    assert arrived == pytest.approx(fluid.arrivals(line, messages), rel=1e-9, abs=100)
    assert statistics.messages == len(messages)
    assert statistics.payload_bytes == sum(message.size for message in messages)
    wire = sum(cargo.wire_bytes * len(line.path(*cargo.pair)) for cargo in parcels(messages))
    assert sum(dimension.wire_bytes for dimension in statistics.dimensions) == wire


@settings(max_examples=100, deadline=None)
@given(traffic())
@example(
    (
        Line([0, 0], [10**10, 10**10], [10_235_533_586, 10**10], [], [], 0),
        [Message(1, 0, 0), Message(1, 0, 1461)],
    )
)
def test_nothing_is_faster_than_alone(case: tuple[Line, list[Message]]) -> None:
    """The FCT is at least that over idle links, and no link carries more than its rate.

    Messages that share packets can end with a shorter packet, which is forwarded sooner. So they
    are compared with a message that is one packet shorter.
    """
    line, messages = case
    arrived, statistics = fluid.carry(line, messages)
    sharing = Counter((one.source, one.target, one.start_ps) for one in messages)
    for message, at in zip(messages, arrived, strict=True):
        shares = sharing[message.source, message.target, message.start_ps] > 1
        size = max(0, message.size - 1460) if shares else message.size
        (alone,) = fluid.arrivals(line, [Message(message.source, message.target, size)])
        assert at - message.start_ps >= alone - 10
    assert all(dimension.utilization_max <= 1 for dimension in statistics.dimensions)


@pytest.mark.skipif(
    importlib.util.find_spec("simgrid") is None, reason="SimGrid's Python package is not installed"
)
@settings(max_examples=10, deadline=None)
@given(traffic())
def test_simgrid(case: tuple[Line, list[Message]]) -> None:
    """SimGrid's CM02 model without window and latency gives the same times."""
    line, messages = case
    # SimGrid has no streams, so each pair has one message.
    messages = list({(m.source, m.target): m for m in messages}.values())
    done = subprocess.run(
        [sys.executable, Path(__file__).with_name("simgrid_flows.py")],
        input=fluid.simgrid_task(line, messages),
        capture_output=True,
        text=True,
        check=True,
    )
    expected = [seconds * fluid.PS_PER_S for seconds in json.loads(done.stdout)["done"]]
    # SimGrid computes seconds in double precision, exact to the nanosecond.
    left_at = fluid.textbook(line, parcels(messages))
    assert left_at == pytest.approx(expected, rel=1e-4, abs=10_000)
