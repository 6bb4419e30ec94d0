"""Compares tables of collectives, such as those of nccl-tests: the times of each size."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import RenderableType

from bridge.present.comparison import signed_percent
from bridge.present.quantities import percent_text
from bridge.present.table import table

Times = Mapping[str, Mapping[int, float]]
"""The time of each size in µs, by the name of the table; the others are compared with the first."""


def tables_compared(times: Times) -> list[dict[str, Any]]:
    """Return what each size takes in each table, and how much longer than in the first one.

    A size that a table lacks has no time there.
    """
    first, *others = times
    found = []
    for size in sorted(set().union(*times.values())):
        own: dict[str, Any] = {"size": size, first: times[first].get(size)}
        for name in others:
            time, before = times[name].get(size), times[first].get(size)
            own[name] = time
            own[f"{name}: difference"] = time / before - 1 if time and before else None
        found.append(own)
    return found


def tables_report(times: Times) -> RenderableType:
    """Return the comparison as a table, with the mean difference of each."""
    first, *others = times
    rows = tables_compared(times)
    differences = {
        name: [one[f"{name}: difference"] for one in rows if one[f"{name}: difference"] is not None]
        for name in others
    }
    means = [
        percent_text(sum(map(abs, one)) / len(one)) if one else "–" for one in differences.values()
    ]
    cells = [
        [
            str(one["size"]),
            _text(one[first]),
            *(
                text
                for name in others
                for text in (_text(one[name]), signed_percent(one[f"{name}: difference"]))
            ),
        ]
        for one in rows
    ]
    last = ["mean of all", "", *(text for mean in means for text in ("", mean))]
    headings = ["size [B]", f"{first} [µs]"]
    headings += [text for name in others for text in (f"{name} [µs]", "difference")]
    return table(headings, [*cells, last])


def _text(time_us: float | None) -> str:
    return "–" if time_us is None else f"{time_us:.5g}"
