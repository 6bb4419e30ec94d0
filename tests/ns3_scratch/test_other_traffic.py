"""Slow ranks, and traffic of others."""

import pytest

import bridge
from tests.ns3_scratch.two_spines import CHANGING, scenario


def test_a_straggler_computes_slower() -> None:
    compute = {
        "workload": {
            "kind": "dlrm",
            "iterations": 1,
            "batch_per_gpu": 32,
            "bottom_mlp": [16, 16],
            "top_mlp": [16, 1],
            "embedding": {"tables": 4, "dimension": 16, "pooling": 4},
            "compute": {"peak_flops": "1GFLOPS", "memory_bandwidth": "900GB/s"},
        },
        "collective": {"all_reduce": "ring", "all_to_all": "direct"},
    }
    usual = bridge.run(scenario(fabric="flow", **compute))
    event = {"event": "straggler", "at": "0us", "ranks": 2, "factor": 3}
    slow = bridge.run(scenario(event, fabric="flow", **compute))
    times = slow.time_ns / usual.time_ns
    assert 2.5 < times < 3.0


@pytest.mark.parametrize("fabric", [*CHANGING, "analytical", "native"])
def test_other_traffic_is_the_same_on_every_fabric(fabric: str) -> None:
    burst = {
        "event": "incast",
        "at": "5us",
        "target": 0,
        "sources": [1, 2, 3],
        "bytes": "50KB",
        "period": "30us",
        "until": "60us",
    }
    usual = bridge.run(scenario(fabric=fabric))
    busy = bridge.run(scenario(burst, fabric=fabric))
    assert busy.network.messages == usual.network.messages + 2 * 3
    assert busy.network.payload_bytes == usual.network.payload_bytes + 2 * 3 * 50_000
    assert busy.time_ns > usual.time_ns
    assert usual.network_events is None
    assert busy.network_events is not None
    seen = [(one.time_ns, one.event) for one in busy.network_events.events]
    name = "incast of 3 × 50KB to rank 0 every 30us"
    assert seen == [(5_000, name), (60_000, f"{name} ends")]


def test_poisson_traffic_has_its_load() -> None:
    event = {"event": "traffic", "at": "0us", "load": "40Gbps", "sizes": [["1KB", 0.5], ["9KB", 1]]}
    work = scenario()["workload"] | {"bytes": "50MB"}
    usual = bridge.run(scenario(fabric="flow", workload=work))
    busy = bridge.run(scenario(event, fabric="flow", workload=work))
    more = busy.network.payload_bytes - usual.network.payload_bytes
    assert more == pytest.approx(busy.time_ns / 8 * 40, rel=0.05)


@pytest.mark.parametrize(
    "fabric",
    [
        "express",
        "flow",
        *(pytest.param(f, marks=pytest.mark.long) for f in ("analytical", "native")),
    ],
)
def test_more_traffic_than_the_network_carries_ends_the_run(fabric: str) -> None:
    """Each message on its way takes memory: without a limit, there would be no end to it."""
    event = {"event": "traffic", "at": "0us", "load": "100Tbps", "sizes": [["1KB", 1]]}
    work = scenario()["workload"] | {"bytes": "1GB"}
    with pytest.raises(bridge.SimulationError) as caught:
        bridge.run(scenario(event, fabric=fabric, workload=work))
    assert str(caught.value) == (
        "background traffic of 100Tbps is more than the network carries: over 1048576 messages of "
        "other traffic are on their way at the same time; lower its load, or let it end earlier "
        "(until)"
    )
    assert caught.value.result is not None
    # 2^20 messages of 1000 bytes are sent in 83.9 µs, of which the network carries almost none.
    assert caught.value.result.time_ns == pytest.approx(2**20 * 8e3 / 1e14 * 1e9, rel=0.02)
