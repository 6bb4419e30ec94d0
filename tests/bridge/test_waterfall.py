"""The parts of an iteration from the peak rate down to the MFU: they add up."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

import bridge
from bridge.present.pictures.waterfall import AGAIN, PEAK, SLOWER, UPDATE, WAITING, waterfall
from bridge.present.pictures.waterfall import waterfall_chart as chart_of
from bridge.present.report import print_report
from frontend import load_scenario
from frontend.models.transformer import token_flop
from frontend.workloads.llm.operators import Operators

SCENARIOS = Path(__file__).parents[2] / "scenarios"
SMALL = SCENARIOS / "llm_llama3_8b_small.yaml"


def mean_ns(result: bridge.Result) -> float:
    return sum(one.time_ns for one in result.iterations) / len(result.iterations)


@pytest.mark.parametrize("file", sorted(SCENARIOS.glob("*_small.yaml")), ids=lambda file: file.stem)
def test_the_parts_are_the_iteration(file: Path) -> None:
    result = bridge.run(file)
    parts = waterfall(result)
    if not parts:
        assert not sum(one.compute_ns for one in result.iterations)
        return
    assert sum(parts.values()) == pytest.approx(mean_ns(result), rel=1e-12)
    assert all(time > 0 for name, time in parts.items() if name != SLOWER)


@settings(max_examples=12, deadline=None)
@given(
    layout=st.sampled_from(
        [
            {"tp": 4, "pp": 2},
            {"tp": 2, "cp": 2, "pp": 2, "chunks": 2, "zero": 1},
            {"cp": 4, "cp_exchange": "ring", "zero": 3},
            {"pp": 4, "schedule": "zero_bubble"},
            {"pp": 2, "zero": 2},
        ]
    ),
    recompute=st.sampled_from(["none", "full"]),
    iterations=st.integers(1, 2),
    fabric=st.sampled_from(["analytical", "flow"]),
)
def test_any_layout(
    layout: dict[str, object], recompute: str, iterations: int, fabric: str
) -> None:
    """The first part is FLOP / peak, the parts end at the MFU, and layers are recomputed once."""
    keys = {"layout": layout, "recompute": recompute, "iterations": iterations}
    keys["overlap.dp_slowdown"] = 1
    changes = {f"workload.{key}": value for key, value in keys.items()} | {"fabric": fabric}
    scenario = load_scenario(SMALL, changes)
    result = bridge.run(scenario)
    parts, work = waterfall(result), cast("Any", scenario.workload)
    whole = sum(parts.values())
    assert whole == pytest.approx(mean_ns(result), rel=1e-12)
    assert result.training is not None
    assert parts[PEAK] / whole == pytest.approx(result.training.mfu, rel=1e-12)
    flop = work.global_batch * work.model.sequence * token_flop(work.model, work.model.sequence)
    peak = 16 * work.compute.roofline("bf16").peak_flops
    assert parts[PEAK] == pytest.approx(1e9 * flop / peak, rel=1e-12)
    times = Operators(work)
    layer = sum(
        one.forward
        for one in (times.projections, times.scores, times.output_projection, times.network)
    )
    # The mean over the stages: each has its part of the layers, and the same micro-batches.
    replicas = 16 // (work.layout.tp * work.layout.cp * work.layout.pp)
    number = work.global_batch / work.micro_batch / replicas
    again = number * work.model.layers / work.layout.pp * layer / 1000
    assert parts.get(AGAIN, 0.0) == pytest.approx(again if recompute == "full" else 0.0)
    assert parts[UPDATE] > 0


def test_the_bars_follow_one_another() -> None:
    result = bridge.run(SMALL, {"fabric": "analytical"})
    chart = chart_of(result)
    assert chart is not None
    end = 0.0
    for trace in chart.traces:
        assert trace["base"] == [pytest.approx(end)]
        end += trace["x"][0]
    assert end * 1e6 == pytest.approx(mean_ns(result))


def test_the_summary_ends_at_the_mfu() -> None:
    result = bridge.run(SMALL, {"fabric": "analytical"})
    assert result.training is not None
    text = StringIO()
    print_report(result, Console(width=100, file=text))
    lines = [line for line in text.getvalue().splitlines() if line.startswith(WAITING)]
    assert lines[0].endswith(f"{100 * result.training.mfu:.1f} %")


def test_without_computation_there_is_none() -> None:
    result = bridge.run(SCENARIOS / "collective_small.yaml", {"fabric": "analytical"})
    assert waterfall(result) == {}
    assert chart_of(result) is None
