"""Collectives over the analytical fabric against their closed forms, to the picosecond.

One message of P bytes between two ranks of a switch takes T(P) (`message_ps`), plus the injection
latency i at each end.
"""

from dataclasses import replace

import pytest

from frontend import collectives
from frontend.collectives.program.program import Protocol
from tests.ns3_scratch.streams import (
    HEADER_BYTES,
    LATENCY_PS,
    SEGMENT_BYTES,
    Trace,
    header,
    message_ps,
    one_collective,
    ps,
    run,
    settings,
    star,
    transmission_ps,
)

INJECTION_PS = 10_000


@pytest.mark.parametrize("ranks", [2, 3, 8, 32])
@pytest.mark.parametrize("shard", [0, 1, 1460, 1461, 60_000])
def test_ring_all_reduce(ranks: int, shard: int) -> None:
    """An all-reduce has 2(N-1) consecutive steps: 2(N-1) · (2i + T(D/N))."""
    made = collectives.build("all_reduce", "ring", ranks)
    result = run(one_collective(made, ranks * shard, injection_ps=INJECTION_PS))
    steps = 2 * (ranks - 1)
    assert ps(result["time_ns"]) == steps * (2 * INJECTION_PS + message_ps(shard))
    assert result["network"]["payload_bytes"] == steps * ranks * shard
    assert result["network"]["messages"] == steps * ranks


@pytest.mark.parametrize("local", [1, 8])
@pytest.mark.parametrize("by_message", [False, True])
def test_a_protocol_adds_a_launch_bytes_and_the_time_of_each_step(
    local: int, by_message: bool
) -> None:
    """With a protocol: launch + 2(N-1) · (2i + d + T(w·D/N)), near if servers have 8 members."""
    ranks, shard = 8, 20_001
    near = Protocol(local, 1_500_000, 2_000_000, 400_000, 700_000, 6_600_000)
    made = replace(collectives.build("all_reduce", "ring", ranks), protocol=near)
    stream = one_collective(made, ranks * shard, injection_ps=INJECTION_PS)
    for record in stream:
        if record.HasField("settings"):
            record.settings.system.message_by_message = by_message
    result = run(stream)
    wire = 2 * shard if local == 1 else -(-3 * shard // 2)
    delay = 700_000 if local == 1 else 400_000
    steps = 2 * (ranks - 1)
    expected = 6_600_000 + steps * (2 * INJECTION_PS + delay + message_ps(wire))
    assert ps(result["time_ns"]) == expected
    assert result["network"]["payload_bytes"] == steps * ranks * wire


@pytest.mark.parametrize("operation", ["reduce_scatter", "all_gather"])
def test_half_a_ring(operation: str) -> None:
    """There are N-1 consecutive steps: (N-1) · (2i + T(D/N))."""
    made = collectives.build(operation, "ring", 8)
    result = run(one_collective(made, 80_000, injection_ps=INJECTION_PS))
    assert ps(result["time_ns"]) == 7 * (2 * INJECTION_PS + message_ps(10_000))


def test_direct_all_to_all() -> None:
    """The N-1 messages of a rank leave one after another: 2i + (N-2)·W(P)/r + T(P).

    With rotated peers, the k-th messages of all ranks go to different ranks, so they never meet.
    """
    ranks, block = 8, 14_600
    made = collectives.build("all_to_all", "direct", ranks)
    result = run(one_collective(made, ranks * block, injection_ps=INJECTION_PS))
    wire_ps = transmission_ps(block + 10 * HEADER_BYTES)
    expected = 2 * INJECTION_PS + (ranks - 2) * wire_ps + message_ps(block)
    assert ps(result["time_ns"]) == expected


def test_incast_waits_at_the_egress() -> None:
    """With the same order of peers, all messages meet at one port and queue there.

    Together they take (N-1)·W(P)/r after the first packet.
    """
    ranks, block = 5, 14_600
    receiver = Trace([0])
    for source in range(1, ranks):
        receiver.receive(source, block)
    senders = Trace(range(1, ranks))
    senders.send(0, block)
    result = run([header(), settings(), star(ranks), receiver.record(), senders.record()])
    wire_ps = transmission_ps(block + 10 * HEADER_BYTES)
    first_ps = transmission_ps(SEGMENT_BYTES + HEADER_BYTES)
    expected = first_ps + LATENCY_PS + (ranks - 1) * wire_ps + LATENCY_PS
    assert ps(result["time_ns"]) == expected
    assert result["network"]["fct_max_ns"] * 1000 == pytest.approx(expected)
    (dimension,) = result["network"]["dimensions"]
    assert dimension["max_queue_bytes"] == 3 * (block + 10 * HEADER_BYTES)


def test_reductions_take_their_time_one_at_a_time() -> None:
    """A ring adds D/N / rate to each of its N-1 reducing steps.

    With the direct algorithm, each rank reduces N-1 shards one after another, and only the last
    reduction comes after the last message.
    """
    ranks, shard, rate = 4, 14_600, 10**9
    ring = collectives.build("all_reduce", "ring", ranks)
    free = run(one_collective(ring, ranks * shard))
    paid = run(one_collective(ring, ranks * shard, reduction_bytes_per_s=rate))
    reduction_ns = shard / rate * 1e9
    assert paid["time_ns"] - free["time_ns"] == pytest.approx((ranks - 1) * reduction_ns)

    direct = collectives.build("reduce_scatter", "direct", ranks)
    paid = run(one_collective(direct, ranks * shard, reduction_bytes_per_s=rate))
    first_ns = message_ps(shard) / 1000  # the first shards arrive at all ranks at the same time
    assert paid["time_ns"] == pytest.approx(first_ns + (ranks - 1) * reduction_ns)


def test_bandwidths() -> None:
    """Algbw is D/t; busbw is 2(N-1)/N of it for all-reduce, (N-1)/N for the others (nccl-tests)."""
    for operation, factor in (("all_reduce", 2 * 3 / 4), ("all_gather", 3 / 4)):
        made = collectives.build(operation, "ring", 4)
        (entry,) = run(one_collective(made, 400_000))["collectives"]
        assert entry["algbw_bps"] == pytest.approx(400_000 * 8e9 / entry["time_ns"])
        assert entry["busbw_bps"] == pytest.approx(entry["algbw_bps"] * factor)
        assert entry["busbw_bps"] < 100e9


def test_a_group_of_one_is_done_at_once() -> None:
    result = run(one_collective(collectives.build("all_reduce", "ring", 1), 1000, chunks=4))
    assert (result["status"], result["time_ns"]) == ("complete", 0)
