"""Predictions with kernels by their shape that were stored before the measurement was read.

``python -m bridge.studies.measured_training.blind [WORD …]`` predicts the runs without a
measurement that `blind.csv` lacks and whose ids contain a word, or all of them: without a fit, and
with the number of their group if it has one. What is stored never changes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from functools import partial
from statistics import mean, median
from typing import NamedTuple

from bridge.studies.framework import Experiment, Figure, Finding, Results, Scale
from bridge.studies.measured_training import dlrm
from bridge.studies.measured_training.runs import FOLDER, Run, Table, rows, write_numbers
from bridge.studies.measured_training.shapes import MEAN_WITHOUT_FIT, MEDIAN, Simulations, stored
from bridge.studies.measured_training.steps import TABLE, error, percent, span

FILE = FOLDER / "blind.csv"
ROUND = "training_results_v6.0"
BRIDGE = "NVIDIA-NeMo/Megatron-Bridge"


class Blind(NamedTuple):
    """A row of `blind.csv`: seconds."""

    id: str
    one_number_s: float | None
    """With the number of its group, if that was known from an earlier run or a smaller one."""
    no_fit_s: float


def predicted() -> dict[str, Blind]:
    """Return the stored predictions."""
    return {
        row["id"]: Blind(
            row["id"],
            float(row["one_number_s"]) if row["one_number_s"] else None,
            float(row["no_fit_s"]),
        )
        for row in rows(FILE)
    }


class Compared(NamedTuple):
    """A measured run, and the errors of its predictions."""

    id: str
    kind: tuple[str, ...]
    """Its model, chip, precision and software."""
    gpus: int
    measured_s: float
    flat: float | None
    """With one efficiency for all kernels, from the same runs as `one_number`."""
    one_number: float | None
    no_fit: float | None
    one_number_now: float | None
    """The same by this version of the model, which did not predict it blind."""
    no_fit_now: float | None


_KINDS = ("model", "chip", "precision", "software")
_ERRORS = ("flat", "one_number", "no_fit", "one_number_now", "no_fit_now")
_HEADINGS = (
    *("one efficiency", "shapes, one number", "shapes, no fit"),
    *("one number, this version", "no fit, this version"),
)


def compared(source: str) -> list[Compared]:
    """Return the measured runs of a repository whose predictions are stored here."""
    found, known = [], stored()
    for one in predicted().values():
        run = TABLE.runs.get(one.id) or dlrm.TABLE.runs.get(one.id)
        if run is None or source not in run.source or run.measured_s is None:
            continue
        flat_s, kind = None, ("dlrm_dcnv2", run.chip, "fp16", "hugectr")
        if isinstance(run, Run):
            kind = _kind(run)
            flat_s = TABLE.predictions[one.id].one_number_s if run.blind else None
        now = known.get(one.id)
        number_s, no_fit_s = (None, None) if now is None else (now.one_number_s, now.no_fit_s)
        if one.one_number_s is None:  # the run whose step gives the number of its group
            number_s = None
        seconds = (flat_s, one.one_number_s, one.no_fit_s, number_s, no_fit_s)
        errors = [error(run, each) for each in seconds]
        found.append(Compared(one.id, kind, run.gpus, run.measured_s, *errors))
    return found


def _kind(run: Run) -> tuple[str, str, str, str]:
    lora = " lora" if "lora" in run.options else ""
    mx = " mx" if "mx_scaling" in run.options else ""
    return run.model + lora, run.chip, run.precision + mx, run.group.split()[-1]


def _evaluate(
    figure: Figure, name: str, source: str, results: Results, scale: Scale
) -> Iterator[Finding]:
    """Compare the stored predictions of a repository with what was measured."""
    runs = compared(source)
    for kind, how, limit, what in (
        ("one_number", median, MEDIAN, "Median error of {} blind runs of {}, shapes, one number"),
        ("no_fit", mean, MEAN_WITHOUT_FIT, "Mean error of {} blind runs of {} without any fit"),
    ):
        for when, ending in (("", "."), ("_now", ", by this version.")):
            sizes = _sizes(runs, kind + when)
            text = what.format(len(sizes), name) + ending
            yield figure.at_most(text, limit, how(sizes), "share")
    cells = []
    for place, by in enumerate(_KINDS):
        for each in dict.fromkeys(run.kind[place] for run in runs):
            own = [run for run in runs if run.kind[place] == each]
            spans = (span(_sizes(own, kind)) for kind in _ERRORS)
            cells.append([by, each, str(len(own)), *spans])
    title = f"Median and largest error of the blind runs of {name}"
    yield figure.table(title, ("", "", "runs", *_HEADINGS), cells)
    cells = [
        [run.id, str(run.gpus), f"{run.measured_s:.4g}"]
        + [percent(getattr(run, kind)) for kind in _ERRORS]
        for run in runs
    ]
    yield figure.table(f"Blind runs of {name}", ("run", "GPUs", "measured", *_HEADINGS), cells)


def _sizes(runs: Sequence[Compared], kind: str) -> list[float]:
    found = (getattr(run, kind) for run in runs)
    return [abs(one) for one in found if one is not None]


def chapter(title: str, name: str, source: str, notes: str) -> Experiment:
    """Return the chapter of the blind runs of a repository."""
    figure = Figure(name.replace(" ", "-"))
    return Experiment(title, (figure,), partial(_evaluate, figure, name, source), notes=notes)


def main() -> None:
    """Predict the runs that have no prediction."""
    words, table, simulations = sys.argv[1:], Table(), Simulations()
    found, fitted = predicted(), stored()
    numbers = {
        group: fitted[runs[0].id].efficiency
        for group, runs in table.groups.items()
        if runs[0].id in fitted
    }
    for run in table.all_runs.values():
        if run.measured is None and run.id not in found and _asked(run.id, words):
            number = numbers.get(run.group)
            one = None if number is None else simulations.seconds(run, number)
            _store(found, Blind(run.id, one, simulations.seconds(run, 1.0)))
    for other in dlrm.TABLE.all_runs.values():
        if other.measured_s is None and other.id not in found and _asked(other.id, words):
            first = dlrm.TABLE.predictions.get(dlrm.TABLE.first(other).id)
            one = None if first is None else dlrm.simulated_s(other, first.efficiency)
            _store(found, Blind(other.id, one, dlrm.simulated_s(other, 1.0)))


def _asked(name: str, words: Sequence[str]) -> bool:
    return not words or any(word in name for word in words)


def _store(found: dict[str, Blind], row: Blind) -> None:
    found[row.id] = row
    print(*row, file=sys.stderr, flush=True)
    write_numbers(FILE, list(found.values()), Blind._fields)


if __name__ == "__main__":
    main()
