"""Two results side by side: what differs, as a table of key path, stored, now and change."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

#: Derived in floating point, whose rounding differs between compilers and processors. "ours" is the
#: value of a statement of a study.
DERIVED = ("mean", "utilization", "_bps", "ours")
DERIVED_TOLERANCE = 1e-9

#: Differences shown; a changed model changes thousands of values.
SHOWN = 40

_ABSENT = object()


def measured(document: dict[str, Any]) -> dict[str, Any]:
    """Keep what a simulation measured: no costs, no versions, no copy of the scenario, no paths."""
    kept = {key: value for key, value in document.items() if key not in ("scenario", "files")}
    kept["simulator"] = {key: document["simulator"][key] for key in ("events", "seed")}
    return kept


def difference(stored: Any, now: Any) -> str:
    """Compare two documents: times and counters exactly, derived ratios to rounding.

    Returns
    -------
    str
        Nothing if they agree, otherwise a readable table.
    """
    changes = list(_changes("", stored, now))
    if not changes:
        return ""
    rows = [("key", "stored", "now", "change"), *changes[:SHOWN]]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    if len(changes) > SHOWN:
        lines.append(f"… and {len(changes) - SHOWN} more")
    return "\n".join(lines)


def _changes(path: str, stored: Any, now: Any) -> Iterator[tuple[str, str, str, str]]:
    if isinstance(stored, dict) and isinstance(now, dict):
        for key in {**stored, **now}:
            yield from _changes(
                f"{path}.{key}" if path else key, stored.get(key, _ABSENT), now.get(key, _ABSENT)
            )
    elif isinstance(stored, list) and isinstance(now, list):
        for index in range(max(len(stored), len(now))):
            yield from _changes(
                f"{path}[{index}]",
                stored[index] if index < len(stored) else _ABSENT,
                now[index] if index < len(now) else _ABSENT,
            )
    elif not _same(path, stored, now):
        yield path, _text(stored), _text(now), _relative(stored, now)


def _same(path: str, stored: Any, now: Any) -> bool:
    if _numbers(stored, now) and any(mark in path.rpartition(".")[2] for mark in DERIVED):
        return math.isclose(stored, now, rel_tol=DERIVED_TOLERANCE)
    return bool(stored == now)


def _numbers(*values: Any) -> bool:
    return all(isinstance(value, int | float) for value in values)


def _text(value: Any) -> str:
    if value is _ABSENT:
        return "absent"
    if isinstance(value, dict):
        return f"{{{len(value)} keys}}"
    return repr(value)


def _relative(stored: Any, now: Any) -> str:
    return f"{(now - stored) / stored:+.3%}" if _numbers(stored, now) and stored else ""
