"""Compare the layouts of published runs with those that a search finds.

``python -m bridge.studies.measured_training.layouts RUN …`` estimates all layouts for each run of
`runs.csv`, with its fitted efficiency and all other settings of the run, and predicts the step of
the best ones and of the published one as the study does. Each takes some minutes of CPU time; fewer
with ``--keep recompute,micro_batch`` and ``--simulate 0``.
"""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Collection, Mapping
from typing import Any

from bridge.batch.layout_search import LayoutSearch
from bridge.batch.points import run_points
from bridge.present.quantities import percent_text, scaled_text
from bridge.present.table import table, unbroken
from bridge.stopwatch import Stopwatch
from bridge.studies.measured_training.predict import points, step
from bridge.studies.measured_training.runs import Run, Table
from frontend import load_scenario
from frontend.workloads.registry import Estimate

SIMULATED = 4
"""Number of layouts that are simulated for a run, beside the published one."""


def with_layout(run: Run, changes: Mapping[str, Any]) -> Run | None:
    """Return a run with another layout; None if the table has no option for it."""
    keys = {key.removeprefix("layout."): value for key, value in changes.items()}
    options = set(run.options) - {"zero1", "full_recompute"}
    if keys["zero"] > 1 or keys["recompute"] == "selective" or "order" in keys:
        return None
    options |= {"zero1"} if keys["zero"] else set()
    options |= {"full_recompute"} if keys["recompute"] == "full" else set()
    sizes = {name: keys[name] for name in ("tp", "cp", "pp", "chunks", "micro_batch")}
    return run._replace(**sizes, options=frozenset(options))


def simulated_s(run: Run, efficiency: float) -> float | None:
    """Return the predicted step of a run [s]; None if it cannot be simulated."""
    named = points(run, efficiency)
    outcomes = run_points(list(named.values()))
    results = [outcome.result for outcome in outcomes if outcome.result is not None]
    if len(results) < len(named):
        return None
    return step(run, dict(zip(named, results, strict=True))).total


def compare(
    run: Run, efficiency: float, kept: Collection[str] = (), simulated: int = SIMULATED
) -> None:
    """Print the best layouts of a run beside the published one."""
    content = run.scenario(efficiency)
    content["workload"]["check_memory"] = True
    watch, search = Stopwatch(), LayoutSearch(load_scenario(content), kept=kept)
    best, [own] = search.fastest(), search.estimates([{}])
    cost = watch.cost()["cpu_s"]
    console = unbroken()
    console.print(
        f"\n{run.id}: {search.estimated} layouts fit, estimated in {cost:.0f} s of CPU time; "
        f"measured {run.measured_s} s\n",
        highlight=False,
    )
    rows = [_row(run, own, efficiency, "published", simulate=simulated > 0)]
    for number, one in enumerate(best):
        chosen = with_layout(run, one.changes)
        shown = run if chosen is None else chosen
        simulate = chosen is not None and number < simulated
        rows.append(_row(shown, one, efficiency, str(number + 1), simulate=simulate))
    headings = ("", "tp/cp/pp/chunks", "zero", "batch", "recompute", "memory", "MFU")
    console.print(table((*headings, "estimate", "simulated"), rows))


def _row(run: Run, one: Estimate, efficiency: float, name: str, *, simulate: bool) -> list[str]:
    keys = {key.removeprefix("layout."): value for key, value in one.changes.items()}
    sizes = (str(keys.get(size, getattr(run, size))) for size in ("tp", "cp", "pp", "chunks"))
    seconds = simulated_s(run, efficiency) if simulate else None
    return [
        name,
        "/".join(sizes),
        str(keys.get("zero", int("zero1" in run.options))),
        str(keys.get("micro_batch", run.micro_batch)),
        str(keys.get("recompute", "full" if "full_recompute" in run.options else "none")),
        scaled_text(one.memory_bytes, "B"),
        percent_text(one.mfu),
        f"{one.seconds:.2f} s",
        "" if seconds is None else f"{seconds:.2f} s",
    ]


def main() -> None:
    """Compare the layouts of some runs."""
    parser = ArgumentParser()
    parser.add_argument("runs", nargs="+")
    parser.add_argument("--keep", default="", help="keys that keep their values")
    parser.add_argument("--simulate", type=int, default=SIMULATED, help="layouts to simulate")
    given, runs = parser.parse_args(), Table()
    kept = [key for key in given.keep.split(",") if key]
    for name in given.runs:
        run = runs.runs[name]
        compare(run, runs.fits[run.group].efficiency, kept, given.simulate)


if __name__ == "__main__":
    main()
