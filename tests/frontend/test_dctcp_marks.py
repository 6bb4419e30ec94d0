"""`transport.variant: dctcp` turns ECN on, and the rate of a link says from where it marks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bridge
from frontend import ScenarioError, compile_scenario, load_scenario
from frontend.resolve import resolve
from frontend.schema.ports import Switches
from frontend.stream import decode
from frontend.transports import PROTOCOLS
from frontend.transports.tcp import TcpTransport

SCENARIOS = Path(__file__).parents[2] / "scenarios"
FIRST = SCENARIOS / "first.yaml"
DCTCP = ["transport.variant=dctcp"]


def topology(*overrides: str, path: Path = FIRST) -> Any:
    """Return the record of the network of a scenario."""
    records = decode(compile_scenario(load_scenario(path, list(overrides))))
    return next(record.topology for record in records if record.HasField("topology"))


def marks(rate_bps: int) -> int:
    """Return from which queue length links of a rate mark packets."""
    rates = np.array([rate_bps], dtype=np.uint64)
    found = PROTOCOLS["tcp"].thresholds(TcpTransport(variant="dctcp"), Switches(), rates)
    assert found is not None
    assert found.begin.tolist() == found.end.tolist()
    return int(found.begin[0])


@pytest.mark.parametrize(
    ("gbps", "threshold"),
    [(0.1, 30_000), (1, 30_000), (10, 97_500), (25, 243_750), (100, 975_000), (400, 3_900_000)],
)
def test_values_of_the_paper(gbps: float, threshold: int) -> None:
    """20 packets of 1500 B at 1 Gb/s and 65 at 10 Gb/s (SIGCOMM 2010), then as the rate."""
    assert marks(int(gbps * 1e9)) == threshold


@given(st.integers(1, 10**14), st.integers(1, 500))
def test_links_stay_busy(rate_bps: int, rtt_us: int) -> None:
    """RFC 8257, 5: a threshold above rate times round trip over 7 keeps a link busy."""
    assert marks(rate_bps) >= rate_bps * rtt_us / 8e6 / 7


def test_ports_of_switches_mark() -> None:
    """Four servers on a switch of 100 Gb/s; the servers' own queues do not mark."""
    given_both = [*DCTCP, "transport.ecn=true", "switches.ecn_threshold=975kB"]
    record = topology(*DCTCP)
    assert set(record.link_ecn_threshold_bytes) == {0, 975_000}
    assert list(record.link_ecn_threshold_bytes) == list(
        topology(*given_both).link_ecn_threshold_bytes
    )
    assert set(topology("transport.variant=cubic").link_ecn_threshold_bytes) == {0}


def test_half_of_a_small_buffer() -> None:
    """A queue that is shorter than the threshold would overflow before a packet is marked."""
    [ranks] = {resolve(load_scenario(FIRST)).ranks}
    record = topology(*DCTCP, "topology.buffer=1MB")
    assert set(record.link_ecn_threshold_bytes) == {0, 1_000_000 // ranks // 2}
    assert 975_000 in topology(*DCTCP, "topology.buffer=unlimited").link_ecn_threshold_bytes


def test_parallel_circuits_mark_by_the_sum_of_their_rates() -> None:
    """Circuits that change: those between the same ranks are one link, with all of their rate."""
    changes = [
        "topology.buffer=unlimited",
        "topology.reconfiguration.initial=demand",
        "topology.d=8",
    ]
    record = topology(*DCTCP, *changes, path=SCENARIOS / "ocs_reconfig_small.yaml")
    links = zip(record.link_rate_bps, record.link_ecn_threshold_bytes, strict=True)
    found = {rate: mark for rate, mark in links if mark}
    assert found == {rate: rate // 10**10 * 97_500 for rate in found}
    assert record.reconfiguration.circuit_ecn_threshold_bytes == 975_000
    plain = topology(*changes, path=SCENARIOS / "ocs_reconfig_small.yaml")
    assert set(plain.link_ecn_threshold_bytes) == {0}
    assert max(found) > 10**11


def test_links_with_their_own_threshold(tmp_path: Path) -> None:
    """A link keeps what the network says, whichever transport has it marked."""
    scenario = tmp_path / "x.yaml"
    links = "[{ends: [gpu0, s], ecn_threshold: 50kB}, [gpu1, s], [gpu2, s, 10Gbps]]"
    scenario.write_text(
        f"schema_version: 1\nname: x\nseed: 1\nfabric: express\n"
        f"topology: {{family: graph, links: {links}, bandwidth: 100Gbps, latency: 1us, "
        "buffer: unlimited, nodes: [{name: s, type: switch}]}\n"
        "workload: {kind: collective, operation: all_reduce, algorithm: ring, bytes: 1MB}\n"
    )
    expected = {
        (*DCTCP,): [50_000, 975_000, 97_500],
        ("transport.ecn=true", "switches.ecn_threshold=70kB"): [50_000, 70_000, 70_000],
        ("transport.protocol=roce",): [50_000, 400_000, 40_000],
    }
    for overrides, thresholds in expected.items():
        record = topology(*overrides, path=scenario)
        found = {
            target: record.link_ecn_threshold_bytes[link]
            for link, target in enumerate(record.link_target)
            if target < 3
        }
        assert [found[rank] for rank in range(3)] == thresholds


def test_marks_in_place_of_losses() -> None:
    """Seven ranks to one: NewReno overflows the port; DCTCP does not, and the port stays busy."""
    changes = ["switches.buffer_sharing=per_port", "topology.buffer=20MB"]
    tcp = "transport={{protocol: tcp, window: 1MB, min_rto: 5ms, variant: {}}}"
    found = {
        variant: bridge.run(SCENARIOS / "incast_roce_small.yaml", [*changes, tcp.format(variant)])
        for variant in ("new_reno", "dctcp")
    }
    reno, dctcp = (one.network for one in found.values())
    assert reno.drops > 0 == reno.ecn_marks
    assert dctcp.ecn_marks > 0 == dctcp.drops
    [links] = dctcp.dimensions
    assert links.utilization_max > 0.99


def test_equal_to_both_keys() -> None:
    """On links of 100 Gb/s, the variant alone is what it is with ECN and a threshold of 975 kB."""
    changes = ["workload.operation=all_to_all", "workload.algorithm=direct"]
    changes += ["workload.peer_order=same", "workload.bytes=4MB", *DCTCP]
    both = ["transport.ecn=true", "switches.ecn_threshold=975kB"]
    alone, given_both = (bridge.run(FIRST, [*changes, *more]) for more in ([], both))
    assert alone.network.ecn_marks > 0
    assert alone.time_ns == given_both.time_ns
    assert alone.network == given_both.network


def test_ecn_that_is_off_is_refused() -> None:
    with pytest.raises(ScenarioError, match=r"transport\.ecn: value false: expected true or null"):
        load_scenario(FIRST, [*DCTCP, "transport.ecn=false"])
