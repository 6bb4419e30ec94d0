"""Every small scenario gives the result that is stored beside this file, to the picosecond.

`make regression-update` rewrites the stored results on purpose; look at the difference in the
commit.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import bridge
from tests.regression.comparison import difference, measured

HERE = Path(__file__).resolve().parent
SCENARIOS = sorted((HERE.parent.parent / "scenarios").glob("*_small.yaml"))


def test_there_are_scenarios() -> None:
    assert SCENARIOS


def test_nothing_is_stored_for_a_scenario_that_is_gone() -> None:
    assert {file.stem for file in HERE.glob("*.json")} <= {file.stem for file in SCENARIOS}


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda file: file.stem)
def test_scenario(scenario: Path, request: pytest.FixtureRequest) -> None:
    stored = HERE / f"{scenario.stem}.json"
    result = bridge.run(scenario)
    now = json.loads(json.dumps(measured(result.to_dict())))
    # The options of pytest-regressions: rewrite what is stored.
    if request.config.getoption("regen_all") or request.config.getoption("force_regen"):
        stored.write_text(json.dumps(now, indent=1) + "\n", encoding="utf-8")
        return
    assert stored.exists(), f"nothing is stored for {scenario.name}: make regression-update"
    table = difference(json.loads(stored.read_text(encoding="utf-8")), now)
    if table:
        pytest.fail(
            f"{scenario.name} gives another result (make regression-update if it is meant):\n"
            f"{table}",
            pytrace=False,
        )
