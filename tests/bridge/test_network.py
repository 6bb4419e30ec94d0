"""The network API from Python equals closed forms, and the compiled ring to the nanosecond."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

import bridge
from bridge import Network
from frontend.resolve import resolve
from frontend.stream import decode, encode

MTU = 9000
HEADERS = 40  # IPv4 and TCP
LINK_HEADER = 2
MSS = MTU - HEADERS
RATE_BPS = 100e9
LATENCY_NS = 500.0


def serialization_ns(payload: int) -> float:
    """Return how long a packet with this payload occupies a link [ns]."""
    return (payload + HEADERS + LINK_HEADER) * 8e9 / RATE_BPS


def one_way_ns(size: int) -> float:
    """Return the time of a message over two links and a store-and-forward switch [ns].

    Its packets follow each other without a gap over the second link, which the first one reaches
    after its serialization on the first. Holds for what fits the initial congestion window, ten
    segments.
    """
    full, rest = divmod(size, MSS)
    sizes = [MSS] * full + [rest] * (rest > 0 or size == 0)
    return serialization_ns(sizes[0]) + sum(map(serialization_ns, sizes)) + 2 * LATENCY_NS


@pytest.mark.parametrize("size", [1, 1000, MSS, 5 * MSS, 9 * MSS + 8959])
def test_ping_pong(small: dict[str, Any], size: int) -> None:
    times: list[float] = []
    with Network(small) as network:

        def pong() -> None:
            times.append(network.sim_get_time())
            network.sim_send(1, 0, size)

        network.sim_recv(0, 1, size, callback=pong)
        network.sim_recv(1, 0, size, callback=lambda: times.append(network.sim_get_time()))
        network.sim_send(0, 1, size)
        network.run()
    # The acknowledgement of the ping goes out before the pong. Every serialization time may be
    # rounded to the picosecond.
    pong_ns = one_way_ns(size) + serialization_ns(0)
    assert times == pytest.approx([one_way_ns(size), one_way_ns(size) + pong_ns], abs=0.02)


@pytest.mark.parametrize("timestamps", [False, True])
@pytest.mark.parametrize("fabric", ["express", "native", "analytical", "flow"])
def test_every_fabric_has_the_headers_of_the_schema(
    small: dict[str, Any], fabric: str, timestamps: bool
) -> None:
    transport = {"transport.timestamps": timestamps, "links.mtu": "1500B"}
    overrides = {"fabric": fabric} | transport
    schema = resolve(bridge.load_scenario(small, overrides))
    headers, mss = schema.header_bytes - LINK_HEADER, schema.payload_bytes
    assert mss + headers == 1500  # the reader of the stream accepts no more
    wire = mss + headers + LINK_HEADER
    times: list[int] = []
    with Network(small, overrides) as network:
        network.sim_send(0, 1, mss)
        network.sim_recv(0, 1, mss, callback=lambda: times.append(network.sim_get_time_ps()))
        network.run()
    # One packet over two links, stored and forwarded: 80 ps a byte, and the latencies. A time may
    # be rounded to the picosecond; a byte more would be 160.
    assert times == pytest.approx([2 * 80 * wire + 2 * 500_000], abs=2)


def test_the_reader_accepts_the_largest_segment_of_the_schema(small: dict[str, Any]) -> None:
    for timestamps in (False, True):
        stream = bridge.compile(small, {"transport.timestamps": timestamps})
        Network(stream).close()
        records = [*decode(stream)]
        (settings,) = [record.settings for record in records if record.HasField("settings")]
        settings.tcp.segment_bytes += 1
        with pytest.raises(bridge.StreamError, match=f"= {MTU + 1} … 65535 are accepted"):
            Network(encode(records))


def test_the_reader_accepts_the_smallest_segment_of_the_schema(small: dict[str, Any]) -> None:
    """It is what the smallest packet holds; the reader of the stream accepts no less."""
    smallest = {"transport.timestamps": True, "links.mtu": "68B"}
    mss = resolve(bridge.load_scenario(small, smallest)).payload_bytes
    stream = bridge.compile(small, {"transport.mss": f"{mss}B"})
    Network(stream).close()
    records = [*decode(stream)]
    (settings,) = [record.settings for record in records if record.HasField("settings")]
    settings.tcp.segment_bytes -= 1
    with pytest.raises(bridge.StreamError, match=f"at least {mss} are needed"):
        Network(encode(records))


def test_send_completes_with_the_acknowledgement(small: dict[str, Any]) -> None:
    times: dict[str, float] = {}
    with Network(small) as network:

        def note(what: str) -> None:
            times[what] = network.sim_get_time()

        network.sim_send(0, 1, 1000, callback=lambda: note("sent"))
        network.sim_recv(0, 1, 1000, callback=lambda: note("received"))
        network.run()
    # The receive fires on arrival, one way before the send: the ACK has no payload.
    assert times["sent"] - times["received"] == pytest.approx(one_way_ns(0), abs=0.05)


def test_incast(small: dict[str, Any]) -> None:
    senders, size = 7, 10 * MSS
    done: list[tuple[int, float]] = []
    with Network(small, {"topology.ranks": senders + 1}) as network:

        def note(src: int) -> None:
            done.append((src, network.sim_get_time()))

        for src in range(1, senders + 1):
            network.sim_send(src, 0, size)
            network.sim_recv(src, 0, size, callback=partial(note, src))
        network.run()
        counts = network.statistics()
    # The receiver's link is never idle from the first packet's arrival at the switch on.
    busy = senders * 10 * serialization_ns(MSS)
    assert sorted(src for src, _ in done) == list(range(1, senders + 1))
    assert max(time for _, time in done) == pytest.approx(
        serialization_ns(MSS) + busy + 2 * LATENCY_NS, abs=0.5
    )
    assert counts.payload_bytes == senders * size
    assert counts.messages == senders
    assert counts.drops == 0


@pytest.mark.parametrize("ranks", [2, 4, 7])
@pytest.mark.parametrize("size", [64_000, 1_000_001])
def test_ring_agrees_with_the_compiled_ring(small: dict[str, Any], ranks: int, size: int) -> None:
    overrides = {"topology.ranks": ranks, "workload.bytes": f"{size}B"}
    compiled = bridge.run(small, overrides).collectives[0]
    assert ring_all_reduce_ps(small, overrides, ranks, size) == round(compiled.time_ns * 1000)


def ring_all_reduce_ps(
    scenario: dict[str, Any], overrides: dict[str, object], ranks: int, size: int
) -> int:
    """Run a ring all-reduce message by message and return when the last rank is done [ps]."""
    injection_ns = 10.0
    ends: list[int] = []
    shards = [size * (shard + 1) // ranks - size * shard // ranks for shard in range(ranks)]
    neighbours = [(rank, (rank + 1) % ranks) for rank in range(ranks)]

    with Network(scenario, overrides, pairs=neighbours) as network:

        def start(rank: int, step: int) -> None:
            """Hand the next shard to the network, after the injection latency, and await one."""
            left, right = (rank - 1) % ranks, (rank + 1) % ranks
            network.sim_schedule(
                injection_ns,
                lambda: network.sim_send(rank, right, shards[(rank - step) % ranks], step),
            )
            network.sim_recv(
                left,
                rank,
                shards[(left - step) % ranks],
                step,
                lambda: network.sim_schedule(injection_ns, lambda: finish(rank, step)),
            )

        def finish(rank: int, step: int) -> None:
            """Go on with what has arrived: n - 1 steps reduce, n - 1 more gather."""
            if step + 1 < 2 * (ranks - 1):
                start(rank, step + 1)
            else:
                ends.append(network.sim_get_time_ps())

        for rank in range(ranks):
            start(rank, 0)
        network.run()
    assert len(ends) == ranks
    return max(ends)


def test_late_receive_completes_at_once(small: dict[str, Any]) -> None:
    seen: list[float] = []
    with Network(small) as network:
        network.sim_send(2, 3, 1000)
        network.sim_schedule(
            1e6,
            lambda: network.sim_recv(
                2, 3, 1000, callback=lambda: seen.append(network.sim_get_time())
            ),
        )
        network.run()
    assert seen == [1e6]


def test_tags_match_and_order_holds_within_one(small: dict[str, Any]) -> None:
    seen: list[str] = []
    with Network(small) as network:
        network.sim_recv(0, 1, 30, 5, lambda: seen.append("b"))
        network.sim_recv(0, 1, 10, 4, lambda: seen.append("a1"))
        network.sim_recv(0, 1, 20, 4, lambda: seen.append("a2"))
        for size, tag in ((10, 4), (20, 4), (30, 5)):
            network.sim_send(0, 1, size, tag)
        network.run()
    assert seen == ["a1", "a2", "b"]


def test_tags_have_64_bits(small: dict[str, Any]) -> None:
    tags = [0, 1, 2**32, 2**63 - 1, 2**63, 2**64 - 1]
    seen: list[int] = []
    with Network(small) as network:
        for tag in tags:
            network.sim_recv(0, 1, 10, tag, partial(seen.append, tag))
        for tag in reversed(tags):
            network.sim_send(0, 1, 10, tag)
        network.run()
    assert seen == tags[::-1]


def test_a_message_that_nobody_sends_is_named_by_its_tag(small: dict[str, Any]) -> None:
    with Network(small) as network:
        network.sim_recv(0, 1, 10, 2**64 - 1)
        with pytest.raises(bridge.SimulationError, match="with tag 18446744073709551615"):
            network.run()


@pytest.mark.parametrize("size", [0, 1])
def test_tiny_messages(small: dict[str, Any], size: int) -> None:
    seen: list[float] = []
    with Network(small) as network:
        network.sim_send(0, 1, size)
        network.sim_recv(0, 1, size, callback=lambda: seen.append(network.sim_get_time()))
        network.run()
    assert seen == pytest.approx([one_way_ns(1)], abs=0.05)


def test_finish_ends_the_run(small: dict[str, Any]) -> None:
    seen: list[float] = []
    with Network(small) as network:
        network.sim_schedule(10, network.sim_finish)
        network.sim_schedule(20, lambda: seen.append(network.sim_get_time()))
        network.run()
        assert network.sim_get_time_ps() == 10_000
    assert seen == []


def test_fractions_of_a_nanosecond(small: dict[str, Any]) -> None:
    seen: list[int] = []
    with Network(small) as network:
        network.sim_schedule(0.125, lambda: seen.append(network.sim_get_time_ps()))
        network.sim_schedule_ps(7, lambda: seen.append(network.sim_get_time_ps()))
        network.run()
    assert seen == [7, 125]


def test_error_in_a_callback_comes_out(small: dict[str, Any]) -> None:
    def fail() -> None:
        raise LookupError("from the callback")

    with Network(small) as network:
        network.sim_schedule(1, fail)
        with pytest.raises(LookupError, match="from the callback"):
            network.run()


def test_stream_gives_the_network_too(small: dict[str, Any]) -> None:
    seen: list[float] = []
    with Network(bridge.compile(small)) as network:
        # A ring's stream has the paths between neighbours only.
        network.sim_send(3, 0, 1000)
        network.sim_recv(3, 0, 1000, callback=lambda: seen.append(network.sim_get_time()))
        network.run()
        assert network.sim_comm_size() == 4
    assert seen == pytest.approx([one_way_ns(1000)], abs=0.05)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda network: network.sim_send(0, 4, 1), "dst is 4"),
        (lambda network: network.sim_recv(-1, 0, 1), "src is -1"),
        (lambda network: network.sim_send(2, 2, 1), "both 2"),
        (lambda network: network.sim_send(0, 1, -1), "size is -1"),
        (lambda network: network.sim_send(0, 1, 1, -1), "tag is -1"),
        (lambda network: network.sim_recv(0, 1, 1, 2**64), "tag is 18446744073709551616"),
        (lambda network: network.sim_schedule(-1, print), "delay_ns is -1"),
        (lambda network: network.sim_schedule(float("nan"), print), "delay_ns is nan"),
        (lambda network: network.sim_schedule_ps(-1, print), "delay_ps is -1"),
    ],
)
def test_values_out_of_range(small: dict[str, Any], call: Any, message: str) -> None:
    with Network(small) as network, pytest.raises(ValueError, match=message):
        call(network)


def test_network_without_a_workload(small: dict[str, Any]) -> None:
    """The workload changes nothing: without it, a message takes the same time."""
    del small["workload"]
    with Network(small) as network:
        network.sim_recv(0, 1, "1KB", callback=network.sim_finish)
        network.sim_send(0, 1, np.float64(1000))
        network.run()
        assert network.sim_get_time() == pytest.approx(one_way_ns(1000), abs=0.001)


@pytest.mark.parametrize(
    "topology",
    [
        {"family": "direct_connect", "graph": "torus:dims=2x3"},
        {"family": "fat_tree", "ranks": 6},
        {"family": "topoopt", "n": 6, "d": 2},
    ],
)
def test_every_kind_of_network_needs_no_workload(topology: dict[str, Any]) -> None:
    links = {"bandwidth": "1Gbps", "latency": "1us", "buffer": "1MB"}
    with Network({"topology": topology | links}) as network:
        assert network.sim_comm_size() == 6


@pytest.mark.parametrize("size", ["1 parsec", "0.5B", -1, 1.5, None, True])
def test_wrong_sizes(small: dict[str, Any], size: Any) -> None:
    with Network(small) as network, pytest.raises(ValueError, match=r"^size is .*, expected"):
        network.sim_send(0, 1, size)
