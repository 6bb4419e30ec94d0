"""The closed form by which `cosim search` compares layouts, beside the simulated steps."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from bridge.studies.framework import Experiment, Figure, Finding, Results, Scale
from bridge.studies.measured_training.runs import Run
from bridge.studies.measured_training.steps import TABLE, percent
from frontend import load_scenario
from frontend.compiler.costs import Costs
from frontend.resolve import resolve

FIGURE = Figure("estimates")
#: Largest median difference that the choice among layouts allows, and the differences shown.
MEDIAN, SHOWN = 0.01, 0.02


def estimated_s(run: Run) -> float:
    """Return the estimated step of a run [s]."""
    efficiency = TABLE.fits[run.group].efficiency
    scenario = load_scenario(run.scenario(efficiency, run.simulated_replicas))
    resolved, work = resolve(scenario), scenario.only_work
    [found] = work.kind.estimates(work.workload, resolved.ranks, Costs(resolved), [{}])
    return found.seconds


def evaluate(results: Results, scale: Scale) -> Iterator[Finding]:
    """Compare the estimates with the stored simulations, but for those of blind runs."""
    simulated = {run: TABLE.predictions[run.id].one_number_s for run in TABLE.predicted}
    found = [(run, estimated_s(run), simulated[run]) for run in simulated if not run.blind]
    sizes = [abs(ours / step - 1) for _, ours, step in found]
    text = f"Median difference of the estimates of {len(found)} runs from their simulations."
    yield FIGURE.at_most(text, MEDIAN, median(sizes), "share")
    rows = [
        [run.id, f"{step:.4g}", f"{ours:.4g}", percent(ours / step - 1)]
        for run, ours, step in found
        if abs(ours / step - 1) > SHOWN
    ]
    title = f"Estimates that differ by more than {100 * SHOWN:.0f} %; seconds of a step"
    yield FIGURE.table(title, ("run", "simulated", "estimated", "difference"), rows)


NOTES = """\
`cosim search` [compares layouts](parallelization.md#layouts-of-language-models) by an estimate. It
takes 0.01 to 0.1 s of CPU time for a run here.
"""

EXPERIMENT = Experiment("Estimates", (FIGURE,), evaluate, notes=NOTES)
