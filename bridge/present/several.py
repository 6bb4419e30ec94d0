"""Compares more than two results: what each sets, and how its time differs from the first."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from bridge.present.certainty import is_beyond_error, largest_error
from bridge.present.comparison import TIMES, differing_keys, signed_percent, value_text
from bridge.present.metrics import METRICS, is_estimate
from bridge.present.quantities import percent_text, time_text
from bridge.present.replicates import Interval, difference, interval
from bridge.present.table import table
from bridge.results.result import Result

#: Keys of the scenario that the table has room for.
KEYS = 4


@dataclass(frozen=True)
class Several:
    """Some results beside the first of them."""

    names: tuple[str, ...]
    """How the user calls each."""
    results: tuple[Result, ...]
    """The results."""

    @property
    def time(self) -> str:
        """The metric that counts: ``iteration``, or ``time`` if a result has no iterations."""
        values = map(METRICS[TIMES[0]].value, self.results)
        return TIMES[1] if None in values else TIMES[0]

    @property
    def times_ns(self) -> list[float]:
        """This time of each result."""
        found = [METRICS[self.time].value(one) for one in self.results]
        return [one for one in found if one is not None]

    def relative(self, index: int) -> float | None:
        """Return the difference of a time to the first one, as a fraction; None if that is 0."""
        first, time = self.times_ns[0], self.times_ns[index]
        return (time - first) / first if first else None

    def beyond_error(self, index: int) -> bool | None:
        """Return whether the difference is larger than the error of the estimates; see there."""
        return is_beyond_error(self.results[0], self.results[index])

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as plain dictionaries, lists, numbers and strings."""
        keys = differing_keys(self.results)
        times = self.times_ns
        groups = [[times[index] for index in group] for group in seed_groups(self)]
        return {
            "time": self.time,
            "seed_groups": [
                {
                    "time_ns": _as_dict(interval(values)),
                    "difference_ns": _as_dict(difference(groups[0], values)),
                }
                for values in groups
            ],
            "results": [
                {
                    "name": name,
                    "status": result.status,
                    "settings": {key: _value(result.scenario, key) for key in keys},
                    "time_ns": time,
                    "relative": self.relative(index),
                    "beyond_error": self.beyond_error(index) if index else None,
                }
                for index, (name, result, time) in enumerate(
                    zip(self.names, self.results, self.times_ns, strict=True)
                )
            ],
        }


def seed_groups(several: Several) -> list[list[int]]:
    """Return the results in groups that differ in their seeds only; none without repetitions."""
    results = several.results
    keys = [key for key in differing_keys(results) if key != "seed"]
    groups: dict[str, list[int]] = {}
    for index, result in enumerate(results):
        same = json.dumps([_value(result.scenario, key) for key in keys], sort_keys=True)
        groups.setdefault(same, []).append(index)
    return list(groups.values()) if len(groups) < len(results) else []


def seeds_report(several: Several, groups: Sequence[Sequence[int]]) -> RenderableType:
    """Return a table with a row for each group of seeds, and which differences are certain.

    A difference is certain if its 95 % confidence interval, by Welch, does not contain 0.
    """
    results, times = several.results, several.times_ns
    keys = [key for key in differing_keys(results) if key != "seed"]
    first = [times[index] for index in groups[0]]
    rows = []
    for number, group in enumerate(groups):
        values = [times[index] for index in group]
        scenario = results[group[0]].scenario
        found, apart = interval(values), difference(first, values)
        assert found is not None
        assert apart is not None
        row = [value_text(_value(scenario, key)) for key in keys] or ["all"]
        row += [str(len(group)), time_text(found.mean), time_text(found.half_width)]
        if number:
            certain = None if apart.half_width is None else abs(apart.mean) > apart.half_width
            relative = apart.mean / fmean(first) if fmean(first) else None
            row += [signed_percent(relative), {True: "yes", False: "no", None: "–"}[certain]]
        else:
            row += ["", ""]
        rows.append(row)
    names = [key.rpartition(".")[2] for key in keys] or ["results"]
    return table(
        [*names, "seeds", several.time, "± 95 %", "difference", "certain"], rows, names=len(names)
    )


def several_report(several: Several) -> RenderableType:
    """Return the table of a comparison, and what it leaves out."""
    groups = seed_groups(several)
    if groups:
        return seeds_report(several, groups)
    results = several.results
    keys = differing_keys(results)
    shown = keys[:KEYS]
    last = [key.rpartition(".")[2] for key in shown]
    headings = [
        name if last.count(name) == 1 else key for name, key in zip(last, shown, strict=True)
    ]
    estimates = [one for one in results if is_estimate(one)]
    rows = []
    for index, (name, result, time) in enumerate(
        zip(several.names, results, several.times_ns, strict=True)
    ):
        partial = "" if result.status == "complete" else f" ({result.status.replace('_', ' ')})"
        difference = signed_percent(several.relative(index)) if index else ""
        row = [name + partial, *(value_text(_value(result.scenario, key)) for key in shown)]
        row += [time_text(time), difference]
        if estimates:
            words = {True: "yes", False: "no", None: "–"}
            row.append(words[several.beyond_error(index)] if index else "")
        rows.append(row)
    headings = ["result", *headings, several.time, "difference"]
    parts: list[RenderableType] = [
        table([*headings, *(["beyond the error"] if estimates else [])], rows)
    ]
    if len(keys) > len(shown):
        parts.append(Text(f"They also differ in {', '.join(keys[len(shown) :])}."))
    errors = [error for one in estimates if (error := largest_error(one)) is not None]
    if errors:
        parts.append(
            Text(
                f"Estimates of scenarios like these are off by up to {percent_text(max(errors))}. "
                "A difference that is not beyond this error may have either sign."
            )
        )
    return Group(*(line for part in parts for line in (part, Text())))


def _as_dict(found: Interval | None) -> dict[str, Any] | None:
    return None if found is None else found._asdict()


def _value(scenario: Mapping[str, Any], key: str) -> Any:
    """Return the value at a key path of a scenario; None if it is not there."""
    value: Any = scenario
    for part in key.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value
