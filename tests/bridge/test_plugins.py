"""The examples of docs/extending.md, in a process that finds them installed."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

GROUPS = ("cosim.studies", "cosim.outputs")


@pytest.fixture
def cosim(tmp_path: Path, repository: Path):
    """Return a function that runs ``cosim`` where the page's package is installed."""
    page = (repository / "docs" / "extending.md").read_text(encoding="utf-8")
    site = tmp_path / "site"
    package = site / "my_package"
    package.mkdir(parents=True)
    for name, text in re.findall(r"```python\n# my_package/(\w+\.py)\n(.*?)```", page, re.DOTALL):
        (package / name).write_text(text)
    information = site / "my_package-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: my-package\n")
    with (information / "entry_points.txt").open("w") as file:
        for text in re.findall(r"```toml\n(.*?)```", page, re.DOTALL):
            for group, points in tomllib.loads(text)["project"]["entry-points"].items():
                if group in GROUPS:
                    print(f"[{group}]", *map(" = ".join, points.items()), sep="\n", file=file)

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
