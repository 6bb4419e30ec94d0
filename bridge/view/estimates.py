"""What a run would take with other keys, by an estimate without packets."""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from bridge.batch.workers import Child, DiedError
from bridge.errors import InputError
from bridge.results.result import Result
from bridge.simulator.simulate import load, require_allowed_hook
from frontend import Scenario
from frontend.errors import one_line
from frontend.loading.overrides import Override, split

LIMIT_S = 60.0
"""An estimate that takes longer is given up."""


@dataclass(frozen=True)
class Estimates:
    """Two estimates: of the run as it is, and with changes."""

    before: Result
    after: Result


class Estimator:
    """Estimates runs, one at a time, and remembers what runs take as they are.

    A child process does it, as ns-3 ends its process when it meets an error. It stays for the next
    estimate, because starting one takes most of a second. Linux ends a child with the thread that
    started it, so one thread does everything.
    """

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1)
        self._child = self._thread.submit(Child).result()
        self._known: dict[tuple[Path, int, str], Result] = {}

    def estimates(self, file: Path, changes: Sequence[str], fabric: str) -> Estimates:
        """Return what a result would be without packets, as it is and with changes.

        Parameters
        ----------
        file : Path
            A ``result.json``.
        changes : sequence of str
            Keys with values, as ``--set`` takes them; without any, both estimates are the same.
        fabric : str
            An estimator.

        Raises
        ------
        InputError
            A simulation fails, or takes too long.
        frontend.ScenarioError
            A key or value is wrong.
        """
        # What the run has written besides its result, such as time series, needs packets.
        fixed = [Override("fabric", fabric, "fabric"), Override("outputs", "[]", "outputs")]
        own = [split(text, "--set") for text in changes]
        changed = load(file, [*fixed, *own])
        require_allowed_hook(changed, False)
        key = (file, file.stat().st_mtime_ns, fabric)
        before = self._known.get(key)
        if before is None:
            before = self._thread.submit(self._run, load(file, fixed)).result()
            self._known[key] = before
        after = self._thread.submit(self._run, changed).result() if own else before
        return Estimates(before, after)

    def _run(self, scenario: Scenario) -> Result:
        timer = threading.Timer(LIMIT_S, self._child.terminate)
        begin = time.monotonic()
        timer.start()
        try:
            with tempfile.TemporaryDirectory(prefix="cosim-estimate-") as folder:
                task = {"scenario": scenario.resolved()}
                error = self._child.ask(task, Path(folder), lambda _: None)
                if error is not None:
                    raise InputError(f"the estimate failed: {one_line(error)}")
                return Result.load(Path(folder))
        except DiedError as death:
            self._child.end()
            self._child = Child()
            if time.monotonic() - begin >= LIMIT_S:
                raise InputError(
                    f"the estimate takes more than {LIMIT_S:.0f} s, so use `cosim run`"
                ) from None
            raise InputError(f"the estimate failed: {one_line(str(death))}") from None
        finally:
            timer.cancel()

    def close(self) -> None:
        """End the child process."""
        self._thread.shutdown(cancel_futures=True)
        self._child.end()
