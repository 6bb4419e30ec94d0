"""Points in child processes: their results, the files they keep, and how they end."""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from bridge import Result, run
from bridge.batch import workers
from bridge.batch.points import Outcome, Point, run_points
from bridge.errors import BusyError, OutputError
from bridge.files import sole_writer
from bridge.present.progress import Snapshot
from frontend import load_scenario


def point(small: dict[str, Any], name: str, **changes: Any) -> Point:
    return Point(name, load_scenario(small, changes))


def sizes(small: dict[str, Any], *names: str) -> list[Point]:
    return [point(small, name, **{"workload.bytes": name}) for name in names]


def test_results_come_in_the_order_of_the_points(small: dict[str, Any]) -> None:
    done: list[Outcome] = []
    outcomes = run_points(sizes(small, "64KB", "4KB", "16KB"), jobs=2, on_done=done.append)
    assert [outcome.point.name for outcome in outcomes] == ["64KB", "4KB", "16KB"]
    assert sorted(map(id, done)) == sorted(map(id, outcomes))
    times = [outcome.result.time_ns for outcome in outcomes if outcome.result]
    assert times[1] < times[2] < times[0]


def test_what_is_complete_is_not_run_again(small: dict[str, Any], tmp_path: Path) -> None:
    first = run_points(sizes(small, "4KB"), folder=tmp_path)
    assert Result.load(tmp_path / "4KB") == first[0].result
    second = run_points(sizes(small, "4KB", "8KB"), folder=tmp_path)
    assert [outcome.is_old for outcome in second] == [True, False]
    assert second[0].result == first[0].result


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_point_without_all_of_its_files_is_run_again(
    small: dict[str, Any], tmp_path: Path, form: str
) -> None:
    if form == "parquet":
        pytest.importorskip("pyarrow")
    outputs = {"timeline": {}, "series": {"interval": "1us"}, "format": form}
    points = [point({**small, "outputs": outputs}, "p")]
    run_points(points, folder=tmp_path)
    files = {file.name: file.read_bytes() for file in (tmp_path / "p").iterdir()}
    assert len(files) == 8
    assert run_points(points, folder=tmp_path)[0].is_old
    for name in files:
        (tmp_path / "p" / name).unlink()
        (again,) = run_points(points, folder=tmp_path)
        assert not again.is_old
        assert (tmp_path / "p" / name).is_file()
        if name != "result.json":  # which has the wall time
            assert (tmp_path / "p" / name).read_bytes() == files[name]


def test_another_scenario_of_that_name_is_run(small: dict[str, Any], tmp_path: Path) -> None:
    (before,) = run_points([point(small, "p")], folder=tmp_path)
    (after,) = run_points([point(small, "p", **{"workload.bytes": "4KB"})], folder=tmp_path)
    assert before.result
    assert after.result
    assert not after.is_old
    assert after.result.time_ns < before.result.time_ns


def test_results_outlive_new_keys_of_the_format(small: dict[str, Any], tmp_path: Path) -> None:
    """A result from before a key existed counts where the key's default says the same."""
    run_points([point(small, "p")], folder=tmp_path)
    file = tmp_path / "p" / "result.json"
    document = json.loads(file.read_text())
    del document["scenario"]["transport"]["initial_cwnd"]
    file.write_text(json.dumps(document))
    (same,) = run_points([point(small, "p")], folder=tmp_path)
    assert same.is_old
    (other,) = run_points([point(small, "p", **{"transport.initial_cwnd": 9})], folder=tmp_path)
    assert not other.is_old


def test_a_failure_costs_one_point(small: dict[str, Any], tmp_path: Path) -> None:
    failing = point(small, "late", **{"simulation.time_limit": "1us"})
    late, fine = run_points([failing, point(small, "fine")], folder=tmp_path)
    assert fine.error is None
    assert late.error
    assert "time limit" in late.error
    assert late.result
    assert late.result.status == "time_limit"
    assert (tmp_path / "late" / "error.txt").read_text() == f"{late.error}\n"
    again, _ = run_points([failing, point(small, "fine")], folder=tmp_path)
    assert again.error == late.error
    assert not again.is_old


def test_an_abort_keeps_its_message(
    small: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    interpreter = tmp_path / "python"
    interpreter.write_text("#!/bin/sh\necho 'NS_FATAL, terminating' >&2\nkill -ABRT $$\n")
    interpreter.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(interpreter))
    (outcome,) = run_points([point(small, "p")])
    assert outcome.result is None
    expected = f"the process ended with signal {signal.SIGABRT.value}: NS_FATAL, terminating"
    assert outcome.error == expected


ABORT_ONCE = """
import os, sys
import bridge.batch.worker as worker
run = worker.simulate.run
def aborting(scenario, **settings):
    if scenario.name == "abort":
        print("NS_FATAL, terminating", file=sys.stderr, flush=True)
        os.abort()
    return run(scenario, **settings)
worker.simulate.run = aborting
worker.main()
"""


