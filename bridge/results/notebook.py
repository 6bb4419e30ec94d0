"""Shows a result in a notebook: as HTML, and its lists as pandas data frames."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from bridge.errors import InputError
from bridge.results.measurements import Iteration, Layer, NetworkStatistics
from bridge.results.run_tables import MEASURED, SERIES, RunTables

if TYPE_CHECKING:
    import pandas as pd

#: Rows of a table at most.
_ROWS = 12

_NS_PER_US = 1e3


def result_html(
    name: str,
    status: str,
    time_ns: float,
    iterations: Sequence[Iteration],
    layers: Sequence[Layer],
    network: NetworkStatistics,
) -> str:
    """Return a result as HTML: its iterations, and the layers that take longest."""
    parts = [f"<strong>{escape(name)}</strong>: {time_ns / _NS_PER_US:,.4g} µs simulated"]
    if status != "complete":
        parts.append(f", <em>{escape(status.replace('_', ' '))}: partial result</em>")
    parts.append(
        _table(
            ("iteration", "time [µs]", "compute [µs]", "exposed [µs]", "waiting [µs]"),
            (
                (
                    str(one.index),
                    *_times(one.time_ns, one.compute_ns, one.exposed_comm_ns, one.waiting_ns),
                )
                for one in iterations[:_ROWS]
            ),
        )
    )
    longest = sorted(layers, key=lambda one: -(one.compute_ns + one.exposed_comm_ns))
    parts.append(
        _table(
            ("layer", "compute [µs]", "communication [µs]", "exposed [µs]"),
            (
                (one.name, *_times(one.compute_ns, one.raw_comm_ns, one.exposed_comm_ns))
                for one in longest[:_ROWS]
            ),
        )
    )
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


def require_pandas() -> Any:
    """Return pandas.

    Raises
    ------
    InputError
        It is not installed.
    """
    try:
        import pandas as pd
    except ModuleNotFoundError:
        raise InputError(
            "tables need pandas, which is not installed: "
            "install the extra `pandas` (pip install pandas)"
        ) from None
    return pd


def data_frames(document: dict[str, Any], measured: RunTables) -> dict[str, pd.DataFrame]:
    """Return a table for each list in a result; see `bridge.Result.to_pandas`.

    Parameters
    ----------
    document : dict
        What `bridge.Result.to_dict` returns.
    measured : RunTables
        The tables that are not in result.json.

    Raises
    ------
    InputError
        pandas is not installed.
    """
    pd = require_pandas()
    lists = {name: value for name, value in document.items() if isinstance(value, list)}
    lists["dimensions"] = document["network"]["dimensions"]
    if "jobs" in lists:
        jobs = [dict(job) for job in lists["jobs"]]
        for key in ("iterations", "failures", "checkpoints"):
            lists[f"job_{key}"] = [
                {"job": number, **row} for number, job in enumerate(jobs) for row in job.pop(key)
            ]
        lists["jobs"] = jobs
    if "critical_path" in lists:
        lists["critical_path"] = [
            {"iteration": path["iteration"], **_flat(step)}
            for path in lists["critical_path"]
            for step in path["steps"]
        ]
    files = (*MEASURED, *SERIES)
    lists |= {name: rows for name in files if (rows := measured.find(name)) is not None}
    return {name: pd.DataFrame(rows) for name, rows in lists.items()}


def _flat(step: dict[str, Any]) -> dict[str, Any]:
    """Return a step of a critical path with its times as columns."""
    return {**{name: value for name, value in step.items() if name != "times"}, **step["times"]}
