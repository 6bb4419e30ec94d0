"""The charts of jobs show the numbers of the schedule, and nothing overlaps."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from click.testing import CliRunner

import bridge
from bridge.cli.main import main
from bridge.present.pictures import job_charts
from bridge.present.quantities import time_unit
from bridge.results.measurements import Schedule
from bridge.results.result import Result


@pytest.fixture(scope="module")
def queued(repository: Path) -> Result:
    return bridge.run(repository / "scenarios" / "jobs_queue_small.yaml", {"fabric": "flow"})


def test_a_row_is_the_time_from_arrival_to_end(queued: Result) -> None:
    """It waits, and then its iterations follow each other without gaps."""
    chart = job_charts.jobs(queued)
    assert chart is not None
    assert queued.schedule is not None
    _, scale = time_unit(max(job.arrival_ns + job.completion_ns for job in queued.schedule.jobs))
    rows: dict[str, list[tuple[float, float, str]]] = {}
    for trace in chart.traces:
        for label, begin, length in zip(trace["y"], trace["base"], trace["x"], strict=True):
            rows.setdefault(label, []).append((begin, begin + length, trace["name"]))
    for job in queued.schedule.jobs:
        spans = sorted(rows[f"{job.name} ({len(job.ranks)})"])
        assert spans[0][0] * scale == pytest.approx(job.arrival_ns)
        assert spans[-1][1] * scale == pytest.approx(job.arrival_ns + job.completion_ns)
        assert all(one[1] == pytest.approx(two[0]) for one, two in pairwise(spans))
        assert (spans[0][2] == "waits") == (job.waiting_ns > 0)
    assert any(name == "waits" for spans in rows.values() for *_, name in spans)
    arrivals = [job.arrival_ns for job in queued.schedule.jobs]
    assert [row.partition(" ")[0] for row in chart.layout["yaxis"]["categoryarray"]] == [
        job.name for _, job in sorted(zip(arrivals, queued.schedule.jobs, strict=True))
    ]


def test_the_curve_of_ranks_has_the_area_of_the_utilization(queued: Result) -> None:
    """And it ends with no job on any rank, and none that waits."""
    chart = job_charts.occupancy(queued)
    assert chart is not None
    assert queued.schedule is not None
    used, wanted = chart.traces
    steps = zip(pairwise(used["x"]), used["y"], strict=False)
    area = sum((after - at) * ranks for (at, after), ranks in steps)
    whole = used["x"][-1] * queued.schedule.ranks
    assert area / whole == pytest.approx(queued.schedule.utilization)
    assert max(used["y"]) <= queued.schedule.ranks
    assert (used["y"][-1], wanted["y"][-1]) == (0, 0)
    assert max(wanted["y"]) > 0


def test_of_many_jobs_the_slowest_are_shown() -> None:
    jobs = [
        {"name": f"j{n}", "arrival_ns": 0, "waiting_ns": 0, "completion_ns": n + 1, "ranks": [n]}
        for n in range(100)
    ]
    zeros = dict.fromkeys(
        ("waiting_mean_ns", "waiting_max_ns", "completion_mean_ns", "completion_p50_ns"), 0.0
    )
    schedule = Schedule.model_validate(
        {"ranks": 100, "utilization": 0.5, "completion_p99_ns": 0, "jobs": jobs, **zeros}
    )
    runs = {f"j{n}": [(0.0, n / 2), (n / 2, n + 1.0)] for n in range(100)}
    chart = job_charts.job_rows(schedule, runs, "iterations", {"j99": [(1, 2)], "j0": [(0, 1)]})
    assert chart is not None
    shown = chart.layout["yaxis"]["categoryarray"]
    assert shown == [f"j{n} (1)" for n in range(36, 100)]
    assert "the 64 of 100 that took longest" in chart.caption
    (restarts,) = (trace for trace in chart.traces if trace["name"] == "restarts")
    assert restarts["y"] == ["j99 (1)"]


@pytest.mark.parametrize("kind", ["jobs", "cluster"])
def test_pictures_of_jobs(kind: str, queued: Result, tmp_path: Path) -> None:
    queued.save(tmp_path / "queued")
    answer = CliRunner().invoke(
        main, ["plot", kind, str(tmp_path / "queued"), "-o", str(tmp_path / "jobs.svg")]
    )
    assert answer.exit_code == 0, answer.stderr
    assert (tmp_path / "jobs.svg").read_text().count("<path") > 10
    page = CliRunner().invoke(
        main, ["plot", str(tmp_path / "queued"), "-o", str(tmp_path / "page.html")]
    )
    assert page.exit_code == 0, page.stderr
    assert "Jobs over time (ranks)" in (tmp_path / "page.html").read_text()


def test_a_result_without_jobs_has_no_such_picture(repository: Path, tmp_path: Path) -> None:
    bridge.run(repository / "scenarios" / "first.yaml", out=tmp_path / "one")
    answer = CliRunner().invoke(
        main, ["plot", "jobs", str(tmp_path / "one"), "-o", str(tmp_path / "jobs.svg")]
    )
    assert answer.exit_code == 2
    assert "expected jobs that ran to their ends" in answer.stderr
