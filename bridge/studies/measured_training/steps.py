"""The steps of published runs: measured, predicted, and by the textbook's formula."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

from bridge.studies.framework import Experiment, Figure, Finding, Points, Results, Scale
from bridge.studies.framework.figure import Panel
from bridge.studies.measured_training.predict import PARTS, Step, points, prediction, step
from bridge.studies.measured_training.runs import Prediction, Run, Table

FIGURE = Figure("steps")
PARTS_FIGURE = Figure("parts")
TABLE = Table()

#: Most ranks times micro-batches that the small scale simulates of a run.
SMALL = 1500
#: A prediction is as stored within this factor, as it is stored with five digits.
AS_STORED = 1e-4


def chosen(scale: Scale) -> list[Run]:
    """Return the runs of a scale."""
    runs = list(TABLE.runs.values())
    if scale == "full":
        return runs
    return [run for run in runs if run.gpus * min(run.micro_batches, 2 * run.pp) <= SMALL]


def study_points(folder: Path, scale: Scale) -> Points:
    """Return the simulations of the runs; the keys are a run's id and the name of a part."""
    return {
        (run.id, name): point
        for run in chosen(scale)
        for name, point in points(run, TABLE.fits[run.group].efficiency).items()
    }


def steps(results: Results, scale: Scale) -> dict[str, Step]:
    """Return the simulated steps of the runs by their ids."""
    return {
        run.id: step(run, {name: results[run.id, name] for name in points(run, 1.0)})
        for run in chosen(scale)
    }


def error(run: Run, seconds: float | None) -> float | None:
    """Return the relative error of a step; None without a measurement or a prediction."""
    if run.measured_s is None or seconds is None:
        return None
    return seconds / run.measured_s - 1


def percent(value: float | None) -> str:
    """Return an error as text."""
    return "" if value is None else f"{100 * value:+.1f} %"


def role(run: Run, fixed: bool = False) -> str:
    """Return whether a run was fitted, predicted, or predicted blind."""
    fit = TABLE.fits[run.group]
    if run.id == fit.run or (fixed and run.id == fit.second_run):
        return "fitted"
    return "blind" if run.blind else "predicted"


def evaluate(results: Results, scale: Scale) -> Iterator[Finding]:
    """Compare the steps, and list every error."""
    runs, simulated = chosen(scale), steps(results, scale)
    now = {run.id: prediction(run, simulated[run.id], TABLE) for run in runs}
    shown = {run.id: TABLE.predictions[run.id] if run.blind else now[run.id] for run in runs}
    yield from _claims(runs, now, shown)
    yield _listing(runs, shown)
    yield from _summaries(runs, shown)
    yield _chart(runs, shown)
    rows = [_parts(run, simulated[run.id]) for run in runs]
    yield PARTS_FIGURE.table("What a step is spent on", ("run", "step", *PARTS), rows)


def _claims(
    runs: Sequence[Run], now: dict[str, Prediction], shown: dict[str, Prediction]
) -> Iterator[Finding]:
    stored = TABLE.predictions
    same = [
        abs(now[run.id].one_number_s / stored[run.id].one_number_s - 1) <= AS_STORED
        for run in runs
        if not run.blind
    ]
    yield FIGURE.every("The predictions are those that are stored.", same, "runs")
    larger = [run for run in runs if role(run) != "fitted" and _same_model(run)]
    errors = _sizes(larger, shown)
    if errors:
        text = f"{{}} error of the {len(errors)} runs of a model at a larger scale than the fit."
        yield FIGURE.at_most(text.format("Median"), 0.02, median(errors), "share")
        yield FIGURE.at_most(text.format("Largest"), 0.06, max(errors), "share")


def _same_model(run: Run) -> bool:
    first = TABLE.groups[run.group][0]
    return run.model == first.model and run.gpus > first.gpus


def _sizes(
    runs: Sequence[Run], shown: dict[str, Prediction], kind: str = "one_number_s"
) -> list[float]:
    found = (error(run, getattr(shown[run.id], kind)) for run in runs)
    return [abs(one) for one in found if one is not None]


def _listing(runs: Sequence[Run], shown: dict[str, Prediction]) -> Finding:
    rows = []
    for run in runs:
        one = shown[run.id]
        layout = f"{run.tp}/{run.cp}/{run.pp}/{run.chunks}"
        measured = "" if run.measured_s is None else f"{run.measured_s:.4g}"
        rows.append(
            [
                run.id,
                str(run.gpus),
                layout,
                str(run.micro_batches),
                measured,
                role(run),
                f"{one.one_number_s:.4g}",
                percent(error(run, one.one_number_s)),
                "" if one.two_numbers_s is None else f"{one.two_numbers_s:.4g}",
                percent(error(run, one.two_numbers_s)),
                percent(error(run, one.textbook_s)),
            ]
        )
    headings = ["run", "GPUs", "tp/cp/pp/chunks", "micro-batches", "measured"]
    headings += ["", "one number", "error", "two numbers", "error", "textbook: error"]
    return FIGURE.table("Seconds of a step", headings, rows)


def _summaries(runs: Sequence[Run], shown: dict[str, Prediction]) -> Iterator[Finding]:
    rows = []
    for group, members in TABLE.groups.items():
        own = [run for run in members if run in runs and role(run) != "fitted"]
        errors = {kind: _sizes(own, shown, kind) for kind in Prediction._fields[1:]}
        if errors["one_number_s"]:
            fit = TABLE.fits[group]
            cells = [
                f"{100 * median(each):.1f} … {100 * max(each):.1f} %" if each else ""
                for each in errors.values()
            ]
            fixed = "" if fit.fixed_s is None else f"{fit.fixed_s:.3f} s"
            rows.append([group, f"{fit.efficiency:.4g}", fixed, str(len(own)), *cells])
    headings = ("group", "efficiency", "fixed time", "predicted runs")
    kinds = ("one number", "two numbers", "textbook")
    yield FIGURE.table("Median and largest error of each group", (*headings, *kinds), rows)


def _chart(runs: Sequence[Run], shown: dict[str, Prediction]) -> Finding:
    ordered = sorted(runs, key=lambda run: (run.gpus, run.id))
    ordered = [run for run in ordered if run.measured_s is not None]
    percents = [100 * (error(run, shown[run.id].one_number_s) or 0) for run in ordered]
    series: dict[str, list[float | None]] = {
        "textbook": [100 * (error(run, shown[run.id].textbook_s) or 0) for run in ordered]
    }
    for name in ("fitted", "predicted", "blind"):
        series[name] = [
            value if role(run) == name else None
            for run, value in zip(ordered, percents, strict=True)
        ]
    labels = [f"{run.id} ({run.gpus})" for run in ordered]
    title = "Error of the predicted step, by the number of GPUs"
    return FIGURE.chart(title, labels, [Panel("error of the step [%]", series, "points")])


def _parts(run: Run, simulated: Step) -> list[str]:
    shares = (100 * simulated.parts[part] / simulated.total for part in PARTS)
    return [run.id, f"{simulated.total:.4g} s", *(f"{share:.1f} %" for share in shares)]


EXPERIMENT = Experiment("Steps of published runs", (FIGURE, PARTS_FIGURE), evaluate, study_points)
