"""Every study at its small scale gives the numbers that are stored, to the picosecond.

`make regression-update` rewrites them on purpose; look at the difference in the commit.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from bridge.batch.points import run_points
from bridge.studies.framework.model import all_points, chapters
from bridge.studies.framework.report import document
from bridge.studies.registry import STUDIES
from tests.regression.comparison import difference

STORED = Path(__file__).resolve().parent / "studies"


def numbers(study: dict[str, Any]) -> dict[str, Any]:
    """Keep what was measured and concluded: no costs, no layout; by name, for readable paths."""
    points = {
        point["point"]: {key: point[key] for key in ("error", "time_ns", "network")}
        for experiment in study["experiments"]
        for point in experiment["points"]
    }
    statements = {
        f"figure {one['figure']}: {one['text']}": {
            key: one[key] for key in ("ours", "holds", "evidence")
        }
        for experiment in study["experiments"]
        for one in experiment["statements"]
    }
    return {"statements": statements, "points": points}


def test_nothing_is_stored_for_a_study_that_is_gone() -> None:
    assert {file.stem for file in STORED.glob("*.json")} <= set(STUDIES)


@pytest.mark.parametrize("name", STUDIES)
def test_study(name: str, scenarios: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    study = STUDIES[name]
    outcomes = run_points(all_points(study.experiments, scenarios, "small"), folder=tmp_path)
    assert not {one.point.name: one.error for one in outcomes if one.error}
    parts = chapters(study.experiments, outcomes, scenarios, "small")
    claims = Counter(
        one.text for part in parts if part.findings for one in part.findings.statements
    )
    assert not {text for text, count in claims.items() if count > 1}, "a claim counts once"
    now = numbers(document(study, "small", parts))
    stored = STORED / f"{name}.json"
    if request.config.getoption("regen_all") or request.config.getoption("force_regen"):
        stored.write_text(json.dumps(now, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        return
    assert stored.exists(), f"nothing is stored for {name}: make regression-update"
    table = difference(json.loads(stored.read_text(encoding="utf-8")), now)
    if table:
        pytest.fail(
            f"{name} gives other numbers (make regression-update if it is meant):\n{table}",
            pytrace=False,
        )
