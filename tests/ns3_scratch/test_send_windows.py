"""`analytical` holds messages back at their source until the window of their connection has room.

The other messages of the rank then wait for a window, not for all that one path has sent. Between
switches, short messages pass long ones that have not arrived as a whole.
"""

from collections.abc import Sequence
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge import Network
from tests.ns3_scratch.traffic import stream

MSS = 8960
PACKET_PS = (MSS + 42) * 80  # at 100 Gb/s
LATENCY_PS = 500_000
#: Time from the start of a packet on its first link to its arrival behind one switch.
ONE_WAY_PS = 2 * (PACKET_PS + LATENCY_PS)
#: Whole packets in the first window: a SYN announces at most 65535 bytes.
FIRST_WINDOW = 7

Send = tuple[int, int, int, int]
"""Time [ps], source, target, bytes."""


def arrivals(fabric: str, ranks: int, sends: Sequence[Send], hops: int = 2) -> list[int]:
    """Return the arrival time of each message [ps]."""
    pairs = sorted({end for _, src, dst, _ in sends for end in [(src, dst), (dst, src)]})
    times = [-1] * len(sends)
    with Network(stream(ranks, fabric, pairs, spread=False, hops=hops)) as network:

        def arrived(index: int) -> None:
            assert times[index] == -1
            times[index] = network.sim_get_time_ps()
            if min(times) >= 0:
                network.sim_finish()

        for index, (at, src, dst, size) in enumerate(sends):
            network.sim_recv(src, dst, size, index, partial(arrived, index))
            network.sim_schedule_ps(at, partial(network.sim_send, src, dst, size, index))
        network.run()
        statistics = network.statistics()
    assert statistics.messages == len(sends)
    assert statistics.payload_bytes == sum(size for *_, size in sends)
    return times


def burst(dst: int, messages: int, at: int = 0) -> list[Send]:
    return [(at, 0, dst, MSS)] * messages


def test_other_paths_wait_for_a_window_only() -> None:
    """t = n·P + one way for a message behind n = 7 packets, though 40 were sent before it."""
    late: Send = (1_000_000, 0, 2, MSS)
    sends = [*burst(1, 40), late]
    expected = FIRST_WINDOW * PACKET_PS + ONE_WAY_PS
    assert arrivals("analytical", 3, sends)[-1] == expected
    assert arrivals("express", 3, sends)[-1] == pytest.approx(expected, rel=1e-4)


def test_a_held_message_enters_when_there_is_room() -> None:
    """The link stays busy: all 40 and the one between leave one after the other."""
    sends = [*burst(1, 40), (1_000_000, 0, 2, MSS)]
    times = arrivals("analytical", 3, sends)
    assert max(times) == 40 * PACKET_PS + ONE_WAY_PS
    assert times[:40] == sorted(times[:40])


def test_a_path_alone_does_not_wait() -> None:
    """The n-th packet arrives at n·P + one way: acknowledgments come before the link is idle."""
    times = arrivals("analytical", 3, burst(1, 400))
    assert times == [n * PACKET_PS + ONE_WAY_PS for n in range(400)]


def test_the_window_grows_with_what_was_sent() -> None:
    """After 100 packets, the window is full: 55 packets of 0.5 MB stand ahead, not 7."""
    later = 100_000_000
    sends = [*burst(1, 100), *burst(1, 100, later), (later + 1_000_000, 0, 2, MSS)]
    expected = later + 55 * PACKET_PS + ONE_WAY_PS
    assert arrivals("analytical", 3, sends)[-1] == expected
    assert arrivals("express", 3, sends)[-1] == pytest.approx(expected, rel=1e-4)


def test_a_short_message_passes_a_long_one_between_switches() -> None:
    """It waits for at most one packet, not for the rest of the long message.

    The long message of rank 0 and the short one of rank 1 share the links from leaf to spine to
    leaf. Spine (s + d) mod 2 is the same for both pairs.
    """
    short: Send = (20_000_000, 1, 4, 100)
    sends: list[Send] = [(0, 0, 5, 5_000_000), short]
    alone = arrivals("analytical", 6, [short], hops=4)
    assert alone[0] <= arrivals("analytical", 6, sends, hops=4)[-1] <= alone[0] + PACKET_PS
    assert alone[0] <= arrivals("express", 6, sends, hops=4)[-1] <= alone[0] + 2 * PACKET_PS


def test_a_message_of_the_same_size_does_not_pass() -> None:
    """Both take 2·W/r on the shared link, one after the other."""
    packets = 500
    sends: list[Send] = [(0, 0, 5, packets * MSS), (1_000, 1, 4, packets * MSS)]
    first, second = arrivals("analytical", 6, sends, hops=4)
    assert second - first == packets * PACKET_PS


MESSAGES = st.lists(
    st.tuples(
        st.integers(0, 30_000_000), st.integers(0, 5), st.integers(0, 5), st.integers(0, 200_000)
    ).filter(lambda send: send[1] != send[2]),
    min_size=1,
    max_size=60,
)


@pytest.mark.parametrize("hops", [2, 4])
@settings(max_examples=60, deadline=None)
@given(MESSAGES)
def test_every_message_arrives_once_and_not_too_early(hops: int, sends: list[Send]) -> None:
    """No message is faster than in an empty network, and no rank's link exceeds its rate."""
    sends = sorted(sends)
    times = arrivals("analytical", 6, sends, hops=hops)
    for (at, src, _, size), time in zip(sends, times, strict=True):
        wire = max(size, 1) + 42 * max(1, -(-size // MSS))
        assert time - at >= wire * 80 + 2 * LATENCY_PS
        later = sum(more for when, rank, _, more in sends if rank == src and when >= at)
        assert max(times) >= at + later * 80
