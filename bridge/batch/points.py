"""Runs independent simulations in child processes, several at a time.

ns-3 ends its whole process when it meets an error. In a child process, only that point fails, and
its error message is kept. Every point has a folder of its own, which holds ``result.json``, or
``error.txt`` if the point failed. Points whose result is already complete are not run again.
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

#: The file that holds the reason why a point failed, in the folder where its result would be.
ERROR_NAME = "error.txt"

#: What starts a child. ``-P`` keeps the working folder off the import path: a folder ``bridge`` or
#: a file ``click.py`` of the user must not take the place of an installed package.
COSIM = ("-P", "-m", "bridge")


@dataclass(frozen=True)
class Point:
    """One simulation to run."""

    name: str
    """The name of its folder, unique among the points."""
    scenario: Scenario
    """The scenario to simulate."""


@dataclass(frozen=True)
class Outcome:
    """The result of a point, or the reason why it failed."""

    point: Point
    result: Result | None
    """The result: partial if there is an error, None if the child died."""
    error: str | None = None
    """Why the point did not complete; None if it did."""
    is_old: bool = False
    """Whether the folder already held the complete result."""


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
        The points; their names must differ.
    jobs : int, optional
        How many points run at the same time, at least 1. By default, the number of cores that this
        process may use.
    folder : path, optional
        The folder that keeps the results. A point is not run again if its folder holds a complete
        result of the same scenario and the same versions. By default, nothing is kept.
    on_done : callable, optional
        Called from this thread with each outcome, in the order in which points finish.

    Returns
    -------
    list of Outcome
        One for each point, in the order of `points`.

    Raises
    ------
    OutputError
        The folder cannot be written to.
    ValueError
        Two points have the same name.
    KeyboardInterrupt
        The user pressed Ctrl-C. The child processes are ended, and complete results stay in the
        folder.
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
    """The running child processes, so that another thread can end them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._processes = set[subprocess.Popen[str]]()
        self._ended = False

    def run(self, command: Sequence[str], text: str) -> tuple[int, str]:
        """Run a command with a text as its input; return its exit status and its stderr."""
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
        """End all running child processes, and start no more."""
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
    command = [sys.executable, *COSIM, "run", "/dev/stdin", "--json", "--out", str(folder)]
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
    """Return a result's scenario with today's defaults: its format may be older than some keys."""
    try:
        return load_scenario(result.scenario).resolved()
    except ScenarioError:
        return None


def _sentence(status: int, messages: str) -> str:
    """Return the last message of a child, without the name of the command."""
    lines = [line for line in messages.splitlines() if line.strip()]
    last = lines[-1].removeprefix("cosim: ") if lines else "it said nothing"
    return last if status > 0 else f"the process ended with signal {-status}: {last}"
