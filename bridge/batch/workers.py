"""Keeps child processes that do one task after the other, and says what a place of tasks offers.

A child takes about a second to start, more than most points, so it serves many. ns-3 ends its whole
process when it meets an error; the next point then gets a new child.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

from bridge.batch.worker import Progress

#: What starts a child. ``-P`` keeps the working folder off the import path: a folder ``bridge`` or
#: a file ``click.py`` of the user must not take the place of an installed package.
WORKER = ("-P", "-m", "bridge.batch.worker")


class DiedError(RuntimeError):
    """A child process that ended before it answered."""


class Child:
    """One child process."""

    def __init__(self) -> None:
        # A file instead of a pipe: nobody reads it unless the child dies.
        self._messages = tempfile.TemporaryFile()  # noqa: SIM115 - `end` closes it
        self._read = 0  # what is before belongs to earlier points
        self._process = subprocess.Popen(
            [sys.executable, *WORKER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._messages,
            encoding="utf-8",
        )

    def ask(
        self, task: dict[str, Any], folder: Path, on_progress: Callable[[Progress], object]
    ) -> str | None:
        """Let the child do a task; see `bridge.batch.workers.Place`.

        Raises
        ------
        DiedError
            The child ended before it answered.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            request = {**task, "folder": str(folder.absolute())}
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise self._death() from None
        for line in self._process.stdout:
            answer = json.loads(line)
            if "progress" not in answer:
                self._read = self._messages.seek(0, os.SEEK_END)
                return str(answer["error"]) if answer["error"] is not None else None
            on_progress(Progress(**answer["progress"]))
        raise self._death()

    def _death(self) -> DiedError:
        """Return the last message that the child wrote about this point."""
        status = self._process.wait()
        self._messages.seek(self._read)
        lines = self._messages.read().decode(errors="replace").splitlines()
        last = next((line for line in reversed(lines) if line.strip()), "it said nothing")
        if status < 0:
            last = f"the process ended with signal {-status}: {last}"
        return DiedError(last)

    def terminate(self) -> None:
        """End the child now; `ask` then raises an error in its thread."""
        self._process.terminate()

    def end(self) -> None:
        """Let the child end, which has nothing to do, and free what belongs to it."""
        self._process.terminate()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            with suppress(BrokenPipeError):  # a request that a dead child did not read
                stream.close()
        self._messages.close()


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
    """Child processes on the cores that this process may use.

    Linux ends a child with the thread that started it, so one thread starts all of them.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._starter = ThreadPoolExecutor(max_workers=1)
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
            child = self._idle.pop() if self._idle else self._starter.submit(Child).result()
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
        self._starter.shutdown()

    def interrupt(self) -> None:
        """End all child processes at once, also those that have a task, and start no more."""
        with self._lock:
            self._ended = True
            for child in self._all:
                child.terminate()
