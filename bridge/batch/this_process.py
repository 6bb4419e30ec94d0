"""Does tasks in this process, one after the other: only it knows the parts of a notebook."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bridge.batch.worker import Progress, perform
from bridge.batch.workers import INTERRUPTED


class ThisProcess:
    """A place for tasks that need what `cosim.register` has added to this process."""

    cores = 1

    def __init__(self) -> None:
        self._turn = threading.Lock()  # a process simulates one scenario at a time
        self._ended = False

    def ask(
        self,
        task: dict[str, Any],
        folder: Path,
        on_progress: Callable[[Progress], object],
        *,
        alone: bool = False,
    ) -> str | None:
        """Do a task; see `bridge.batch.workers.Place`."""

        def go_on(progress: Progress) -> None:
            on_progress(progress)
            if self._ended:
                raise KeyboardInterrupt

        with self._turn:
            if self._ended:
                return INTERRUPTED
            try:
                return perform({**task, "folder": str(folder.absolute())}, go_on)
            except KeyboardInterrupt:
                return INTERRUPTED

    def close(self) -> None:
        """See `Place`; nothing is held."""

    def interrupt(self) -> None:
        """End the task that runs at its next report of progress, and start no more."""
        self._ended = True
