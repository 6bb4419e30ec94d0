"""`cosim search --over`: which combinations it tries, what it finds, and how it goes on."""

from __future__ import annotations

import json
import math
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import cosim
from bridge.batch.key_search import ESTIMATES, PACKETS, START, Goal, KeySearch
from bridge.batch.points import Outcome, Point
from bridge.batch.sweep import axis
from bridge.batch.worker import Progress
from bridge.cli.main import main
from bridge.errors import InputError
from frontend import load_scenario

pytestmark = pytest.mark.usefixtures("elsewhere")

KEYS = {
    "workload.algorithm": ["ring", "direct", "dbt"],
    "topology.bandwidth": "100Gbps..400Gbps*2",
}
GRID = {
    "workload.algorithm": ["ring", "direct", "dbt"],
    "system.chunks.all_reduce": "1..32*2",
    "system.injection_latency": "1us..4us+1us",
}


def times(file: Path, over: dict[str, Any], fabric: str) -> dict[tuple[Any, ...], float]:
    """Return the time of every combination, found in another way."""
    values = [
        axis(f"{k}={','.join(v) if isinstance(v, list) else v}").values for k, v in over.items()
    ]
    return {
        one: cosim.run(file, dict(zip(over, one, strict=True)) | {"fabric": fabric}).time_ns
        for one in product(*values)
    }


def test_a_small_grid_is_estimated_whole(small_file: Path, tmp_path: Path) -> None:
    """The order is that of single runs: by the estimate, and of the best by packets."""
    known = {fabric: times(small_file, KEYS, fabric) for fabric in ("flow", "express")}
    found = cosim.search_keys(small_file, KEYS, best=2, out=tmp_path / "found")
    assert len(found) == len(known["flow"]) == 9
    for one in found:
        assert one.estimate.result is not None
        assert one.estimate.result.time_ns == known["flow"][one.changes]
    simulated = [one for one in found if one.simulated is not None]
    assert simulated == found[:2]
    estimates = sorted(set(known["flow"].values()))
    for one in simulated:
        assert one.simulated is not None
        assert one.simulated.result is not None
        assert one.simulated.result.time_ns == known["express"][one.changes]
        assert known["flow"][one.changes] in estimates[:2]
    # The file that was written is the best one.
    best = cosim.run(tmp_path / "found" / "scenario.yaml")
    assert best.time_ns == min(known["express"][one.changes] for one in simulated)
    # Nothing runs again.
    again = cosim.search_keys(small_file, KEYS, best=2, out=tmp_path / "found")
    assert all(one.outcome.is_old for one in again)
    assert [one.changes for one in again] == [one.changes for one in found]


def test_a_large_grid_takes_no_more_than_the_budget(small_file: Path) -> None:
    """With 24 of 72 estimates the search finds a time at most 2 % above the best, every time."""
    known = times(small_file, GRID, "flow")
    least = min(known.values())
    for seed in (1, 2, 3):
        runs = [
            cosim.search_keys(small_file, GRID, {"fabric": "flow"}, budget=24, seed=seed)
            for _ in range(2 if seed == 1 else 1)
        ]
        for found in runs:
            assert len(found) == 24
            assert found[0].estimate.result is not None
            assert found[0].estimate.result.time_ns <= 1.02 * least
            assert [one.changes for one in found] == [one.changes for one in runs[0]]


def test_the_largest_number_can_be_the_goal(small_file: Path) -> None:
    found = cosim.search_keys(small_file, KEYS, {"fabric": "flow"}, maximize="busbw")
    values = [one.outcome.result.collectives[0].busbw_bps for one in found if one.outcome.result]
    assert len(values) == 9
    assert values == sorted(values, reverse=True)
    assert found[0].overrides["topology.bandwidth"] == "400Gbps"


def test_what_is_no_scenario_is_left_out(small_file: Path) -> None:
    fixed = {
        "fabric": "flow",
        "workload.operation": "broadcast",
        "workload.algorithm": "dbt",
    }
    over = [axis("topology.ranks=4,8"), axis("workload.root=0,3,6")]
    search = KeySearch(small_file, fixed, over, Goal.of(None, None))
    found = search.run()
    valid = {one.changes for one in found}
    assert valid == {("4", "0"), ("4", "3"), ("8", "0"), ("8", "3"), ("8", "6")}
    assert len(search.invalid) == 1
    assert search.never_valid() == []
    over = [axis("topology.ranks=4,8"), axis("workload.algorithm=ring,other")]
    search = KeySearch(small_file, {"fabric": "flow"}, over, Goal.of(None, None))
    assert len(search.run()) == 2
    assert search.never_valid() == [("workload.algorithm", "other")]
    with pytest.raises(InputError, match=r"workload\.bites: unknown key: did you mean"):
        cosim.search_keys(small_file, {"workload.bites": [1, 2, 3]})


