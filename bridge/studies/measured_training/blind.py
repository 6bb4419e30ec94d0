"""Round 6.0 of MLPerf Training, predicted before any of its results was read.

``python -m bridge.studies.measured_training.blind [WORD …]`` predicts the runs of the round that
`blind.csv` lacks and whose ids contain a word, or all of them. What is stored never changes.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from bridge.studies.measured_training import dlrm
from bridge.studies.measured_training.runs import FOLDER, Table, rows, write_numbers
from bridge.studies.measured_training.shapes import Simulations, stored

ROUND = "training_results_v6.0"
FILE = FOLDER / "blind.csv"


class Blind(NamedTuple):
    """A row of `blind.csv`: seconds, with kernels by their shape."""

    id: str
    one_number_s: float | None
    """With the number of an earlier round's runs; None if the chip and precision had none."""
    no_fit_s: float


def predicted(file: Path = FILE) -> dict[str, Blind]:
    """Return the stored predictions."""
    if not file.exists():
        return {}
    found = rows(file)
    return {
        row["id"]: Blind(
            row["id"],
            float(row["one_number_s"]) if row["one_number_s"] else None,
            float(row["no_fit_s"]),
        )
        for row in found
    }


def main() -> None:
    """Predict the runs of the round that have no prediction."""
    words, table, simulations = sys.argv[1:], Table(), Simulations()
    found = predicted()
    numbers = {
        group: stored()[runs[0].id].efficiency
        for group, runs in table.groups.items()
        if runs[0].id in stored()
    }
    for run in table.all_runs.values():
        if ROUND in run.source and run.id not in found and _asked(run.id, words):
            number = numbers.get(run.group)
            one = None if number is None else simulations.seconds(run, number)
            _store(found, Blind(run.id, one, simulations.seconds(run, 1.0)))
    for other in dlrm.TABLE.all_runs.values():
        if ROUND in other.source and other.id not in found and _asked(other.id, words):
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
