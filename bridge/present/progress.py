"""What is shown while a simulation runs: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from types import TracebackType
from typing import Protocol, Self

from rich.console import Console
from rich.progress import BarColumn, SpinnerColumn, TextColumn
from rich.progress import Progress as Bar

from bridge.present.quantities import percent_text, scaled_text, seconds_text, time_text

#: Wall time between two lines where there is no terminal [s].
LINE_INTERVAL_S = 10.0


class Snapshot(Protocol):
    """How far a simulation is; what the compiled part hands out."""

    @property
    def time_ns(self) -> float:
        """Simulated time [ns]."""

    @property
    def wall_s(self) -> float:
        """Wall time since the run began [s]."""

    @property
    def events(self) -> int:
        """Events executed."""

    @property
    def delivered_bytes(self) -> int:
        """Payload delivered in order."""

    @property
    def total_bytes(self) -> int:
        """What the workload will deliver; 0 if it communicates nothing."""


class Reporter:
    """Is told the stages of a run and its progress; this one shows nothing.

    A reporter is a context manager: what it shows ends with it.
    """

    def stage(self, text: str) -> None:
        """Enter a stage, such as ``"building"``."""

    def update(self, progress: Snapshot) -> None:
        """Take a snapshot of the simulation; called several times a second."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        return None


class CallbackReporter(Reporter):
    """Hands each snapshot to a function."""

    def __init__(self, function: Callable[[Snapshot], object]) -> None:
        self._function = function

    def update(self, progress: Snapshot) -> None:
        self._function(progress)


class BarReporter(Reporter):
    """A progress bar for a terminal."""

    def __init__(self, console: Console) -> None:
        self._bar = Bar(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=None),
            TextColumn("{task.fields[details]}"),
            console=console,
            transient=True,
        )
        self._task = self._bar.add_task("", total=None, details="")

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bar.stop()

    def stage(self, text: str) -> None:
        self._bar.update(self._task, description=text, total=None, completed=0, details="")

    def update(self, progress: Snapshot) -> None:
        self._bar.update(
            self._task,
            description=time_text(progress.time_ns),
            total=progress.total_bytes or None,
            completed=progress.delivered_bytes,
            details=", ".join(details(progress)),
        )


class LineReporter(Reporter):
    """Plain lines for a log, one every `interval_s` seconds of wall time."""

    def __init__(self, console: Console, interval_s: float = LINE_INTERVAL_S) -> None:
        self._console = console
        self._interval_s = interval_s
        self._last = time.monotonic()

    def update(self, progress: Snapshot) -> None:
        now = time.monotonic()
        if now - self._last < self._interval_s:
            return
        self._last = now
        parts = [f"simulated {time_text(progress.time_ns)}", *details(progress)]
        self._console.print(", ".join(parts), soft_wrap=True, highlight=False, markup=False)


def reporter_for(console: Console) -> Reporter:
    """Choose a bar for a person at a terminal, lines for a log.

    Parameters
    ----------
    console : rich.console.Console
        Where to show it, normally on stderr.

    Returns
    -------
    Reporter
    """
    # Some continuous integration gives a terminal that nobody looks at while it moves.
    if console.is_terminal and not os.environ.get("CI"):
        return BarReporter(console)
    return LineReporter(console)


def details(progress: Snapshot) -> list[str]:
    """Say how far a run is: bytes delivered of the total, speed, wall time, time left.

    Parameters
    ----------
    progress : Snapshot
        The snapshot.

    Returns
    -------
    list of str
        What is known of these, in this order.
    """
    parts = []
    if progress.total_bytes:
        share = progress.delivered_bytes / progress.total_bytes
        parts.append(f"{percent_text(share)} of {scaled_text(progress.total_bytes, 'B')}")
    if progress.wall_s > 0:
        parts.append(f"{scaled_text(progress.events / progress.wall_s)} events/s")
    parts.append(seconds_text(progress.wall_s))
    left = seconds_left(progress)
    if left is not None:
        parts.append(f"{seconds_text(left)} left")
    return parts


def seconds_left(progress: Snapshot) -> float | None:
    """Estimate the wall time that is left, as if the bytes went on at the mean speed so far.

    Parameters
    ----------
    progress : Snapshot
        The snapshot.

    Returns
    -------
    float or None
        Seconds; None while too little is known.
    """
    if not progress.total_bytes or not progress.delivered_bytes or progress.wall_s < 1:
        return None
    missing = max(0, progress.total_bytes - progress.delivered_bytes)
    return progress.wall_s * missing / progress.delivered_bytes
