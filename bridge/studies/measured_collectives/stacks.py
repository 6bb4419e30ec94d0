"""Rows of tables predicted with numbers that fit other tables of the same stack.

What NCCL's tuner cannot know belongs to a *stack*: the program that issues an operation and
measures its time, and the network with its plug-in. Two numbers of a stack, the time to issue and
the time of a step, are fitted as `cosim calibrate` does, to every other size of its other tables:
of another machine, another operation, or another number of servers. If no other table has both the
program and the network, the time to issue comes from tables of the program in one server, and the
time of a step from those of the network. In one server, where the steps are those of NVLink, only
the time to issue is fitted. Neither rates nor rows of the table are fitted.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from bridge.batch.calibrate import fitted
from bridge.studies.measured_collectives.calibrated import Numbers, case_of, measured, times_with
from bridge.studies.measured_collectives.machines import Predicted, Row

_Alike = Callable[[Row], bool]
"""Whether a table of some row may have the numbers of another one."""

NUMBERS = ("issue", "step")
"""The numbers of a stack; in one server, the first."""
LARGE = 2**26
"""Sizes from here on show rates, and hardly what an operation or a step takes. A table to which
numbers are fitted has more smaller sizes than numbers."""
MOST_GPUS = 64
"""GPUs of a table that numbers are fitted to."""


@dataclass(frozen=True)
class Borrowed(Predicted):
    """A table, predicted with the numbers that fit others.

    Attributes
    ----------
    sources : sequence of sequences of Row
        The tables whose sizes are fitted.
    numbers : mapping of str to float or str
        The numbers, by their keys in a scenario.
    """

    sources: Sequence[Sequence[Row]]
    numbers: Numbers


def borrowed(rows: Sequence[Row], blind: Collection[str]) -> list[Borrowed]:
    """Return the tables of which the stack has others that numbers can be fitted to.

    Tables of more than `MOST_GPUS` GPUs, or of large sizes alone, are predicted, but nothing is
    fitted to them.
    """
    return _Tables(measured(rows, blind)).borrowed()


class _Tables:
    """Tables, and the numbers that fit some of them."""

    def __init__(self, tables: Sequence[Sequence[Row]]) -> None:
        self._tables = tables
        self._known: dict[tuple[tuple[int, ...], tuple[str, ...]], Numbers] = {}

    def borrowed(self) -> list[Borrowed]:
        """Return the tables that others have numbers for."""
        found = []
        for table in self._tables:
            row, numbers, sources = table[0], dict[str, float | str](), list[int]()
            for names, kept, alike in _parts(row, self._others(table, _is_of_stack(row))):
                others = self._others(table, alike)
                if others:
                    fit = self._fitted(others, names)
                    numbers |= {name: fit[name] for name in kept}
                    sources += others
            if numbers:
                own = [self._tables[one] for one in dict.fromkeys(sources)]
                found.append(Borrowed(table, times_with(table, numbers), own, numbers))
        return found

    def _others(self, table: Sequence[Row], alike: _Alike) -> tuple[int, ...]:
        """Return the places of other tables that numbers can be fitted to."""
        return tuple(
            place
            for place, one in enumerate(self._tables)
            if one is not table
            and alike(one[0])
            and sum(row.bytes < LARGE for row in one) > len(NUMBERS)
            and one[0].gpus <= MOST_GPUS
        )

    def _fitted(self, places: tuple[int, ...], names: tuple[str, ...]) -> Numbers:
        if (places, names) not in self._known:
            cases = [case_of(self._tables[one]) for one in places]
            self._known[places, names] = fitted(cases, names)
        return self._known[places, names]


def _is_of_stack(row: Row) -> _Alike:
    def alike(one: Row) -> bool:
        both = row.program != "" and row.network != ""
        return both and (one.program, one.network) == (row.program, row.network)

    return alike


def _parts(
    row: Row, whole: Collection[int]
) -> list[tuple[tuple[str, ...], tuple[str, ...], _Alike]]:
    """Return the numbers that are fitted together, those that are kept, and to which tables.

    Parameters
    ----------
    row : Row
        A row of the table that is predicted.
    whole : collection of int
        The tables of its whole stack.
    """
    if row.servers == 1:
        return [(NUMBERS[:1], NUMBERS[:1], _is_of_stack(row))]
    if whole:
        return [(NUMBERS, NUMBERS, _is_of_stack(row))]
    program, network = row.program, row.network
    return [
        (NUMBERS[:1], NUMBERS[:1], lambda one: one.servers == 1 and one.program == program != ""),
        (NUMBERS, NUMBERS[1:], lambda one: one.network == network != ""),
    ]
