"""Where commands print their tables."""

from __future__ import annotations

import os

from rich.console import Console

from bridge.present.report import UNBROKEN


def output() -> Console:
    """Return the console of stdout, which breaks lines at the width of a terminal, but in no pipe.

    ``COLUMNS`` sets a width in both.
    """
    console = Console()
    if console.is_terminal or "COLUMNS" in os.environ:
        return console
    return Console(width=UNBROKEN)
