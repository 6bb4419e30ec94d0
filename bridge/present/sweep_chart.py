"""The chart of a sweep: a metric of many results against a key of their scenarios."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any

from bridge.errors import InputError
from bridge.present.chart import Chart, axis, color, curve, marks
from bridge.present.comparison import differing_keys, value_text
from bridge.present.metrics import Metric
from bridge.results.result import Result
from frontend import units
from frontend.errors import key_path

#: A result that repeats another one with other random choices differs from it in this key only.
_SEED = "seed"

#: From this ratio of the greatest to the least value on, the axis is logarithmic.
_WIDE = 20

_SYMBOLS = ("circle", "diamond", "square", "cross", "x")


def sweep_chart(
    results: Sequence[Result], x: str | None, metric: Metric, by: str | None
) -> Chart | None:
    """Return a metric of many results against a key of their scenarios.

    Results that differ only in their seeds have a mark each; the curve passes through their mean.

    Parameters
    ----------
    results : sequence of Result
        The points of a sweep.
    x : str or None
        Key path of the horizontal axis, such as ``topology.bandwidth``. By default, of the keys
        that differ, the one with most values; numbers come before names.
    metric : Metric
        The vertical axis.
    by : str or None
        Key path whose values have a curve each. By default, the other key that differs, if any.

    Raises
    ------
    InputError
        A scenario has no such key, more keys differ than a picture shows, or no result has the
        metric.
    """
    known = [(result, value) for result in results if (value := metric.value(result)) is not None]
    if not known:
        return None
    x, by = _keys([result for result, _ in known], x, by)
    curves: dict[str, dict[str, list[float]]] = {}
    first: dict[tuple[str, str], Result] = {}
    for result, value in known:
        name, place = (
            "" if by is None else key_text(result, by),
            key_text(result, x),
        )
        _check_equal(first.setdefault((name, place), result), result, x, by)
        curves.setdefault(name, {}).setdefault(place, []).append(value)
    unit, scale = metric.unit(max(value for _, value in known))
    numbers = _numbers({place for points in curves.values() for place in points})
    traces = []
    for index, name in enumerate(sorted(curves, key=_order)):
        points = sorted(curves[name].items(), key=lambda one: numbers[one[0]])
        means = [sum(values) / len(values) / scale for _, values in points]
        places = [numbers[place] for place, _ in points]
        traces.append(curve(name, places, means, {"color": color(index)}, showlegend=False))
        places = [numbers[place] for place, values in points for _ in values]
        every = [value / scale for _, values in points for value in values]
        marker = {"color": color(index), "symbol": _SYMBOLS[index % len(_SYMBOLS)]}
        traces.append(marks(name, places, every, marker, showlegend=by is not None))
    layout = {
        "height": 330,
        "xaxis": axis(x, **_ticks(numbers)),
        "yaxis": axis(f"{metric.name} [{unit}]".removesuffix(" []"), rangemode="tozero"),
    }
    if by is not None:
        layout["legend"] = {"title": {"text": f"{by} "}}
    return Chart("sweep", f"{metric.name} against {x}", traces, layout)


def _keys(results: Sequence[Result], x: str | None, by: str | None) -> tuple[str, str | None]:
    """Return the keys of the axis and of the curves."""
    values: dict[str, set[str]] = {}
    for key in differing_keys(results):
        with suppress(InputError):  # a result that does not have it
            values[key] = {key_text(result, key) for result in results}
    free = sorted(
        (key for key in values if key not in (x, by)),
        key=lambda key: (
            key == _SEED,
            any(_order(value)[0] for value in values[key]),
            -len(values[key]),
        ),
    )
    if x is None:
        if not free:
            raise InputError("the results are of the same scenario, expected --x KEY")
        x = free.pop(0)
        if by is None and free and free[0] != _SEED:
            by = free[0]
    return x, by


def _check_equal(first: Result, result: Result, x: str, by: str | None) -> None:
    """Check that two results at the same place of a curve differ in nothing but the seed."""
    if other := sorted({*differing_keys([first, result])} - {_SEED}):
        same = x if by is None else f"{x} and {by}"
        raise InputError(
            f"results with the same {same} differ in {', '.join(other)}: expected results that "
            "differ in --x and --by only, and in the seed"
        )


def key_text(result: Result, path: str) -> str:
    """Return the value of a key of the scenario of a result as text.

    Raises
    ------
    InputError
        The scenario has no such key.
    """
    value: Any = result.scenario
    for key in key_path(path):
        try:
            value = value[key]
        except (KeyError, IndexError, TypeError):
            name = result.scenario.get("name")
            raise InputError(f"{path}: the scenario of {name} has no such key") from None
    return value_text(value)


def _order(text: str) -> tuple[int, float, str]:
    """Return a key to sort values by: numbers and quantities by their size, then names."""
    for kind in (units.SIZE, units.TIME, units.RATE, units.BYTE_RATE, units.COMPUTE):
        try:
            return 0, float(units.parse(text, kind)), text
        except ValueError:
            continue
    try:
        return 0, float(text), text
    except ValueError:
        return 1, 0.0, text


def _numbers(values: Collection[str]) -> dict[str, float]:
    """Return where each value is on the axis: the quantity, or a place of its own for a name."""
    orders = sorted(map(_order, values))
    if all(kind == 0 for kind, _, _ in orders):
        return {text: number for _, number, text in orders}
    return {text: float(place) for place, (_, _, text) in enumerate(orders)}


def _ticks(numbers: Mapping[str, float]) -> dict[str, Any]:
    """Return the ticks of an axis with the values as the scenarios write them."""
    places = sorted(numbers.values())
    is_wide = places[0] > 0 and places[-1] > _WIDE * places[0]
    return {
        "type": "log" if is_wide else "linear",
        "tickvals": list(numbers.values()),
        "ticktext": list(numbers),
    }
