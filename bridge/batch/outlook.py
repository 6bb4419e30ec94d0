"""Says early in a long run how long it will take, and what an estimate gives in the meantime."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from bridge.batch.workers import WORKER
from bridge.errors import ResultError
from bridge.present.metrics import time_an_iteration, what_is_timed
from bridge.present.progress import Reporter, Snapshot, seconds_left
from bridge.present.quantities import seconds_text, time_text
from bridge.present.report import estimate_text
from bridge.results.result import Result
from frontend import Scenario, ScenarioError, load_scenario

#: Seconds of wall time after which the speed of a run is known well enough.
MEASURED_S = 3.0

#: Seconds of wall time that are left of a long run.
LONG_S = 30.0

#: The fabric that estimates in the meantime.
ESTIMATOR = "flow"

_NICENESS = 10


class OutlookReporter(Reporter):
    """Passes everything to another reporter, and tells what is known about a run that is long.

    The estimate is another process, which gives way to the run in time and memory. It starts only
    if the run is long, and ends with it.

    Parameters
    ----------
    reporter : Reporter
        The other reporter.
    scenario : Scenario
        What is simulated packet by packet.
    measured_s, long_s : float
        See `MEASURED_S` and `LONG_S`.
    """

    def __init__(
        self,
        reporter: Reporter,
        scenario: Scenario,
        *,
        measured_s: float = MEASURED_S,
        long_s: float = LONG_S,
    ) -> None:
        self._reporter = reporter
        self._scenario = scenario
        self._measured_s = measured_s
        self._long_s = long_s
        self._is_told = False
        self._estimate: _Estimate | None = None

    def stage(self, text: str) -> None:
        self._reporter.stage(text)

    def note(self, text: str) -> None:
        self._reporter.note(text)

    def update(self, progress: Snapshot) -> None:
        self._reporter.update(progress)
        if not self._is_told and progress.wall_s >= self._measured_s:
            self._is_told = True
            left = seconds_left(progress)
            if left is not None and left >= self._long_s:
                self.note(
                    f"Packet by packet, about {seconds_text(left)} are left, from the speed so "
                    "far. Ctrl-C keeps what is measured until then."
                )
                self._estimate = _Estimate.of(self._scenario)
        elif self._estimate is not None and self._estimate.has_ended():
            text = self._estimate.text()
            self._end()
            if text:
                self.note(text)

    def __enter__(self) -> OutlookReporter:
        self._reporter.__enter__()
        return self

    def __exit__(self, *problem: object) -> None:
        self._end()
        self._reporter.__exit__(*problem)

    def _end(self) -> None:
        if self._estimate is not None:
            self._estimate.end()
            self._estimate = None


class _Estimate:
    """A process that estimates a scenario.

    No thread waits for it: the simulator rarely lets another one run.
    """

    def __init__(self, scenario: Scenario) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="cosim-estimate-")
        place = Path(self._folder.name)
        request = {"scenario": scenario.resolved(), "folder": str(place / "result")}
        (place / "request").write_text(json.dumps(request) + "\n", encoding="utf-8")
        with (place / "request").open("rb") as requests:
            self._process = subprocess.Popen(
                [sys.executable, *WORKER],
                stdin=requests,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        with suppress(OSError):  # it has ended, or there is no /proc
            os.setpriority(os.PRIO_PROCESS, self._process.pid, _NICENESS)
            # If memory runs out, this process ends and not the run.
            Path(f"/proc/{self._process.pid}/oom_score_adj").write_text("1000", encoding="ascii")

    @classmethod
    def of(cls, scenario: Scenario) -> _Estimate | None:
        """Start to estimate a scenario; None if the estimator cannot have it."""
        try:
            return cls(load_scenario(scenario, {"fabric": ESTIMATOR, "outputs": []}))
        except (ScenarioError, OSError):
            return None

    def has_ended(self) -> bool:
        """Return whether the estimate is there, or has failed."""
        return self._process.poll() is not None

    def text(self) -> str:
        """Return what it gives, in words; an empty text if it has failed."""
        try:
            result = Result.load(Path(self._folder.name) / "result")
        except ResultError:
            return ""
        if result.status != "complete":
            return ""
        known = f" {estimate_text(result.estimate).plain}" if result.estimate else ""
        time = time_text(time_an_iteration(result))
        return f"{ESTIMATOR} says now: {what_is_timed(result)} takes {time}.{known}"

    def end(self) -> None:
        """End the process, and remove what it wrote."""
        self._process.kill()
        self._process.wait()
        self._folder.cleanup()
