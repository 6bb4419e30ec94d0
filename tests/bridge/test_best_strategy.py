"""Searches that points ask for: what they find, and that each runs once."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from bridge.batch.best_strategy import StrategySearch, with_strategy
from bridge.batch.points import SEARCHES_NAME, Point, run_points
from bridge.batch.strategy_search import Search, Settings
from bridge.batch.training_job import Job
from frontend import load_scenario

SETTINGS = Settings(rounds=2, budget=100, beta=None, seed=1)


def job(scenarios: Path, model: str, **changes: Any) -> StrategySearch:
    """Return the search for a job of 16 servers, from data parallelism."""
    start = {"topology.n": 16, "workload.strategy": "data_parallel", "fabric": "flow"}
    return StrategySearch(
        (load_scenario(scenarios / f"topoopt_{model}.yaml", start | changes),), SETTINGS
    )


def seconds(search: StrategySearch, folder: Path) -> tuple[float, float, dict[str, Any]]:
    """Return the estimates of the start and of what is found, and what is found."""
    search.run(folder / search.file_name)
    found = search.kept(folder)
    assert found is not None
    start, best = search.starts[0], with_strategy(search.starts[0], found)
    times = [Search(Job(one), SETTINGS).state.start_seconds for one in (start, best)]
    return times[0], times[1], dict(found["strategy"])


def test_layers_with_many_weights_become_a_pipeline(scenarios: Path, tmp_path: Path) -> None:
    start, best, strategy = seconds(job(scenarios, "candle"), tmp_path)
    assert strategy["microbatches"] > 1
    assert best < start / 2


def test_experts_are_divided_among_servers(scenarios: Path, tmp_path: Path) -> None:
    small = {"sequence": 128, "blocks": 4, "experts": 16}
    model = {f"workload.model.{key}": value for key, value in small.items()}
    search = job(scenarios, "bert", **model, **{"workload.batch_per_gpu": 4, "workload.gpus": 1})
    search = replace(search, settings=replace(SETTINGS, budget=400))
    start, best, strategy = seconds(search, tmp_path)
    assert strategy["operators"]["block_1_experts"]["kind"] == "attribute"
    assert best < start / 4


@pytest.mark.parametrize("family", ["topoopt", "flat", "fat_tree"])
@pytest.mark.parametrize("space", ["all", "samples"])
def test_a_search_finds_no_less_than_its_starts(
    scenarios: Path, tmp_path: Path, family: str, space: Any
) -> None:
    """On every network, both hybrid and data parallelism are starts."""
    links = {"bandwidth": "100Gbps", "latency": "1us", "buffer": "unlimited"}
    made = {"family": "topoopt", "n": 8, "d": 4, "demand": "workload"}
    topology = links | (made if family == "topoopt" else {"family": family, "ranks": 8})
    starts = tuple(
        load_scenario(
            scenarios / "topoopt_bert_small.yaml",
            {"topology": topology, "workload.strategy": start, "fabric": "flow"}
            | ({} if family == "topoopt" else {"collective.all_reduce": "ring"}),
        )
        for start in ("hybrid", "data_parallel")
    )
    settings = Settings(rounds=2, budget=60, beta=None, seed=1, space=space)
    search = StrategySearch(starts, settings)
    assert StrategySearch.of(json.loads(json.dumps(search.request()))) == search
    search.run(tmp_path / search.file_name)
    found = search.kept(tmp_path)
    assert found is not None
    best = Search(Job(with_strategy(starts[0], found)), settings).state.start_seconds
    least = min(Search(Job(one), settings).state.start_seconds for one in starts)
    assert best <= least * (1 + 1e-12)


def test_a_search_runs_once(scenarios: Path, tmp_path: Path) -> None:
    search = StrategySearch(
        tuple(
            load_scenario(
                scenarios / "topoopt_dlrm_small.yaml",
                {"topology.n": 4, "fabric": "flow", "workload.strategy": strategy},
            )
            for strategy in ("hybrid", "data_parallel")
        ),
        Settings(rounds=1, budget=5, beta=None, seed=1),
    )
    scenario = search.starts[0]
    longer = load_scenario(scenario, {"workload.iterations": 2})
    points = [Point("one", scenario, search=search), Point("two", longer, search=search)]
    first = run_points(points, folder=tmp_path)
    assert [one.error for one in first] == [None, None]
    (file,) = (tmp_path / SEARCHES_NAME).iterdir()
    kept = file.stat().st_mtime_ns

    def read() -> dict[str, Any]:
        search = json.loads(file.read_text())
        assert search.pop("cpu_seconds") > 0
        return cast("dict[str, Any]", search)

    found = read()
    assert all(one.is_old for one in run_points(points, folder=tmp_path))
    assert file.stat().st_mtime_ns == kept
    # Another scenario is another search; a damaged file is searched again.
    other = StrategySearch((longer,), search.settings)
    assert other.file_name != search.file_name
    for damaged in (b"{", b"\xff", b"[" * 99_999, b'{"strategy": 7}', b'{"strategy": {}}'):
        file.write_bytes(damaged)
        assert all(one.is_old for one in run_points(points, folder=tmp_path))
        assert read() == found
    strategy = json.dumps(found["strategy"])
    file.write_text(f'{{"strategy": {strategy}, "topology": [1]}}')
    assert all(one.is_old for one in run_points(points, folder=tmp_path))
    assert read() == found


def test_a_search_that_fails_is_the_error_of_its_point(scenarios: Path, tmp_path: Path) -> None:
    file = scenarios / "topoopt_dlrm_small.yaml"
    scenario = load_scenario(file, {"topology.n": 4, "workload.compute.memory": "1MB"})
    search = StrategySearch((scenario,), SETTINGS)
    (outcome,) = run_points([Point("full", scenario, search=search)], folder=tmp_path)
    assert outcome.result is None
    assert outcome.error is not None
    assert outcome.error.startswith("server 0 would store")
    assert (tmp_path / "full" / "error.txt").read_text() == f"{outcome.error}\n"


@pytest.mark.parametrize("content", ["[]", "{}", "\x00"])
def test_a_file_of_something_else_counts_as_none(
    scenarios: Path, tmp_path: Path, content: str
) -> None:
    search = job(scenarios, "bert")
    (tmp_path / search.file_name).write_text(content)
    assert search.kept(tmp_path) is None
