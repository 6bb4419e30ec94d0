"""A scenario gives the same bytes when run again, compiled and replayed, or run without Python."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

import bridge
from bridge import Result
from tests.build_tree import find_program

SCENARIOS = ["collective_small", "dlrm_hier_small", "ocs_reconfig_small", "sip_ml_small"]
COSTS = ("wall_s", "cpu_s", "peak_rss_bytes")


def comparable(result: Result) -> str:
    """Write a result without its three values that may differ."""
    document = result.to_dict()
    for cost in COSTS:
        del document["simulator"][cost]
    return json.dumps(document)


@pytest.fixture(params=SCENARIOS)
def scenario(request: pytest.FixtureRequest, scenarios: Path) -> Path:
    return scenarios / f"{request.param}.yaml"


def test_two_runs_are_identical(scenario: Path) -> None:
    assert comparable(bridge.run(scenario)) == comparable(bridge.run(scenario))


def test_replay_is_the_run(scenario: Path, tmp_path: Path) -> None:
    stream = tmp_path / "x.stream"
    compiled = bridge.compile(scenario, out=stream)
    assert stream.read_bytes() == compiled == bridge.compile(scenario)
    assert comparable(bridge.replay(stream)) == comparable(bridge.run(scenario))


def test_replay_without_python_is_the_run(scenario: Path, tmp_path: Path) -> None:
    program = find_program("replay")
    if program is None:
        pytest.skip("ns3-scratch/replay is not built in this tree")
    stream = tmp_path / "x.stream"
    bridge.compile(scenario, out=stream)
    done = subprocess.run([program, stream], capture_output=True, text=True, check=True)
    raw: dict[str, Any] = json.loads(done.stdout)
    result = bridge.run(scenario).to_dict()
    for name, value in raw.pop("simulator").items():
        assert result["simulator"][name] == value
    assert raw == {key: result[key] for key in raw}
    assert set(result) - set(raw) == {"schema_version", "simulator", "scenario"}


def test_the_seed_changes_what_is_random(scenarios: Path) -> None:
    shuffled = {
        "workload.operation": "all_to_all",
        "workload.algorithm": "direct",
        "workload.peer_order": "random",
    }
    one, other, again = (
        bridge.run(scenarios / "collective_small.yaml", shuffled, seed=seed) for seed in (1, 2, 1)
    )
    assert comparable(one) == comparable(again)
    assert one.time_ns != other.time_ns
