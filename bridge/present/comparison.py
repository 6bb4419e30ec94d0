"""Compares two results: what changed in the scenario, and which parts explain the difference.

The tables are for a terminal of 80 columns; a page shows some of them, too.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from bridge.present.deciding import what_differs
from bridge.present.metrics import METRICS, Metric, path_times
from bridge.present.quantities import Quantity, scaled_text, steady, time_text
from bridge.present.table import table
from bridge.results.result import Result
from frontend.errors import printable

#: Parts of a scenario that do not change what is simulated.
WITHOUT_EFFECT = ("name", "description", "outputs", "schema_version")

#: The time that counts: of an iteration, or of the run if it has no iterations.
TIMES = ("iteration", "time")


@dataclass(frozen=True)
class Setting:
    """A key of the scenario that differs."""

    key: str
    """Its path, such as ``transport.min_rto``."""
    before: Any
    """The value in the first scenario; None if it is not there."""
    after: Any
    """The value in the second one."""

    @property
    def is_group_of_one(self) -> bool:
        """Whether it stands for several keys, which only one of the scenarios has."""
        return None in (self.before, self.after) and isinstance(self.before or self.after, Mapping)

    @property
    def texts(self) -> tuple[str, str, str]:
        """The row of a table: the key and both values."""
        before, after = (
            "–" if one is None else value_text(one) for one in (self.before, self.after)
        )
        return self.key, before, after


def value_text(value: object) -> str:
    """Return a value of a scenario as text."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


@dataclass(frozen=True)
class Change:
    """A number in both results."""

    name: str
    """What it measures."""
    before: float | None
    """In the first result; None if it has no such number."""
    after: float | None
    """In the second one."""

    @property
    def difference(self) -> float:
        """The second number minus the first; a missing one counts as 0."""
        return (self.after or 0) - (self.before or 0)

    @property
    def relative(self) -> float | None:
        """The difference over the first number; None if that is 0 or missing."""
        return self.difference / self.before if self.before else None

    def texts(self, text: Callable[[float | None], str]) -> tuple[str, str]:
        """Return both numbers as texts."""
        return text(self.before), text(self.after)

    def to_dict(self) -> dict[str, Any]:
        """Return the change with what follows from it."""
        return {**vars(self), "difference": self.difference, "relative": self.relative}


