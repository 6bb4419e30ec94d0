"""Compare the layouts of published runs with those that a search finds.

``python -m bridge.studies.measured_training.layouts RUN …`` searches for each run of `runs.csv`,
with its fitted efficiency and all other settings of the run, and prints the best layouts beside the
published one. Each takes some minutes of CPU time.
"""

from __future__ import annotations

import sys

from rich.table import Table

from bridge.batch.layout_search import LayoutSearch, Tried
from bridge.present.quantities import percent_text, scaled_text
from bridge.present.table import table, unbroken
from bridge.stopwatch import Stopwatch
from bridge.studies.measured_training.runs import Run
from bridge.studies.measured_training.runs import Table as Runs
from frontend import load_scenario


def search(run: Run, efficiency: float, simulated: int = 10) -> LayoutSearch:
    """Return the finished search for a run; layouts must fit into the memory."""
    content = run.scenario(efficiency)
    content["workload"]["check_memory"] = True
    found = LayoutSearch(load_scenario(content), simulated=simulated)
    found.run()
    return found


def layouts_table(found: LayoutSearch) -> Table:
    """Return what a search found, with the published layout among it."""
    headings = ("layout", "memory", "estimate", "step", "MFU", "")
    rows = [
        (
            _layout(one),
            scaled_text(one.estimate.memory_bytes, "B"),
            f"{one.estimate.seconds:.4g} s",
            f"{one.seconds:.4g} s",
            percent_text(one.mfu),
            "published" if one is found.start else "",
        )
        for one in found.best
    ]
    return table(headings, rows)


def _layout(one: Tried) -> str:
    return ", ".join(f"{key} {value}" for key, value in one.keys.items())


def main(names: list[str]) -> None:
    """Search for the layouts of some runs."""
    runs, console = Runs(), unbroken()
    for name in names:
        run, watch = runs.runs[name], Stopwatch()
        found = search(run, runs.fits[run.group].efficiency)
        cost = f"{watch.cost()['cpu_s']:.0f} s of CPU time without the simulations"
        text = f"{name}: {found.estimated} layouts fit, {cost}; measured {run.measured_s} s"
        console.print(f"\n{text}\n", highlight=False)
        console.print(layouts_table(found))


if __name__ == "__main__":
    main(sys.argv[1:])
