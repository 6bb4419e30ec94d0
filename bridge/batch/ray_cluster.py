"""Tasks on the machines of a Ray cluster.

Each task of Ray has one core. A child process does the work, as on this machine, so an abort of
ns-3 costs one point and not the process of Ray. The files of a task come back as bytes: the
machines need no file system in common. If a machine is lost, Ray does its tasks elsewhere.
"""

from __future__ import annotations

import logging
import os
import tempfile
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bridge.batch.worker import Progress
from bridge.batch.workers import INTERRUPTED, Child, DiedError
from bridge.errors import InputError
from bridge.files import write_whole
from bridge.simulator.simulate import versions

#: Seconds between two looks at the progress of a task.
LOOK_S = 0.5
MISSING = "Ray is not installed: install the extra `cluster` (pip install 'ray[client]')"

_child: Child | None = None  # of a process of Ray, which does one task at a time


class Board:
    """An actor that knows how far the tasks are."""

    def __init__(self) -> None:
        self._progress: dict[str, Progress] = {}

    def pin(self, task: str, progress: Progress) -> None:
        """Note how far a task is."""
        self._progress[task] = progress

    def take(self, task: str) -> Progress | None:
        """Return how far a task is, once; None if nothing is new."""
        return self._progress.pop(task, None)


def do(
    task: dict[str, Any], alone: bool, name: str, board: Any
) -> tuple[str | None, dict[str, bytes]]:
    """Do a task in a process of Ray.

    Parameters
    ----------
    task, alone
        As for `bridge.batch.workers.Place.ask`.
    name : str
        The name of the task on the board.
    board
        The handle of the `Board`.

    Returns
    -------
    str or None
        Why the task failed; None if it did not.
    dict
        The files that it made: their contents by their paths.
    """
    global _child
    import ray

    def pin(progress: Progress) -> None:
        """Wait for the board: Ray prints calls that are left when it ends among the answers."""
        ray.get(board.pin.remote(name, progress))

    _child = _child or Child()
    with tempfile.TemporaryDirectory(prefix="cosim-") as temporary:
        folder = Path(temporary)
        error: str | None
        try:
            error = _child.ask(task, folder, pin)
        except DiedError as death:
            error, alone = str(death), True
        if alone:
            _child.end()
            _child = None
        files = [path for path in folder.rglob("*") if path.is_file()]
        return error, {str(file.relative_to(folder)): file.read_bytes() for file in files}


class RayCluster:
    """The machines of a Ray cluster, as a place of tasks (`bridge.batch.workers.Place`).

    Parameters
    ----------
    address : str
        ``ray``, which is the cluster that runs on this machine or that ``RAY_ADDRESS`` names, or
        else one that Ray starts on this machine; or ``ray://HOST:PORT``, the Ray Client server of a
        cluster.

    Raises
    ------
    InputError
        Ray is not installed, the cluster does not answer, or it has other versions of cosim or
        ns-3.
    """

    def __init__(self, address: str) -> None:
        try:
            import ray
        except ImportError:
            raise InputError(f"--on {address}: {MISSING}") from None
        self._ray: Any = ray
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        try:
            with warnings.catch_warnings(action="ignore"):
                ray.init(
                    None if address == "ray" else address,
                    ignore_reinit_error=True,
                    logging_level=logging.ERROR,
                    log_to_driver=False,
                )
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise InputError(f"--on {address}: {' '.join(str(error).split())}") from None
        self._do = ray.remote(do).options(scheduling_strategy="SPREAD")
        self._board: Any = (
            ray.remote(Board).options(num_cpus=0, max_restarts=-1, max_task_retries=-1).remote()
        )
        self._lock = threading.Lock()
        self._running = dict[str, Any]()
        self._count = 0
        self._ended = False
        self._check(address)

    def _check(self, address: str) -> None:
        """Check that a task would give what it gives here."""
        try:
            there = self._ray.get(self._ray.remote(versions).remote())
        except self._ray.exceptions.RayError as error:
            last = str(error).rstrip().splitlines()[-1]
            raise InputError(f"--on {address}: cosim does not start there: {last}") from None
        if there != versions():
            raise InputError(
                f"--on {address}: has {_listed(there)}, expected {_listed(versions())} as here"
            )

    @property
    def cores(self) -> int:
        """How many cores the cluster has now."""
        return max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def ask(
        self,
        task: dict[str, Any],
        folder: Path,
        on_progress: Callable[[Progress], object],
        *,
        alone: bool = False,
    ) -> str | None:
        """Let a process of Ray do a task; see `bridge.batch.workers.Place`."""
        with self._lock:
            if self._ended:
                return INTERRUPTED
            self._count += 1
            name = str(self._count)
            answer = self._running[name] = self._do.remote(task, alone, name, self._board)
        try:
            while not self._ray.wait([answer], timeout=LOOK_S)[0]:
                progress = self._ray.get(self._board.take.remote(name))
                if progress is not None:
                    on_progress(progress)
            error, files = self._ray.get(answer)
        except self._ray.exceptions.RayError as loss:
            return INTERRUPTED if self._ended else str(loss).strip().splitlines()[0]
        finally:
            with self._lock:
                del self._running[name]
        for path, content in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            write_whole(folder / path, content)
        return error if error is None else str(error)

    def close(self) -> None:
        """End the board; the cluster stays."""
        self._ray.kill(self._board)

    def interrupt(self) -> None:
        """Cancel all tasks, and start no more."""
        with self._lock:
            self._ended = True
            for answer in self._running.values():
                self._ray.cancel(answer, force=True)


def _listed(versions: dict[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in versions.items())
