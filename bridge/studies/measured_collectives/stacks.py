"""Rows of tables predicted with numbers that fit other tables of the same stack.

What NCCL's tuner cannot know belongs to a *stack*: the program that issues an operation and
measures its time, and the network with its plug-in. Two numbers of a stack, the time to issue and
the time of a step, are fitted as `cosim calibrate` does, to every other size of its other tables:
of another machine, another operation, or another number of servers. In one server, where the steps
are those of NVLink, only the time to issue is. Neither rates nor rows of the table are fitted.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from bridge.batch.calibrate import fitted, simulated
from bridge.studies.measured_collectives.calibrated import MOST_GPUS, case_of, measured
from bridge.studies.measured_collectives.machines import Row, errors_of

NUMBERS = ("issue", "step")
"""The numbers of a stack; in one server, the first."""
LARGE = 2**26
"""Sizes from here on show rates, and hardly what an operation or a step takes. A table to which
numbers are fitted has more smaller sizes than numbers."""


@dataclass(frozen=True)
class Borrowed:
    """A table, predicted with the numbers that fit others.

    Attributes
    ----------
    rows : sequence of Row
        Its rows, by size.
    sources : sequence of sequences of Row
        The tables whose sizes are fitted.
    numbers : mapping of str to float or str
        The numbers, by their keys in a scenario.
    times : mapping of Row to float
        The time of each row with them, in µs.
    """

    rows: Sequence[Row]
    sources: Sequence[Sequence[Row]]
    numbers: Mapping[str, float | str]
    times: Mapping[Row, float]

    @property
    def errors(self) -> dict[Row, float]:
        """The error of each row."""
        return errors_of(self.times)


def borrowed(rows: Sequence[Row], blind: Collection[str]) -> list[Borrowed]:
    """Return the tables of which the stack has others that numbers can be fitted to.

    Tables of more than `MOST_GPUS` GPUs, or of large sizes alone, are predicted, but nothing is
    fitted to them.
    """
    tables = measured(rows, blind)
    known: dict[tuple[int, ...], Mapping[str, float | str]] = {}
    found = []
    for own, table in enumerate(tables):
        stack = table[0].stack
        others = tuple(
            number
            for number, one in enumerate(tables)
            if number != own
            and stack == one[0].stack != ""
            and sum(row.bytes < LARGE for row in one) > len(NUMBERS)
            and one[0].gpus <= MOST_GPUS
        )
        if not others:
            continue
        if others not in known:
            numbers = NUMBERS[:1] if table[0].servers == 1 else NUMBERS
            known[others] = fitted([case_of(tables[one]) for one in others], numbers)
        case = case_of(table)
        log = case[1]
        times = simulated([case], known[others], {log.file: list(log.times)}).times
        least = {row: max(row.least_us, times[log.file, row.bytes]) for row in table}
        found.append(Borrowed(table, [tables[one] for one in others], known[others], least))
    return found