def test_a_number_that_the_estimate_lacks_is_refused(small_file: Path) -> None:
    with pytest.raises(InputError, match="drops: an estimate by flow of this scenario has none"):
        cosim.search_keys(small_file, KEYS, minimize="drops")
    with pytest.raises(InputError, match="--minimize tim: did you mean time"):
        cosim.search_keys(small_file, KEYS, minimize="tim")


class _Impatient:
    """Presses Ctrl-C when four points are done."""

    def __init__(self) -> None:
        self.done = 0

    def __call__(self, outcome: Outcome) -> None:
        self.done += 1
        if self.done == 4:
            raise KeyboardInterrupt

    def running(self, point: Point, progress: Progress) -> None:
        """Do nothing."""


def test_ctrl_c_keeps_what_is_known(small_file: Path, tmp_path: Path) -> None:
    axes = [axis(f"{key}={text}") for key, text in GRID.items() if isinstance(text, str)]
    search = KeySearch(small_file, None, axes, Goal.of(None, None), 20, folder=tmp_path / "s")
    with pytest.raises(KeyboardInterrupt):
        search.run(lambda name, points: _Impatient())
    assert search.estimated == 3  # and the scenario as it is
    best = load_scenario(tmp_path / "s" / "scenario.yaml")
    assert best == search.best[0].scenario
    again = KeySearch(small_file, None, axes, Goal.of(None, None), 20, folder=tmp_path / "s")
    found = again.run()
    assert len(found) == 20
    assert sum(one.estimate.is_old for one in found) >= 3
    fresh = KeySearch(small_file, None, axes, Goal.of(None, None), 20).run()
    assert [one.changes for one in fresh] == [one.changes for one in found]


def search(*arguments: str | Path) -> Any:
    return CliRunner().invoke(main, ["search", *map(str, arguments)])


def test_the_command_prints_and_keeps_a_sweep(small_file: Path) -> None:
    over = ["--over", "workload.algorithm=ring,direct,dbt"]
    over += ["--over", "topology.bandwidth=100Gbps..400Gbps*2"]
    done = search(small_file, *over, "--best", "2")
    assert done.exit_code == 0, done.output
    assert "all 9 combinations estimated by flow" in done.stdout
    assert "as it is" in done.stdout
    (folder,) = Path("results").glob("*/search_*")
    assert len(list((folder / PACKETS).iterdir())) == 4  # and the order
    compared = CliRunner().invoke(main, ["compare", str(folder / ESTIMATES)])
    assert compared.exit_code == 0
    assert "400Gbps" in compared.stdout
    data = json.loads(search(small_file, *over, "--best", "2", "--json").stdout)
    assert (data["metric"], data["goal"], data["estimator"]) == ("time_ns", "minimize", "flow")
    assert data["estimated"] == data["combinations"] == len(data["found"]) == 9
    simulated = [one["simulated"] for one in data["found"] if one["simulated"] is not None]
    assert simulated == sorted(simulated)
    assert len(simulated) == 2
    assert all(math.isfinite(one["estimate"]) for one in [data["start"], *data["found"]])
    assert START == "start"


def test_a_result_of_another_scenario_is_not_lost(small_file: Path) -> None:
    over = ("--over", "workload.algorithm=ring,direct")
    assert search(small_file, *over).exit_code == 0
    other = json.loads(small_file.read_text("utf-8"))
    other["topology"]["latency"] = "3us"
    small_file.write_text(json.dumps(other), "utf-8")
    assert search(small_file, *over).exit_code == 0
    assert len(list(Path("results").glob("*/search_*"))) == 2


def test_a_budget_without_estimates(small_file: Path) -> None:
    with pytest.raises(InputError, match=r"^budget 0: expected at least 1 combination"):
        cosim.search_keys(small_file, GRID, budget=0)
