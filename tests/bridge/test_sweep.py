"""Sweeps: points, output, and how a stopped sweep continues."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from bridge.batch.sweep import Axis, axis, short_keys, sweep_points
from bridge.cli.main import main
from bridge.errors import InputError


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


def test_names_are_folders(small_file: Path) -> None:
    (point,) = sweep_points(small_file, [], [axis("system.reduction_bandwidth=900GB/s")])
    assert point.point.name == "system.reduction_bandwidth=900GB%2Fs"


def test_headings_tell_keys_apart() -> None:
    keys = ["topology.scale_up.buffer", "topology.scale_out.buffer", "seed"]
    axes = [Axis(key, ("1",)) for key in keys]
    assert short_keys(axes) == [*keys[:2], "seed"]


def test_hooks_are_found_from_the_scenario(small_file: Path) -> None:
    points = sweep_points(small_file, ["hooks=hook.py"], [axis("seed=1")])
    assert points[0].point.scenario.hooks == str(small_file.parent / "hook.py")


def test_table_and_resumption(small_file: Path, tmp_path: Path) -> None:
    arguments = (small_file, "--over", "topology.ranks=2,4", "--out", tmp_path / "out")
    first = sweep(*arguments, "--jobs", "1")
    assert first.exit_code == 0, first.output
    lines = first.stdout.splitlines()
    assert lines[0].split()[:3] == ["ranks", "time", "compute"]
    assert [line.split()[0] for line in lines[2:4]] == ["2", "4"]
    assert "[2/2] topology.ranks=4: " in first.stderr
    assert (tmp_path / "out" / "topology.ranks=4" / "result.json").exists()
    second = sweep(*arguments)
    assert second.stdout.splitlines() == lines
    assert second.stderr.count("as before") == 2


def test_json_and_a_failure(small_file: Path) -> None:
    """A time limit that one point keeps and one does not."""
    answer = sweep(
        small_file, "--set", "measurement.time_limit=12us", "--over", "workload.bytes=4KB,64MB",
        "--json",
    )  # fmt: skip
    assert answer.exit_code == 1
    assert "1 point failed, the first of them workload.bytes=64MB: " in answer.stderr
    good, bad = json.loads(answer.stdout)
    assert good["overrides"] == {"workload.bytes": "4KB"}
    assert good["error"] is None
    assert good["network"]["payload_bytes"] > 0
    assert "time limit" in bad["error"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("--over", "workload.bytes=4KB,lots"),
        ("--over", "workload.bites=4KB"),
        ("--over", "workload.bytes"),
        ("--over", "seed=1", "--over", "seed=2"),
        ("--over", "seed=1", "--jobs", "0"),
        (),
    ],
)
def test_bad_input_runs_nothing(small_file: Path, tmp_path: Path, arguments: tuple[str]) -> None:
    answer = sweep(small_file, *arguments, "--out", tmp_path / "out")
    assert answer.exit_code == 2
    assert not (tmp_path / "out").exists()
    assert "Traceback" not in answer.output


def test_interruption(small_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(self: object, outcome: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("bridge.cli.points.Counter.__call__", stop)
    answer = sweep(small_file, "--over", "seed=1,2", "--out", tmp_path, "--jobs", "1")
    assert answer.exit_code == 130
    assert "0 of 2 points were done, the same command continues" in answer.stderr