def test_an_abort_costs_one_point(
    small: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The only worker has served a point when it dies; another one serves the last point."""
    (tmp_path / "worker.py").write_text(ABORT_ONCE)
    monkeypatch.setattr(workers, "WORKER", (str(tmp_path / "worker.py"),))
    points = [point(small, "first"), point({**small, "name": "abort"}, "abort"), point(small, "p")]
    first, abort, last = run_points(points, jobs=1)
    assert abort.error == "the process ended with signal 6: NS_FATAL, terminating"
    assert abort.result is None
    assert [first.error, last.error] == [None, None]


FAIL_ONCE = """
import bridge.batch.worker as worker
from bridge.results.errors import SimulationError
run = worker.simulate.run
def failing(scenario, **settings):
    if scenario.name == "fail":
        worker.ns3_has_failed = lambda: True
        raise SimulationError("ns-3 cannot continue: a delay of -1")
    if worker.ns3_has_failed():
        raise SimulationError("used again")
    return run(scenario, **settings)
worker.simulate.run = failing
worker.main()
"""


def test_a_failure_of_ns3_costs_one_point(
    small: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process in which ns-3 has failed can simulate no more, so another one serves the rest."""
    (tmp_path / "worker.py").write_text(FAIL_ONCE)
    monkeypatch.setattr(workers, "WORKER", (str(tmp_path / "worker.py"),))
    points = [point(small, "first"), point({**small, "name": "fail"}, "fail"), point(small, "p")]
    first, fail, last = run_points(points, jobs=1)
    assert fail.error == "ns-3 cannot continue: a delay of -1"
    assert [first.error, last.error] == [None, None]


OUT_OF_MEMORY = """
import bridge.batch.worker as worker
def greedy(scenario, **settings):
    raise MemoryError
worker.simulate.run = greedy
worker.main()
"""


def test_a_worker_out_of_memory_says_so(
    small: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "worker.py").write_text(OUT_OF_MEMORY)
    monkeypatch.setattr(workers, "WORKER", (str(tmp_path / "worker.py"),))
    (outcome,) = run_points([point(small, "p")])
    assert outcome.error is not None
    assert outcome.error.startswith("out of memory")


def measured(result: Result | None) -> dict[str, Any]:
    assert result is not None
    document = result.to_dict()
    for cost in ("wall_s", "cpu_s", "peak_rss_bytes"):
        del document["simulator"][cost]
    return document


def test_a_result_does_not_depend_on_earlier_points(small: dict[str, Any]) -> None:
    """One worker runs other fabrics, a failure and packet losses before it repeats a point."""
    losses = {"topology.buffer": "40KB", "transport.min_rto": "10us"}
    points = [
        point(small, "p", **losses),
        point(small, "native", fabric="native"),
        point(small, "failure", **{"simulation.time_limit": "1us"}),
        point(small, "flow", fabric="flow"),
        point(small, "again", **losses),
    ]
    first, native, failure, _, again = run_points(points, jobs=1)
    assert failure.error
    assert measured(first.result) == measured(again.result)
    alone = run(native.point.scenario)
    assert measured(native.result) == measured(alone)


def test_progress_of_each_point(small: dict[str, Any]) -> None:
    seen: dict[str, int] = {}

    def note(point: Point, progress: Snapshot) -> None:
        seen[point.name] = progress.delivered_bytes

    (outcome,) = run_points(sizes(small, "64KB"), on_progress=note)
    assert outcome.result
    assert seen == {"64KB": outcome.result.network.payload_bytes}


def test_interruption_ends_the_children(small: dict[str, Any], tmp_path: Path) -> None:
    long = {"topology.ranks": 128, "workload.bytes": "1GB"}

    def stop(outcome: Outcome) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_points(
            [point(small, "fine"), point(small, "long", **long)],
            jobs=2,
            folder=tmp_path,
            on_done=stop,
        )
    assert (tmp_path / "fine" / "result.json").exists()
    assert list((tmp_path / "long").iterdir()) == []


def test_children_import_nothing_from_the_working_folder(
    small: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder or file with the name of a package does not take the package's place."""
    wrong = "raise ImportError('imported from the working folder')\n"
    (tmp_path / "bridge").mkdir()
    for name in ("bridge/__init__.py", "bridge/__main__.py", "click.py"):
        (tmp_path / name).write_text(wrong)
    monkeypatch.chdir(tmp_path)
    (outcome,) = run_points([point(small, "p")])
    assert outcome.error is None


@pytest.mark.parametrize("content", ["{", "[" * 9999, '{"schema_version": 1}', "\xff"])
def test_a_result_that_cannot_be_read_is_made_again(
    small: dict[str, Any], tmp_path: Path, content: str
) -> None:
    (first,) = run_points(sizes(small, "4KB"), folder=tmp_path)
    assert first.result
    assert first.unreadable is None
    file = tmp_path / "4KB" / "result.json"
    file.write_bytes(content.encode("latin-1"))
    (again,) = run_points(sizes(small, "4KB"), folder=tmp_path)
    assert again.result
    assert again.result.time_ns == first.result.time_ns
    assert str(again.unreadable).startswith(str(file))


@pytest.mark.parametrize("name", ["result.json", "error.txt"])
def test_a_folder_in_the_place_of_a_file_is_one_sentence(
    small: dict[str, Any], tmp_path: Path, name: str
) -> None:
    (tmp_path / "4KB" / name).mkdir(parents=True)
    with pytest.raises(OutputError, match=rf"4KB/{name}: not a regular file"):
        run_points(sizes(small, "4KB"), folder=tmp_path)


def test_the_error_of_an_earlier_attempt_goes(small: dict[str, Any], tmp_path: Path) -> None:
    run_points(sizes(small, "4KB"), folder=tmp_path)
    error = tmp_path / "4KB" / "error.txt"
    error.write_text("an earlier attempt\n")
    (outcome,) = run_points(sizes(small, "4KB"), folder=tmp_path)
    assert outcome.is_old
    assert not error.exists()


def test_one_process_at_a_time(small: dict[str, Any], tmp_path: Path) -> None:
    with (
        sole_writer(tmp_path),
        pytest.raises(BusyError, match="another cosim is writing its results there"),
    ):
        run_points(sizes(small, "4KB"), folder=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_names_differ(small: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="4KB is the name of several"):
        run_points(sizes(small, "4KB", "4KB"))
