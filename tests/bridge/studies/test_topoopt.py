"""The TopoOpt study has one convention for all of its points, and the published bandwidths."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bridge.batch.points import Point
from bridge.studies.framework.model import all_points
from bridge.studies.topoopt import STUDY, compute, systems
from bridge.studies.topoopt.systems import FAT_TREE_GBPS, fat_tree_gbps
from topology_gen.cost import equivalent_bandwidth


@pytest.mark.parametrize("degree", [4, 8])
@pytest.mark.parametrize("rate", [10, 25, 40, 100, 200])
def test_the_fat_tree_has_a_listed_bandwidth(degree: int, rate: int) -> None:
    """No other listed one that is at most TopoOpt's is nearer to that of equal cost."""
    found = fat_tree_gbps(128, degree, rate)
    equal = degree * equivalent_bandwidth(128, degree, rate * 10**9) / 1e9
    assert found in FAT_TREE_GBPS
    assert found <= degree * rate
    others = [one for one in FAT_TREE_GBPS if one <= degree * rate]
    assert all(abs(found - equal) <= abs(one - equal) for one in others)


def workloads(point: Point) -> list[dict[str, Any]]:
    """The workload of a point, or those of its jobs."""
    data = point.scenario.resolved()
    found = [job["workload"] for job in data.get("jobs", ())] or [data["workload"]]
    return found


def test_every_job_counts_gradients_once_and_computes_at_one_rate(scenarios: Path) -> None:
    points = all_points(STUDY.experiments, scenarios, "full")
    assert len(points) > 500
    own = {one.name for one in compute.points(scenarios, "full").values()}
    rates = {("156TFLOPS", 1.0)}
    for point in points:
        for workload in workloads(point):
            if "twice" not in point.name:
                assert workload["gradient_element"] == systems.COUNTED_ONCE, point.name
            if point.name not in own and "FP32" not in point.name:
                compute_of = workload["compute"]
                assert (compute_of["peak_flops"], compute_of["efficiency"]) in rates


def test_rings_are_flows_where_circuits_change(scenarios: Path) -> None:
    """Except for the points that show rounds."""
    for point in all_points(STUDY.experiments, scenarios, "full"):
        changes = point.scenario.resolved()["topology"].get("reconfiguration") is not None
        expected = "flows" if changes and "rings=rounds" not in point.name else "rounds"
        for workload in workloads(point):
            assert workload.get("rings", "rounds") == expected, point.name
