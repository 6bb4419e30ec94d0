"""A study with another set of the parameters that its publication leaves open."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from bridge.cli.main import main
from bridge.cli.runs.study import study_command, study_group
from bridge.studies.astra_ns3_dlrm import STUDY
from bridge.studies.framework.model import Choice, Fit, Study
from bridge.studies.framework.parameters import AS_USED, TwoSets, used
from frontend import load_scenario

from .conftest import SCENARIO, experiment

Call = Callable[..., Result]

SLOW = Choice("latency", {"short": {}, "long": {"topology.latency": "50us"}})
SLOW_SET = "latency=long"


@pytest.fixture
def call(study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Call:
    """Return a call of a study whose experiment 3 varies the parameters."""
    varying = replace(experiment("3"), varies_choices=True)
    fit = Fit((SLOW,), lambda *_: {}, lambda *_: [])
    with_fit = replace(study, experiments=(*study.experiments, varying), fit=fit)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(study_group.commands, study.name, study_command(with_fit))

    def run(*arguments: str) -> Result:
        return CliRunner().invoke(main, ["study", study.name, "--jobs", "1", *arguments])

    return run


def test_both_sets_are_simulated_and_compared(call: Call, tmp_path: Path) -> None:
    answer = call("--parameter", SLOW_SET, "--page", "page.md", "--json")
    assert answer.exit_code == 0, answer.output
    sets: dict[str, Any] = json.loads(answer.stdout)
    assert list(sets) == [AS_USED, SLOW_SET]
    times = {
        name: [point["time_ns"] for point in one["experiments"][0]["points"]]
        for name, one in sets.items()
    }
    # six steps of a ring, each with two links of 49.5 us more
    assert times[SLOW_SET][0] - times[AS_USED][0] == pytest.approx(6 * 2 * 49_500, rel=1e-9)
    assert len(sets[AS_USED]["experiments"]) == 2, "experiment 3 has no other set"
    page = (tmp_path / "page.md").read_text()
    assert "--parameter latency=long" in page
    assert "| figure | claim | paper | as used | holds | latency=long | holds |" in page
    assert f"- {SLOW_SET}: 2 of 4 claims hold." in page


def test_points_of_the_used_set_are_those_of_the_study(call: Call) -> None:
    assert call().exit_code == 0
    answer = call("--parameter", SLOW_SET)
    assert answer.exit_code == 0, answer.output
    assert answer.output.count("as before") == 2
    assert f"[4/4] 8KB with {SLOW_SET}" in answer.output


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--parameter", "speed=9"], "'speed' is not known; accepted: latency"),
        (["--parameter", "latency=9"], "'9' is not known; accepted: short, long"),
        (["--parameter", "latency"], "'' is not known; accepted: short, long"),
        (["--parameter", SLOW_SET, "--shard", "1/2"], "--parameter: expected no --shard beside it"),
        (["--parameter", SLOW_SET, "--fit"], "expected no --figure, --shard or --parameter"),
    ],
)
def test_wrong_options(call: Call, tmp_path: Path, options: list[str], message: str) -> None:
    answer = call(*options)
    assert answer.exit_code == 2
    assert message in answer.output
    assert not (tmp_path / "results").exists()


def test_a_study_without_open_parameters(
    study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(study_group.commands, study.name, study_command(study))
    answer = CliRunner().invoke(main, ["study", study.name, "--parameter", "mtu=1500"])
    assert answer.exit_code == 2
    assert "the study tiny leaves no parameters open" in answer.output


def test_only_direct_all_reduces_get_its_keys(scenarios: Path) -> None:
    """The other keys change every scenario of the study, and nothing else is changed."""
    assert STUDY.fit is not None
    labels = used(STUDY.fit) | {
        "mtu": "9000",
        "order": "random",
        "chunks": "128 of 64",
        "buffer": "64MB",
    }
    sets = TwoSets(STUDY, STUDY.fit, labels, ("7", "15"), scenarios, "full")
    points = {point.name: point.scenario for point in sets.points}
    others = [name for name in points if name.endswith(sets.name)]
    for name in others:
        before = name.removesuffix(f" with {sets.name}")
        scale_out = "scale_out." if before.startswith("hier") else ""
        size = next((one for one in ("_64MB_", "=64MB", "=128MB") if one in before), "1GB")
        expected: dict[str, Any] = {
            "links.mtu": "9000B",
            f"topology.{scale_out}buffer": size.strip("_="),
        }
        if before.startswith("A2A"):
            expected |= {"workload.peer_order": "random", "system.chunks": 128}
        assert points[name] == load_scenario(points[before], expected)
    assert len(others) == 2 * 2 * 6 + 4 * 3
    assert len(points) == 2 * len(others)


def test_a_failed_point_is_named(study: Study, tmp_path: Path) -> None:
    wrong = Choice("limit", {"none": {}, "early": {"simulation.time_limit": "1us"}})
    fit = Fit((wrong,), lambda *_: {}, lambda *_: [])
    assert fit.change(load_scenario(SCENARIO), wrong.values["early"]).simulation.time_limit
    command = study_command(replace(study, fit=fit))
    out = ["-o", str(tmp_path), "--jobs", "1"]
    answer = CliRunner().invoke(command, ["--parameter", "limit=early", *out])
    assert answer.exception is not None
    assert "4KB with limit=early" in str(answer.exception)
    assert "With limit=early: 4KB failed: " in (tmp_path / "parameters.md").read_text()
