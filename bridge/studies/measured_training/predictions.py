"""Predict runs, and write `predictions.csv`.

``python -m bridge.studies.measured_training.predictions [GROUP …]`` predicts the groups whose names
contain a word, or all groups, in some minutes, and runs that are not stored. Blind runs keep the
prediction that was stored first: a change of the model does not change it.
"""

from __future__ import annotations

import sys

import bridge
from bridge.results.result import Result
from bridge.studies.measured_training.predict import points, prediction, step
from bridge.studies.measured_training.runs import FOLDER, Prediction, Table, write_numbers


def main() -> None:
    """Predict the runs."""
    words, table = sys.argv[1:], Table()
    known = table.predictions if (FOLDER / "predictions.csv").exists() else {}
    done: dict[str, Result] = {}
    rows = []
    for run in table.runs.values():
        chosen = not words or any(word in run.group for word in words)
        if run.id in known and (run.blind or not chosen):
            rows.append(known[run.id])
            continue
        if run.group not in table.fits:
            continue
        results = {}
        for name, point in points(run, table.fits[run.group].efficiency).items():
            if point.name not in done:
                done[point.name] = bridge.run(point.scenario)
            results[name] = done[point.name]
        rows.append(prediction(run, step(run, results), table))
        print(*rows[-1], run.measured_s, file=sys.stderr, flush=True)
    write_numbers(FOLDER / "predictions.csv", rows, Prediction._fields)


if __name__ == "__main__":
    main()
