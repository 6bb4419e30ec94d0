"""Runs independent simulations in other processes, several at a time.

ns-3 ends its whole process when it meets an error. In a process of its own, only that point fails,
and its error message is kept. Every point has a folder of its own, which holds ``result.json``, or
``error.txt`` if the point failed. Points whose result is already complete are not run again.
"""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bridge.batch.best_strategy import StrategySearch, with_strategy
from bridge.batch.worker import Progress
from bridge.batch.workers import INTERRUPTED, Place, Workers
from bridge.errors import InputError, ResultError, SaveError
from bridge.files import prepare_directory, remove, sole_writer, write_whole
from bridge.results.folders import keep_order
from bridge.results.result import FILE_NAME, Result
from bridge.simulator.output_files import complete_run
from bridge.simulator.simulate import require_allowed_hook, versions
from frontend import Scenario, ScenarioError, load_scenario

#: The file that holds the reason why a point failed, in the folder where its result would be.
ERROR_NAME = "error.txt"
#: The folder of what searches found, beside the points.
SEARCHES_NAME = "searches"


@dataclass(frozen=True)
class Point:
    """One simulation to run."""

    name: str
    """The name of its folder, unique among the points."""
    scenario: Scenario
    """The scenario to simulate."""
    label: str = ""
    """A shorter name for people; empty if there is none."""
    search: StrategySearch | None = None
    """The search for its strategy, which comes before the simulation; by default, the scenario is
    simulated as it is."""

    @property
    def title(self) -> str:
        """What people see: the label, or else the name."""
        return self.label or self.name


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
    unreadable: str | None = None
    """Why a stored result could not be read, so that the point ran again."""


def run_points(
    points: Sequence[Point],
    *,
    jobs: int | None = None,
    place: Place | None = None,
    is_part: bool = False,
    folder: str | os.PathLike[str] | None = None,
    on_done: Callable[[Outcome], object] | None = None,
    on_progress: Callable[[Point, Progress], object] | None = None,
    allow_hooks: bool = False,
) -> list[Outcome]:
    """Simulate points in child processes.

    Parameters
    ----------
    points : sequence of Point
        The points; their names must differ.
    jobs : int, optional
        How many points run at the same time, at least 1. By default, the number of cores of the
        place.
    place : Place, optional
        Where the points run; the caller closes it. By default, in child processes, on the cores
        that this process may use.
    is_part : bool
        Whether other processes run other points of the same folder at the same time.
    folder : path, optional
        The folder that keeps the results. A point is not run again if its folder holds a complete
        result of the same scenario and the same versions, and all of its other files. What searches
        find is kept in ``searches``, and not searched again. By default, nothing is kept.
    on_done : callable, optional
        Called from this thread with each outcome, in the order in which points finish.
    on_progress : callable, optional
        Called from other threads, several times a second, for each point that runs.
    allow_hooks : bool, optional
        Whether to run the Python files that the key ``hooks`` of scenarios names.

    Returns
    -------
    list of Outcome
        One for each point, in the order of `points`.

    Raises
    ------
    OutputError
        The folder cannot be written to. It is a `BusyError` if another process writes there.
    HookError
        A scenario names a hook, and hooks are not allowed.
    InputError
        `jobs` is less than 1.
    ValueError
        Two points have the same name.
    KeyboardInterrupt
        The user pressed Ctrl-C. The child processes are ended, and complete results stay in the
        folder.
    """
    if jobs is not None and jobs < 1:
        raise InputError(f"jobs: value {jobs}: expected at least 1")
    names = [point.name for point in points]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"points: {twice[0]} is the name of several points, expected one each")
    for point in points:
        require_allowed_hook(point.scenario, allow_hooks)
    if folder is None:
        with tempfile.TemporaryDirectory(prefix="cosim-points-") as temporary:
            return run_points(
                points,
                jobs=jobs,
                place=place,
                folder=temporary,
                on_done=on_done,
                on_progress=on_progress,
                allow_hooks=allow_hooks,
            )
    root = prepare_directory(folder)
    with sole_writer(root, shared=is_part):
        if len(points) > 1 and not is_part:
            keep_order(root, names)
        if place is not None:
            return _run_all(points, root, jobs, place, on_done, on_progress)
        with closing(Workers()) as own:
            return _run_all(points, root, jobs, own, on_done, on_progress)


