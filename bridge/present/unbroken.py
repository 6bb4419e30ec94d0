"""A console for text that nobody reads on a screen: no line is broken."""

from __future__ import annotations

from typing import IO

from rich.console import Console

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
