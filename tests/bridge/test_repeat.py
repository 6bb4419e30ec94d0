"""Iterations that repeat earlier ones are skipped; the result is that of a run without skips."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

import bridge
from bridge.results.result import Result
from frontend.errors import ScenarioError

SCENARIOS = Path(__file__).resolve().parents[2] / "scenarios"
FABRICS = ("express", "flow", "analytical")
REPEATING = ("dlrm_flat100_small", "dlrm_hier_small", "dlrm_hier_opt_small", "moe_small")


def run(scenario: Any, fabric: str, iterations: int, mode: str, **changes: Any) -> Result:
    overrides = {"fabric": fabric, "workload.iterations": iterations, "simulation.repeat": mode}
    return bridge.run(scenario, {**overrides, **changes})


def compared(result: Result) -> dict[str, Any]:
    """Return everything that skipped iterations must not change."""
    document = result.to_dict()
    for key in ("simulator", "scenario", "repeat", "replay"):
        document.pop(key, None)
    tables = {name: result.tables.find(name) for name in ("links", "flows", "fct")}
    return {**document, "tables": {name: str(table) for name, table in tables.items()}}


def assert_same(scenario: Any, fabric: str, iterations: int, **changes: Any) -> Result:
    """Assert that an exact repetition changes nothing, and return its result."""
    whole = compared(run(scenario, fabric, iterations, "off", **changes))
    exact = run(scenario, fabric, iterations, "exact", **changes)
    short = compared(exact)
    assert short.keys() == whole.keys()
    for key, value in whole.items():
        assert short[key] == value, key
    return exact


@pytest.mark.parametrize(
    ("name", "fabric"),
    [
        ("dlrm_hier_opt_small", "express"),
        ("dlrm_hier_opt_small", "flow"),
        ("dlrm_hier_opt_small", "analytical"),
        ("dlrm_flat100_small", "flow"),
        ("topoopt_resnet50_small", "express"),
        ("topoopt_resnet50_small", "analytical"),
    ],
)
def test_exact_repetition_changes_nothing(name: str, fabric: str) -> None:
    exact = assert_same(SCENARIOS / f"{name}.yaml", fabric, 12)
    assert exact.repeat is not None
    assert sum(skip.iterations for skip in exact.repeat.skipped) >= 6, exact.repeat
    assert exact.repeat.note == ""
    simulated = exact.repeat.simulated_iterations
    assert simulated == 12 - sum(skip.iterations for skip in exact.repeat.skipped)


def test_the_last_iteration_can_be_a_repeated_one() -> None:
    changes = {
        "transport.window": "20KB",
        "transport.delayed_ack.timeout": "0.5us",
        "system.injection_latency": "1.7us",
        "system.admission": "local",
    }
    scenario = SCENARIOS / "dlrm_hier_opt_small.yaml"
    exact = assert_same(scenario, "analytical", 6, **changes)
    assert exact.repeat is not None
    (skip,) = exact.repeat.skipped
    assert skip.after + skip.iterations + 1 == 6
    assert skip.period > 1  # two iterations are repeated, and both have begun since


ANY = {
    "name": st.sampled_from(
        (*REPEATING, "topoopt_resnet50_small", "topoopt_bert_small", "llm_llama3_8b_small")
    ),
    "fabric": st.sampled_from(FABRICS),
    "iterations": st.integers(5, 20),
}
CHANGES = {
    "transport.window": st.sampled_from(["20KB", "64KB", "0.5MB"]),
    "transport.initial_cwnd": st.sampled_from([2, 10, 100]),
    "transport.delayed_ack.segments": st.sampled_from([1, 2, 3]),
    "transport.delayed_ack.timeout": st.just("0.5us"),
    "transport.min_rto": st.sampled_from(["1us", "30us", "50ms"]),
    "measurement.rtt_interval": st.sampled_from(["0us", "7us", "100us", "1ms"]),
    "system.injection_latency": st.sampled_from(["0us", "1.7us"]),
    "system.admission": st.sampled_from(["negotiated", "local"]),
}
ONE_OF = st.sampled_from([{}, {"system.send.message": "1us"}, {"transport.flows_per_pair": 2}])


@hypothesis_settings(max_examples=4, deadline=None)
@given(**ANY, changes=st.fixed_dictionaries(CHANGES), other=ONE_OF)
def test_random_scenarios(
    name: str, fabric: str, iterations: int, changes: dict[str, Any], other: dict[str, Any]
) -> None:
    assert_same(SCENARIOS / f"{name}.yaml", fabric, iterations, **changes, **other)


@pytest.mark.long
@hypothesis_settings(max_examples=200, deadline=None)
@given(**ANY, changes=st.fixed_dictionaries(CHANGES), other=ONE_OF)
def test_many_random_scenarios(
    name: str, fabric: str, iterations: int, changes: dict[str, Any], other: dict[str, Any]
) -> None:
    assert_same(SCENARIOS / f"{name}.yaml", fabric, iterations, **changes, **other)


def test_losses_are_not_skipped() -> None:
    """With losses, every iteration is simulated, and the result says why."""
    lossy = {"topology.buffer": "150KB"}
    exact = assert_same(SCENARIOS / "dlrm_flat100_small.yaml", "express", 6, **lossy)
    assert exact.network.drops > 0
    assert exact.repeat is not None
    assert exact.repeat.skipped == ()
    assert exact.repeat.note != ""


def test_the_time_limit_holds() -> None:
    scenario = SCENARIOS / "dlrm_flat100_small.yaml"
    whole = run(scenario, "flow", 12, "off")
    limit = f"{whole.iterations[8].end_ns - 1}ns"
    documents = []
    for mode in ("off", "exact"):
        with pytest.raises(bridge.SimulationError) as caught:
            run(scenario, "flow", 12, mode, **{"measurement.time_limit": limit})
        documents.append(caught.value.result)
    assert documents[0] is not None
    assert documents[1] is not None
    assert len(documents[1].iterations) == 8
    assert compared(documents[1]) == compared(documents[0])


def test_approximate_repetition_says_what_it_skipped() -> None:
    scenario = SCENARIOS / "dlrm_hier_opt_small.yaml"
    whole = run(scenario, "express", 60, "off")
    near = run(scenario, "express", 50 * 60, "approximate")
    assert near.repeat is not None
    assert len(near.repeat.skipped) >= 3
    assert len(near.repeat.checks) >= 2
    assert len(near.iterations) == 50 * 60
    skipped = sum(skip.iterations for skip in near.repeat.skipped)
    assert near.repeat.simulated_iterations == 50 * 60 - skipped <= 12
    assert near.repeat.largest_error <= 0.01
    # All iterations do the same, so 50 times as many take 50 times as much of everything.
    assert near.time_ns == pytest.approx(50 * whole.time_ns, rel=0.01)
    assert near.network.payload_bytes == 50 * whole.network.payload_bytes
    assert near.network.messages == 50 * whole.network.messages
    assert near.network.packets == pytest.approx(50 * whole.network.packets, rel=0.01)


def test_a_small_tolerance_skips_nothing_that_differs() -> None:
    scenario = SCENARIOS / "dlrm_flat100_small.yaml"
    strict = {"simulation.repeat_tolerance": 1e-6}
    near = run(scenario, "express", 10, "approximate", **strict)
    assert near.repeat is not None
    assert all(
        abs(check.time_ns - check.expected_ns) <= 1e-6 * check.expected_ns
        for check in near.repeat.checks
    )
    assert near.time_ns == run(scenario, "express", 10, "off").time_ns


def test_a_single_iteration(small: dict[str, Any]) -> None:
    result = bridge.run(small, {"simulation.repeat": "exact"})
    assert result.repeat is not None
    assert result.repeat.skipped == ()
    assert result.repeat.note == "there are fewer than three iterations"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"fabric": "native"}, "fabric is native"),
        ({"outputs.critical_path": True}, "outputs.critical_path needs every iteration"),
        ({"outputs": ["timeline"]}, "outputs.timeline shows every iteration"),
        ({"routing.policy": "spray"}, "packets of a connection take several paths"),
        (
            {"events": [{"at": "1us", "event": "straggler", "ranks": [0], "factor": 2.0}]},
            "events happen at times of the run",
        ),
    ],
)
def test_refusals(small: dict[str, Any], change: dict[str, Any], reason: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        bridge.run(small, {"simulation.repeat": "exact", **change})
    assert str(caught.value).endswith(f"expected off, because {reason}")


def test_a_run_without_repetition_has_no_block(small: dict[str, Any]) -> None:
    document = bridge.run(small).to_dict()
    assert "repeat" not in document
