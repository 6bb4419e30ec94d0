"""Says whether the difference of two results is larger than the error of the estimates."""

from __future__ import annotations

import math

from bridge.present.comparison import changed_settings
from bridge.present.metrics import is_estimate, time_an_iteration
from bridge.present.quantities import percent_text
from bridge.results.result import Result


def is_beyond_error(first: Result, second: Result) -> bool | None:
    """Return whether two times differ by more than the error of the estimates.

    Each estimate is taken to be off by up to the largest error of the stored scenarios like it, in
    either direction, and both independently.

    Parameters
    ----------
    first, second : Result
        The results. Packets have no such error.

    Returns
    -------
    bool or None
        None if the error of an estimate is not known, or if the difference is this error.
    """
    if _differ_in_fabric_only(first, second):
        return None
    ranges = [_packet_times(first), _packet_times(second)]
    if None in ranges:
        return None
    (low, high), (other_low, other_high) = (one for one in ranges if one is not None)
    return high < other_low or other_high < low


def certainty_sentence(first: Result, second: Result) -> str | None:
    """Return a sentence about the difference of two results; None if both simulate packets."""
    estimates = [one for one in (first, second) if is_estimate(one)]
    if not estimates:
        return None
    if _differ_in_fabric_only(first, second):
        return "Only the fabric differs, so the difference is an error of the estimate."
    errors = [largest_error(one) for one in estimates]
    known = [error for error in errors if error is not None]
    if len(known) < len(errors):
        return (
            "The error of an estimate is not known here, so the difference may be smaller than it: "
            "run with fabric: express."
        )
    error = f"the error of estimates of scenarios like these (up to {percent_text(max(known))})"
    if is_beyond_error(first, second):
        return f"The difference is larger than {error}."
    return f"The difference is not larger than {error}: run with fabric: express to be sure."


def _differ_in_fabric_only(first: Result, second: Result) -> bool:
    changed = [one.key for one in changed_settings(first.scenario, second.scenario)]
    return changed == ["fabric"]


def largest_error(result: Result) -> float | None:
    """Return how far an estimate may be off, as a fraction of the packet level's time.

    None if that is not known: no scenario like it is stored, or packets could be lost.
    """
    if not is_estimate(result):
        return 0.0
    estimate = result.estimate
    if estimate is None or estimate.losses is not None or estimate.largest_error is None:
        return None
    return abs(estimate.largest_error)


def _packet_times(result: Result) -> tuple[float, float] | None:
    """Return the least and the longest time an iteration that packets may take [ns]."""
    time, error = time_an_iteration(result), largest_error(result)
    if error is None:
        return None
    return time / (1 + error), time / (1 - error) if error < 1 else math.inf
