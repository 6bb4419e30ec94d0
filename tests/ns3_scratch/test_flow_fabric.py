"""The flow fabric against closed forms, to a few picoseconds.

On a switch whose links all have the rate r and the latency l, a single message of P bytes takes
T(P) = W/r + f/r + 2l (`message_ps`). W and f are the bytes on the wire of the message and of its
first packet.
"""

from collections.abc import Sequence

import pytest

from tests.ns3_scratch.fluid import Line, Message, carry, wire_bytes
from tests.ns3_scratch.streams import (
    HEADER_BYTES,
    LATENCY_PS,
    RATE_BPS,
    SEGMENT_BYTES,
    message_ps,
    transmission_ps,
)

SIZE = 1_460_000
WIRE = wire_bytes(SIZE)
PACKET = SEGMENT_BYTES + HEADER_BYTES


def star(ranks: int, latency_ps: int = LATENCY_PS) -> Line:
    rates = [RATE_BPS] * ranks
    return Line([0] * ranks, rates, rates, [], [], latency_ps)


def beyond(messages: float) -> float:
    """Return the time of consecutive messages on a link, plus T without W/r."""
    return (messages - 1) * transmission_ps(WIRE) + message_ps(SIZE)


def times(line: Line, messages: Sequence[Message]) -> list[int]:
    return carry(line, messages)[0]


@pytest.mark.parametrize("size", [0, 1, 1460, 1461, 100_000, SIZE, 10**9])
def test_alone(size: int) -> None:
    """A single message takes the same time as on the analytical fabric."""
    assert times(star(2), [Message(0, 1, size)]) == pytest.approx([message_ps(size)], abs=2)


@pytest.mark.parametrize("senders", [1, 2, 3, 16])
def test_incast(senders: int) -> None:
    """Each of n flows over one link gets 1/n of its rate."""
    messages = [Message(rank, 0, SIZE) for rank in range(1, senders + 1)]
    assert times(star(senders + 1), messages) == pytest.approx([beyond(senders)] * senders, abs=2)


def test_processor_sharing() -> None:
    """Flows of sizes 1, 2 and 3 on one link end at 3, 5 and 6 units of time."""
    messages = [Message(rank, 0, rank * SIZE) for rank in (1, 2, 3)]
    expected = [beyond(3), beyond(5), beyond(6)]
    assert times(star(4), messages) == pytest.approx(expected, abs=2)


def test_permutation() -> None:
    """Flows that share no link do not affect each other."""
    messages = [Message(rank, (rank + 1) % 8, SIZE) for rank in range(8)]
    assert times(star(8), messages) == pytest.approx([beyond(1)] * 8, abs=2)


@pytest.mark.parametrize("ranks", [2, 5, 16])
def test_all_to_all(ranks: int) -> None:
    """Each link carries N - 1 flows."""
    messages = [Message(s, t, SIZE) for s in range(ranks) for t in range(ranks) if s != t]
    expected = [beyond(ranks - 1)] * len(messages)
    arrived, statistics = carry(star(ranks), messages)
    assert arrived == pytest.approx(expected, abs=2)
    assert arrived == [arrived[0]] * len(arrived)  # symmetric to the picosecond
    (dimension,) = statistics.dimensions
    # The run ends when the senders have the ACKs.
    end_ps = arrived[0] + 2 * transmission_ps(HEADER_BYTES) + 2 * LATENCY_PS
    expected_share = (ranks - 1) * transmission_ps(WIRE) / end_ps
    assert dimension.utilization_mean == pytest.approx(expected_share, rel=1e-9)


def test_parking_lot() -> None:
    """A flow over k links shares each link with one other flow, and all get half of the rate.

    The flow has three times the size of the others, so it has the links alone for its last two
    thirds. It takes the time of 2 + 2 messages.
    """
    hops, fast = 3, 10 * RATE_BPS
    # Rank 0 at the first switch sends to the last; then a sender and a receiver for each hop.
    places = [0, hops]
    for hop in range(hops):
        places += [hop, hop + 1]
    access = [fast] * len(places)
    line = Line(places, access, access, [RATE_BPS] * hops, [RATE_BPS] * hops)
    messages = [Message(0, 1, 3 * SIZE)]
    messages += [Message(2 + 2 * hop, 3 + 2 * hop, SIZE) for hop in range(hops)]
    packet_ps = transmission_ps(PACKET)
    long = 4 * transmission_ps(WIRE) + (hops - 1) * packet_ps + 2 * packet_ps / 10
    short = 2 * transmission_ps(WIRE) + 2 * packet_ps / 10
    assert times(line, messages) == pytest.approx([long, *[short] * hops], abs=3)


