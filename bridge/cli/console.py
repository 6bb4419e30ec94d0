"""The console to which commands print their tables."""

from __future__ import annotations

import os

from rich.console import Console

from bridge.present.unbroken import unbroken


def output() -> Console:
    """Return a console on stdout that wraps lines on a terminal, but not in a pipe.

    The environment variable ``COLUMNS`` sets the width in both cases.
    """
    console = Console()
    if console.is_terminal or "COLUMNS" in os.environ:
        return console
    return unbroken()
