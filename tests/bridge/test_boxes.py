"""Trees over boxes of 8 ranks, simulated with packets, against their model."""

from pathlib import Path

import pytest

import bridge
from frontend import load_scenario
from topology_gen.networks.boxes import boxes
from topology_gen.schedules.tree_collectives import tree_collective

SCENARIO = Path(__file__).parents[2] / "scenarios" / "boxes.yaml"
SIZE = 64_000_000


@pytest.mark.parametrize("operation", ["all_gather", "reduce_scatter"])
@pytest.mark.parametrize("inside", ["mesh", "switch"])
@pytest.mark.parametrize("count", [2, 4, pytest.param(8, marks=pytest.mark.slow)])
def test_boxes_take_the_time_of_their_model(count, inside, operation):
    scenario = load_scenario(
        SCENARIO,
        overrides={
            "topology.ranks": 8 * count,
            "topology.inside": inside,
            "workload.operation": operation,
            "workload.bytes": f"{SIZE}B",
        },
    )
    wiring = boxes(
        count,
        8,
        inside=inside,
        rails="ring",
        scale_up_bps=2_400 * 10**9,
        scale_up_ps=500_000,
        rail_bps=200 * 10**9,
        rail_ps=1_000_000,
    )
    # size / rate · (segments + depth - 1) / segments + depth · latency, without headers: what
    # `cosim schedule trees` prints.
    made = tree_collective(wiring, operation)
    model = made.time_s(SIZE, made.best_segments(SIZE))
    assert bridge.run(scenario).time_ns * 1e-9 == pytest.approx(model, rel=0.05)
