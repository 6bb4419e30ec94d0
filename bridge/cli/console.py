"""The console to which commands print their tables."""

from __future__ import annotations

import os

from rich.console import Console

_UNBROKEN = 10_000
"""Width in columns where no terminal is: wider than any table."""


def output() -> Console:
    """Return a console on stdout that wraps lines on a terminal, but not in a pipe.

    The environment variable ``COLUMNS`` sets the width in both cases.
    """
    console = Console()
    if console.is_terminal or "COLUMNS" in os.environ:
        return console
    return Console(width=_UNBROKEN)
