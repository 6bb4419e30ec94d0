"""What a run costs: wall time, CPU time and memory."""

from __future__ import annotations

import resource
import sys
import time
from pathlib import Path
from typing import TypedDict


class Cost(TypedDict):
    """The three values of a result that differ between two runs."""

    wall_s: float
    cpu_s: float
    peak_rss_bytes: int


class Stopwatch:
    """Counts from its making."""

    def __init__(self) -> None:
        self._wall = time.perf_counter()
        self._cpu = time.process_time()

    def cost(self) -> Cost:
        """Read the watch.

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
    """Peak resident memory of this program [bytes].

    getrusage's value is not reset when a process starts another program: a small run started by a
    large sweep would report the sweep's memory. Linux keeps the right number elsewhere.
    """
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text(encoding="utf-8").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
