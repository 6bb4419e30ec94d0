"""Simulations that the browser has started: how far they are, and what came of them."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import count
from pathlib import Path
from threading import Lock

from bridge.batch.worker import Progress
from bridge.batch.workers import Child, DiedError
from bridge.errors import InputError
from bridge.files import prepare_directory
from bridge.results.folders import folder_name, free_folder, holds_another
from bridge.results.result import Result
from bridge.simulator.simulate import load, require_allowed_hook
from frontend import Scenario
from frontend.errors import one_line
from frontend.fabrics import ESTIMATORS
from frontend.loading.overrides import Override, split

PACKETS = "express"
"""The fabric with packets, if the result is an estimate."""

WAITING, RUNNING, DONE, FAILED, CANCELLED = (
    "waiting",
    "running",
    "done",
    "failed",
    "cancelled",
)


class Simulation:
    """One simulation; other threads may read what it is at, and cancel it."""

    def __init__(self, base: str, folder: Path, scenario: Scenario) -> None:
        self.base = base
        """The name of the result that it changes."""
        self.folder = folder
        """Where its result will be."""
        self.scenario = scenario
        self.state = WAITING
        self.progress: Progress | None = None
        self.error = ""
        """Why it failed."""
        self._is_new = not folder.exists()
        self._child: Child | None = None
        self._lock = Lock()

    @property
    def has_ended(self) -> bool:
        """Whether nothing more will happen."""
        return self.state not in (WAITING, RUNNING)

    def cancel(self) -> None:
        """End it, if it has not ended; what it has written is removed."""
        with self._lock:
            if self.has_ended:
                return
            self.state = CANCELLED
            if self._child is not None:
                self._child.terminate()

    def run(self) -> None:
        """Simulate, in a process that ends with this thread."""
        with self._lock:
            if self.state == CANCELLED:
                return
            self.state = RUNNING
            self._child = Child()
        error: str | None
        try:
            prepare_directory(self.folder)
            task = {"scenario": self.scenario.resolved()}
            error = self._child.ask(task, self.folder, self._report)
            if error is None:
                Result.load(self.folder)
        except (DiedError, InputError) as problem:
            error = str(problem)
        finally:
            self._child.end()
        with self._lock:
            if self.state == RUNNING:
                self.state, self.error = (DONE, "") if error is None else (FAILED, one_line(error))
        if self.state != DONE and self._is_new:
            shutil.rmtree(self.folder, ignore_errors=True)
            with suppress(OSError):  # something else is in there
                self.folder.parent.rmdir()

    def _report(self, progress: Progress) -> None:
        self.progress = progress


class Simulations:
    """Simulations by their numbers; they run one after the other."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1)
        self._numbers = count(1)
        self._all: dict[str, Simulation] = {}

    def start(self, base: str, file: Path, changes: Sequence[str]) -> str:
        """Start to simulate a result with changes by packets, and return its number.

        Parameters
        ----------
        base : str
            The name of the result.
        file : Path
            Its ``result.json``. The new result goes to a folder beside it, named after the changes.
        changes : sequence of str
            Keys with values, as ``--set`` takes them.

        Raises
        ------
        frontend.ScenarioError
            A key or value is wrong.
        InputError
            The scenario needs a hook.
        """
        own = [split(text, "--set") for text in changes]
        fixed: list[Override] = []
        if load(file, own).fabric in ESTIMATORS:
            fixed.append(Override("fabric", PACKETS, "fabric"))
        scenario = load(file, [*own, *fixed])
        require_allowed_hook(scenario, False)
        name = folder_name(f"{one.key}={one.value}" for one in [*own, *fixed])
        resolved = scenario.resolved()
        folder = free_folder(
            file.parent / (name or "again"), lambda place: holds_another(place, resolved)
        )
        number = str(next(self._numbers))
        self._all[number] = Simulation(base, folder, scenario)
        self._thread.submit(self._all[number].run)
        return number

    def get(self, number: str) -> Simulation | None:
        """Return the simulation of a number, if there is one."""
        return self._all.get(number)

    def close(self) -> None:
        """Cancel what has not ended."""
        for one in list(self._all.values()):
            one.cancel()
        self._thread.shutdown()