def test_what_one_leaves_another_takes() -> None:
    """A and B share a link of rate 40, B and C a link of 100: their rates are 20, 20 and 80."""
    fast = 10 * RATE_BPS
    hops = [40 * 10**9, 100 * 10**9]
    line = Line([0, 1, 0, 2, 1, 2], [fast] * 6, [fast] * 6, hops, hops)
    arrived = times(line, [Message(0, 1, 2 * SIZE), Message(2, 3, 2 * SIZE), Message(4, 5, SIZE)])
    # A and B leave together at 2·W/20; C has left before, which gives B nothing.
    packet_ps = transmission_ps(PACKET)
    expected = [
        2 * transmission_ps(WIRE) * 5 + packet_ps / 5,
        2 * transmission_ps(WIRE) * 5 + packet_ps + packet_ps / 5,
        transmission_ps(WIRE) * 100 / 80 + packet_ps / 5,
    ]
    assert arrived == pytest.approx(expected, abs=3)


def test_messages_of_a_pair_are_a_stream() -> None:
    """Two messages of one pair share a link with the message of another pair.

    Each pair gets half of the link. In units of the time of one message, the messages of the first
    pair leave one after another at 2 and 3, and the message of the other pair leaves at 2.
    """
    messages = [Message(1, 0, SIZE), Message(1, 0, SIZE), Message(2, 0, SIZE)]
    expected = [beyond(2), beyond(3), beyond(2)]
    assert times(star(3), messages) == pytest.approx(expected, abs=3)


def test_a_small_message_does_not_overtake() -> None:
    """Its packet is shorter than the last one of the previous message, which is stored longer.

    The last link carries it after that packet.
    """
    later_ps = 1_000_000
    first, second = times(star(2), [Message(0, 1, SIZE), Message(0, 1, 1, later_ps)])
    assert first == pytest.approx(message_ps(SIZE), abs=2)
    assert second == pytest.approx(first + transmission_ps(wire_bytes(1)), abs=2)


def test_a_late_flow_takes_half() -> None:
    """B starts when half of A has left: A ends at 1.5, B at 2."""
    half_ps = transmission_ps(WIRE) // 2
    messages = [Message(1, 0, SIZE), Message(2, 0, SIZE, half_ps)]
    assert times(star(3), messages) == pytest.approx([beyond(1.5), beyond(2)], abs=3)


def round_trip_ps(latency_ps: int) -> int:
    return 2 * transmission_ps(PACKET) + 2 * transmission_ps(HEADER_BYTES) + 4 * latency_ps


def test_window() -> None:
    """With a long latency, a flow sends one window per round trip."""
    latency_ps, window = 100_000_000, 146_000
    arrived, _ = carry(star(2, latency_ps), [Message(0, 1, SIZE)], send_buffer_bytes=window)
    sending_ps = SIZE / window * round_trip_ps(latency_ps)
    expected = sending_ps + transmission_ps(PACKET) + 2 * latency_ps
    assert arrived == pytest.approx([expected], rel=1e-9)


def test_slow_start() -> None:
    """Slow start sends windows of 10, 20 and 40 packets, and the rest in the fourth round trip.

    Afterwards the window is open: a second message takes only the time of its bytes.
    """
    latency_ps, packets = 3_000_000, 10 + 20 + 40 + 30
    trip_ps = round_trip_ps(latency_ps)
    assert 80 * transmission_ps(PACKET) < trip_ps < 160 * transmission_ps(PACKET)
    size = packets * SEGMENT_BYTES
    messages = [Message(0, 1, size), Message(0, 1, SIZE, 100 * trip_ps)]
    arrived, _ = carry(star(2, latency_ps), messages, initial_cwnd_segments=10)
    tail_ps = transmission_ps(PACKET) + 2 * latency_ps
    expected = 3 * trip_ps + 30 * transmission_ps(PACKET) + tail_ps
    assert arrived[0] == pytest.approx(expected, abs=5)
    assert arrived[1] - 100 * trip_ps == pytest.approx(transmission_ps(WIRE) + tail_ps, rel=1e-6)


def test_packets_are_counted_and_nothing_is_lost() -> None:
    _, statistics = carry(star(3), [Message(1, 0, SIZE), Message(2, 0, 1)])
    assert (statistics.packets, statistics.data_packets) == (1001, 1001)
    assert (statistics.drops, statistics.retransmissions, statistics.rtt_flows) == (0, 0, 0)
    assert statistics.wire_bytes == WIRE + wire_bytes(1)
    assert statistics.flows == 2
