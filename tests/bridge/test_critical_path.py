"""The critical path: its parts add up to the iteration, and it names what the iteration waits for.

Recording it changes nothing else of the result.
"""

from __future__ import annotations

import re
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from rich.console import Console

import bridge
from bridge.present.report import print_report
from bridge.results.measurements import CriticalPath

PATH = "outputs.critical_path"

#: Each port of the switch has room for two packets, and all ranks send to the same port.
LOSSES = {
    "topology.buffer": "300KB",
    "workload.peer_order": "same",
    "transport.min_rto": "1ms",
}

CASES: list[tuple[str, dict[str, str]]] = [
    ("collective_small", {}),
    ("collective_small", LOSSES),
    ("collective_small", {**LOSSES, "fabric": "native"}),
    ("dlrm_hier_opt_small", {}),
    ("dlrm_hier_opt_small", {"fabric": "native"}),
    ("dlrm_hier_opt_small", {"system.admission": "local"}),
    ("dlrm_hier_opt_small", {"system.reduction_bandwidth": "10GB/s"}),
    ("topoopt_dlrm_small", {}),
    ("ocs_reconfig_small", {}),
    ("moe_small", {}),
    ("llm_llama3_8b_small", {}),  # the ranks of a stage share a trace
]


def ps(time_ns: float) -> int:
    return round(time_ns * 1000)


def recorded(result: bridge.Result) -> tuple[CriticalPath, ...]:
    assert result.critical_path is not None
    return result.critical_path


def check(result: bridge.Result) -> None:
    """Each path covers its iteration, and its steps are contiguous and add up."""
    paths = recorded(result)
    assert [(path.start_ns, path.end_ns) for path in paths] == [
        (one.start_ns, one.end_ns) for one in result.iterations
    ]
    for path in paths:
        assert sum(ps(time) for _, time in path.times) == ps(path.time_ns)
        at = path.start_ns
        for step in path.steps:
            assert step.start_ns == at
            assert sum(ps(time) for _, time in step.times) == ps(step.end_ns) - ps(at)
            at = step.end_ns
        assert path.steps_left_out == 0
        assert at == path.end_ns


@pytest.mark.parametrize(("name", "overrides"), CASES)
def test_the_parts_add_up(name: str, overrides: dict[str, str], repository: Path) -> None:
    scenario = repository / "scenarios" / f"{name}.yaml"
    result = bridge.run(scenario, {**overrides, PATH: True})
    check(result)
    plain = bridge.run(scenario, overrides).to_dict()
    document = result.to_dict()
    for one in (plain, document):
        del one["simulator"], one["scenario"]
    del document["critical_path"]
    assert document == plain


@pytest.mark.parametrize("fabric", ["analytical", "flow"])
def test_estimators(fabric: str, repository: Path) -> None:
    scenario = repository / "scenarios" / "dlrm_hier_opt_small.yaml"
    result = bridge.run(scenario, {"fabric": fabric, PATH: True})
    check(result)
    assert all(path.times.retransmission_ns == 0 for path in recorded(result))


def test_one_message(small: dict[str, Any]) -> None:
    """An all-to-all of two ranks is one message each way: 2 latencies and two transmissions.

    1000 bytes with 42 of headers take 83.36 ns a link at 100 Gb/s.
    """
    workload = {"operation": "all_to_all", "algorithm": "direct", "bytes": "2000B"}
    scenario = small | {
        "topology": small["topology"] | {"ranks": 2, "latency": "2us"},
        "workload": small["workload"] | workload,
        "system": {"injection_latency": "10ns"},
    }
    result = bridge.run(scenario, {PATH: True})
    [path] = recorded(result)
    times = dict(path.times)
    assert times.pop("window_ns") <= 0.001  # ns-3 rounds transmission times up
    assert {name: time for name, time in times.items() if time} == {
        "injection_ns": 20,
        "serialization_ns": 2 * 83.36,
        "propagation_ns": 4000,
    }
    [step] = path.steps
    assert (step.kind, step.first_rank != step.last_rank) == ("collective", True)


def test_a_timeout_is_what_the_iteration_waits_for(repository: Path) -> None:
    """With an RTO of 1 ms and more, most of the time of a lossy incast is retransmission."""
    scenario = repository / "scenarios" / "collective_small.yaml"
    result = bridge.run(scenario, {**LOSSES, PATH: True})
    assert result.network.rto_events > 0
    [path] = recorded(result)
    assert path.times.retransmission_ns > 0.9 * path.time_ns
    text = StringIO()
    print_report(result, Console(file=text, width=80))
    table = text.getvalue().partition("critical path")[2].splitlines()
    assert re.match(r"retransmission +[\d.]+ ms +9\d\.\d %  all_reduce, rank \d+", table[2])


def test_chunks_wait_for_slots(small: dict[str, Any]) -> None:
    """With one slot, eight chunks run one after another: most of the last one's time is waiting."""
    workload = small["workload"] | {"bytes": "1MB"}
    system = {"chunks": 8, "concurrent_chunks": 1}
    result = bridge.run(small | {"workload": workload, "system": system}, {PATH: True})
    [path] = recorded(result)
    assert result.collectives[0].chunks == 8
    assert path.times.slot_ns == pytest.approx(7 / 8 * path.time_ns, rel=0.05)


def test_it_is_absent_by_default(small: dict[str, Any]) -> None:
    assert "critical_path" not in bridge.run(small).to_dict()


def test_data_frame(small: dict[str, Any]) -> None:
    pytest.importorskip("pandas")
    frame = bridge.run(small, {PATH: True}).to_pandas()["critical_path"]
    assert (
        (frame["end_ns"] - frame["start_ns"]).sum()
        == frame.filter(like="_ns").drop(columns=["start_ns", "end_ns"]).sum().sum()
        == pytest.approx(frame["end_ns"].max())
    )


@pytest.mark.slow
@hypothesis_settings(max_examples=25, deadline=None)
@given(
    ranks=st.integers(2, 9),
    algorithm=st.sampled_from(["ring", "direct", "dbt"]),
    size=st.integers(1, 500_000),
    buffer=st.sampled_from(["100KB", "1GB"]),
    chunks=st.integers(1, 4),
    admission=st.sampled_from(["local", "negotiated"]),
    fabric=st.sampled_from(["express", "analytical", "flow"]),
    reduction=st.sampled_from([None, "20GB/s"]),
)
def test_the_parts_always_add_up(
    ranks: int,
    algorithm: str,
    size: int,
    buffer: str,
    chunks: int,
    admission: str,
    fabric: str,
    reduction: str | None,
) -> None:
    scenario = {
        "fabric": fabric,
        "topology": {
            "family": "flat",
            "ranks": ranks,
            "bandwidth": "100Gbps",
            "latency": "0.5us",
            "buffer": buffer,
        },
        "workload": {
            "kind": "collective",
            "operation": "all_reduce",
            "algorithm": algorithm,
            "bytes": f"{size}B",
        },
        "system": {
            "concurrent_chunks": chunks,
            "admission": admission,
            "reduction_bandwidth": reduction,
            "injection_latency": "10ns",
        },
        "transport": {"min_rto": "1ms"},
    }
    check(bridge.run(scenario, {PATH: True}))
