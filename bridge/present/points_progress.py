"""Shows which points of a sweep run: bars on a terminal, lines now and then elsewhere."""

from __future__ import annotations

import threading
import time
from contextlib import AbstractContextManager

from rich.console import Console
from rich.progress import BarColumn, TaskID, TextColumn
from rich.progress import Progress as Bar
from rich.table import Column

from bridge.present.progress import (
    LINE_INTERVAL_S,
    LiveBar,
    Snapshot,
    details,
    is_watched,
    seconds_left,
)
from bridge.present.quantities import percent_text, seconds_text, time_text


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
        self._bar.console.print(line, soft_wrap=True, highlight=False, markup=False)


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
        texts = [f"simulated {time_text(progress.time_ns)}", *details(progress)]
        self._print(f"{name}: {', '.join(texts)}")

    def done(self, name: str, line: str) -> None:
        """Print the line."""
        with self._lock:
            self._next.pop(name, None)
        self._print(line)

    def _print(self, line: str) -> None:
        self._console.print(line, soft_wrap=True, highlight=False, markup=False)


def points_display(console: Console, total: int) -> PointsDisplay:
    """Return a display: bars if the console is a terminal, lines for a log otherwise.

    Parameters
    ----------
    console : rich.console.Console
        The console to write to, normally on stderr.
    total : int
        Number of points.

    Returns
    -------
    PointsDisplay
    """
    return PointBars(console, total) if is_watched(console) else PointLines(console)


def _brief(progress: Snapshot) -> list[str]:
    """Return the texts that have room beside a bar: simulated time, share, time left."""
    texts = [time_text(progress.time_ns)]
    if progress.total_bytes:
        texts.append(percent_text(progress.delivered_bytes / progress.total_bytes))
    left = seconds_left(progress)
    if left is not None:
        texts.append(f"{seconds_text(left)} left")
    return texts
