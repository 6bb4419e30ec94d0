"""The console to which commands print their tables and answers."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Collection
from contextlib import suppress
from typing import Any

import click
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from bridge.present.quantities import scaled_text, time_text
from bridge.present.table import unbroken


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


def print_answer(answer: dict[str, Any], as_json: bool, *, dollars: Collection[str] = ()) -> None:
    """Print names and values as JSON or as a table.

    Parameters
    ----------
    answer : dict
        The unit of a number stands at the end of its name: `_bps`, `_us`, `seconds`.
    as_json : bool
        Whether to print JSON.
    dollars : collection of str
        The names of amounts of money.
    """
    if as_json:
        click.echo(json.dumps(answer, indent=2, ensure_ascii=False))
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, show_header=False)
    table.add_column("", no_wrap=True)
    table.add_column("", overflow="fold")
    for name, value in answer.items():
        text = f"{value:,} dollars" if name in dollars else _text(name, value)
        table.add_row(name.removesuffix("_bps").removesuffix("_us"), Text(text))
    output().print(table)


def _text(name: str, value: Any) -> str:
    """Return a value for people: a number with few digits, and with its unit if it has one."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None:
        return "–"
    if isinstance(value, list):
        return " ".join(str(item) for item in value)
    if name.endswith("_bps"):
        return scaled_text(value, "bit/s")
    if name.endswith("_us"):
        return time_text(1e3 * value)
    if name == "seconds":
        return time_text(1e9 * value)
    return f"{value:.5g}" if isinstance(value, float) else str(value)
