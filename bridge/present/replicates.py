"""Means over runs that differ in their seed, with confidence intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean, stdev, variance
from typing import NamedTuple

from bridge.present.metrics import Metric
from bridge.results.result import Result

CONFIDENCE = 0.95
"""Probability that an interval contains the true mean, if the values are normally distributed."""


class Interval(NamedTuple):
    """The mean of some values and how far the true mean may be from it."""

    mean: float
    half_width: float | None
    """Half of the confidence interval by Student's t; None for a single value."""
    least: float
    greatest: float
    number: int


def interval(values: Sequence[float]) -> Interval | None:
    """Return the mean of values with its confidence interval; None if there are none.

    Examples
    --------
    >>> found = interval([9.0, 10.0, 11.0])
    >>> found.mean, round(found.half_width, 3)
    (10.0, 2.484)
    """
    if not values:
        return None
    half = None
    if len(values) > 1:
        from scipy.special import stdtrit

        quantile = float(stdtrit(len(values) - 1, (1 + CONFIDENCE) / 2))
        half = quantile * stdev(values) / math.sqrt(len(values))
    return Interval(fmean(values), half, min(values), max(values), len(values))


def difference(first: Sequence[float], second: Sequence[float]) -> Interval | None:
    """Return the mean of a second group minus that of a first one, with Welch's interval.

    The interval is None if a group has a single value; None for groups without values.
    """
    if not first or not second:
        return None
    half = None
    if min(len(first), len(second)) > 1:
        half = _welch(first, second)
    means = fmean(second) - fmean(first)
    least, greatest = min(second) - max(first), max(second) - min(first)
    return Interval(means, half, least, greatest, len(first) + len(second))


def _welch(first: Sequence[float], second: Sequence[float]) -> float:
    """Return half of the interval of a difference of means whose variances may differ."""
    from scipy.special import stdtrit

    parts = [(variance(values) / len(values), len(values) - 1) for values in (first, second)]
    squared = sum(part for part, _ in parts)
    if squared == 0:
        return 0.0
    freedom = squared**2 / sum(part**2 / free for part, free in parts)
    return float(stdtrit(freedom, (1 + CONFIDENCE) / 2)) * math.sqrt(squared)


def of_metric(metric: Metric, results: Sequence[Result]) -> Interval | None:
    """Return the interval of a metric over results; None if a result does not have it."""
    values = [metric.value(result) for result in results]
    known = [value for value in values if value is not None]
    return interval(known) if len(known) == len(values) else None


def interval_text(metric: Metric, found: Interval | None) -> str:
    """Return a mean as text, with half of its interval: ``1.500 ms ± 12.0 µs``."""
    if found is None:
        return metric.text_of(None)
    mean = metric.text_of(found.mean)
    return f"{mean} ± {metric.text_of(found.half_width)}" if found.half_width else mean
