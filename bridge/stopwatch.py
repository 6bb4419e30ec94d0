"""Measures what a run costs: wall time, CPU time and memory."""

from __future__ import annotations

import resource
import sys
import time
from pathlib import Path
from typing import TypedDict


class Cost(TypedDict):
    """The three values that differ between two runs of the same scenario."""

    wall_s: float
    cpu_s: float
    peak_rss_bytes: int


class Stopwatch:
    """A watch that starts when it is made."""

    def __init__(self) -> None:
        self._wall = time.perf_counter()
        self._cpu = time.process_time()

    def cost(self) -> Cost:
        """Return the cost so far.

        Returns
        -------
        Cost
            Seconds since the watch was made, and the process's peak resident memory [bytes].
        """
        return {
            "wall_s": round(time.perf_counter() - self._wall, 3),
            "cpu_s": round(time.process_time() - self._cpu, 3),
            "peak_rss_bytes": _peak_rss_bytes(),
        }


def _peak_rss_bytes() -> int:
    """Return the peak resident memory of this program in bytes.

    getrusage does not reset its value when a process starts another program, so a small run that a
    large sweep starts would report the sweep's memory. Linux's /proc has the right number.
    """
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text(encoding="utf-8").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
