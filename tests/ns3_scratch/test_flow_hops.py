"""Short messages on the flow fabric travel hop by hop, first in, first out at each link.

On these paths, the first window of 10 packets is a small part of a round trip, so that a message
fits into it, or into what is left of it. W and f are the bytes on the wire of a message and of its
first packet, r is the rate of each link, and l its latency.
"""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.ns3_scratch import fluid
from tests.ns3_scratch.circuits import PS_PER_US, Setup
from tests.ns3_scratch.circuits import Message as CircuitMessage
from tests.ns3_scratch.circuits import carry as carry_over_circuits
from tests.ns3_scratch.fluid import Line, Message, wire_bytes
from tests.ns3_scratch.streams import (
    HEADER_BYTES,
    LATENCY_PS,
    RATE_BPS,
    SEGMENT_BYTES,
    transmission_ps,
)

LONG_PS = 100_000_000
PACKET_PS = transmission_ps(SEGMENT_BYTES + HEADER_BYTES)
SIZES = [0, 1, SEGMENT_BYTES, SEGMENT_BYTES + 1, 10 * SEGMENT_BYTES]
SHORT = 4 * SEGMENT_BYTES
SHORT_PS = 4 * PACKET_PS


def star(ranks: int) -> Line:
    rates = [RATE_BPS] * ranks
    return Line([0] * ranks, rates, rates, [], [], LONG_PS)


def line(hops: Sequence[int]) -> Line:
    """Return a rank at each end of links with these rates; the first and the last are theirs."""
    first, *between, last = hops
    ends = [first, last]
    return Line([0, len(between)], ends, ends, between, between, LONG_PS)


def times(network: Line, messages: Sequence[Message]) -> list[int]:
    return fluid.carry(network, messages, initial_cwnd_segments=10)[0]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("links", [2, 3, 6])
def test_alone(links: int, size: int) -> None:
    """Over k equal links, a message takes W/r + (k - 1)·f/r + k·l, as its packets do."""
    first = transmission_ps(wire_bytes(min(size, SEGMENT_BYTES)))
    expected = transmission_ps(wire_bytes(size)) + (links - 1) * first + links * LONG_PS
    arrived = times(line([RATE_BPS] * links), [Message(0, 1, size)])
    assert arrived == pytest.approx([expected], abs=links + 1)


