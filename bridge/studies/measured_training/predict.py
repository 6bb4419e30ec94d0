"""Predict the step of a run from few simulated micro-batches, and split it.

In the steady state of a pipeline, each further micro-batch takes as long as the one before, and no
rank waits for another replica. So the step of a long iteration is that of a short one with all
replicas, plus a multiple of what a micro-batch adds to one replica. `cosim run` of the whole
iteration gives the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from bridge.batch.points import Point
from bridge.present.pictures.waterfall import AGAIN, PEAK, SLOWER, UPDATE, waterfall
from bridge.results.result import Result
from bridge.studies.measured_training.runs import CHIPS, Prediction, Run, Table
from frontend import load_scenario
from frontend.models.cards import Card
from frontend.models.transformer import token_flop
from frontend.schema.compute import ACCELERATORS

PARTS = ("compute", "tp", "cp", "pp", "dp", "optimizer", "rest")
"""What a step is spent on: computation, exposed communication of each dimension (pp: the bubble
and what stages wait for messages), the update, and the wait for slower ranks."""

_NAMES = {
    "compute": (PEAK, SLOWER, AGAIN),
    "tp": ("tensor parallel",),
    "cp": ("context parallel",),
    "pp": ("pipeline parallel",),
    "dp": ("data parallel",),
    "optimizer": (UPDATE,),
}
"""The parts of a result that a part here has; all others are the rest."""


class Step(NamedTuple):
    """A step and its parts in seconds, by the names of `PARTS`."""

    total: float
    parts: Mapping[str, float]


def points(run: Run, efficiency: float, shapes: bool = False) -> dict[str, Point]:
    """Return the simulations of a run: whole, or its start, and a short and a long replica."""
    first = run.start

    def point(replicas: int, micro_batches: int) -> Point:
        return _point(run, efficiency, replicas, micro_batches, shapes)

    if run.micro_batches <= first + run.pp:
        return {"whole": point(run.simulated_replicas, run.micro_batches)}
    least = max(run.ep, 1 if run.stages > 1 else 2)  # a simulation needs two ranks
    return {
        "start": point(run.simulated_replicas, first),
        "short": point(least, first),
        "long": point(least, first + run.pp),
    }


def _point(run: Run, efficiency: float, replicas: int, micro_batches: int, shapes: bool) -> Point:
    kernels = "shapes" if shapes else "roofline"
    layout = f"tp {run.tp} cp {run.cp} pp {run.pp} chunks {run.chunks} batch {run.micro_batch}"
    name = (
        f"{run.model} {run.sequence} on {run.chip} {run.precision} {kernels} {efficiency:.6g} "
        f"{layout} "
        f"{' '.join(sorted(run.options))} {replicas} x {micro_batches}"
    ).replace(":", "-")
    scenario = run.scenario(efficiency, replicas, micro_batches, shapes=shapes)
    # The same simulation can belong to several runs.
    del scenario["description"]
    return Point(name, load_scenario(scenario | {"name": "step"}))


def step(run: Run, results: Mapping[str, Result]) -> Step:
    """Return the step of a run from the results of its `points`."""
    if "whole" in results:
        return _step(results["whole"])
    start, short, long = (_step(results[name]) for name in ("start", "short", "long"))
    more = (run.micro_batches - run.start) / run.pp

    def further(first: float, less: float, most: float) -> float:
        return first + more * (most - less)

    return Step(
        further(start.total, short.total, long.total),
        {part: further(start.parts[part], short.parts[part], long.parts[part]) for part in PARTS},
    )


def _step(result: Result) -> Step:
    spent = waterfall(result)
    parts = {part: sum(spent.pop(name, 0.0) for name in _NAMES[part]) for part in _NAMES}
    parts["rest"] = sum(spent.values())
    return Step(result.iterations[0].time_ns / 1e9, {part: parts[part] / 1e9 for part in PARTS})


def prediction(run: Run, simulated: Step, table: Table) -> Prediction:
    """Return the prediction of a run from its simulated step."""
    fit, first = table.fits[run.group], table.groups[run.group][0]
    two = None
    if fit.slower is not None and fit.fixed_s is not None:
        two = fit.slower * simulated.total + fit.fixed_s
    return Prediction(run.id, simulated.total, two, textbook_s(run, first))


def textbook_s(run: Run, fitted: Run) -> float:
    """Return the step by the formula of the pipeline's bubble, the baseline to beat.

    The share of the peak that GPUs reach while they compute is that of the run that is fitted. A
    step is FLOP / peak / share · (1 + (p - 1) / (v · m)), with p stages, v chunks and m
    micro-batches.
    """
    assert fitted.measured_s is not None
    return fitted.measured_s * _ideal_s(run) / _ideal_s(fitted)


def _ideal_s(run: Run) -> float:
    chip = CHIPS[run.chip]
    peak = ACCELERATORS[chip.accelerator].peak_tflops(run.precision)
    assert peak
    flop = run.global_batch * run.sequence * token_flop(Card(**run.card), run.sequence)
    bubble = (run.pp - 1) / (run.chunks * run.micro_batches)
    return flop / (run.gpus * peak * 1e12) * (1 + bubble)
