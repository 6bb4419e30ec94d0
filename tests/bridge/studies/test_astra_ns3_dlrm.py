"""The DLRM study's own definitions."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from bridge.results.result import Result
from bridge.studies.astra_ns3_dlrm.all_reduce import all_reduce_point, analytical_ns, at_the_step
from bridge.studies.astra_ns3_dlrm.systems import (
    bottom_compute_ns,
    compute_share,
    exposed_ns,
    paper_time_ns,
    system_point,
)


def test_analytical_line(scenarios: Path) -> None:
    """2 · 8 MB / 100 Gb/s = 1.28 ms, the paper's own example; matrices have MiB."""
    assert analytical_ns(8) == pytest.approx(1.28e6)
    point = all_reduce_point(scenarios, "full", "DBT", "1GB", 16)
    assert point.name == "DBT_1GB_16MB"
    assert point.scenario.resolved()["workload"]["bytes"] == "16MiB"
    assert point.scenario.resolved()["topology"]["buffer"] == "1GiB"


def all_reduce_result(raw: dict[str, Any], times: float, size: int, timeouts: int) -> Result:
    """Return a result that takes some times the analytical time."""
    measured = {"rto_events": timeouts, "rtt_mean_ns": 1, "link_utilization_mean": 0.5}
    network = raw["network"] | measured
    return Result.model_validate(raw | {"time_ns": times * analytical_ns(size), "network": network})


def test_claims_about_the_step_can_fail(raw_result) -> None:
    """The growth of the difference, and what a timeout costs."""

    def verdicts(eight: float, timeouts: tuple[int, int]) -> dict[str, bool | None]:
        a2a = {8: (eight, 0), 16: (21.0, 9), 32: (11.0, timeouts[1])}
        dbt = {8: (1.1, 0), 16: (1.1, 0), 32: (11.0, timeouts[0])}
        series = {
            f"{name} 64MB": {
                size: all_reduce_result(raw_result, times, size, count)
                for size, (times, count) in row.items()
            }
            for name, row in (("A2A", a2a), ("DBT", dbt))
        }
        return {one.text: one.holds for one in at_the_step(series)}

    def found(texts: dict[str, bool | None], part: str) -> bool | None:
        return next(holds for text, holds in texts.items() if part in text)

    for eight, holds in ((1.37, True), (1.41, False), (0.9, False)):
        assert found(verdicts(eight, (5, 2000)), "over 50 times") is holds
    for timeouts, holds in (((5, 2000), True), ((5, 5), False), ((0, 2000), False)):
        assert found(verdicts(1.37, timeouts), "a timeout costs") is holds


def result_of(raw: dict[str, Any], waits: Mapping[tuple[int, str], float]) -> Result:
    """Return a result of two iterations of 100 ns of compute each and some waits."""
    iteration = raw["iterations"][0] | {"compute_ns": 100}
    layer = raw["layer_iterations"][0]
    return Result.model_validate(
        raw
        | {
            "iterations": [iteration, iteration | {"index": 1}],
            "layer_iterations": [
                layer | {"iteration": index, "name": name, "exposed_comm_ns": wait}
                for (index, name), wait in waits.items()
            ],
        }
    )


def test_exposed_communication_ends_with_the_last_pass(raw_result) -> None:
    waits = {(0, "embedding"): 1, (1, "embedding"): 2, (0, "top"): 4, (1, "top"): 8}
    result = result_of(raw_result, waits)
    # All but what the last weight update is awaited for.
    assert exposed_ns(result) == 1 + 2 + 4
    assert exposed_ns(result, "top") == 4
    assert exposed_ns(result, last_wait=True) == 1 + 2 + 4 + 8
    assert paper_time_ns(result) == 207
    assert compute_share(result) == pytest.approx(200 / 207)
    assert compute_share(result, last_wait=True) == pytest.approx(200 / 215)


def test_forward_and_backward_passes_of_the_bottom_mlp(raw_result) -> None:
    """Three equal products a layer, two of them backward; the first layer has one backward."""
    layer = raw_result["layers"][0]
    times = {"bottom_mlp_0": 20, "bottom_mlp_1": 30, "top_mlp_0": 99}
    layers = [layer | {"name": name, "compute_ns": time} for name, time in times.items()]
    result = Result.model_validate(raw_result | {"layers": layers})
    assert bottom_compute_ns(result, "forward") == 10 + 10
    assert bottom_compute_ns(result, "backward") == 10 + 20


@pytest.mark.parametrize(
    ("system", "more", "changes", "name"),
    [
        ("hier", {}, {"buffer": "1GB", "chunks": 128}, "hier"),
        (
            "flat100",
            {},
            {"chunks": 128, "injection": "1us"},
            "flat100-chunks=128-injection=1us",
        ),
        ("hier", {"system.chunks.all_to_all": 2}, {}, "hier-all_to_all=2"),
    ],
)
def test_names_tell_what_differs(
    system: str, more: dict[str, Any], changes: dict[str, Any], name: str, scenarios: Path
) -> None:
    assert system_point(scenarios, "full", system, more, **changes).name == name


def test_full_scale_is_the_scenario(scenarios: Path) -> None:
    """What runs by hand is what the study runs."""
    from frontend import load_scenario

    for system, file in {"hierOpt": "dlrm_hier_opt", "flat800": "dlrm_flat800"}.items():
        point = system_point(scenarios, "full", system)
        by_hand = load_scenario(scenarios / f"{file}.yaml")
        assert point.scenario.topology == by_hand.topology
        assert point.scenario.workload == by_hand.workload
        assert point.scenario.system.injection_latency == by_hand.system.injection_latency
    point = all_reduce_point(scenarios, "full", "A2A", "64MB", 8)
    assert point.scenario == load_scenario(scenarios / "all_reduce.yaml")


def test_small_scale_keeps_what_a_port_sees(scenarios: Path) -> None:
    """A quarter of the chunks in flight meets a quarter of the buffer."""
    small = system_point(scenarios, "small", "hierOpt", buffer="64MB").scenario.resolved()
    full = system_point(scenarios, "full", "hierOpt", buffer="64MB").scenario.resolved()
    assert full["topology"]["scale_out"]["buffer"] == "64MiB"
    assert small["topology"]["scale_out"]["buffer"] == "2MiB"  # of 16 ranks instead of 128
    for dimension, chunks in full["system"]["concurrent_chunks"].items():
        assert small["system"]["concurrent_chunks"][dimension] == chunks / 4
    assert small["system"]["chunks"]["all_reduce"] == full["system"]["chunks"]["all_reduce"] / 16
