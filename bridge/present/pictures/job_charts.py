"""Charts of jobs over time: when each waits and runs, and how many ranks have one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bridge.present.pictures.chart import Chart, Trace, axis, curve, rows_over_time
from bridge.present.pictures.charts import MOST_SPANS
from bridge.present.pictures.figure import COLORS
from bridge.present.quantities import time_unit
from bridge.results.measurements import Schedule, ScheduledJob
from bridge.results.result import Result

_ROWS = 64
"""Jobs that a chart shows at most: those that took longest from their arrival to their end."""

Spans = Sequence[tuple[float, float]]
"""Begins and ends of times [ns]."""

_WAITS: dict[str, Any] = {
    "color": "#e4e4e4",
    "pattern": {"shape": "/", "fgcolor": "#9a9a9a", "bgcolor": "#e4e4e4"},
}


def jobs(result: Result) -> Chart | None:
    """Return when each job of a result waits and runs, with its iterations; None without jobs."""
    if result.schedule is None:
        return None
    found = {job.name: job.iterations for job in result.jobs or ()}
    runs = {
        name: [(one.start_ns, one.end_ns) for one in iterations]
        for name, iterations in found.items()
    }
    return job_rows(result.schedule, runs, "iterations")


def job_rows(
    schedule: Schedule,
    runs: Mapping[str, Spans],
    what: str,
    restarts: Mapping[str, Spans] | None = None,
) -> Chart | None:
    """Return a row for each job, in the order of their arrivals.

    Parameters
    ----------
    schedule : Schedule
        The jobs.
    runs : mapping
        When each of them runs; what is left from its arrival to its end is waiting.
    what : str
        What the times of `runs` are, for the legend.
    restarts : mapping, optional
        When jobs restart after failures.

    Returns
    -------
    Chart or None
        None if there are no jobs.
    """
    if not schedule.jobs:
        return None
    slowest = sorted(schedule.jobs, key=lambda job: (-job.completion_ns, job.name))[:_ROWS]
    shown = sorted(slowest, key=lambda job: (job.arrival_ns, schedule.jobs.index(job)))
    labels = {job.name: f"{job.name} ({len(job.ranks)})" for job in shown}
    many = sum(len(runs[job.name]) for job in shown) > MOST_SPANS
    spans = {
        job.name: [(runs[job.name][0][0], runs[job.name][-1][1])]
        if many and runs[job.name]
        else runs[job.name]
        for job in shown
    }
    unit, scale = time_unit(max(job.arrival_ns + job.completion_ns for job in shown))

    def bars(name: str, found: Mapping[str, Spans], marker: dict[str, Any]) -> Trace:
        rows = [(label, *span) for job, label in labels.items() for span in found.get(job, ())]
        return {
            "type": "bar",
            "orientation": "h",
            "name": name,
            "y": [label for label, _, _ in rows],
            "base": [begin / scale for _, begin, _ in rows],
            "x": [(end - begin) / scale for _, begin, end in rows],
            "marker": {"line": {"color": "#ffffff", "width": 0.5}, **marker},
            "hovertemplate": f"{name}: %{{x:.4~g}} {unit}<extra>%{{y}}</extra>",
        }

    traces = [
        bars("waits", {job.name: _waits(job, runs[job.name]) for job in shown}, _WAITS),
        bars("runs" if many else what, spans, {"color": COLORS[0]}),
        bars("restarts", restarts or {}, {"color": "#d1495b"}),
    ]
    layout = rows_over_time(list(labels.values()), unit)
    some = f", the {len(shown)} of {len(schedule.jobs)} that took longest"
    caption = "Jobs over time (ranks)" + some * (len(shown) < len(schedule.jobs))
    return Chart("jobs", caption, [one for one in traces if one["y"]], layout)


def _waits(job: ScheduledJob, runs: Spans) -> list[tuple[float, float]]:
    """Return the times from the arrival of a job to its end in which it does not run."""
    found, at = [], job.arrival_ns
    for begin, end in runs:
        if round(1000 * begin) > round(1000 * at):
            found.append((at, begin))
        at = max(at, end)
    return found


def occupancy(result: Result) -> Chart | None:
    """Return how many ranks have a job, and how many more are waited for; None without jobs."""
    schedule = result.schedule
    if schedule is None or not schedule.jobs:
        return None
    has, wants = {0: 0}, {0: 0}  # changes by time [ps]: sums of times in ns are not exact
    for job in schedule.jobs:
        at = job.arrival_ns
        for run in job.runs:
            for changes, begin, end in ((wants, at, run.begin_ns), (has, run.begin_ns, run.end_ns)):
                for time, more in ((begin, len(run.ranks)), (end, -len(run.ranks))):
                    changes[round(1000 * time)] = changes.get(round(1000 * time), 0) + more
            at = run.end_ns
    unit, scale = time_unit(max(has) / 1000)
    traces = [
        _steps("ranks with a job", has, scale, {"color": COLORS[0]}),
        _steps("ranks that jobs wait for", wants, scale, {"color": COLORS[3], "dash": "dash"}),
    ]
    layout = {
        "height": 320,
        "xaxis": axis(f"simulated time [{unit}]", rangemode="tozero"),
        "yaxis": axis("ranks", rangemode="tozero"),
    }
    share = f"{100 * schedule.utilization:.1f} %"
    caption = f"Ranks with a job over time: {share} of {schedule.ranks} on average"
    return Chart("cluster", caption, traces, layout)


def _steps(name: str, changes: Mapping[int, int], scale: float, line: Trace) -> Trace:
    times, total, values = sorted(changes), 0, []
    for time in times:
        total += changes[time]
        values.append(total)
    return curve(name, [time / 1000 / scale for time in times], values, {"shape": "hv", **line})
