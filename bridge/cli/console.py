"""The console to which commands print their tables."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

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


def drop_stdout() -> None:
    """Discard what stdout could not write, so that Python does not try again when it ends."""
    with suppress(OSError, ValueError):  # tests replace stdout by an object without a descriptor
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
