"""The two packet datapaths, express and native, give the same results.

They agree for every packet, to the picosecond, with and without loss, and over several switches.
This includes symmetric traffic, where many packets reach a queue at the same picosecond and their
order decides which one is lost.
"""

import csv
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

import bridge
from frontend import load_scenario
from frontend.transports.tcp import CONGESTION_CONTROLS
from tests.ns3_scratch.traffic import (
    Outcome,
    Pair,
    all_to_all,
    carry,
    in_blocks,
    incast,
    permutation,
)

RANKS = 8
PATTERNS = {"permutation": permutation, "incast": incast, "all_to_all": all_to_all}
SIZES = {1500: 300_000, 9000: 1_000_000}
# A port's share of this, 32 kB or 80 kB, overflows in incast and all-to-all.
SMALL_BUFFER = {1500: "256kB", 9000: "640kB"}

TCP = [
    {},
    {"variant": "cubic"},
    {"variant": "dctcp", "ecn": True, "ecn_threshold": "30kB"},
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


def both(
    pairs: list[Pair], size: int, ranks: int = RANKS, **changes: Any
) -> tuple[Outcome, Outcome]:
    return (
        carry(ranks, "native", pairs, size, **changes),
        carry(ranks, "express", pairs, size, **changes),
    )


@pytest.mark.parametrize("hops", [2, 4])
@pytest.mark.parametrize("mtu", SIZES)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_without_loss(pattern: str, mtu: int, hops: int) -> None:
    pairs = PATTERNS[pattern](RANKS)
    native, express = both(pairs, SIZES[mtu], mtu=f"{mtu}B", hops=hops)
    assert native.counters["drops"] == 0
    assert native.counters["payload_bytes"] == len(pairs) * SIZES[mtu]
    assert express == native


@pytest.mark.parametrize("tcp", TCP, ids=label)
@pytest.mark.parametrize("mtu", SIZES)
@pytest.mark.parametrize("pattern", ["incast", "all_to_all"])
def test_with_loss(pattern: str, mtu: int, tcp: dict[str, Any]) -> None:
    pairs = PATTERNS[pattern](RANKS)
    changes: dict[str, Any] = {"mtu": f"{mtu}B", "buffer": SMALL_BUFFER[mtu]} | tcp
    native, express = both(pairs, SIZES[mtu], **changes)
    assert native.counters["drops"] > 0, "the buffer is meant to overflow"
    assert native.counters["retransmissions"] > 0
    assert native.counters["payload_bytes"] == len(pairs) * SIZES[mtu]
    assert express == native


@st.composite
def tcp_options(draw: st.DrawFn) -> dict[str, Any]:
    """Draw any TCP that a scenario can have: every variant with every option."""
    variant = draw(st.sampled_from(sorted(CONGESTION_CONTROLS)))
    ecn = variant == "dctcp" or draw(st.booleans())
    return {
        "variant": variant,
        "ecn": ecn,
        "ecn_threshold": "30kB" if ecn else None,
        "timestamps": draw(st.booleans()),
        "sack": draw(st.booleans()),
        "delayed_ack": {"segments": draw(st.sampled_from([1, 1, 2])), "timeout": "1ms"},
        "recovery": draw(st.sampled_from(["prr", "prr", "classic"])),
        "buffer_unit": draw(st.sampled_from(["bytes", "bytes", "packets"])),
        "ecn_marking": draw(st.sampled_from(["enqueue", "dequeue"])),
    } | draw(st.sampled_from(TCP[-2:] + [{}] * 4))


@pytest.mark.parametrize("timestamps", [False, True])
@pytest.mark.parametrize("ecn", [False, True])
@pytest.mark.parametrize("variant", sorted(CONGESTION_CONTROLS))
def test_every_variant_with_loss(variant: str, ecn: bool, timestamps: bool) -> None:
    """Also the variants that look at the time of the simulation or at timestamps."""
    changes: dict[str, Any] = {
        "variant": variant,
        "ecn": ecn or variant == "dctcp",
        "ecn_threshold": "30kB",
        "timestamps": timestamps,
        "buffer": SMALL_BUFFER[1500],
        "mtu": "1500B",
        "min_rto": "5ms",
    }
    native, express = both(incast(RANKS), SIZES[1500], **changes)
    assert native.counters["payload_bytes"] == (RANKS - 1) * SIZES[1500]
    assert express == native


@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_any_traffic_over_any_links(data: st.DataObject) -> None:
    """Draw pairs, sizes, any TCP, latencies (0 included), buffers, equal or different links."""
    ranks = data.draw(st.sampled_from([4, 8, 12]))
    pairs = data.draw(
        st.lists(st.sampled_from(all_to_all(ranks)), min_size=1, max_size=30, unique=True)
    )
    changes: dict[str, Any] = {
        "mtu": data.draw(st.sampled_from([f"{mtu}B" for mtu in SIZES])),
        "latency": data.draw(st.sampled_from(["0", "0.5us", "720ns"])),
        "hops": data.draw(st.sampled_from([2, 4])),
        "spread": data.draw(st.booleans()),
        "buffer": data.draw(st.sampled_from([f"{40 * ranks}kB", f"{80 * ranks}kB", "unlimited"])),
    } | data.draw(tcp_options())
    native, express = both(pairs, data.draw(st.integers(1, 300_000)), ranks=ranks, **changes)
    assert express == native


@pytest.mark.parametrize("fabric", ["native", "express"])
@pytest.mark.parametrize("size", [0, 1, 8959, 8960, 8961])
def test_small_messages(fabric: str, size: int) -> None:
    """A message over two links: its packets follow one another, with two latencies."""
    outcome = carry(2, fabric, [(0, 1)], size)
    headers = 20 + 20 + 2
    packets = [min(8960, size - start) for start in range(0, size, 8960)] or [1]  # 0 sends 1 byte
    wire = [8 * (payload + headers) * 10 for payload in packets]  # ps at 100 Gb/s: 10 ps a bit
    # Store and forward: the last packet leaves the first link after all others. The switch sends it
    # as soon as the previous packet has left.
    first = 1  # one tick, in which simultaneous writes are joined
    second = 0
    for time in wire:
        first += time
        second = max(first + 500_000, second) + time
    assert outcome.arrivals_ps == [second + 500_000]
    assert outcome.counters["payload_bytes"] == size
    assert outcome.counters["data_packets"] == len(packets)


@pytest.mark.parametrize("fabric", ["native", "express"])
def test_round_trips_are_measured_with_the_clock_of_the_simulator(fabric: str) -> None:
    """Timestamps tick in milliseconds, but the reported round trip is that of the packets."""
    plain = carry(2, fabric, [(0, 1)], 1_000_000, latency="2us")
    stamped = carry(2, fabric, [(0, 1)], 1_000_000, latency="2us", timestamps=True)
    least_ns = 4 * 2000  # two links forward, two back
    for outcome in (plain, stamped):
        assert least_ns < outcome.counters["rtt_mean_ns"] < 2 * least_ns + 50_000
    assert stamped.counters["rtt_mean_ns"] == pytest.approx(plain.counters["rtt_mean_ns"], rel=0.01)


@pytest.mark.parametrize("fabric", ["native", "express"])
def test_a_round_trip_sample_is_the_latest_of_its_interval(fabric: str) -> None:
    """A burst fills the queue of the sender's link, so each round trip is longer than the last.

    The run is one interval. It ends when the last packet arrives, and the sample is the round trip
    of the last ACK before that.
    """
    packets = 7  # the first window
    outcome = carry(2, fabric, [(0, 1)], packets * 8960)
    packet_ps, ack_ps, latency_ps = 8 * 9002 * 10, 8 * 42 * 10, 500_000

    def arrival_ps(number: int) -> int:
        """All packets are sent at once and leave the first link one after another."""
        return (number + 1) * packet_ps + 2 * latency_ps

    trips = [arrival_ps(number) + 2 * (ack_ps + latency_ps) for number in range(1, packets + 1)]
    expected = max(trip for trip in trips if trip < arrival_ps(packets))
    assert trips[0] < expected < trips[-1]
    assert outcome.counters["rtt_mean_ns"] == expected / 1000


def test_recovery_changes_how_a_loss_is_repaired() -> None:
    outcomes = [
        carry(
            RANKS, "express", incast(RANKS), SIZES[1500], mtu="1500B", buffer="256kB", recovery=name
        )
        for name in ("prr", "classic")
    ]
    assert all(outcome.counters["retransmissions"] > 0 for outcome in outcomes)
    assert outcomes[0].arrivals_ps != outcomes[1].arrivals_ps


@pytest.mark.parametrize("fabric", ["native", "express"])
def test_a_buffer_of_packets_counts_small_packets_as_full_ones(fabric: str) -> None:
    """Each of seven ranks sends one packet to a port with room for three full ones.

    One packet is in transmission and three wait, whatever their size: 7 - 4 = 3 are lost. In bytes,
    all seven small packets fit.
    """
    drops = {
        (unit, size): carry(8, fabric, incast(8), size, buffer="256kB", buffer_unit=unit).counters[
            "drops"
        ]
        for unit in ("bytes", "packets")
        for size in (100, 8960)
    }
    assert drops == {
        ("bytes", 100): 0,
        ("bytes", 8960): 3,
        ("packets", 100): 3,
        ("packets", 8960): 3,
    }


@pytest.mark.parametrize("fabric", ["native", "express"])
def test_a_lost_last_packet_recovers_by_timeout(fabric: str) -> None:
    """Seven ranks send one packet each to a port with room for three; the others take an RTO."""
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


def stock_can_run(path: Path) -> bool:
    """Return whether links are fixed and the transport is TCP; stock ns-3 has nothing else."""
    scenario = load_scenario(path)
    changes = getattr(scenario.topology, "reconfiguration", None) is not None or scenario.events
    return not changes and set(scenario.protocols) == {"tcp"}


def agree(scenario: Path | dict[str, Any]) -> bridge.Result:
    """Run a scenario on both datapaths, compare all that they measure, and return the result."""
    native, express = (bridge.run(scenario, {"fabric": fabric}) for fabric in ("native", "express"))
    assert express.iterations == native.iterations
    assert express.layers == native.layers
    assert express.collectives == native.collectives
    assert express.network == native.network
    return express


@pytest.mark.parametrize(
    "path",
    [path for path in sorted(Path("scenarios").glob("*_small.yaml")) if stock_can_run(path)],
    ids=lambda p: p.stem,
)
def test_whole_scenarios_agree_to_the_picosecond(path: Path) -> None:
    """Results are also equal with the system layer, collectives and the hierarchical network."""
    agree(path)


def small(
    operation: str, size: str, ranks: int, rate: str, latency: str, **keys: Any
) -> dict[str, Any]:
    """Return a scenario with one collective on one switch."""
    system = {"chunks": keys.pop("chunks", 1)}
    algorithm = keys.pop("algorithm", "ring")
    return {
        "topology": {
            "family": "flat",
            "ranks": ranks,
            "bandwidth": rate,
            "latency": latency,
            "buffer": keys.pop("buffer", "unlimited"),
        },
        "workload": {
            "kind": "collective",
            "operation": operation,
            "algorithm": algorithm,
            "bytes": size,
        },
        "system": system,
        **in_blocks(keys),
    }


@pytest.mark.parametrize("header", [2, 38, 1000])
def test_every_link_carries_its_header(header: int) -> None:
    """Each of two ranks sends 500 kB, a window, in 56 segments; the header is part of all of them.

    The last of 55 full packets and one with the rest crosses two links.
    """
    result = agree(
        small("all_gather", "1MB", 2, "100Gbps", "1us", header=f"{header}B", window="1MB")
    )
    full, rest = 8960 + 40 + header, 500_000 - 55 * 8960 + 40 + header
    packets = result.network.packets
    payload = 2 * 500_000
    assert result.network.wire_bytes == payload + packets * (40 + header)
    first_flight = 7  # 65535 bytes, before the window is scaled
    assert result.iterations[0].time_ns > 8 * (55 * full + 2 * rest) / 100 + 2000
    assert packets > 2 * 56 + 2 * first_flight


@pytest.mark.parametrize(
    ("header", "latency", "timestamps"), [(1000, "1us", False), (100, "0us", True)]
)
def test_connections_open_with_any_header(header: int, latency: str, timestamps: bool) -> None:
    """A handshake is over before the next one begins, however long its packets take."""
    agree(
        small(
            *("all_reduce", "100kB", 4, "10Gbps", latency),
            header=f"{header}B",
            timestamps=timestamps,
        )
    )


def test_native_cannot_have_a_smaller_header_than_the_device_of_ns3() -> None:
    scenario = small("all_gather", "1MB", 2, "100Gbps", "1us", header="1B")
    with pytest.raises(bridge.ScenarioError, match=r"links\.header: .*at least 2 bytes"):
        bridge.run(scenario, {"fabric": "native"})
    assert bridge.run(scenario).status == "complete"


def test_a_timer_runs_for_data_that_no_window_lets_go() -> None:
    """DCTCP halves its window below a segment; only retransmission timeouts then send the rest."""
    result = agree(
        small(
            *("gather", "256KiB", 3, "10Gbps", "10us"),
            algorithm="direct",
            variant="dctcp",
            initial_cwnd=1,
            min_rto="1ms",
            delayed_ack={"timeout": "100us"},
            flows_per_pair=3,
            recovery="classic",
            ecn=True,
            ecn_threshold="10kB",
        )
    )
    assert result.network.rto_events == 3
    assert result.network.drops == 0


@pytest.mark.parametrize("sharing", ["per_port", "dynamic"])
def test_packets_are_marked_when_they_leave_a_queue(sharing: str) -> None:
    """The native queue decides when its device takes a packet, the express one later."""
    changes: dict[str, Any] = {
        "variant": "dctcp",
        "ecn": True,
        "ecn_threshold": "30kB",
        "buffer": "8MB",
        "buffer_sharing": sharing,
    }
    native, express = both(incast(RANKS), SIZES[9000], **changes, ecn_marking="dequeue")
    assert express == native
    assert native.counters["ecn_marks"] > 0
    assert native != carry(RANKS, "native", incast(RANKS), SIZES[9000], **changes)


@pytest.mark.parametrize("initial", [10, 15, 16, 17, 40])
def test_cubic_begins_when_its_connection_is_opened(initial: int) -> None:
    """HyStart looks from 16 segments on, and at the time since the connection began."""
    agree(
        small(
            *("broadcast", "200kB", 3, "7.3Gbps", "50us"),
            chunks=4,
            algorithm="dbt",
            variant="cubic",
            mtu="576B",
            window="64kB",
            initial_cwnd=initial,
        )
    )


def test_a_delayed_ack_echoes_the_first_segment_that_it_acknowledges() -> None:
    """RFC 7323, section 4.3. The echo of the last one would be a shorter round trip."""
    result = agree(
        small(
            *("all_reduce", "66249B", 4, "1Gbps", "300us"),
            chunks=4,
            algorithm="dbt",
            variant="yeah",
            mtu="1500B",
            timestamps=True,
            min_rto="1ms",
            initial_cwnd=2,
            delayed_ack={"segments": 3, "timeout": "900us"},
            flows_per_pair=3,
        )
    )
    assert result.network.packets > 0


def test_new_data_stays_in_the_window_that_selectively_acknowledged_data_fills() -> None:
    """After a recovery, such data is not in flight, but the peer still holds it."""
    result = agree(
        small(
            *("broadcast", "412385B", 4, "1Gbps", "100ns"),
            chunks=2,
            variant="dctcp",
            buffer="36008B",
            buffer_unit="packets",
            mss="8948B",
            timestamps=True,
            window="64kB",
            initial_cwnd=16,
            recovery="classic",
            ecn=True,
            ecn_threshold="3982B",
        )
    )
    assert result.network.retransmissions > 0
    assert result.network.rto_events == 0


@pytest.mark.parametrize("fabric", ["native", "express"])
@pytest.mark.parametrize("operation", ["all_to_all", "all_reduce", "gather"])
def test_links_carry_no_more_than_their_busy_time_allows(
    fabric: str, operation: str, tmp_path: Path
) -> None:
    """Bytes count when their transmission is complete: bytes · 8 / rate ≤ busy time ≤ that + 1."""
    scenario = small(operation, "300kB", 4, "10Gbps", "1us", algorithm="direct")
    result = bridge.run(scenario, {"fabric": fabric}, out=tmp_path)
    rows = list(csv.DictReader((tmp_path / "links.csv").read_text().splitlines()))
    elapsed_ns = result.time_ns
    for row in rows:
        busy_ns = float(row["utilization"]) * elapsed_ns
        carried_ns = int(row["wire_bytes"]) * 8 / 10
        assert carried_ns <= busy_ns * (1 + 1e-9) + 1e-6
        assert busy_ns <= carried_ns + 9002 * 8 / 10 + 1e-6
    carried = sum(int(row["wire_bytes"]) for row in rows)
    assert carried == sum(dimension.wire_bytes for dimension in result.network.dimensions)


def test_a_stalled_run_ends_at_its_last_event() -> None:
    """Neither samples, nor timers that were cancelled, make it longer."""
    scenario = small(
        *("all_reduce", "8493B", 8, "1Gbps", "500ns"),
        algorithm="dbt",
        chunks=5,
        variant="dctcp",
        mtu="200B",
        header="4B",
        initial_cwnd=1,
        min_rto="300us",
        delayed_ack={"segments": 2, "timeout": "100us"},
        recovery="classic",
        sack=False,
        flows_per_pair=4,
        buffer="3264B",
        ecn=True,
        ecn_threshold="271B",
    )
    scenario["topology"] |= {"family": "direct_connect", "graph": "hypercube:n=8"}
    del scenario["topology"]["ranks"]
    scenario |= {"outputs": {"series": {"interval": "1us"}}}
    times = []
    for fabric in ("native", "express"):
        with pytest.raises(bridge.SimulationError, match="no event is left: TCP has") as caught:
            bridge.run(scenario, {"fabric": fabric})
        partial = caught.value.result
        assert partial is not None
        assert partial.status == "deadlock"
        assert partial.network.link_utilization_mean > 0
        times.append(partial.time_ns)
    assert 0 < times[0] == times[1] < 1e9
