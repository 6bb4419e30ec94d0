"""The numbers of the README are those of the pages and runs that it names."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from statistics import median

import pytest

import cosim
from bridge.present.quantities import time_text


@pytest.fixture
def page(repository: Path) -> str:
    """Return the text in one line."""
    return " ".join((repository / "README.md").read_text(encoding="utf-8").split())


def test_errors_of_predicted_steps(page: str, repository: Path) -> None:
    """The blind runs in FP8 are rows of docs/measured.md; the picture has a mark for each run."""
    measured = (repository / "docs" / "measured.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in measured.splitlines()]
    blind = [
        (int(row[1]), abs(float(row[7].removesuffix(" %"))))
        for row in rows
        if len(row) > 7 and row[5] == "blind" and re.match(r"405b-(?!.*fp4)", row[0])
    ]
    errors = [error for _, error in blind]
    words = {7: "Seven"}[len(blind)]
    ranks = [number for number, _ in blind]
    assert (
        f"{words} runs of Llama 3.1 405B on {min(ranks)} to {max(ranks)} GPUs in FP8 were "
        "predicted before their measurements were read: the median error is "
        f"{median(errors)} %, and the largest {max(errors)} %"
    ) in page
    table = repository / "bridge" / "studies" / "measured_training" / "runs.csv"
    with table.open(encoding="utf-8", newline="") as lines:
        known = list(csv.DictReader(lines))
    assert f"{len(known)} training steps that others measured" in page
    gpus = [int(row["gpus"]) for row in known]
    assert f"on {min(gpus)} to {max(gpus)} GPUs, against" in page


@pytest.mark.slow
def test_times_of_the_first_scenario(page: str, scenarios: Path) -> None:
    (said,) = re.findall(r"the two iterations take (.*?) instead of (.*?)\. ", page)
    for text, change in zip(said, (["topology.scale_out.bandwidth=800Gbps"], []), strict=True):
        result = cosim.run(scenarios / "dlrm_hier.yaml", change)
        assert time_text(result.time_ns) == text
