"""Small scenarios in a build with AddressSanitizer and UndefinedBehaviorSanitizer.

`make test-sanitize` builds it and runs these. A report of a sanitizer ends the program with another
exit status.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

import bridge
from bridge.simulator.jobs import job_blocks
from frontend.errors import ScenarioError
from frontend.fabrics import FABRICS
from tests.build_tree import find_program
from tests.ns3_scratch.events import without_warning

pytestmark = pytest.mark.sanitize

SCENARIOS = sorted(
    file.stem for file in (Path(__file__).parents[2] / "scenarios").glob("*_small.yaml")
)


@pytest.fixture
def program() -> Path:
    built = find_program("replay")
    assert built is not None
    return built


@pytest.mark.parametrize("fabric", FABRICS)
@pytest.mark.parametrize("name", SCENARIOS)
def test_small_scenario(
    name: str, fabric: str, program: Path, scenarios: Path, tmp_path: Path
) -> None:
    """The sanitizers find nothing, and the result is that of the usual build."""
    stream = tmp_path / "x.stream"
    try:
        bridge.compile(scenarios / f"{name}.yaml", [f"fabric={fabric}"], out=stream)
    except ScenarioError as error:
        pytest.skip(f"{fabric} does not carry it: {error}")
    command: list[str | Path] = [program, "--events", tmp_path / "events", stream]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, without_warning(done.stderr)) == (0, "")
    raw: dict[str, Any] = json.loads(done.stdout)
    usual = bridge.replay(stream).to_dict()
    raw |= json.loads(json.dumps(job_blocks(usual["scenario"], raw).blocks))
    for job in raw.get("jobs", ()):
        for key in ("failures", "checkpoints"):
            job.setdefault(key, [])
    assert raw.pop("simulator")["events"] == usual["simulator"]["events"]
    risk = raw.pop("loss_risk", None)  # a part of `estimate`
    if usual.get("estimate"):
        assert usual["estimate"]["losses"] == (risk and risk["cause"])
    assert raw == {key: usual[key] for key in raw}
