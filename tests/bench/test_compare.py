"""The comparison of two runs of the benchmark, on made-up files."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.bench import record
from tests.bench.__main__ import with_ratios
from tests.bench.compare import changes, main
from tests.bench.record import read, write

MACHINE = {"cpu": "a CPU", "cores": 2, "load_average": 0.5, "load_average_at_end": 1.5}


def run(*rows, date="2026-01-01T00:00:00+00:00", commit="aaaaaaa"):
    listed = [
        {"name": name, "ratio": ratio} | ({} if cpu_s is None else {"cpu_s": cpu_s})
        for name, cpu_s, ratio in rows
    ]
    return {"date": date, "commit": commit, "machine": MACHINE, "versions": {}, "rows": listed}


def only(old, new):
    (change,) = changes(run(old), run(new))
    return change


def test_a_ratio_counts_more_than_seconds():
    """A machine twice as slow doubles the seconds of a row and of its reference: no change."""
    change = only(("a", 1.0, 10.0), ("a", 2.0, 10.0))
    assert (change.by, change.slowdown, change.is_slower) == ("ratio", 0.0, False)
    # Half as many times cheaper than the reference is 100 % slower, whatever the seconds say.
    change = only(("a", 1.0, 10.0), ("a", 0.5, 5.0))
    assert (change.by, change.slowdown, change.is_slower) == ("ratio", 1.0, True)


def test_seconds_where_a_run_has_no_ratio():
    change = only(("a", 1.0, None), ("a", 1.5, 3.0))
    assert (change.by, change.slowdown, change.is_slower) == ("seconds", 0.5, True)


@pytest.mark.parametrize(("seconds", "slower"), [(1.09, False), (1.11, True), (0.5, False)])
def test_more_than_ten_percent_is_marked(seconds, slower):
    assert only(("a", 1.0, None), ("a", seconds, None)).is_slower is slower


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (("a", 0.001, 900.0), ("a", 0.004, 300.0), "too short"),
        (("a", 1.0, None), ("a", None, None), "failed"),
        (("a", None, None), ("a", 1.0, None), "failed"),
    ],
)
def test_rows_that_are_not_judged(old, new, reason):
    change = only(old, new)
    assert (change.by, change.slowdown, change.is_slower) == (reason, None, False)


def test_rows_of_one_run_only():
    found = changes(run(("old", 1.0, None), ("both", 1.0, None)), run(("both", 1.0, None)))
    assert [(change.name, change.by) for change in found] == [
        ("both", "seconds"),
        ("old", "missing"),
    ]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder of three runs, whose names are not in the order of their dates."""
    for commit, date, seconds in (
        ("ccccccc", "2026-01-01T08:00:00+00:00", 1.0),
        ("bbbbbbb", "2026-01-01T09:00:00+00:00", 2.0),
        ("aaaaaaa", "2026-01-02T07:00:00+00:00", 2.5),
    ):
        made = run(("row", seconds, None), date=date, commit=commit)
        write(made, tmp_path / f"{date[:10]}-{commit}.json")
    return tmp_path


def test_the_newest_against_the_one_before(folder: Path, capsys):
    assert main(["--folder", str(folder)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("old: 2026-01-01T09:00:00+00:00 bbbbbbb: a CPU, 2 cores, load")
    assert lines[1].startswith("new: 2026-01-02T07:00:00+00:00 aaaaaaa")
    assert lines[-1] == "| row | 2.000 | 2.500 | +25.0 % | seconds | **slower** |"


def test_named_files(folder: Path, capsys):
    first, last = folder / "2026-01-01-ccccccc.json", folder / "2026-01-02-aaaaaaa.json"
    assert main(["--folder", str(folder), str(first)]) == 0
    assert "| 1.000 | 2.500 |" in capsys.readouterr().out
    assert main([str(last), str(first)]) == 0
    assert "| 2.500 | 1.000 | -60.0 % |" in capsys.readouterr().out


@pytest.mark.parametrize(("percent", "status"), [("30", 0), ("25", 0), ("20", 1)])
def test_the_exit_status_is_asked_for(folder: Path, percent, status):
    """The row is 25 % slower, which only `--fail-above` makes a failure."""
    assert main(["--folder", str(folder), "--fail-above", percent]) == status


def test_too_few_runs_and_other_files(tmp_path: Path, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["--folder", str(tmp_path)])
    assert "fewer than two runs" in capsys.readouterr().err
    (tmp_path / "a.json").write_text("[]")
    with pytest.raises(SystemExit, match="2"):
        main(["--folder", str(tmp_path)])
    assert "a.json: not a run of the benchmark" in capsys.readouterr().err


def test_a_record_names_machine_and_versions(tmp_path: Path):
    started = datetime(2026, 1, 1, 12, tzinfo=UTC)
    rows: list[record.Row] = [
        {"name": "a", "cpu_s": 1.0, "ratio": None},
        {"name": "b", "error": "no"},
    ]
    made = record.record(rows, started, record.machine())
    write(made, tmp_path / "run.json")
    assert read(tmp_path / "run.json") == made
    assert made["date"] == "2026-01-01T12:00:00+00:00"
    assert made["machine"]["cores"] >= 1
    assert {"cosim", "ns3", "python", "numpy"} <= set(made["versions"])
    assert record.file_for(made).name == f"2026-01-01-{made['commit']}.json"


def test_ratios_are_to_the_reference_of_the_same_point():
    seconds = {("a", "native"): 8.0, ("a", "express"): 2.0, ("b", "express"): 1.0}
    rows = [
        {"point": point, "fabric": fabric, "cpu_s": s} for (point, fabric), s in seconds.items()
    ]
    rows.append({"point": "a", "fabric": "flow", "error": "it failed"})
    assert [row["ratio"] for row in with_ratios(rows)] == [None, 4.0, None, None]