def _run_all(
    points: Sequence[Point],
    root: Path,
    jobs: int | None,
    place: Place,
    on_done: Callable[[Outcome], object] | None,
    on_progress: Callable[[Point, Progress], object] | None,
) -> list[Outcome]:
    searches = _Searches(root / SEARCHES_NAME, place)

    def run(point: Point) -> Outcome:
        return _run(point, root, place, searches, on_progress)

    with ThreadPoolExecutor(max_workers=jobs or place.cores) as pool:
        pending = {pool.submit(run, point): point.name for point in points}
        try:
            outcomes = {
                pending[future]: _report(future, on_done) for future in as_completed(pending)
            }
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            place.interrupt()
            raise
    return [outcomes[point.name] for point in points]


def _report(future: Future[Outcome], on_done: Callable[[Outcome], object] | None) -> Outcome:
    outcome = future.result()
    if on_done is not None:
        on_done(outcome)
    return outcome


class _Searches:
    """What searches found: each is run once, also if several points ask for it."""

    def __init__(self, folder: Path, place: Place) -> None:
        self._folder = folder
        self._place = place
        self._lock = threading.Lock()
        self._running: dict[str, threading.Lock] = {}

    def scenario(self, point: Point) -> tuple[Scenario, str | None]:
        """Return what to simulate for a point, and why its search failed if it did."""
        search = point.search
        if search is None:
            return point.scenario, None
        with self._lock:
            own = self._running.setdefault(search.file_name, threading.Lock())
        with own:
            scenario = self._kept(point.scenario, search)
            if scenario is None:
                prepare_directory(self._folder)
                error = self._place.ask(
                    {"search": search.request()}, self._folder, lambda progress: None
                )
                if error is not None:
                    return point.scenario, error
                scenario = self._kept(point.scenario, search)
        if scenario is None:
            return point.scenario, f"{self._folder / search.file_name}: cannot be read"
        return scenario, None

    def _kept(self, scenario: Scenario, search: StrategySearch) -> Scenario | None:
        """Return a scenario with what a search found, or None if no file says it."""
        found = search.kept(self._folder)
        try:
            return None if found is None else with_strategy(scenario, found)
        except (ScenarioError, TypeError):  # not what a search writes
            return None


def _run(
    point: Point,
    root: Path,
    place: Place,
    searches: _Searches,
    on_progress: Callable[[Point, Progress], object] | None,
) -> Outcome:
    folder = prepare_directory(root / point.name)
    scenario, error = searches.scenario(point)
    old, unreadable = _load(folder)
    remove(folder / ERROR_NAME)
    if error is None and old is not None and _is_current(old, scenario, folder):
        return Outcome(point, old, is_old=True)
    remove(folder / FILE_NAME)

    def report(progress: Progress) -> None:
        if on_progress is not None:
            on_progress(point, progress)

    if error is None:
        # A hook may change what later points would see.
        alone = scenario.hooks is not None
        error = place.ask({"scenario": scenario.resolved()}, folder, report, alone=alone)
    result, problem = _load(folder)
    if error is None and result is None:
        error = problem or f"{folder}: the result is missing"
    if error is not None and error != INTERRUPTED:
        with suppress(SaveError):  # the disk is full: the message is in the outcome, too
            write_whole(folder / ERROR_NAME, f"{error}\n".encode())
    return Outcome(point, result, error, unreadable=unreadable)


def _load(folder: Path) -> tuple[Result | None, str | None]:
    """Return the result in a folder, or why it cannot be read; nothing if there is none."""
    if not (folder / FILE_NAME).exists():
        return None, None
    try:
        return Result.load(folder), None
    except ResultError as error:
        return None, str(error)


def _is_current(result: Result, scenario: Scenario, folder: Path) -> bool:
    return (
        result.status == "complete"
        and result.simulator.versions == versions()
        and _resolved_now(result) == scenario.resolved()
        and all((folder / name).is_file() for name in complete_run(result.scenario))
    )


def _resolved_now(result: Result) -> dict[str, Any] | None:
    """Return a result's scenario with today's defaults: its format may be older than some keys."""
    try:
        return load_scenario(result.scenario).resolved()
    except ScenarioError:
        return None
