"""The stored errors that a run prints with an estimate."""

from __future__ import annotations

import json
from importlib.resources import files
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from bridge.fidelity.cases import Case, cases
from bridge.fidelity.comparison import Row, stored
from bridge.present.report import print_report
from bridge.results.result import Result
from bridge.simulator.estimate_error import FILE, estimate_error
from frontend import load_scenario

STORED = json.loads((files("bridge.simulator") / FILE).read_text())


def resolved(scenarios: Path, name: str, **changes: Any) -> dict[str, Any]:
    """Return a scenario with all defaults, on an estimating fabric."""
    overrides = {"fabric": "flow", **changes}
    return load_scenario(scenarios / f"{name}.yaml", overrides).resolved()


def test_the_same_kind_and_family(scenarios: Path) -> None:
    """Two stored DLRM scenarios are flat: -13.67 and -10.44 %."""
    found = estimate_error(resolved(scenarios, "dlrm_flat100"))
    assert found is not None
    assert found["scenarios"] == ["dlrm_flat100_small", "dlrm_flat800_small"]
    rows = [row["flow"] for row in STORED if row["scenario"] in found["scenarios"]]
    assert found["mean_error"] == pytest.approx((abs(rows[0]) + abs(rows[1])) / 2)
    assert found["largest_error"] == max(rows, key=abs)


def test_another_family_of_the_same_algorithm(scenarios: Path) -> None:
    scenario = resolved(scenarios, "collective", **{"workload.algorithm": "dbt"})
    scenario["topology"]["family"] = "fat_tree"
    found = estimate_error(scenario)
    assert found is not None
    assert {name.split("_")[0] for name in found["scenarios"]} == {"dbt", "direct"}
    assert all("dbt" in name for name in found["scenarios"])


def test_only_estimates_of_known_kinds_have_an_error(scenarios: Path) -> None:
    assert estimate_error(resolved(scenarios, "moe_small", fabric="express")) is None
    unknown = resolved(scenarios, "moe_small")
    unknown["workload"]["kind"] = "my_kind"
    assert estimate_error(unknown) is None


def test_the_stored_scenarios_are_those_of_the_comparison(scenarios: Path) -> None:
    names = {case.name for case in cases(scenarios) if not case.is_lossy}
    assert {row["scenario"] for row in STORED} <= names


def test_what_is_stored(scenarios: Path) -> None:
    scenario = load_scenario(scenarios / "moe_small.yaml")
    times = {"express": 100.0, "flow": 98.0, "analytical": 110.0}
    rows = [
        Row(Case("a", scenario), times, {}, 0),
        Row(Case("lossy", scenario, is_lossy=True), times, {}, 9),
        Row(Case("failed", scenario), {"express": 100.0}, {}, 0, {"flow": "no"}),
    ]
    expected = {"kind": "moe", "algorithm": "None", "family": scenario.topology.family}
    assert stored(rows) == [{"scenario": "a", **expected, "flow": -0.02, "analytical": 0.1}]


def summary(raw: dict[str, Any]) -> str:
    console = Console(file=StringIO(), record=True, width=200)
    print_report(Result.model_validate(raw), console)
    return console.export_text()


def test_the_summary_says_it(raw_result: dict[str, Any]) -> None:
    error = {"scenarios": ["a", "b"], "mean_error": 0.07, "largest_error": -0.137}
    expected = "the time of 2 similar scenarios is off by 7.0 % on average, -13.7 % at most"
    assert expected in summary(raw_result | {"estimate": error})
    alone = {"scenarios": ["a"], "mean_error": 0.137, "largest_error": -0.137}
    assert "the time of a is off by -13.7 %; losses" in summary(raw_result | {"estimate": alone})
    assert "This is an estimate" not in summary(raw_result)
