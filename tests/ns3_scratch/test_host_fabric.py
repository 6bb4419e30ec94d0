"""What ranks do for a message: processors at both ends, and several flows for a pair of ranks."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

import bridge
from frontend import collectives
from frontend import network_api_pb2 as api
from tests.ns3_scratch.streams import (
    Trace,
    header,
    message_ps,
    one_collective,
    ps,
    run,
    settings,
    star,
)

FABRICS = ["analytical", "flow", "express", "native"]
SEND = api.HostCost(message_ps=3_000_000, bytes_per_s=2_000_000_000)
RECEIVE = api.HostCost(message_ps=1_000_000, bytes_per_s=4_000_000_000)


def cost_ps(cost: api.HostCost, size: int) -> int:
    return cost.message_ps + -(-size * 10**12 // cost.bytes_per_s)


def with_costs(records: list[api.Record], **changes: Any) -> list[api.Record]:
    """Give the ranks of a stream costs."""
    for record in records:
        if record.HasField("settings"):
            record.settings.system.MergeFrom(api.System(**changes))
    return records


def messages(count: int, size: int, fabric: str = "analytical") -> list[api.Record]:
    """Return a stream in which rank 0 sends messages to rank 1, all at time 0."""
    sender, receiver = Trace([0]), Trace([1])
    for tag in range(count):
        sender.send(1, size, tag=tag)
        receiver.receive(0, size, tag=tag)
    return [header(), settings(fabric=fabric), star(2), sender.record(), receiver.record()]


@pytest.mark.parametrize("fabric", FABRICS)
@pytest.mark.parametrize("size", [0, 1, 100_000])
def test_one_message_takes_longer_by_its_costs(fabric: str, size: int) -> None:
    """T = T₀ + send + receive, on every fabric."""
    plain = run(messages(1, size, fabric))
    costly = run(with_costs(messages(1, size, fabric), send=SEND, receive=RECEIVE))
    more = cost_ps(SEND, size) + cost_ps(RECEIVE, size)
    assert ps(costly["time_ns"]) - ps(plain["time_ns"]) == more
    assert costly["network"]["payload_bytes"] == size


@pytest.mark.parametrize("count", [2, 7])
def test_the_slowest_processor_sets_the_rate(count: int) -> None:
    """T = n·max(send, receive) + the other + the network: the stages are a pipeline."""
    size = 100_000
    network = message_ps(size)
    for send, receive in [(SEND, RECEIVE), (RECEIVE, SEND)]:
        stages = [cost_ps(send, size), cost_ps(receive, size)]
        result = run(with_costs(messages(count, size), send=send, receive=receive))
        assert ps(result["time_ns"]) == (count - 1) * max(stages) + sum(stages) + network


def test_processors_of_different_ranks_work_at_the_same_time() -> None:
    """In a ring, each step costs one message at both ends, whatever the number of ranks."""
    ranks, size = 5, 300_000
    made = collectives.build("all_gather", "ring", ranks)
    result = run(with_costs(one_collective(made, size), send=SEND, receive=RECEIVE))
    share = size // ranks
    step = cost_ps(SEND, share) + message_ps(share) + cost_ps(RECEIVE, share)
    assert ps(result["time_ns"]) == (ranks - 1) * step


@hypothesis_settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(["ring", "direct", "dbt", "halving_doubling"]),
    st.integers(2, 6),
    st.integers(0, 100_000),
    st.integers(1, 4),
    st.sampled_from(["analytical", "flow", "express"]),
)
def test_costs_slow_down_and_lose_nothing(
    algorithm: str, ranks: int, size: int, chunks: int, fabric: str
) -> None:
    made = collectives.build("all_reduce", algorithm, ranks)
    plain = run(one_collective(made, size, chunks, fabric=fabric))
    costly = run(
        with_costs(one_collective(made, size, chunks, fabric=fabric), send=SEND, receive=RECEIVE)
    )
    assert costly["status"] == "complete"
    assert costly["network"]["payload_bytes"] == plain["network"]["payload_bytes"]
    least = cost_ps(SEND, 0) + cost_ps(RECEIVE, 0)
    assert ps(costly["time_ns"]) >= ps(plain["time_ns"]) + least


def scenario(fabric: str, flows: int, **changes: Any) -> dict[str, Any]:
    return {
        "schema_version": 1,
        "name": "flows",
        "fabric": fabric,
        "topology": {
            "family": "flat",
            "ranks": 4,
            "bandwidth": "100Gbps",
            "latency": "50us",
            "buffer": "unlimited",
        },
        "workload": {
            "kind": "collective",
            "operation": "all_gather",
            "algorithm": "ring",
            "bytes": "40MB",
        },
        "links": {"mtu": "9000B"},
        "transport": {"window": "100kB", "flows_per_pair": flows},
    } | changes


@pytest.mark.parametrize("fabric", ["express", "native", "flow"])
def test_each_flow_has_a_window(fabric: str) -> None:
    """A flow moves a window in a round trip of 200 µs, and n flows move n windows."""
    one, four = (bridge.run(scenario(fabric, flows)) for flows in (1, 4))
    rate = 8 * 30e6 / (one.time_ns / 1e9)
    assert rate == pytest.approx(8 * 100e3 / 200e-6, rel=0.1)
    assert four.time_ns == pytest.approx(one.time_ns / 4, rel=0.1)
    assert four.network.flows == 4 * one.network.flows
    assert four.network.payload_bytes == one.network.payload_bytes


def test_several_flows_share_a_link() -> None:
    """With windows that limit nothing, several flows take the time of one."""
    one, four = (
        bridge.run(
            scenario("analytical", flows, transport={"window": "20MB", "flows_per_pair": flows})
        )
        for flows in (1, 4)
    )
    assert four.network.payload_bytes == one.network.payload_bytes
    assert four.time_ns == pytest.approx(one.time_ns, rel=0.1)


def test_each_flow_has_a_processor() -> None:
    """Two flows halve the time of copying, which sets the rate here."""
    slow = {"send": {"bandwidth": "1GB/s"}, "receive": {"bandwidth": "1GB/s"}, "chunks": 16}
    one, two = (
        bridge.run(scenario("express", flows, system=slow, transport={"flows_per_pair": flows}))
        for flows in (1, 2)
    )
    assert one.time_ns >= 30e6  # each rank sends 30 MB at 1 GB/s
    assert two.time_ns < 0.6 * one.time_ns
