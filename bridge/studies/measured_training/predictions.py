"""Predict all runs, and write `predictions.csv`.

``python -m bridge.studies.measured_training.predictions`` takes some minutes. Blind runs keep the
prediction that was stored first: a change of the model does not change it.
"""

from __future__ import annotations

import csv
import sys

import bridge
from bridge.results.result import Result
from bridge.studies.measured_training.predict import points, prediction, step
from bridge.studies.measured_training.runs import FOLDER, Prediction, Table


def main() -> None:
    """Predict all runs."""
    table = Table()
    known = table.predictions if (FOLDER / "predictions.csv").exists() else {}
    done: dict[str, Result] = {}
    rows = []
    for run in table.runs.values():
        if run.blind and run.id in known:
            rows.append(known[run.id])
            continue
        results = {}
        for name, point in points(run, table.fits[run.group].efficiency).items():
            if point.name not in done:
                done[point.name] = bridge.run(point.scenario)
            results[name] = done[point.name]
        rows.append(prediction(run, step(run, results), table))
        print(*rows[-1], run.measured_s, file=sys.stderr, flush=True)
    with (FOLDER / "predictions.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(Prediction._fields)
        for row in rows:
            numbers = ["" if number is None else f"{number:.5g}" for number in row[1:]]
            writer.writerow([row.id, *numbers])


if __name__ == "__main__":
    main()
