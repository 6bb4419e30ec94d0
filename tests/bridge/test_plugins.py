"""The examples of docs/extending.md, in a process that finds them installed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture
def cosim(tmp_path: Path, install_example):
    """Return a function that runs ``cosim`` where the page's package is installed."""
    site = tmp_path / "site"
    install_example("my_package", site)

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


def test_a_study_of_an_installed_package(cosim, scenarios: Path) -> None:
    assert "An example of a study" in cosim("study", "list").stdout
    answer = cosim("study", "incast", "--json", "--scenarios", str(scenarios))
    assert answer.returncode == 0, answer.stderr
    (experiment,) = json.loads(answer.stdout)["experiments"]
    assert experiment["statements"][0]["holds"] is True


def test_an_output_of_an_installed_package(cosim, tmp_path: Path, raw_result) -> None:
    (tmp_path / "result.json").write_text(json.dumps(raw_result))
    answer = cosim("plot", "result.json", "-o", "layers.csv")
    assert answer.returncode == 0, answer.stderr
    heading, *rows = (tmp_path / "layers.csv").read_text().splitlines()
    assert heading == "layer,compute_ns,exposed_comm_ns"
    assert len(rows) == len(raw_result["layers"])
    assert ".txt, .csv" in cosim("plot", "result.json", "-o", "layers.unknown").stderr


def test_a_placement_of_an_installed_package(cosim, tmp_path: Path) -> None:
    """Ranks of a job of 6 on two leaves of 8: three of each. In a flat topology, it is refused."""
    work = {"kind": "collective", "operation": "all_reduce", "algorithm": "ring", "bytes": "1MB"}
    topology = {"family": "leaf_spine", "servers": 16, "radix": 12, "oversubscription": 2}
    topology |= {"buffer": "1MB"}
    jobs = [
        {"name": "a", "placement": [0, 1, 8], "workload": work},
        {"name": "b", "ranks": 6, "placement": "balanced", "workload": work},
    ]
    file = tmp_path / "own.yaml"
    file.write_text(json.dumps({"topology": topology, "jobs": jobs}))
    answer = cosim("run", "own.yaml", "--json")
    assert answer.returncode == 0, answer.stderr
    placed = json.loads(answer.stdout)["schedule"]["jobs"][1]["ranks"]
    assert placed == [2, 3, 4, 9, 10, 11]
    listed = json.loads(cosim("list", "--json").stdout)["placements"]
    assert listed["balanced"] == "the same number of ranks in each pod"
    schema = json.loads(cosim("schema").stdout)
    assert "balanced" in json.dumps(schema["$defs"]["Job"]["properties"]["placement"])
    flat = "topology={family: flat, ranks: 16, bandwidth: 1Gbps, latency: 1us, buffer: 1MB}"
    refused = cosim("run", "own.yaml", "--set", flat)
    assert refused.returncode == 2
    assert "this flat topology has neither pods nor servers" in refused.stderr


@pytest.mark.parametrize("command", [["run"], ["sweep", "--over", "seed=1,2"]])
def test_a_part_that_fails_is_named(
    tmp_path: Path, install_example, small_file: Path, command: list[str]
) -> None:
    """The code of a package may raise anything: one sentence says whose it is and where."""
    site = tmp_path / "site"
    install_example("my_plugin", site)
    star = site / "my_plugin" / "star.py"
    code = star.read_text()
    line = '    builder = ProgramBuilder("star"'
    assert code.count(line) == 1
    star.write_text(code.replace(line, f"    group_size // 0\n{line}"))
    number = star.read_text().splitlines().index("    group_size // 0") + 1
    name, *options = command
    chosen = [
        *("--set", "workload.operation=all_reduce", "--set", "workload.algorithm=star"),
        *options,
    ]
    answer = subprocess.run(
        [sys.executable, "-m", "bridge", name, str(small_file), *chosen],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 1
    sentence = "the collective algorithm 'star' of the package my_plugin has failed: "
    assert f"{sentence}ZeroDivisionError: " in answer.stderr
    assert f"({star}:{number})" in answer.stderr
    assert "Traceback" not in answer.stderr
