"""The simulations with which ``cosim search`` checks what it found, and a table of times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bridge.batch.places import place_at
from bridge.batch.points import Point, run_points
from bridge.cli.points import require_all
from bridge.present.progress import Reporter, reporter_for
from bridge.present.quantities import time_text
from bridge.present.table import table
from bridge.results.result import Result
from bridge.simulator import simulate
from frontend import Scenario, load_scenario

CHECKS_NAME = "checks"
"""The folder of the simulations that ran elsewhere, in the folder of the search."""

_NAMES = {"start": "start, estimated", "estimate": "found, estimated"}


def checked(
    best: Scenario,
    fabrics: Sequence[str],
    address: str | None,
    folder: Path | None,
    *,
    quiet: bool,
    allow_hooks: bool,
) -> dict[str, float]:
    """Simulate what was found on some fabrics, and return the times of an iteration [s].

    Parameters
    ----------
    best : Scenario
        What the search found.
    fabrics : sequence of str
        The fabrics; they are the keys of the times.
    address : str, optional
        Where the simulations run at the same time, as for `bridge.batch.places.place_at`; by
        default, they run here, one after the other.
    folder : Path, optional
        The folder of the search. It keeps the results from elsewhere for the next time.
    quiet : bool
        Whether to show no progress.
    allow_hooks : bool
        Whether to run the Python file that the scenario names.
    """
    if address is None:
        results = [_here(best, fabric, quiet, allow_hooks) for fabric in fabrics]
    else:
        results = _elsewhere(address, best, fabrics, folder, allow_hooks)
    pairs = zip(fabrics, results, strict=True)
    return {fabric: result.iterations[0].time_ns / 1e9 for fabric, result in pairs}


def _here(best: Scenario, fabric: str, quiet: bool, allow_hooks: bool) -> Result:
    reporter = Reporter() if quiet else reporter_for(Console(stderr=True))
    return simulate.run(best, {"fabric": fabric}, progress=reporter, allow_hooks=allow_hooks)


def _elsewhere(
    address: str, best: Scenario, fabrics: Sequence[str], folder: Path | None, allow_hooks: bool
) -> list[Result]:
    points = [Point(fabric, load_scenario(best, {"fabric": fabric})) for fabric in fabrics]
    kept = None if folder is None else folder / CHECKS_NAME
    outcomes = run_points(points, place=place_at(address), folder=kept, allow_hooks=allow_hooks)
    require_all(outcomes)
    return [outcome.result for outcome in outcomes if outcome.result is not None]


def times_table(seconds: Mapping[str, float]) -> Table:
    """Return the estimated and the simulated times of an iteration [s] as a table."""
    rows = [(_NAMES.get(key, key), time_text(1e9 * time)) for key, time in seconds.items()]
    return table(["iteration", "time"], rows)
