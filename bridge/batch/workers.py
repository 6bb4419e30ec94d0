"""Keeps child processes that do one task after the other: they simulate points, and search for
their strategies.

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
from contextlib import suppress
from pathlib import Path
from typing import Any

from bridge.batch.best_strategy import StrategySearch
from bridge.batch.worker import Progress

#: What starts a child. ``-P`` keeps the working folder off the import path: a folder ``bridge`` or
#: a file ``click.py`` of the user must not take the place of an installed package.
WORKER = ("-P", "-m", "bridge.batch.worker")

#: What `Workers.simulate` returns for points that `Workers.interrupt` ended.
INTERRUPTED = "interrupted"


class Workers:
    """Child processes that wait for points. Several threads may use them at the same time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._all = set[_Worker]()
        self._idle: list[_Worker] = []
        self._ended = False

    def simulate(
        self, scenario: dict[str, Any], folder: Path, on_progress: Callable[[Progress], object]
    ) -> str | None:
        """Simulate a scenario in a child process, and save its result.

        Parameters
        ----------
        scenario : dict
            The scenario with all defaults; a hook has an absolute path.
        folder : Path
            Where the child writes ``result.json``.
        on_progress : callable
            Called from this thread several times a second.

        Returns
        -------
        str or None
            Why the simulation did not complete; None if it did.
        """
        request = {"scenario": scenario, "folder": str(folder.absolute())}
        # A hook may change what later points would see.
        return self._ask(request, on_progress, last=scenario.get("hooks") is not None)

    def search(self, search: StrategySearch, file: Path) -> str | None:
        """Search a strategy in a child process.

        Parameters
        ----------
        search : StrategySearch
            The search.
        file : Path
            Where the child writes what it finds.

        Returns
        -------
        str or None
            Why the search failed; None if it did not.
        """
        request = {"search": search.request(), "file": str(file.absolute())}
        return self._ask(request, lambda progress: None)

    def _ask(
        self,
        request: dict[str, Any],
        on_progress: Callable[[Progress], object],
        *,
        last: bool = False,
    ) -> str | None:
        """Let a child do what a request asks for; it is the child's last request if told so."""
        with self._lock:
            if self._ended:
                return INTERRUPTED
            worker = self._idle.pop() if self._idle else _Worker()
            self._all.add(worker)
        try:
            error = worker.ask(request, on_progress)
        except _DiedError as death:
            self._drop(worker)
            return INTERRUPTED if self._ended else str(death)
        if last:
            self._drop(worker)
        else:
            with self._lock:
                self._idle.append(worker)
        return error

    def _drop(self, worker: _Worker) -> None:
        with self._lock:
            self._all.discard(worker)
        worker.end()

    def close(self) -> None:
        """End all child processes; call it when every point is done."""
        with self._lock:
            for worker in self._all:
                worker.end()
            self._all.clear()

    def interrupt(self) -> None:
        """End all child processes at once, also those that simulate, and start no more."""
        with self._lock:
            self._ended = True
            for worker in self._all:
                worker.terminate()


class _DiedError(RuntimeError):
    """A child process that ended before it answered."""


class _Worker:
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

    def ask(self, request: dict[str, Any], on_progress: Callable[[Progress], object]) -> str | None:
        """Do the work of `Workers._ask`; raise _DiedError if the child ends."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
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

    def _death(self) -> _DiedError:
        """Return the last message that the child wrote about this point."""
        status = self._process.wait()
        self._messages.seek(self._read)
        lines = self._messages.read().decode(errors="replace").splitlines()
        last = next((line for line in reversed(lines) if line.strip()), "it said nothing")
        if status < 0:
            last = f"the process ended with signal {-status}: {last}"
        return _DiedError(last)

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
