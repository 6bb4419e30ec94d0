"""Runs independent simulations in child processes, some at a time.

ns-3 ends the process on what it does not like; in a child that costs one point, and its message is
kept. In a folder, every point has one of its own with its ``result.json``, or ``error.txt`` if it
failed; points that are complete there are not run again.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bridge.errors import ResultError
from bridge.files import prepare_directory, write_whole
from bridge.results.result import FILE_NAME, Result
from bridge.simulator.simulate import versions
from frontend import Scenario, ScenarioError, load_scenario

#: Why a point failed, beside where its result would be.
ERROR_NAME = "error.txt"


@dataclass(frozen=True)
class Point:
    """One simulation to run."""

    name: str
    """Its folder, so unique among the points."""
    scenario: Scenario
    """What to simulate."""


@dataclass(frozen=True)
class Outcome:
    """What came of a point."""

    point: Point
    result: Result | None
    """The result, partial if there is an error, or nothing if the child died."""
    error: str | None = None
    """Why it did not complete."""
    is_old: bool = False
    """Whether it was complete in the folder before."""


def run_points(
    points: Sequence[Point],
    *,
    jobs: int | None = None,
    folder: str | os.PathLike[str] | None = None,
    on_done: Callable[[Outcome], object] | None = None,
) -> list[Outcome]:
    """Simulate points, each in a child process.

    Parameters
    ----------
    points : sequence of Point
        With names that differ.
    jobs : int, optional
        How many run at a time, at least 1; by default as many as this process may use cores.
    folder : path, optional
        Keeps the results. A point whose result is there, complete, of the same scenario and of the
        same versions, is not run again. Nothing is kept by default.
    on_done : callable, optional
        Called with each outcome in the order in which they come, from this thread.

    Returns
    -------
    list of Outcome
        In the order of `points`.

    Raises
    ------
    OutputError
        If the folder cannot be written to.
    ValueError
        If two points have one name.
    KeyboardInterrupt
        On Ctrl-C; the children are ended, and what is complete stays in the folder.
    """
    names = [point.name for point in points]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"points: {twice[0]} is the name of several points, expected one each")
    if folder is None:
        with tempfile.TemporaryDirectory(prefix="cosim-points-") as temporary:
            return run_points(points, jobs=jobs, folder=temporary, on_done=on_done)
    root = prepare_directory(folder)
    children = _Children()
    with ThreadPoolExecutor(max_workers=jobs or len(os.sched_getaffinity(0))) as pool:
        pending = {pool.submit(_run, point, root, children): point.name for point in points}
        try:
            outcomes = {
                pending[future]: _report(future, on_done) for future in as_completed(pending)
            }
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            children.end()
            raise
    return [outcomes[name] for name in names]


class _Children:
    """The processes under way, so that they can be ended from another thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._processes = set[subprocess.Popen[str]]()
        self._ended = False

    def run(self, command: Sequence[str], text: str) -> tuple[int, str]:
        """Run a command on a text; give its exit status and what it wrote to stderr."""
        with self._lock:
            if self._ended:
                return -1, "interrupted"
            process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
            )
            self._processes.add(process)
        _, messages = process.communicate(text)
        with self._lock:
            self._processes.discard(process)
        return process.returncode, messages

    def end(self) -> None:
        """End all that run, and start no more."""
        with self._lock:
            self._ended = True
            for process in self._processes:
                process.terminate()


def _report(future: Future[Outcome], on_done: Callable[[Outcome], object] | None) -> Outcome:
    outcome = future.result()
    if on_done is not None:
        on_done(outcome)
    return outcome


def _run(point: Point, root: Path, children: _Children) -> Outcome:
    folder = prepare_directory(root / point.name)
    old = _load(folder)
    if old is not None and _is_current(old, point):
        return Outcome(point, old, is_old=True)
    for name in (FILE_NAME, ERROR_NAME):
        (folder / name).unlink(missing_ok=True)
    command = [sys.executable, "-m", "bridge", "run", "/dev/stdin", "--json", "--out", str(folder)]
    status, messages = children.run(command, json.dumps(point.scenario.resolved()))
    result = _load(folder)
    if status == 0 and result is not None:
        return Outcome(point, result)
    error = _sentence(status, messages)
    write_whole(folder / ERROR_NAME, f"{error}\n".encode())
    return Outcome(point, result, error)


def _load(folder: Path) -> Result | None:
    try:
        return Result.load(folder)
    except ResultError:
        return None


def _is_current(result: Result, point: Point) -> bool:
    return (
        result.status == "complete"
        and result.simulator.versions == versions()
        and _resolved_now(result) == point.scenario.resolved()
    )


def _resolved_now(result: Result) -> dict[str, Any] | None:
    """Give a result's scenario with today's defaults: the format may have gained keys since."""
    try:
        return load_scenario(result.scenario).resolved()
    except ScenarioError:
        return None


def _sentence(status: int, messages: str) -> str:
    """Say what a child said last, without the name of the command."""
    lines = [line for line in messages.splitlines() if line.strip()]
    last = lines[-1].removeprefix("cosim: ") if lines else "it said nothing"
    return last if status > 0 else f"the process ended with signal {-status}: {last}"
