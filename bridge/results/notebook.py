"""Shows a result in a notebook, as HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bridge.results.result import Result

#: Rows of a table at most.
_ROWS = 12

_NS_PER_US = 1e3


def result_html(result: Result) -> str:
    """Return a result as HTML: its iterations, and the layers that take longest.

    Parameters
    ----------
    result : Result
        A result, which may be partial.

    Returns
    -------
    str
    """
    name = escape(str(result.scenario.get("name", "simulation")))
    parts = [f"<strong>{name}</strong>: {result.time_ns / _NS_PER_US:,.4g} µs simulated"]
    if result.status != "complete":
        parts.append(f", <em>{escape(result.status.replace('_', ' '))}: partial result</em>")
    parts.append(
        _table(
            ("iteration", "time [µs]", "compute [µs]", "exposed [µs]", "waiting [µs]"),
            (
                (
                    str(one.index),
                    *_times(one.time_ns, one.compute_ns, one.exposed_comm_ns, one.waiting_ns),
                )
                for one in result.iterations[:_ROWS]
            ),
        )
    )
    layers = sorted(result.layers, key=lambda one: -(one.compute_ns + one.exposed_comm_ns))
    parts.append(
        _table(
            ("layer", "compute [µs]", "communication [µs]", "exposed [µs]"),
            (
                (one.name, *_times(one.compute_ns, one.raw_comm_ns, one.exposed_comm_ns))
                for one in layers[:_ROWS]
            ),
        )
    )
    network = result.network
    parts.append(
        f"{network.messages} messages, {network.drops} drops, {network.retransmissions} "
        f"retransmissions, {network.rto_events} timeouts"
    )
    return "".join(parts)


def _times(*times_ns: float) -> tuple[str, ...]:
    return tuple(f"{time / _NS_PER_US:,.4g}" for time in times_ns)


def _table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows
    )
    if not body:
        return ""
    head = "".join(f"<th>{escape(one)}</th>" for one in headings)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
