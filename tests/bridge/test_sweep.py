"""Sweeps: points, output, and how a stopped sweep continues."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

import bridge
import frontend
from bridge.batch.sweep import Axis, axis, sweep_points
from bridge.cli.main import main
from bridge.errors import InputError
from bridge.present.names import short_keys

pytestmark = pytest.mark.usefixtures("elsewhere")


def sweep(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["sweep", *map(str, arguments)])


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("a.b=1", ("1",)),
        ("a.b=64MB, 1GB", ("64MB", "1GB")),
        ("a.b={scale_up: 8, scale_out: 64},2", ('{"scale_up": 8, "scale_out": 64}', "2")),
        ("a.b=true,null,'x, y'", ("true", "null", "x, y")),
        ("a.b=1.0,0.50", ("1.0", "0.5")),
    ],
)
def test_values_of_an_axis(text: str, values: tuple[str, ...]) -> None:
    assert axis(text) == Axis("a.b", values)


@pytest.mark.parametrize("text", ["a.b", "=1", "a.b=", "a.b=1,1", "a.b=[1", "a.b=1MB,1MB"])
def test_wrong_axes(text: str) -> None:
    with pytest.raises(InputError, match=r"^--over "):
        axis(text)


def test_every_combination_once(small_file: Path) -> None:
    axes = [axis("topology.ranks=2,4,8"), axis("workload.bytes=4KB,8KB")]
    points = sweep_points(small_file, ["seed=7"], axes)
    assert [point.changes for point in points] == [
        (ranks, size) for ranks in ("2", "4", "8") for size in ("4KB", "8KB")
    ]
    for point in points:
        resolved = point.point.scenario.resolved()
        assert resolved["seed"] == 7
        ranks, size = point.changes
        assert resolved["topology"]["ranks"] == int(ranks)
        assert resolved["workload"]["bytes"] == size
    assert points[0].point.name == "topology.ranks=2_workload.bytes=4KB"


def test_a_pipe_is_read_once(small_file: Path) -> None:
    end, writing = os.pipe()
    with os.fdopen(writing, "w", encoding="utf-8") as pipe:
        pipe.write(small_file.read_text(encoding="utf-8"))
    try:
        points = sweep_points(f"/dev/fd/{end}", [], [axis("topology.ranks=2,4")])
    finally:
        os.close(end)
    assert [point.point.scenario.resolved()["topology"]["ranks"] for point in points] == [2, 4]


def test_python_is_not_blamed_on_options(small_file: Path) -> None:
    with pytest.raises(frontend.ScenarioError, match=r"^over topology\.ranks=0: topology\.ranks: "):
        bridge.sweep(small_file, {"topology.ranks": [0]})
    with pytest.raises(frontend.ScenarioError, match=r"^override seed=0: seed: value 0: "):
        bridge.sweep(small_file, {"topology.ranks": [2]}, {"seed": 0})


@pytest.mark.parametrize(
    "over", [{"topology.ranks": 4}, ["topology.ranks"], {"seed": None}, {"seed": {1, 2}}]
)
def test_values_that_are_not_several(small_file: Path, over: Any) -> None:
    with pytest.raises(InputError, match=r"^over: .*: expected a (list|mapping) of "):
        bridge.sweep(small_file, over)


def test_what_makes_no_point(small_file: Path) -> None:
    with pytest.raises(InputError, match=r"^topology\.ranks: no value, expected a list of values$"):
        bridge.sweep(small_file, {"topology.ranks": []})
    with pytest.raises(InputError, match=r"^jobs: value 0: expected at least 1$"):
        bridge.sweep(small_file, {"topology.ranks": [2]}, jobs=0)
    for seeds in (0, "3"):
        with pytest.raises(InputError, match=rf"^seeds: value {seeds!r}: expected a whole number"):
            bridge.sweep(small_file, {"topology.ranks": [2]}, seeds=seeds)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"^over: no key, expected a mapping"):
        bridge.search_keys(small_file, {})


@pytest.mark.parametrize("overrides", [{"topology.ranks", 4}, 4, [("topology.ranks", 4)], {5: "4"}])
def test_overrides_of_another_form(small_file: Path, overrides: Any) -> None:
    with pytest.raises(frontend.ScenarioError, match=r"^overrides: value .*: expected a mapping"):
        bridge.run(small_file, overrides)


def test_names_are_folders(small_file: Path) -> None:
    (point,) = sweep_points(small_file, [], [axis("system.reduction_bandwidth=900GB/s")])
    assert point.point.name == "system.reduction_bandwidth=900GB%2Fs"


def test_mappings_are_readable(small_file: Path) -> None:
    """Of mappings, a table and the lines of progress have what differs, as one would write it."""
    common = "ranks: 4, bandwidth: 100Gbps, latency: 1us"
    sizes = ("1MB", "2MB")
    values = ",".join(f"{{family: flat, {common}, buffer: {size}}}" for size in sizes)
    points = sweep_points(small_file, [], [axis(f"topology={values}"), axis("seed=1")])
    assert [one.texts for one in points] == [("{buffer: 1MB}", "1"), ("{buffer: 2MB}", "1")]
    assert [one.point.title for one in points] == [
        "topology={buffer: 1MB}, seed=1",
        "topology={buffer: 2MB}, seed=1",
    ]


def test_names_of_folders_are_short(small_file: Path) -> None:
    values = ["a" * 300 + "b", "a" * 300 + "c"]
    points = sweep_points(small_file, [], [axis(f"description={','.join(values)}")])
    names = [one.point.name for one in points]
    assert len(set(names)) == 2
    assert max(map(len, names)) <= 200


def test_headings_tell_keys_apart() -> None:
    keys = ["topology.scale_up.buffer", "topology.scale_out.buffer", "seed"]
    assert short_keys(keys) == [*keys[:2], "seed"]


def test_hooks_are_found_from_the_scenario(small_file: Path) -> None:
    points = sweep_points(small_file, ["hooks=hook.py"], [axis("seed=1")])
    assert points[0].point.scenario.hooks == str(small_file.parent / "hook.py")


def test_table_and_resumption(small_file: Path, tmp_path: Path) -> None:
    arguments = (small_file, "--over", "topology.ranks=2,4", "--out", tmp_path / "out")
    first = sweep(*arguments, "--jobs", "1")
    assert first.exit_code == 0, first.output
    lines = first.stdout.splitlines()
    assert lines[0].split()[:3] == ["ranks", "time", "algbw"]
    assert [line.split()[0] for line in lines[2:4]] == ["2", "4"]
    assert "[2/2] ranks=4: " in first.stderr
    assert (tmp_path / "out" / "topology.ranks=4" / "result.json").exists()
    second = sweep(*arguments)
    assert second.stdout.splitlines() == lines
    assert second.stderr.count("as before") == 2


def test_another_sweep_replaces_no_result(small_file: Path) -> None:
    """Points of the same name under another --set, or of an edited file, have another folder."""
    over = ("--over", "topology.ranks=2,4", "--jobs", "1")
    small = (small_file, "--set", "workload.bytes=4KB", *over)
    folder = "results/small/topology.ranks"
    assert sweep(small_file, *over).stderr.endswith(f"Results: {folder}\n")
    assert sweep(*small).stderr.endswith(f"Results: {folder}_workload.bytes=4KB\n")
    for one in (small, (small_file, *over)):
        assert sweep(*one).stderr.count("as before") == 2
    small_file.write_text(small_file.read_text().replace("64KB", "8KB"))
    said = f"{folder} holds another sweep, so this one goes to {folder}-2\n"
    assert sweep(small_file, *over).stderr.startswith(said)


def test_metrics(small_file: Path) -> None:
    """The bus bandwidth of four ranks is 6/4 of the bytes over the time."""
    arguments = ("--over", "workload.bytes=64KB", "--metric", "busbw", "--metric", "queue")
    answer = sweep(small_file, *arguments)
    assert answer.stdout.split()[:3] == ["bytes", "busbw", "queue"]
    (point,) = json.loads(sweep(small_file, *arguments, "--json").stdout)
    assert list(point["metrics"]) == ["busbw_bps", "max_queue_bytes"]
    expected = 64e3 * 8 * 6 / 4 / (point["time_ns"] / 1e9)
    assert point["metrics"]["busbw_bps"] == pytest.approx(expected)
    assert sweep(small_file, *arguments, "--metric", "speed").exit_code == 2


def test_an_estimate_has_no_columns_of_packets(small_file: Path) -> None:
    header = sweep(small_file, "--set", "fabric=flow", "--over", "seed=1").stdout.splitlines()[0]
    assert header.split() == ["seed", "time", "algbw", "busbw", "utilization", "CPU"]


def test_a_narrow_terminal_shows_fewer_columns(
    small_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    lines = sweep(small_file, "--over", "topology.ranks=2,4").stdout.splitlines()
    assert lines[0].split() == ["ranks", "time", "algbw", "busbw"]
    assert max(map(len, lines)) <= 40


def test_each_part_of_a_divided_table_names_its_rows(
    small_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    over = ("--over", "topology.ranks=2,4", "--over", "workload.algorithm=ring,direct")
    metrics = [f"--metric={name}" for name in ("time", "busbw", "queue")]
    lines = sweep(small_file, *over, *metrics).stdout.splitlines()
    heads = [line for line in lines if line.startswith("ranks")]
    assert len(heads) > 1
    assert all(line.split()[:2] == ["ranks", "algorithm"] for line in heads)
    assert max(map(len, lines)) <= 40


def test_from_python(small_file: Path) -> None:
    over: dict[str, Any] = {"topology.ranks": np.array([2, 4]), "workload.bytes": ["4KB"]}
    runs = bridge.sweep(small_file, over, {"seed": np.int64(3)})
    assert [run.overrides for run in runs] == [
        {"topology.ranks": ranks, "workload.bytes": "4KB"} for ranks in (2, 4)
    ]
    for run in runs:
        assert run.error is None
        assert run.result
        assert run.result.scenario["seed"] == 3
        alone = bridge.run(small_file, {**run.overrides, "seed": 3})
        assert run.result.time_ns == alone.time_ns


def test_layers_of_chunks_are_set_and_tried(scenarios: Path) -> None:
    """A list has commas inside its brackets; the text of Megatron-LM is a value, too."""
    given = ("--set", "fabric=analytical", "--set", "workload.layout.layers=[3,1]", "--json")
    tried = ("--over", "workload.layout.layers=[2,2],Et*3|tL")
    file = scenarios / "llm_llama3_8b_small.yaml"
    once = sweep(file, *given, "--over", "workload.layout.zero=0,1")
    answer = sweep(file, *given[:2], *tried, "--json")
    assert (once.exit_code, answer.exit_code) == (0, 0)
    [_, listed], [even, text] = json.loads(once.stdout), json.loads(answer.stdout)
    assert text["time_ns"] == listed["time_ns"] != even["time_ns"]


def test_what_came_from_over_is_blamed_on_it(small_file: Path) -> None:
    answer = sweep(small_file, "--set", "seed=2", "--over", "topology.ranks=2,0")
    said = "cosim: --over topology.ranks=0: topology.ranks: value 0: expected at least 2\n"
    assert answer.stderr == said


def test_json_and_a_failure(small_file: Path) -> None:
    """A time limit that one point keeps and one does not."""
    answer = sweep(
        small_file, "--set", "simulation.time_limit=12us", "--over", "workload.bytes=4KB,64MB",
        "--json",
    )  # fmt: skip
    assert answer.exit_code == 1
    assert "1 point failed, the first of them bytes=64MB: " in answer.stderr
    good, bad = json.loads(answer.stdout)
    assert good["overrides"] == {"workload.bytes": "4KB"}
    assert good["error"] is None
    assert good["network"]["payload_bytes"] > 0
    assert "time limit" in bad["error"]


def test_interruption(small_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(self: object, outcome: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("bridge.cli.runs.points.Counter.__call__", stop)
    answer = sweep(small_file, "--over", "seed=1,2", "--out", tmp_path, "--jobs", "1")
    assert answer.exit_code == 130
    assert "0 of 2 points were done, the same command continues" in answer.stderr
