"""Read scenarios that earlier versions of cosim have written, in results and in streams."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from frontend.loading.moved import in_new_places

SIZES = frozenset(
    {
        "buffer", "bucket", "bytes", "dispatch_element", "ecn_threshold", "element",
        "gradient_element", "link_header", "matrix", "memory", "min_chunk", "mss", "mtu",
        "size_limit", "sizes", "threshold", "window",
    }
)  # fmt: skip
"""Keys of sizes when a size could be a number without a unit."""

_COUNTED = frozenset({"demand", "strategy"})
"""Keys of what programs write, whose bytes are numbers."""


class Removed(NamedTuple):
    """A key that scenarios no longer have."""

    idle: Callable[[Mapping[str, Any]], Any]
    """Returns the value that changed nothing, given the keys beside it."""
    expected: str
    """What an error expects instead."""
    is_in_streams: bool = True
    """Whether a stream that was compiled with another value still has its effect."""


_REPETITION = (
    "on express, simulation.replay simulates equal iterations only once, with the same result; on "
    "other fabrics, run fewer iterations"
)

REMOVED_KINDS = {"cluster": "expected jobs instead, with mix and queueing: in_turn"}
"""What an error expects instead of a kind that scenarios no longer have."""

REMOVED = {
    ("system", "min_chunk"): Removed(lambda _: "1B", "expected only system.chunks"),
    ("system", "estimator_chunks"): Removed(lambda _: None, "expected only system.chunks"),
    ("transport", "initial_rto"): Removed(
        lambda beside: beside.get("min_rto"), "expected only transport.min_rto"
    ),
    ("transport", "clock_granularity"): Removed(lambda _: "1us", "it is always 1us"),
    ("simulation", "repeat"): Removed(
        # exact skipped only what changes nothing
        lambda beside: "exact" if beside["repeat"] == "exact" else "off",
        _REPETITION,
        is_in_streams=False,
    ),
    # Without simulation.repeat, these had no effect.
    ("simulation", "repeat_tolerance"): Removed(
        lambda beside: beside["repeat_tolerance"], _REPETITION
    ),
    ("simulation", "check_interval"): Removed(lambda beside: beside["check_interval"], _REPETITION),
    ("system", "negotiation_latency"): Removed(
        lambda _: "0ns", "it is always 0", is_in_streams=False
    ),
    ("transport", "data_retries"): Removed(lambda _: 15, "it is always 15", is_in_streams=False),
}


def as_now(scenario: Any) -> Any:
    """Return a stored scenario as this version writes it.

    Sizes have units, keys are at their new places, and keys of `REMOVED` are gone if they changed
    nothing. With another value, the key stays: the scenario cannot be repeated, and its reader says
    so.

    Examples
    --------
    >>> as_now({"transport": {"mtu": 9000}, "system": {"min_chunk": 1, "estimator_chunks": 64}})
    {'system': {'estimator_chunks': 64}, 'links': {'mtu': '9000B'}}
    """
    current = with_units(scenario)
    if isinstance(current, dict):
        current, _ = in_new_places(current)
    for (block, key), removed in REMOVED.items():
        values = current.get(block) if isinstance(current, dict) else None
        if isinstance(values, dict) and key in values and values[key] == removed.idle(values):
            del values[key]
    return current


def lost_in_streams(scenario: Mapping[str, Any]) -> Iterator[tuple[str, Removed]]:
    """Yield the keys whose effect a stream of this scenario no longer has, each with its path.

    Examples
    --------
    >>> [path for path, _ in lost_in_streams({"transport": {"data_retries": 9}})]
    ['transport.data_retries']
    """
    for (block, key), removed in REMOVED.items():
        values = scenario.get(block)
        if not removed.is_in_streams and isinstance(values, dict) and key in values:
            yield f"{block}.{key}", removed


def with_units(scenario: Any) -> Any:
    """Return a stored scenario whose sizes have units: a number without one counted bytes.

    Examples
    --------
    >>> with_units({"seed": 1, "transport": {"mtu": 9000, "window": "4MB"}})
    {'seed': 1, 'transport': {'mtu': '9000B', 'window': '4MB'}}
    """
    if isinstance(scenario, dict):
        return {key: _value(key, value) for key, value in scenario.items()}
    if isinstance(scenario, list):
        return [with_units(value) for value in scenario]
    return scenario


def _value(key: str, value: Any) -> Any:
    if key in _COUNTED:
        return value
    return _sizes(value) if key in SIZES else with_units(value)


def _sizes(value: Any) -> Any:
    """Return sizes with units; other numbers, such as the shares of sizes, are no integers."""
    if isinstance(value, list):
        return [_sizes(one) for one in value]
    if isinstance(value, int) and not isinstance(value, bool) and value:
        return f"{value}B"
    return with_units(value)
