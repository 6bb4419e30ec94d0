"""Rows of tables predicted with numbers of hosts that fit other rows.

The numbers are those of `cosim calibrate --both`, which fits four of them to every other size of a
log, predicts the sizes between, and does the same the other way around. So each row of a table is
predicted by numbers that have not seen it. Tables of more than 128 GPUs, whose fits take minutes,
have the numbers of the same machine and operation with fewer servers. Tables of few sizes have
none.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bridge.batch.calibrate import Log, both_halves, simulated
from bridge.batch.nccl_programs import PROGRAMS
from bridge.studies.measured_collectives.machines import Predicted, Row
from frontend.loading.load import Content

LEAST_SIZES = 4
"""Sizes of a table that has a fit."""
MOST_GPUS = 128
"""GPUs of a table that has a fit."""

Numbers = Mapping[str, float | str]
"""Numbers of hosts by their keys in a scenario."""


@dataclass(frozen=True)
class Calibrated(Predicted):
    """A table, predicted with four numbers of the hosts.

    Attributes
    ----------
    numbers : sequence of mappings
        The numbers: those of both halves of the sizes, or of another table.
    source : sequence of Row
        The other table; empty if the numbers are those of its own halves.
    """

    numbers: Sequence[Numbers]
    source: Sequence[Row]


def calibrated(rows: Sequence[Row]) -> list[Calibrated]:
    """Return the tables that numbers of other rows can predict."""
    tables = [one for one in measured(rows, ()) if len(one) >= LEAST_SIZES]
    found = [_by_halves(one) for one in tables if one[0].gpus <= MOST_GPUS]
    for table in tables:
        if table[0].gpus > MOST_GPUS:
            smaller = [one for one in found if one.rows[0].machine == table[0].machine]
            if smaller:
                found.append(_by_another(table, max(smaller, key=lambda one: one.rows[0].servers)))
    return found


def _by_halves(rows: Sequence[Row]) -> Calibrated:
    case = case_of(rows)
    fits = both_halves([case])
    times = {size: time for fit in fits for (_, size), time in fit.times.items()}
    factors = [fit.factors for fit in fits]
    return Calibrated(rows, {row: times[row.bytes] for row in rows}, factors, ())


def _by_another(rows: Sequence[Row], source: Calibrated) -> Calibrated:
    numbers = source.numbers[0]
    return Calibrated(rows, times_with(rows, numbers), [numbers], source.rows)


def times_with(rows: Sequence[Row], numbers: Numbers) -> dict[Row, float]:
    """Return the times of the rows of a table with some numbers of hosts, in µs."""
    case = case_of(rows)
    log = case[1]
    times = simulated([case], numbers, {log.file: list(log.times)}).times
    return {row: times[log.file, row.bytes] for row in rows}


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
    first = rows[0]
    program = next(name for name, one in PROGRAMS.items() if one.operation == first.operation)
    scenario = first.scenario()
    del scenario["description"]
    log = Log(Path(first.name), program, times, (), "", gpus_per_thread=first.gpus_per_thread)
    return Content(scenario, "", {}), log
