"""The section of a report about what changed between its results."""

from __future__ import annotations

import json
from itertools import pairwise

from bridge.errors import InputError
from bridge.present.comparison import changed_settings, compare, signed_percent
from bridge.present.deciding import what_differs
from bridge.present.metrics import METRICS
from bridge.present.page import html
from bridge.present.page.each import Parts, Results
from bridge.present.quantities import time_text
from bridge.present.sweep_chart import key_value, sweep_chart
from bridge.results.result import Result

#: Results that a page compares in detail; of more, it shows these, and the metrics of all.
MOST = 4

#: What many results are compared by.
TIME = METRICS["time"]

#: Rows of a table at most.
_ROWS = 15


def changes(results: Results) -> Parts:
    """What changed in the scenario."""
    if len(results) > MOST:
        return _sweep(results)
    parts = []
    for (before, first), (after, second) in pairwise(results.items()):
        settings = list(changed_settings(first.scenario, second.scenario))
        if not settings:
            parts.append(html.note(f"The scenarios of {before} and {after} are equal."))
            continue
        rows = [(one.key, _plain(one.before), _plain(one.after)) for one in settings]
        caption = f"Settings that differ between {before} and {after}"
        parts.append(html.table(caption, ("setting", before, after), rows, text=True))
        difference = what_differs(first, second)
        if difference:
            parts.append(html.note(difference))
        comparison = compare(first, second)
        largest = [one for one in comparison.layers if one.difference][:_ROWS]
        if largest:
            times = [
                (one.name, *map(time_text, (one.before, one.after)), signed_percent(one.relative))
                for one in largest
            ]
            caption = "Layers by their difference: compute and exposed communication"
            parts.append(html.table(caption, ("layer", before, after, "difference"), times))
    return parts, []


def _sweep(results: Results) -> Parts:
    """The settings that differ in many results, and the time that depends on them."""
    first, *others = results.values()
    keys = dict.fromkeys(
        setting.key
        for other in others
        for setting in changed_settings(first.scenario, other.scenario)
    )
    rows = [
        (name, *(_setting(result, key) for key in keys), TIME.cell(result))
        for name, result in results.items()
    ]
    headings = ("result", *keys, TIME.name)
    parts = [html.table(f"Settings that differ in {len(results)} results", headings, rows)]
    try:
        chart = sweep_chart(list(results.values()), None, TIME, None)
    except InputError:  # they differ in more than a picture shows
        chart = None
    if chart is None:
        return parts, []
    return [html.chart(chart, TIME.name), *parts], [chart]


def _setting(result: Result, key: str) -> str:
    try:
        return _plain(key_value(result, key))
    except InputError:  # only other results have it
        return "–"


def _plain(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
