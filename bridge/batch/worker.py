"""A child process that simulates points, one after the other.

`bridge.batch.workers` starts it. Each line of stdin is a JSON object with the ``scenario`` of a
point or a ``search`` for a strategy, and the ``folder`` for the files that this makes. Lines of
stdout answer: any number of ``{"progress": …}``, then one ``{"error": …}``, which is null if the
task completed. A failure of ns-3, and an error that cosim does not expect, end the process with a
message on stderr.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from bridge.batch.best_strategy import StrategySearch
from bridge.errors import InputError
from bridge.present.progress import Snapshot
from bridge.results.errors import SimulationError
from bridge.simulator import simulate
from frontend import ScenarioError, load_scenario
from topology_gen.errors import TopologyError
from topology_gen.registry import failure_of_package


@dataclass(frozen=True)
class Progress:
    """A snapshot of a simulation in a child process; see `bridge.present.progress.Snapshot`."""

    time_ns: float
    wall_s: float
    events: int
    packets: int
    delivered_bytes: int
    total_bytes: int

    @classmethod
    def of(cls, snapshot: Snapshot) -> Progress:
        """Return a copy that can travel to another process."""
        return cls(
            snapshot.time_ns,
            snapshot.wall_s,
            snapshot.events,
            snapshot.packets,
            snapshot.delivered_bytes,
            snapshot.total_bytes,
        )


def serve(requests: IO[str], answers: IO[str]) -> None:
    """Simulate the points that the lines of `requests` ask for, until there are no more.

    Parameters
    ----------
    requests, answers : text stream
        The lines that the module describes.
    """

    def answer(document: dict[str, Any]) -> None:
        answers.write(json.dumps(document) + "\n")
        answers.flush()

    for line in requests:
        request = json.loads(line)
        _forget_peak_memory()
        error = perform(request, lambda progress: answer({"progress": asdict(progress)}))
        if error is not None and ns3_has_failed():
            print(error, file=sys.stderr)
            return
        answer({"error": error})


def perform(request: dict[str, Any], on_progress: Callable[[Progress], object]) -> str | None:
    """Do a task; return why it failed, or None."""
    try:
        if "search" in request:
            search = StrategySearch.of(request["search"])
            search.run(Path(request["folder"]) / search.file_name)
        else:
            simulate.run(
                load_scenario(request["scenario"]),
                progress=lambda snapshot: on_progress(Progress.of(snapshot)),
                out=request["folder"],
                allow_hooks=True,  # `run_points` has asked
            )
    except (ScenarioError, InputError, TopologyError, SimulationError, ImportError) as problem:
        return str(problem)
    except MemoryError:
        return "out of memory: expected a smaller scenario, or a machine with more memory"
    except Exception as problem:
        error = failure_of_package(problem)
        if error is None:
            raise
        return error
    return None


def ns3_has_failed() -> bool:
    """Return whether ns-3 has failed in this process, which then can simulate no more."""
    core = sys.modules.get("bridge.simulator.core")  # the parent process does without it
    return core is not None and bool(core.ns3_has_failed())


def _forget_peak_memory() -> None:
    """Let Linux measure the peak memory of each point anew; see proc(5), clear_refs."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def _end_with_parent() -> None:
    """Let Linux end this process when the one that started it ends, however it ends; see prctl(2).

    Otherwise it would simulate on, and keep its folder locked.
    """
    set_parent_death_signal = 1
    ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGKILL)


def main() -> None:
    """Serve the process that started this one."""
    _end_with_parent()
    # Ctrl-C and a terminal that is closed reach all processes; the parent ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    # What a hook prints must not come between the answers.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    # The parent has gone if an answer cannot be delivered.
    with suppress(BrokenPipeError):
        serve(sys.stdin, answers)


if __name__ == "__main__":
    main()