@pytest.mark.parametrize("rates", [(1, 4, 2), (4, 1, 4), (1, 4, 1), (2, 1, 4, 1)])
def test_alone_over_unequal_links(rates: Sequence[int]) -> None:
    """The slowest link sends W, and each other link delays the first packet."""
    network = line([rate * RATE_BPS // 4 for rate in rates])
    messages = [Message(0, 1, SHORT)]
    assert times(network, messages) == pytest.approx(fluid.arrivals(network, messages), abs=8)


def test_two_that_meet() -> None:
    """Both are at the last link at the same time, which sends one after the other."""
    arrived = times(star(3), [Message(1, 0, SHORT), Message(2, 0, SHORT)])
    once = PACKET_PS + SHORT_PS + 2 * LONG_PS
    assert sorted(arrived) == pytest.approx([once, once + SHORT_PS], abs=3)


def test_they_keep_the_order_in_which_they_are_sent() -> None:
    """The messages of one rank to others leave one after the other, at the full rate."""
    arrived = times(star(4), [Message(0, target, SHORT) for target in (1, 2, 3)])
    expected = [(index + 1) * SHORT_PS + PACKET_PS + 2 * LONG_PS for index in range(3)]
    assert arrived == pytest.approx(expected, abs=3)


def test_a_link_is_free_while_they_use_another() -> None:
    """A and B share the first link, B and C the last one, and B meets none of them there.

    With max-min sharing, each would have half of the rate for the whole time.
    """
    messages = [Message(0, 1, SHORT), Message(0, 2, SHORT), Message(3, 2, SHORT)]
    alone = SHORT_PS + PACKET_PS + 2 * LONG_PS
    assert times(star(4), messages) == pytest.approx([alone, alone + SHORT_PS, alone], abs=3)


def test_a_short_message_beside_a_stream() -> None:
    """The short one takes the time that it takes alone, and the stream that much more."""
    stream = Message(1, 0, 10_000 * SEGMENT_BYTES)  # its last 500 us are after slow start
    (undisturbed,) = times(star(3), [stream])
    at = undisturbed - 400 * PS_PER_US
    arrived = times(star(3), [stream, Message(2, 0, SHORT, at)])
    assert arrived[0] == pytest.approx(undisturbed + SHORT_PS, abs=3)
    assert arrived[1] - at == pytest.approx(PACKET_PS + SHORT_PS + 2 * LONG_PS, abs=3)


def test_a_stream_waits_for_the_queue_that_it_finds() -> None:
    """Messages to other ranks wait at the first link when a long one follows them."""
    first = Message(0, 1, 10_000 * SEGMENT_BYTES)  # it ends slow start
    start = 10 * times(star(2), [first])[0]
    second = Message(0, 1, 10_000 * SEGMENT_BYTES, start)
    others = [Message(0, target, SHORT, start) for target in range(2, 22)]
    alone = times(star(2), [first, second])[1]
    assert times(star(22), [first, *others, second])[-1] == pytest.approx(
        alone + 20 * SHORT_PS, abs=22
    )


def test_a_stream_does_not_overtake_a_short_message() -> None:
    """The second message does not fit into the window, and arrives after the first one.

    The first message waits behind those of other ranks for longer than a round trip.
    """
    size = 9 * SEGMENT_BYTES
    rates = [RATE_BPS] * 39 + [RATE_BPS // 100]
    network = Line([0] * 40, [RATE_BPS] * 40, rates[::-1], [], [], LONG_PS)
    others = [Message(rank, 0, size) for rank in range(2, 40)]
    pair = [Message(1, 0, size, 1), Message(1, 0, 2 * SEGMENT_BYTES, 2)]
    *before, first, second = times(network, [*others, *pair])
    assert first == pytest.approx(max(before) + 900 * PACKET_PS, abs=40)
    assert first < second


@st.composite
def traffic(draw: st.DrawFn) -> tuple[Line, list[Message]]:
    ranks, switches = draw(st.integers(2, 5)), draw(st.integers(1, 3))
    rate = st.sampled_from([RATE_BPS // 4, RATE_BPS, 3 * RATE_BPS])

    def rates(count: int) -> list[int]:
        return draw(st.lists(rate, min_size=count, max_size=count))

    network = Line(
        draw(st.lists(st.integers(0, switches - 1), min_size=ranks, max_size=ranks)),
        rates(ranks),
        rates(ranks),
        rates(switches - 1),
        rates(switches - 1),
        draw(st.sampled_from([0, LATENCY_PS, LONG_PS])),
    )
    rank = st.integers(0, ranks - 1)
    pair = st.tuples(rank, rank).filter(lambda pair: pair[0] != pair[1])
    size = st.one_of(st.sampled_from(SIZES), st.integers(0, 200_000))
    start = st.one_of(st.just(0), st.integers(0, 10**8))
    rows = draw(st.lists(st.tuples(pair, size, start), min_size=1, max_size=30))
    return network, [Message(*ends, size, start) for ends, size, start in rows]


@settings(max_examples=200, deadline=None)
@given(traffic())
def test_every_message_arrives_once_and_no_byte_is_lost(case: tuple[Line, list[Message]]) -> None:
    """A message takes at least as long as alone, and those of a pair arrive in their order."""
    network, messages = case
    arrived, statistics = fluid.carry(network, messages, initial_cwnd_segments=10)
    assert statistics.messages == len(messages)
    assert statistics.payload_bytes == sum(message.size for message in messages)
    sent = fluid.parcels(messages)
    wire = sum(cargo.wire_bytes * len(network.path(*cargo.pair)) for cargo in sent)
    assert sum(dimension.wire_bytes for dimension in statistics.dimensions) == wire
    assert all(dimension.utilization_max <= 1 for dimension in statistics.dimensions)
    for cargo in sent:
        path = [network.rates_bps[link] for link in network.path(*cargo.pair)]
        least = cargo.wire_bytes * 8 * fluid.PS_PER_S / min(path) + len(path) * network.latency_ps
        assert all(arrived[index] - cargo.start_ps >= least - 10 for index in cargo.messages)
    for pair in {(message.source, message.target) for message in messages}:
        own = [i for i, one in enumerate(messages) if (one.source, one.target) == pair]
        own.sort(key=lambda index: messages[index].start_ps)
        assert [arrived[i] for i in own] == sorted(arrived[i] for i in own)
    assert fluid.carry(network, messages, initial_cwnd_segments=10)[0] == arrived


def test_a_change_of_the_circuits_does_not_stop_it() -> None:
    """It has left its source, so it arrives over the circuits that were there."""
    setup = Setup(
        4,
        [(0, 1), (1, 2), (2, 3), (3, 0)] * 2,
        degree=2,
        interval_ps=20 * PS_PER_US,
        latency_ps=PS_PER_US,
        forwarding_delay_ps=50 * PS_PER_US,
        transport={"initial_cwnd_segments": 20},
    )
    size = 5 * SEGMENT_BYTES
    long = CircuitMessage(3, 0, 10**6)  # waits when the demand is measured
    (arrival, _), received, *_ = carry_over_circuits(
        setup, "flow", [CircuitMessage(0, 3, size, 1000), long]
    )
    assert received == {0: 1, 1: 1}
    assert arrival >= 1000 + 100 * PS_PER_US + 3 * LATENCY_PS
