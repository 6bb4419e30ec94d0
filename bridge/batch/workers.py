"""Keeps child processes that do one task after the other, and says what a place of tasks offers."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from bridge.batch.child import Child, DiedError
from bridge.batch.worker import Progress

#: Why a task failed that `Place.interrupt` ended.
INTERRUPTED = "interrupted"


class Place(Protocol):
    """Where tasks are done. Several threads may use it at the same time."""

    @property
    def cores(self) -> int:
        """How many tasks can be done at the same time."""

    def ask(
        self,
        task: dict[str, Any],
        folder: Path,
        on_progress: Callable[[Progress], object],
        *,
        alone: bool = False,
    ) -> str | None:
        """Have a task done.

        Parameters
        ----------
        task : dict
            What `bridge.batch.worker` takes, without the folder.
        folder : Path
            A folder of this machine, for the files that the task makes.
        on_progress : callable
            Called from this thread several times a second.
        alone : bool
            Whether the process that does the task must not do another one after it.

        Returns
        -------
        str or None
            Why the task failed; None if it did not.
        """

    def close(self) -> None:
        """Free what the tasks used; call it when every task is done."""

    def interrupt(self) -> None:
        """End all tasks at once, and start no more."""


class Workers:
    """Child processes on the cores that this process may use."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._all = set[Child]()
        self._idle: list[Child] = []
        self._ended = False

    @property
    def cores(self) -> int:
        """See `Place`."""
        return len(os.sched_getaffinity(0))

    def ask(
        self,
        task: dict[str, Any],
        folder: Path,
        on_progress: Callable[[Progress], object],
        *,
        alone: bool = False,
    ) -> str | None:
        """Let a child process do a task; see `Place`."""
        with self._lock:
            if self._ended:
                return INTERRUPTED
            child = self._idle.pop() if self._idle else Child()
            self._all.add(child)
        try:
            error = child.ask(task, folder, on_progress)
        except DiedError as death:
            self._drop(child)
            return INTERRUPTED if self._ended else str(death)
        if alone:
            self._drop(child)
        else:
            with self._lock:
                self._idle.append(child)
        return error

    def _drop(self, child: Child) -> None:
        with self._lock:
            self._all.discard(child)
        child.end()

    def close(self) -> None:
        """End all child processes."""
        with self._lock:
            for child in self._all:
                child.end()
            self._all.clear()

    def interrupt(self) -> None:
        """End all child processes at once, also those that have a task, and start no more."""
        with self._lock:
            self._ended = True
            for child in self._all:
                child.terminate()
