"""Studies and outputs that an installed package brings, in a process that finds it installed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = """
from bridge.batch.points import Point
from bridge.present.outputs import Output
from bridge.studies.framework.model import Experiment, Findings, Statement, Study
from frontend import load_scenario

SCENARIO = {
    "topology": {
        "family": "flat", "ranks": 4, "bandwidth": "100Gbps", "latency": "1us", "buffer": "1GB"
    },
    "workload": {
        "kind": "collective", "operation": "all_reduce", "algorithm": "ring", "bytes": "4KB"
    },
}

def points(folder, scale):
    return [Point("only", load_scenario(SCENARIO))]

def evaluate(results, scale):
    return Findings([Statement("1", "It takes time.", results["only"].time_ns > 0)])

STUDY = Study("plugged", "A study of a plug-in", "", (Experiment("One", ("1",), points, evaluate),))

def write_times(result, file):
    file.write_text(f"time_ns\\n{result.time_ns}\\n")

CSV = Output("csv", "the time as CSV", (".csv",), write_times)
TRACE = Output("trace", "a trace", (".trace.json",), lambda result, file: file.write_text("[]"))
"""

ENTRY_POINTS = """
[cosim.studies]
plugged = plugged_package:STUDY

[cosim.outputs]
csv = plugged_package:CSV
trace = plugged_package:TRACE
"""


@pytest.fixture
def cosim(tmp_path: Path):
    """Return a function that runs ``cosim`` where the package is installed."""
    site = tmp_path / "site"
    information = site / "plugged_package-1.0.dist-info"
    information.mkdir(parents=True)
    (site / "plugged_package.py").write_text(PACKAGE)
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: plugged-package\n")
    (information / "entry_points.txt").write_text(ENTRY_POINTS)

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "bridge", *arguments],
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": str(site)},
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def test_a_study_of_an_installed_package(cosim) -> None:
    assert "A study of a plug-in" in cosim("study", "list").stdout
    answer = cosim("study", "plugged", "--json")
    assert answer.returncode == 0, answer.stderr
    (experiment,) = json.loads(answer.stdout)["experiments"]
    assert experiment["statements"][0]["holds"] is True


def test_an_output_of_an_installed_package(cosim, tmp_path: Path, raw_result) -> None:
    (tmp_path / "result.json").write_text(json.dumps(raw_result))
    for name, content in {
        "times.csv": f"time_ns\n{float(raw_result['time_ns'])}\n",
        "run.trace.json": "[]",
    }.items():
        answer = cosim("plot", "result.json", "-o", name)
        assert answer.returncode == 0, answer.stderr
        assert (tmp_path / name).read_text() == content
    # The longest ending counts: .json without .trace is the result itself.
    assert cosim("plot", "result.json", "-o", "copy.json").returncode == 0
    assert json.loads((tmp_path / "copy.json").read_text())["status"] == "complete"
    assert ".csv" in cosim("plot", "result.json", "-o", "times.unknown").stderr
