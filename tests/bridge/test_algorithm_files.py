"""Simulated algorithm files: the same traffic takes the same time in every format."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bridge
from tests.topology_gen import msccl_files
from topology_gen import graphs
from topology_gen.formats.msccl import write_xml
from topology_gen.formats.schedule_json import write_json
from topology_gen.lowering.lowering import lower
from topology_gen.schedules import bfb
from topology_gen.schedules.all_reduce import all_reduce
from topology_gen.schedules.all_to_all_schedule import all_to_all_schedule


def time_ns(operation: str, algorithm: str | dict[str, str], **system: Any) -> float:
    scenario = {
        "topology": {"family": "flat", "ranks": 4, "bandwidth": "100Gbps", "latency": "1us"}
        | {"buffer": "unlimited"},
        "workload": {"kind": "collective", "operation": operation, "algorithm": algorithm}
        | {"bytes": "4MB"},
        "system": system,
        "transport": {"variant": "cubic", "mtu": "9000B", "window": "4MB"},
    }
    result = bridge.run(scenario)
    assert result.status == "complete"
    return result.iterations[0].time_ns


def test_a_ring_is_a_ring(tmp_path: Path) -> None:
    (tmp_path / "ring.xml").write_text(msccl_files.ring_all_reduce(4, 1))
    ours = time_ns("all_reduce", "ring")
    theirs = time_ns("all_reduce", {"file": str(tmp_path / "ring.xml")})
    assert theirs == ours


def test_formats_make_no_difference(tmp_path: Path) -> None:
    for schedule in (
        all_reduce(graphs.ring(4)),
        bfb.all_gather(graphs.complete(4)),
        all_to_all_schedule(graphs.ring(4)).schedule,
    ):
        (tmp_path / "s.json").write_text(write_json(schedule))
        (tmp_path / "s.xml").write_text(write_xml(lower(schedule)))
        times = [
            time_ns(schedule.operation, {"file": str(tmp_path / name)})
            for name in ("s.json", "s.xml")
        ]
        assert times[0] == times[1]


def test_reductions_cost_what_the_system_says(tmp_path: Path) -> None:
    (tmp_path / "pairs.xml").write_text(msccl_files.all_pairs_all_reduce(4))
    file = {"file": str(tmp_path / "pairs.xml")}
    slow = time_ns("all_reduce", file, reduction_bandwidth="10GB/s")
    # Each rank adds three quarters of the buffer: 3 MB at 10 GB/s are 300 µs.
    fast = time_ns("all_reduce", file)
    assert 0.9 * 300_000 <= slow - fast <= 1.1 * 300_000
