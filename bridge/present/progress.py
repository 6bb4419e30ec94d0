"""Shows the progress of a simulation: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol, Self

from rich.console import Console
from rich.progress import BarColumn, SpinnerColumn, TaskID, TextColumn
from rich.progress import Progress as Bar
from rich.table import Column

from bridge.present.quantities import percent_text, scaled_text, seconds_text, time_text

#: Seconds of wall time between two lines of progress if there is no terminal.
LINE_INTERVAL_S = 10.0

#: Columns of a terminal that the bar and the simulated time take.
BESIDE_DETAILS = 28


class Snapshot(Protocol):
    """How far a simulation is, as the compiled module reports it."""

    @property
    def time_ns(self) -> float:
        """Simulated time [ns]."""

    @property
    def wall_s(self) -> float:
        """Wall time since the run began [s]."""

    @property
    def events(self) -> int:
        """Number of executed events."""

    @property
    def packets(self) -> int:
        """Number of packets sent, ACKs included; 0 if the fabric simulates none."""

    @property
    def delivered_bytes(self) -> int:
        """Payload bytes delivered in order so far, also of messages that are under way."""

    @property
    def total_bytes(self) -> int:
        """Payload bytes that are delivered in all; 0 if it is not known, as with other traffic."""


class Reporter:
    """Receives the stages and the progress of a run; this base class shows nothing.

    A reporter is a context manager; leaving it removes what it shows.
    """

    def stage(self, text: str) -> None:
        """Enter a stage, such as ``"building"``."""

    def update(self, progress: Snapshot) -> None:
        """Show a snapshot of the simulation; called several times a second."""

    def note(self, text: str) -> None:
        """Show a sentence that stays."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        """Remove what is shown."""


class CallbackReporter(Reporter):
    """Passes each snapshot to a function."""

    def __init__(self, function: Callable[[Snapshot], object]) -> None:
        self._function = function

    def update(self, progress: Snapshot) -> None:
        self._function(progress)


class LiveBar:
    """A context manager that shows a progress bar; leaving it removes the bar."""

    def __init__(self, bar: Bar) -> None:
        self._bar = bar

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *problem: object) -> None:
        self._bar.stop()


class BarReporter(LiveBar, Reporter):
    """A progress bar for a terminal."""

    def __init__(self, console: Console) -> None:
        super().__init__(
            Bar(
                SpinnerColumn(),
                TextColumn("{task.description}"),
                BarColumn(bar_width=None),
                TextColumn("{task.fields[details]}"),
                console=console,
                transient=True,
            )
        )
        self._task = self._bar.add_task("", total=None, details="")

    def stage(self, text: str) -> None:
        self._bar.update(self._task, description=text, total=None, completed=0, details="")

    def update(self, progress: Snapshot) -> None:
        self._bar.update(
            self._task,
            description=time_text(progress.time_ns),
            total=progress.total_bytes or None,
            completed=progress.delivered_bytes,
            details=_fitting(details(progress), self._bar.console.width - BESIDE_DETAILS),
        )

    def note(self, text: str) -> None:
        _print(self._bar.console, text)


class LineReporter(Reporter):
    """Prints plain lines for a log, one every `interval_s` seconds of wall time."""

    def __init__(self, console: Console, interval_s: float = LINE_INTERVAL_S) -> None:
        self._console = console
        self._interval_s = interval_s
        self._last = time.monotonic()

    def update(self, progress: Snapshot) -> None:
        now = time.monotonic()
        if now - self._last < self._interval_s:
            return
        self._last = now
        _print(self._console, _line(progress))

    def note(self, text: str) -> None:
        _print(self._console, text)


def reporter_for(console: Console) -> Reporter:
    """Return a reporter: a bar if the console is a terminal, lines for a log otherwise.

    Parameters
    ----------
    console : rich.console.Console
        The console to write to, normally on stderr.
    """
    return BarReporter(console) if is_watched(console) else LineReporter(console)


def is_watched(console: Console) -> bool:
    """Return whether a console is a terminal that somebody may look at."""
    # Some CI systems provide a terminal, but keep only its final text.
    return console.is_terminal and not os.environ.get("CI")


def details(progress: Snapshot) -> list[str]:
    """Return the progress as texts: bytes delivered, speed, wall time, time left.

    Parameters
    ----------
    progress : Snapshot
        The snapshot.

    Returns
    -------
    list of str
        Those of the texts that are known, in this order.
    """
    parts = []
    if progress.total_bytes:
        share = progress.delivered_bytes / progress.total_bytes
        parts.append(f"{percent_text(share)} of {scaled_text(progress.total_bytes, 'B')}")
    if progress.wall_s > 0:
        parts.append(_speed(progress))
    return [*parts, seconds_text(progress.wall_s), *_left(progress)]


def _line(progress: Snapshot) -> str:
    """Return the progress as a line for a log."""
    return ", ".join([f"simulated {time_text(progress.time_ns)}", *details(progress)])


def _print(console: Console, line: str) -> None:
    """Print a line as it is, however narrow the console is."""
    console.print(line, soft_wrap=True, highlight=False, markup=False)


def _speed(progress: Snapshot) -> str:
    """Return what is simulated in a second of wall time: packets, or the bytes of messages."""
    if progress.packets or not progress.delivered_bytes:
        return f"{scaled_text(progress.packets / progress.wall_s)} packets/s"
    return f"{scaled_text(progress.delivered_bytes / progress.wall_s, 'B')} of messages/s"


def _fitting(parts: list[str], width: int) -> str:
    """Return the texts that fit a width; the first and the last (time left) stay longest."""
    while len(parts) > 1 and len(", ".join(parts)) > width:
        parts = [*parts[:-2], parts[-1]]
    return ", ".join(parts)


def _left(progress: Snapshot) -> list[str]:
    """Return the text of the time that is left, if it is known."""
    left = seconds_left(progress)
    return [] if left is None else [f"{seconds_text(left)} left"]


def seconds_left(progress: Snapshot) -> float | None:
    """Estimate the wall time that is left, from the mean delivery speed so far.

    Parameters
    ----------
    progress : Snapshot
        The snapshot.

    Returns
    -------
    float or None
        Seconds; None in the first second and before the first delivery.
    """
    if not progress.total_bytes or not progress.delivered_bytes or progress.wall_s < 1:
        return None
    missing = max(0, progress.total_bytes - progress.delivered_bytes)
    return progress.wall_s * missing / progress.delivered_bytes


class PointsDisplay(AbstractContextManager["PointsDisplay"]):
    """Receives the progress of many points; this base class shows nothing.

    A display is a context manager; leaving it removes what it shows.
    """

    def running(self, name: str, progress: Snapshot) -> None:
        """Show how far a point is; called from several threads, several times a second."""

    def done(self, name: str, line: str) -> None:
        """Show a line for a point that has ended."""

    def __exit__(self, *problem: object) -> None:
        """Remove what is shown."""


class PointBars(LiveBar, PointsDisplay):
    """A line for each point that has ended, and below them a bar for each that runs.

    Parameters
    ----------
    console : rich.console.Console
        A terminal.
    total : int
        Number of points.
    """

    def __init__(self, console: Console, total: int) -> None:
        super().__init__(
            Bar(
                TextColumn("{task.description}", table_column=Column(ratio=3, no_wrap=True)),
                BarColumn(bar_width=None, table_column=Column(ratio=2)),
                TextColumn("{task.fields[details]}", table_column=Column(no_wrap=True)),
                console=console,
                transient=True,
                expand=True,
            )
        )
        self._lock = threading.Lock()
        self._tasks: dict[str, TaskID] = {}
        self._all = self._bar.add_task("all points", total=total, details=f"0 of {total}")
        self._total = total
        self._ended = 0

    def running(self, name: str, progress: Snapshot) -> None:
        """Show the bar of a point."""
        with self._lock:
            if name not in self._tasks:
                self._tasks[name] = self._bar.add_task(name, total=None, details="")
            self._bar.update(
                self._tasks[name],
                total=progress.total_bytes or None,
                completed=progress.delivered_bytes,
                details=", ".join(_brief(progress)),
            )

    def done(self, name: str, line: str) -> None:
        """Replace the bar of a point by a line."""
        with self._lock:
            if name in self._tasks:
                self._bar.remove_task(self._tasks.pop(name))
            self._ended += 1
            self._bar.update(
                self._all, completed=self._ended, details=f"{self._ended} of {self._total}"
            )
        _print(self._bar.console, line)


class PointLines(PointsDisplay):
    """A line for each point that has ended, and now and then one for each that runs.

    Parameters
    ----------
    console : rich.console.Console
        The console to write to.
    interval_s : float
        Seconds of wall time between two lines for the same point.
    """

    def __init__(self, console: Console, interval_s: float = LINE_INTERVAL_S) -> None:
        self._console = console
        self._interval_s = interval_s
        self._lock = threading.Lock()
        self._next: dict[str, float] = {}

    def running(self, name: str, progress: Snapshot) -> None:
        """Print a line if the last one for this point is old."""
        now = time.monotonic()
        with self._lock:
            if now < self._next.setdefault(name, now + self._interval_s):
                return
            self._next[name] = now + self._interval_s
        _print(self._console, f"{name}: {_line(progress)}")

    def done(self, name: str, line: str) -> None:
        """Print the line."""
        with self._lock:
            self._next.pop(name, None)
        _print(self._console, line)


def points_display(console: Console, total: int) -> PointsDisplay:
    """Return a display: bars if the console is a terminal, lines for a log otherwise.

    Parameters
    ----------
    console : rich.console.Console
        The console to write to, normally on stderr.
    total : int
        Number of points.
    """
    return PointBars(console, total) if is_watched(console) else PointLines(console)


def _brief(progress: Snapshot) -> list[str]:
    """Return the texts that have room beside a bar: simulated time, share, time left."""
    texts = [time_text(progress.time_ns)]
    if progress.total_bytes:
        texts.append(percent_text(progress.delivered_bytes / progress.total_bytes))
    return [*texts, *_left(progress)]
