"""Points on a Ray cluster, whose machines are processes of this one, and shards of points."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from bridge import sweep
from bridge.batch.points import Outcome, Point, run_points
from bridge.batch.ray_cluster import RayCluster
from bridge.cli.main import main
from bridge.cli.runs.points import Shard
from bridge.errors import InputError
from frontend import load_scenario

pytestmark = pytest.mark.filterwarnings("default")  # Ray's own


class Machines:
    """A head that runs no points, and machines with one core each."""

    def __init__(self, count: int) -> None:
        from ray.cluster_utils import Cluster

        self.cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
        self.workers = [self.cluster.add_node(num_cpus=1) for _ in range(count)]
        self.cluster.wait_for_nodes()

    def kill_one(self) -> None:
        self.cluster.remove_node(self.workers.pop(), allow_graceful=False)


@pytest.fixture(scope="module")
def machines() -> Iterator[Machines]:
    ray = pytest.importorskip("ray")
    started = Machines(2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_ADDRESS", started.cluster.address)
        yield started
    ray.shutdown()
    started.cluster.shutdown()


def numbers(outcome: Outcome) -> Any:
    """What must not depend on where a point ran."""
    assert outcome.result is not None
    assert outcome.error is None
    document = outcome.result.to_dict()
    for cost in ("wall_s", "cpu_s", "peak_rss_bytes"):
        del document["simulator"][cost]
    return document


def points(small: dict[str, Any], *names: str) -> list[Point]:
    return [Point(name, load_scenario(small, {"workload.bytes": name})) for name in names]


@pytest.mark.slow
def test_results_are_those_of_this_machine(
    small: dict[str, Any], tmp_path: Path, machines: Machines
) -> None:
    three = points(small, "4KB", "8KB", "16KB")
    there = run_points(three, place=RayCluster("ray"), folder=tmp_path)
    assert [numbers(one) for one in there] == [numbers(one) for one in run_points(three)]
    again = run_points(three, place=RayCluster("ray"), folder=tmp_path)
    assert all(one.is_old for one in again)


@pytest.mark.slow
def test_an_error_costs_one_point(
    small: dict[str, Any], tmp_path: Path, machines: Machines
) -> None:
    late = Point("late", load_scenario(small, {"simulation.time_limit": "1ns"}))
    error, after = run_points(
        [late, *points(small, "4KB")], place=RayCluster("ray"), folder=tmp_path
    )
    assert error.error is not None
    assert "time limit" in error.error
    assert (tmp_path / "late" / "error.txt").exists()
    assert after.error is None


@pytest.mark.long
def test_a_lost_machine_costs_no_point(
    small: dict[str, Any], tmp_path: Path, machines: Machines
) -> None:
    """A machine is killed while both of them simulate."""
    long = {**small, "fabric": "native", "workload": {**small["workload"], "bytes": "16MB"}}
    all_points = [Point(str(seed), load_scenario(long, {"seed": seed})) for seed in (1, 2, 3)]
    running = set[str]()
    killer = threading.Thread(target=machines.kill_one)

    def look(point: Point, progress: object) -> None:
        running.add(point.name)
        if len(running) == 2 and not killer.ident:
            killer.start()

    outcomes = run_points(all_points, place=RayCluster("ray"), folder=tmp_path, on_progress=look)
    killer.join()
    assert [numbers(one) for one in outcomes] == [numbers(one) for one in run_points(all_points)]


@pytest.mark.long
def test_a_search_checks_its_result_elsewhere(tmp_path: Path, machines: Machines) -> None:
    """The times are those of this machine, and a resumed search simulates nothing again."""
    scenario = Path(__file__).resolve().parents[2] / "scenarios" / "topoopt_bert_small.yaml"
    options = ["search", str(scenario), "--rounds", "1", "--budget", "10", "--json"]
    here = CliRunner().invoke(main, options)
    elsewhere = [*options, "-o", str(tmp_path), "--on", "ray"]
    there = CliRunner().invoke(main, elsewhere)
    assert there.exit_code == 0, there.stderr
    assert found(there.stdout) == found(here.stdout)
    files = {name: tmp_path / "checks" / name / "result.json" for name in ("flow", "express")}
    written = {name: file.stat().st_mtime_ns for name, file in files.items()}
    again = CliRunner().invoke(main, [*elsewhere, "--resume"])
    assert again.exit_code == 0, again.stderr
    assert found(again.stdout) == found(here.stdout)
    assert {name: file.stat().st_mtime_ns for name, file in files.items()} == written


def found(text: str) -> dict[str, Any]:
    """Return the answer of a search without what it has cost."""
    answer: dict[str, Any] = json.loads(text)
    del answer["cpu_seconds"]
    return answer


def test_shards_together_are_the_sweep(small_file: Path, tmp_path: Path) -> None:
    arguments = ["sweep", str(small_file), "--over", "seed=1,2,3", "-o", str(tmp_path), "--json"]
    shards = [
        json.loads(CliRunner().invoke(main, [*arguments, "--shard", f"{i}/2"]).stdout)
        for i in (1, 2)
    ]
    assert [len(one) for one in shards] == [2, 1]
    whole = json.loads(CliRunner().invoke(main, arguments).stdout)
    assert whole == [shards[0][0], shards[1][0], shards[0][1]]


@pytest.mark.parametrize("count", [1, 2, 5, 9])
def test_each_item_is_in_one_shard(count: int) -> None:
    items = list(range(7))
    shards = [Shard(index, count).of(items) for index in range(1, count + 1)]
    assert sorted(item for shard in shards for item in shard) == items


def test_a_wrong_place_in_python(small: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="expected ray or ray://HOST:PORT"):
        sweep(small, {"seed": [1, 2]}, on="slurm")
