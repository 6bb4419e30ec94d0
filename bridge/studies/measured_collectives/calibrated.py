"""Rows of tables predicted with numbers of hosts that fit other rows of the same table.

Every other size of a table is fitted, as `cosim calibrate` does with the log of a user's cluster,
and only the sizes between them are scored. A table must have more fitted sizes than numbers. Tables
with blind rows, and of more than 64 GPUs, whose fits take minutes, are left out.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from bridge.batch.calibrate import Fit, Log, calibrate
from bridge.batch.nccl_tests import HOST_NUMBERS, PROGRAMS
from bridge.studies.measured_collectives.machines import Row, errors_of
from frontend.loading.load import Content

LEAST_SIZES = 2 * len(HOST_NUMBERS) + 1
"""Sizes of a table that has a fit, and so more fitted sizes than numbers."""
MOST_GPUS = 64
"""GPUs of a table that has a fit."""


@dataclass(frozen=True)
class Table:
    """A table of one machine, operation and source.

    Attributes
    ----------
    rows : sequence of Row
        Its rows, by size.
    fit : Fit
        The numbers of its hosts, and the times with them.
    """

    rows: Sequence[Row]
    fit: Fit

    @property
    def scored(self) -> dict[Row, float]:
        """The error of each row that is not fitted."""
        times = {size: time for (_, size), time in self.fit.times.items()}
        return errors_of({row: max(row.least_us, times[row.bytes]) for row in self.rows[1::2]})


def tables(rows: Sequence[Row], blind: Collection[str]) -> list[Table]:
    """Return the tables with enough sizes, each with the numbers of hosts that fit half of them."""
    return [
        Table(one, calibrate([case_of(one)]))
        for one in measured(rows, blind)
        if len(one) >= LEAST_SIZES and one[0].gpus <= MOST_GPUS
    ]


def measured(rows: Sequence[Row], blind: Collection[str]) -> list[list[Row]]:
    """Return the rows of each table without blind rows, by size."""
    found: dict[tuple[str, str, int, int, str], list[Row]] = {}
    for row in rows:
        if row.measured_us is not None:
            found.setdefault(row.table, []).append(row)
    return [
        sorted(one, key=lambda row: row.bytes)
        for one in found.values()
        if not any(row.name in blind for row in one)
    ]


def case_of(rows: Sequence[Row]) -> tuple[Content, Log]:
    """Return the cluster of a table, and the table as a log of nccl-tests."""
    times = {row.bytes: row.measured_us for row in rows if row.measured_us is not None}
    operation = rows[0].operation
    program = next(name for name, one in PROGRAMS.items() if one.operation == operation)
    scenario = rows[0].scenario()
    del scenario["description"]
    return Content(scenario, "", {}), Log(Path(rows[0].name), program, times, (), "")
