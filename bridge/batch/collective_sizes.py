"""Reads a distribution of collectives: how many run of each size."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any, NamedTuple, cast, get_args

from bridge.errors import InputError
from frontend import units
from topology_gen.files import read_text
from topology_gen.finder.costs import Collective

FIELDS = ("bytes", "count", "collective")


class Size(NamedTuple):
    """A collective operation, its size in bytes, and how many times it runs."""

    collective: Collective
    size_bytes: int
    times: float


def read_sizes(file: Path) -> list[Size]:
    """Return the collectives that a file lists.

    Parameters
    ----------
    file : Path
        A CSV file with a header line, or a JSON list of objects. The fields are `bytes` (``64MiB``
        or a number), `count` (a number above 0) and, optionally, `collective` (``all_reduce`` by
        default).

    Raises
    ------
    InputError
        The file is neither CSV nor JSON, or an entry has a missing, unknown or invalid field.
    """
    try:
        text = read_text(file)
        if text.lstrip().startswith("["):
            entries = json.loads(text)
        else:
            entries = list(csv.DictReader(io.StringIO(text), skipinitialspace=True))
    except (OSError, ValueError, csv.Error, RecursionError) as error:
        raise InputError(
            f"{file}: expected a CSV file or a JSON list, but cannot read it as either ({error})"
        ) from None
    if not isinstance(entries, list) or not entries:
        raise InputError(f"{file}: no entries, expected at least one with bytes and count")
    return [_size(entry, f"{file}: entry {number}") for number, entry in enumerate(entries, 1)]


def _size(entry: Any, place: str) -> Size:
    if not isinstance(entry, dict) or not {"bytes", "count"} <= set(entry) <= set(FIELDS):
        raise InputError(f"{place}: expected the fields bytes, count and, optionally, collective")
    try:
        size = units.parse_bytes(entry["bytes"])
    except ValueError as error:
        raise InputError(f"{place}: bytes is {entry['bytes']!r}, {error}") from None
    try:
        count = float(entry["count"])
    except (TypeError, ValueError):
        count = -1
    if not 0 < count < float("inf"):
        raise InputError(f"{place}: count is {entry['count']!r}, expected a number above 0")
    collective = entry.get("collective") or "all_reduce"
    if collective not in get_args(Collective):
        raise InputError(
            f"{place}: collective is {collective!r}, expected {', '.join(get_args(Collective))}"
        )
    return Size(cast("Collective", collective), size, count)
