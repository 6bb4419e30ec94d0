"""One layout for the tables of all commands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import IO

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from frontend.errors import printable

#: A text, or several lines of it.
Cell = str | tuple[str, ...]


def table(
    headings: Iterable[str], rows: Iterable[Sequence[Cell]], *, numbers: bool = True
) -> Table:
    """Return a table for a terminal.

    Parameters
    ----------
    headings : iterable of str
        The names of the columns.
    rows : iterable of sequence of str or tuple of str
        The cells of each row.
    numbers : bool
        Whether all columns but the first hold numbers, which are right-aligned.
    """
    layout = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False)
    for index, heading in enumerate(headings):
        layout.add_column(
            _text(heading),
            justify="right" if numbers and index else "left",
            # Long names wrap instead of being cut; numbers never wrap.
            overflow="fold",
            no_wrap=numbers and index > 0,
        )
    for row in rows:
        # Text instead of str, so that rich does not read a name in brackets as markup.
        layout.add_row(*map(_text, row))
    return layout


def _text(cell: Cell) -> Text:
    lines = (cell,) if isinstance(cell, str) else cell
    return Text("\n".join(map(printable, lines)))


WIDTH = 10_000
"""No table is so wide."""


def unbroken(file: IO[str] | None = None) -> Console:
    """Return a console that prints each line of a table as one line.

    Parameters
    ----------
    file : text stream, optional
        Where it prints; stdout by default.
    """
    return Console(file=file, width=WIDTH)