@dataclass(frozen=True)
class Comparison:
    """How a second result differs from a first one. Times are nanoseconds an iteration."""

    settings: tuple[Setting, ...]
    """Keys of the scenario."""
    time: Change
    """Iteration time, or the time of a run without iterations."""
    metrics: tuple[tuple[Metric, Change], ...]
    """The metrics that either result has."""
    critical_path: tuple[Change, ...]
    """What the critical path is spent on, if both results have it; the largest difference first.
    The differences add up to that of the iteration time."""
    layers: tuple[Change, ...]
    """Compute and exposed communication of each layer; the largest difference first."""
    collectives: tuple[Change, ...]
    """Mean time of the collectives of each name; the largest difference first."""
    network: tuple[Change, ...]
    """Counters of the network that differ; the largest relative difference first."""

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as plain dictionaries, lists, numbers and strings."""
        return {
            "settings": [vars(one) for one in self.settings],
            "time": self.time.to_dict(),
            "metrics": [
                {"metric": metric.key, **change.to_dict()} for metric, change in self.metrics
            ],
            "critical_path": [one.to_dict() for one in self.critical_path],
            "layers": [one.to_dict() for one in self.layers],
            "collectives": [one.to_dict() for one in self.collectives],
            "network": [one.to_dict() for one in self.network],
        }


def compare(first: Result, second: Result) -> Comparison:
    """Compare two results.

    Parameters
    ----------
    first, second : Result
        The results; a difference is positive if the second one is larger.

    Returns
    -------
    Comparison
        What changed in the scenario, and the times and counters of both.

    Examples
    --------
    >>> import cosim
    >>> parts = {"family": "flat", "bandwidth": "1Gbps", "latency": "0", "buffer": "unlimited"}
    >>> work = {"kind": "collective", "operation": "all_reduce", "algorithm": "ring", "bytes": "8B"}
    >>> content = {"name": "x", "topology": {**parts, "ranks": 2}, "workload": work}
    >>> slow, fast = (
    ...     cosim.run(content, {"fabric": "analytical", "topology.bandwidth": rate})
    ...     for rate in ("1Gbps", "2Gbps")
    ... )
    >>> found = cosim.compare(slow, fast)
    >>> [setting.texts for setting in found.settings], found.time.difference < 0
    ([('topology.bandwidth', '1Gbps', '2Gbps')], True)
    """
    changes = [
        (metric, Change(metric.name, metric.value(first), metric.value(second)))
        for metric in METRICS.values()
    ]
    known = {change.name: change for _, change in changes if change.before is not None}
    return Comparison(
        tuple(changed_settings(first.scenario, second.scenario)),
        next(known[name] for name in TIMES if name in known and known[name].after is not None),
        tuple(
            (metric, change)
            for metric, change in changes
            if change.before is not None or change.after is not None
        ),
        _sorted(_path_times(first), _path_times(second)) if _have_paths(first, second) else (),
        _sorted(_layer_times(first), _layer_times(second)),
        _sorted(_collective_times(first), _collective_times(second)),
        _counters(first, second),
    )


def changed_settings(
    first: Mapping[str, Any], second: Mapping[str, Any], path: str = ""
) -> Iterator[Setting]:
    """Yield the keys that differ in two scenarios, except those without effect on a simulation."""
    for key in dict.fromkeys([*first, *second]):
        if not path and key in WITHOUT_EFFECT:
            continue
        before, after = first.get(key), second.get(key)
        where = f"{path}{key}"
        if isinstance(before, dict) and isinstance(after, dict):
            yield from changed_settings(before, after, f"{where}.")
        elif before != after:
            yield Setting(where, before, after)


def differing_keys(results: Sequence[Result]) -> list[str]:
    """Return the keys in which the scenario of any result differs from that of the first."""
    return list(
        dict.fromkeys(
            setting.key
            for other in results[1:]
            for setting in changed_settings(results[0].scenario, other.scenario)
        )
    )


def _have_paths(*results: Result) -> bool:
    """Return whether all results have the critical path of each iteration."""
    return all(one.iterations and one.critical_path for one in results)


def _path_times(result: Result) -> dict[str, float]:
    paths = result.critical_path or ()
    return {kind: time / len(paths) for kind, time in path_times(paths).items()}


def _layer_times(result: Result) -> dict[str, float]:
    number = max(1, len(result.iterations))
    return {
        layer.name: (layer.compute_ns + layer.exposed_comm_ns) / number for layer in result.layers
    }


def _collective_times(result: Result) -> dict[str, float]:
    times: dict[str, list[float]] = {}
    for collective in result.collectives:
        times.setdefault(collective.name, []).append(collective.time_ns)
    return {name: sum(values) / len(values) for name, values in times.items()}


def _pairs(first: Mapping[str, float], second: Mapping[str, float]) -> list[Change]:
    names = dict.fromkeys([*first, *second])
    return [Change(name, first.get(name), second.get(name)) for name in names]


def _sorted(first: Mapping[str, float], second: Mapping[str, float]) -> tuple[Change, ...]:
    return tuple(sorted(_pairs(first, second), key=lambda one: -abs(one.difference)))


def _counters(first: Result, second: Result) -> tuple[Change, ...]:
    numbers = [
        {name: value for name, value in vars(result.network).items() if name != "dimensions"}
        for result in (first, second)
    ]
    changed = [one for one in _pairs(*numbers) if one.difference]
    return tuple(
        sorted(changed, key=lambda one: -abs(one.relative if one.relative is not None else 1e9))
    )


def explanation(changes: Sequence[Change], limit: int) -> tuple[list[Change], list[Change]]:
    """Divide sorted changes into those to show and the rest."""
    changed = [one for one in changes if one.difference]
    return changed[:limit], changed[limit:]


def signed_time(difference_ns: float) -> str:
    """Return a difference of times as text, with its sign.

    Examples
    --------
    >>> signed_time(1500), signed_time(-1500), signed_time(0)
    ('+1.500 µs', '−1.500 µs', '0')
    """
    text = time_text(abs(difference_ns))
    if not isinstance(text, Quantity):
        return text
    signed = _sign(difference_ns) + text
    return Quantity.of(signed, text.value, text.unit, text.others)


def signed_percent(relative: float | None) -> str:
    """Return a relative difference as text, with its sign.

    Examples
    --------
    >>> signed_percent(0.123), signed_percent(-0.5), signed_percent(None)
    ('+12.3 %', '−50.0 %', '–')
    """
    return "–" if relative is None else f"{_sign(relative)}{abs(100 * relative):.1f} %"


def _sign(value: float) -> str:
    return "+" if value > 0 else "−" if value < 0 else ""


#: Rows of a table at most; a last line says how many are left out.
ROWS = 12


#: What the columns of two results are called.
Names = tuple[str, str]


def comparison_report(
    first: Result, second: Result, comparison: Comparison, names: Names = ("first", "second")
) -> RenderableType:
    """Return the tables of a comparison: scenario, times, layers, collectives, network."""
    time = comparison.time
    scenarios = " → ".join(dict.fromkeys(printable(one.name) for one in (first, second)))
    times = " → ".join(time.texts(time_text))
    title = f"{scenarios}: {time.name} {times} ({signed_percent(time.relative)})"
    parts: list[RenderableType] = [Text(title, style="bold")]
    parts += [
        Text(f"{which} is partial ({result.status.replace('_', ' ')})", style="bold red")
        for which, result in (("the first result", first), ("the second result", second))
        if result.status != "complete"
    ]
    difference = what_differs(first, second)
    if difference:
        parts.append(Text(difference))
    parts.append(_settings_table(comparison, names))
    parts.append(_metrics_table(comparison, names))
    # The times of kinds and layers add up to the iteration; collectives overlap.
    if any(one.difference for one in comparison.critical_path):
        parts.append(
            _times_table("critical path", comparison.critical_path, time.difference, names)
        )
    if any(one.difference for one in comparison.layers):
        heading = "layer: compute + exposed"
        parts.append(_times_table(heading, comparison.layers, time.difference, names))
    if any(one.difference for one in comparison.collectives):
        parts.append(_times_table("collective: mean time", comparison.collectives, None, names))
    if comparison.network:
        parts.append(_counters_table(comparison.network, names))
    return Group(*(line for part in parts for line in (part, Text())))


def _settings_table(comparison: Comparison, names: Names) -> RenderableType:
    if not comparison.settings:
        return Text("The scenarios are equal.")
    groups = [one for one in comparison.settings if one.is_group_of_one]
    rows = [one.texts for one in comparison.settings if one not in groups]
    if groups:
        of_first, of_second = (
            ", ".join(one.key.rpartition(".")[2] for one in groups if (one.before is None) is last)
            for last in (False, True)
        )
        rows.append(("groups of keys that one has", of_first or "–", of_second or "–"))
    return table(("scenario", *names), rows, numbers=False)


def _metrics_table(comparison: Comparison, names: Names) -> RenderableType:
    rows = []
    for metric, change in comparison.metrics:
        texts = steady([metric.text_of(one) for one in (change.before, change.after)])
        rows.append((metric.name, *texts, signed_percent(change.relative)))
    return table(("metric", *names, "difference"), rows)


def _times_table(
    heading: str, changes: Sequence[Change], whole: float | None, names: Names
) -> RenderableType:
    """Return the table of some times; the last column is the share of `whole`, or of each time."""
    shown, rest = explanation(changes, ROWS)
    rows = []
    for one in shown:
        relative = one.relative if whole is None else one.difference / whole if whole else None
        difference = signed_time(one.difference)
        rows.append((one.name, *one.texts(time_text), difference, signed_percent(relative)))
    if rest:
        left = sum(one.difference for one in rest)
        rows.append((f"{len(rest)} others", "", "", "" if whole is None else signed_time(left), ""))
    last = "relative" if whole is None else "of the whole"
    return table((heading, *names, "difference", last), rows)


def _counters_table(changes: Sequence[Change], names: Names) -> RenderableType:
    shown, rest = explanation(changes, ROWS)
    rows = []
    for one in shown:
        text = time_text if one.name.endswith("_ns") else scaled_text
        name = one.name.removesuffix("_ns")
        rows.append((name, *steady(one.texts(text)), signed_percent(one.relative)))
    if rest:
        rows.append((f"{len(rest)} others", "", "", ""))
    return table(("network", *names, "difference"), rows)
