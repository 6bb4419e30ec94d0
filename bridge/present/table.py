"""One layout for the tables of all commands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import IO

from rich import box
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.table import Column, Table
from rich.text import Text

from bridge.present.quantities import steady_columns
from frontend.errors import printable

#: A text, or several lines of it.
Cell = str | tuple[str, ...]


WIDTH = 10_000
"""No table is so wide."""

_GAP = 2
"""Blanks between two columns."""

_TEXT = 20
"""Least width of a column of text beside others, if its longest text is not shorter."""


class Parted(Table):
    """A table that a narrow terminal shows as several, one below the other.

    Each begins with the first columns, which name the row, so that no number is cut.
    """

    names = 1
    """Number of columns that name the row; only the first one if they take half of the width."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        parts = list(self._parts(console, options))
        if len(parts) == 1:
            yield from super().__rich_console__(console, options)
            return
        for number, columns in enumerate(parts):
            if number:
                yield Text()
            part = _empty()
            for column in columns:
                part.add_column(
                    column.header,
                    justify=column.justify,
                    overflow=column.overflow,
                    no_wrap=column.no_wrap,
                )
            for cells in zip(*(list(column.cells) for column in columns), strict=True):
                part.add_row(*cells)
            yield part

    def _parts(self, console: Console, options: ConsoleOptions) -> Iterator[list[Column]]:
        """Yield the columns of each part."""
        natural = options.update_width(WIDTH)

        def width(column: Column) -> int:
            cells: list[RenderableType] = [column.header, *column.cells]
            longest = max(Measurement.get(console, natural, cell).maximum for cell in cells)
            return longest if column.no_wrap else min(longest, _TEXT)

        firsts = self.columns[: self.names]
        begin = sum(map(width, firsts)) + _GAP * (len(firsts) - 1)
        if begin > options.max_width // 2:
            firsts, begin = self.columns[:1], min(width(self.columns[0]), options.max_width // 2)
        part, used = [*firsts], begin
        for column in self.columns[len(firsts) :]:
            own = _GAP + width(column)
            if used + own > options.max_width and len(part) > len(firsts):
                yield part
                part, used = [*firsts], begin
            part.append(column)
            used += own
        yield part


def _empty() -> Table:
    return Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False)


def table(
    headings: Iterable[str],
    rows: Iterable[Sequence[Cell]],
    *,
    numbers: bool = True,
    names: int = 1,
) -> Table:
    """Return a table for a terminal; if it is too wide for it, `Parted` divides it.

    Parameters
    ----------
    headings : iterable of str
        The names of the columns.
    rows : iterable of sequence of str or tuple of str
        The cells of each row.
    numbers : bool
        Whether all columns but the first hold numbers, which are right-aligned. The numbers of a
        column then have one unit; see `bridge.present.quantities.steady`.
    names : int
        Number of columns that name the row; see `Parted`.
    """
    layout = Parted(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False)
    layout.names = names
    for index, heading in enumerate(headings):
        layout.add_column(
            _text(heading),
            justify="right" if numbers and index else "left",
            # Long names wrap instead of being cut; numbers never wrap.
            overflow="fold",
            no_wrap=numbers and index > 0,
        )
    for row in steady_columns(rows) if numbers else rows:
        # Text instead of str, so that rich does not read a name in brackets as markup.
        layout.add_row(*map(_text, row))
    return layout


def _text(cell: Cell) -> Text:
    lines = (cell,) if isinstance(cell, str) else cell
    return Text("\n".join(map(printable, lines)))


def unbroken(file: IO[str] | None = None) -> Console:
    """Return a console that prints each line of a table as one line.

    Parameters
    ----------
    file : text stream, optional
        Where it prints; stdout by default.
    """
    return Console(file=file, width=WIDTH)
