"""The estimators against the packet level, where TCP itself decides the time.

Messages that one pair sends at the same time share packets. On `analytical`, acknowledgments wait
behind the data of their sender. The arrival times on `flow` and `analytical` are compared with
`express`.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge import Network
from tests.ns3_scratch.traffic import Pair, stream

MSS = 8960
HEADER_BYTES = 42
PACKET_PS = (MSS + HEADER_BYTES) * 80  # at 100 Gb/s
ACK_PS = HEADER_BYTES * 80
LATENCY_PS = 500_000
ESTIMATORS = ["flow", "analytical"]
TWO_WAY: list[Pair] = [(0, 1), (1, 0)]


def ring(ranks: int) -> list[Pair]:
    return [(rank, (rank + 1) % ranks) for rank in range(ranks)]


def arrivals(
    fabric: str, ranks: int, messages: Sequence[tuple[Pair, int]], **changes: Any
) -> list[int]:
    """Return the arrival time of each message; all are sent at time 0 [ps]."""
    pairs = sorted({end for (src, dst), _ in messages for end in [(src, dst), (dst, src)]})
    times = [-1] * len(messages)
    with Network(stream(ranks, fabric, pairs, spread=False, **changes)) as network:

        def arrived(index: int) -> None:
            times[index] = network.sim_get_time_ps()
            if min(times) >= 0:
                network.sim_finish()

        for index, ((src, dst), size) in enumerate(messages):
            network.sim_recv(src, dst, size, index, partial(arrived, index))
            network.sim_send(src, dst, size, index)
        network.run()
    return times


@pytest.mark.parametrize("fabric", ESTIMATORS)
@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 20_000), min_size=1, max_size=12).filter(lambda x: sum(x) < 60_000))
def test_messages_of_a_parcel_share_packets(fabric: str, sizes: list[int]) -> None:
    """A message arrives with the packet of its last byte, whatever else this packet contains."""
    messages = [((0, 1), size) for size in sizes]
    # TCP sends one tick later, and rounds the time of each packet.
    assert arrivals(fabric, 2, messages) == pytest.approx(
        arrivals("express", 2, messages), abs=len(sizes) + 20
    )


def test_a_parcel_keeps_the_place_of_its_first_message() -> None:
    """The messages to rank 1 leave together, before the one that was sent between them."""
    messages = [((0, 1), 10_000), ((0, 2), 30_000), ((0, 1), 20_000)]
    estimate = arrivals("analytical", 3, messages)
    assert estimate == pytest.approx(arrivals("express", 3, messages), abs=20)
    assert estimate[2] < estimate[1]


@pytest.mark.parametrize("window", ["0.2MB", "0.5MB", "1MB"])
@pytest.mark.parametrize("mtu", [1500, 9000])
@pytest.mark.parametrize("pairs", [TWO_WAY, ring(5)], ids=["two ways", "ring"])
def test_acks_wait_behind_data(pairs: list[Pair], mtu: int, window: str) -> None:
    """Where ranks send to each other, `analytical` waits after each window as TCP does."""
    messages = [(pair, 4_000_000) for pair in pairs]
    express, analytical = (
        arrivals(name, 5, messages, mtu=f"{mtu}B", window=window)
        for name in ("express", "analytical")
    )
    assert analytical == pytest.approx(express, rel=0.013)


def test_each_window_costs_a_gap() -> None:
    """T = n·W/r + (n - 1)·g + one way, where g is the way of a packet and one ACK's transmission.

    The window grows from 7 packets, which is what an unscaled window allows, by what is sent, from
    an initial window of 10.
    """
    full = 55  # packets in 0.5 MB
    windows = [7, 17, 34, *[full] * 5]
    packets = sum(windows)
    one_way = PACKET_PS + 2 * LATENCY_PS
    gap = one_way + ACK_PS
    expected = packets * PACKET_PS + (len(windows) - 1) * gap + one_way
    times = arrivals("analytical", 2, [(pair, packets * MSS) for pair in TWO_WAY])
    assert times == pytest.approx([expected] * 2, abs=20)


@pytest.mark.parametrize("fabric", ESTIMATORS)
def test_a_chain_does_not_wait(fabric: str) -> None:
    """ACKs of a chain wait, too, but its links never run empty, because those of its end do not."""
    messages = [((rank, rank + 1), 10_000_000) for rank in range(4)]
    alone = arrivals(fabric, 2, messages[:1])
    assert arrivals(fabric, 5, messages) == alone * 4
    assert arrivals("express", 5, messages) == pytest.approx(alone * 4, rel=0.01)


@pytest.mark.parametrize("fabric", ESTIMATORS)
def test_a_message_of_one_window_does_not_wait(fabric: str) -> None:
    messages = [(pair, 65_000) for pair in TWO_WAY]
    assert arrivals(fabric, 2, messages) == arrivals(fabric, 2, messages[:1]) * 2
