"""The two packet datapaths against each other: express is native, faster.

They differ in one thing: the order of two packets that reach a queue at the very same picosecond,
which symmetric traffic does often. Where every link has a rate and a latency of its own, so that
nothing ties, they agree packet for packet and to the picosecond, with and without loss. Where
there are ties, completion times stay within half a percent as long as nothing is lost.
"""

from pathlib import Path
from typing import Any

import pytest

import bridge
from tests.ns3_scratch.traffic import Pair, all_to_all, carry, incast, permutation

RANKS = 8
PATTERNS = {"permutation": permutation, "incast": incast, "all_to_all": all_to_all}
SIZES = {1500: 300_000, 9000: 1_000_000}
# A port's share of this, 32 kB or 80 kB, overflows in incast and all-to-all.
SMALL_BUFFER = {1500: "256kB", 9000: "640kB"}

TCP = [
    {},
    {"variant": "cubic"},
    {"variant": "dctcp", "ecn": {"enabled": True, "threshold": "30kB"}},
    {"sack": False},
    {"timestamps": True},
    {"delayed_ack": {"segments": 2, "timeout": "1ms"}},
    {"window_scaling": False, "window": "65535B"},
    {"initial_cwnd": 2, "min_rto": "5ms"},
]


def label(value: object) -> str:
    if not isinstance(value, dict):
        return str(value)
    return "+".join(f"{key}={item}" for key, item in value.items()) or "default"


def both(pairs: list[Pair], size: int, **changes: Any) -> tuple[Any, Any]:
    return (
        carry(RANKS, "native", pairs, size, **changes),
        carry(RANKS, "express", pairs, size, **changes),
    )


@pytest.mark.parametrize("spread", [True, False])
@pytest.mark.parametrize("mtu", SIZES)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_without_loss(pattern: str, mtu: int, spread: bool) -> None:
    pairs = PATTERNS[pattern](RANKS)
    native, express = both(pairs, SIZES[mtu], mtu=mtu, spread=spread)
    assert native.counters["drops"] == 0
    assert native.counters["payload_bytes"] == len(pairs) * SIZES[mtu]
    if spread:
        assert express == native
    else:
        assert express.counters["packets"] == native.counters["packets"]
        assert max(express.arrivals_ps) == pytest.approx(max(native.arrivals_ps), rel=0.005)


@pytest.mark.parametrize("tcp", TCP, ids=label)
@pytest.mark.parametrize("mtu", SIZES)
@pytest.mark.parametrize("pattern", ["incast", "all_to_all"])
def test_with_loss_the_datapaths_agree_packet_for_packet(
    pattern: str, mtu: int, tcp: dict[str, Any]
) -> None:
    pairs = PATTERNS[pattern](RANKS)
    changes = {"mtu": mtu, "buffer": SMALL_BUFFER[mtu], "spread": True} | tcp
    native, express = both(pairs, SIZES[mtu], **changes)
    assert native.counters["drops"] > 0, "the buffer is meant to overflow"
    assert native.counters["retransmissions"] > 0
    assert native.counters["payload_bytes"] == len(pairs) * SIZES[mtu]
    assert express == native


@pytest.mark.parametrize("tcp", TCP, ids=label)
def test_ties_under_loss_change_little(tcp: dict[str, Any]) -> None:
    """With ties the datapaths may drop different packets, but as many and as often."""
    pairs = all_to_all(RANKS)
    native, express = both(pairs, 1_000_000, buffer="640kB", **tcp)
    assert express.counters["payload_bytes"] == native.counters["payload_bytes"]
    assert express.counters["drops"] == pytest.approx(native.counters["drops"], rel=0.25, abs=10)


@pytest.mark.parametrize("fabric", ["native", "express"])
@pytest.mark.parametrize("size", [0, 1, 8959, 8960, 8961])
def test_small_messages(fabric: str, size: int) -> None:
    """One message over two links: its packets one behind the other, two latencies."""
    outcome = carry(2, fabric, [(0, 1)], size)
    headers = 20 + 20 + 2
    packets = [min(8960, size - start) for start in range(0, size, 8960)] or [1]  # 0 takes one byte
    wire = [8 * (payload + headers) * 10 for payload in packets]  # ps at 100 Gb/s: 10 ps a bit
    # Store and forward: the last packet leaves the first link when all have, and the switch then
    # sends it as soon as the packet before it has left.
    first = 1  # a tick, within which writes of one instant are joined
    second = 0
    for time in wire:
        first += time
        second = max(first + 500_000, second) + time
    assert outcome.arrivals_ps == [second + 500_000]
    assert outcome.counters["payload_bytes"] == size
    assert outcome.counters["data_packets"] == len(packets)


@pytest.mark.parametrize("fabric", ["native", "express"])
def test_a_lost_last_packet_recovers_by_timeout(fabric: str) -> None:
    """Seven ranks send one packet each to a port with room for three: the rest take an RTO."""
    outcome = carry(8, fabric, incast(8), 8960, buffer="256kB")
    assert outcome.counters["drops"] > 0
    assert outcome.counters["rto_events"] > 0
    assert min(outcome.arrivals_ps) >= 0
    assert max(outcome.arrivals_ps) > 50e9  # the minimal RTO, 50 ms


def test_a_flow_beyond_the_32_bit_sequence_numbers() -> None:
    size = 4_400_000_000
    outcome = carry(2, "express", [(0, 1)], size)
    assert outcome.counters["payload_bytes"] == size
    assert outcome.counters["retransmissions"] == 0
    ideal_ps = (size + size // 8960 * 42) * 8 * 10
    assert ideal_ps <= outcome.arrivals_ps[0] <= 1.01 * ideal_ps


@pytest.mark.parametrize(
    "path", sorted(Path("scenarios").glob("*_small.yaml")), ids=lambda p: p.stem
)
def test_whole_scenarios_agree_to_the_picosecond(path: Path) -> None:
    """System layer, collectives and the hierarchical network on top: without loss, all is equal."""
    native, express = (bridge.run(path, {"fabric": fabric}) for fabric in ("native", "express"))
    assert native.network.drops == 0
    assert express.iterations == native.iterations
    assert express.collectives == native.collectives
    assert express.network.packets == native.network.packets
    assert express.network.wire_bytes == native.network.wire_bytes
