"""Lays out the summary of a result as tables for a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Sequence
from io import StringIO
from itertools import groupby
from pathlib import Path

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from bridge.files import write_whole
from bridge.present.deciding import what_decides
from bridge.present.layer_groups import layer_groups
from bridge.present.network_report import (
    circuits_table,
    events_table,
    network_table,
    shared_links_table,
)
from bridge.present.path_table import path_table
from bridge.present.quantities import (
    byte_rate_text,
    percent_text,
    scaled_text,
    seconds_text,
    time_text,
)
from bridge.present.table import table
from bridge.present.unbroken import unbroken
from bridge.results.measurements import (
    Collective,
    Estimate,
    IterationTimes,
    Training,
)
from bridge.results.result import Result
from frontend.errors import printable

#: With more collectives than this, the summary groups them by operation, algorithm and size.
MANY_COLLECTIVES = 16


def write_report(result: Result, file: Path) -> None:
    """Write the summary of a result, with lines as long as the tables are wide.

    Parameters
    ----------
    result : Result
        Complete or partial.
    file : Path
        Where to.

    Raises
    ------
    OutputError
        If the file cannot be written.
    """
    text = StringIO()
    print_report(result, unbroken(text))
    write_whole(file, text.getvalue().encode())


def print_report(result: Result, console: Console) -> None:
    """Print the summary of a result.

    Parameters
    ----------
    result : Result
        A complete or partial result.
    console : rich.console.Console
        The console to print to.
    """
    console.print(report(result))


def report(result: Result) -> RenderableType:
    """Return the summary of a result.

    Parameters
    ----------
    result : Result
        A complete or partial result.

    Returns
    -------
    rich renderable
        A title, and each table that has content.
    """
    parts: list[RenderableType] = [_title(result)]
    if result.iterations:
        parts.append(_iterations(result))
    if result.training:
        parts.append(_training(result.training))
    if result.iteration_times:
        parts += [_jobs(result), _iteration_times(result.iteration_times)]
    if any(layer.compute_ns or layer.raw_comm_ns for layer in result.layers):
        parts.append(_layers(result))
    if result.critical_path:
        parts.append(path_table(result.critical_path))
    decisive = what_decides(result)
    if decisive:
        parts.append(Text(decisive))
    if result.collectives:
        parts.append(_collectives(result.collectives))
        if any(collective.choice for collective in result.collectives):
            parts.append(_choices(result.collectives))
    parts.append(network_table(result))
    if result.reconfigurations is not None:
        parts.append(circuits_table(result.reconfigurations))
    if result.network_events is not None:
        parts.append(events_table(result, result.network_events))
    if result.shared_links:
        parts.append(shared_links_table(result.shared_links))
    if result.estimate:
        parts.append(_estimate(result.estimate))
    parts.append(_simulator(result))
    spaced = (line for part in parts for line in (part, Text()))
    return Group(*spaced)


def _title(result: Result) -> Text:
    name = printable(str(result.scenario.get("name", "simulation")))
    title = Text(f"{name}: {time_text(result.time_ns)} simulated", style="bold")
    if result.status != "complete":
        title.append(f", {result.status.replace('_', ' ')}: partial result", style="bold red")
    return title


def _estimate(estimate: Estimate) -> Text:
    begin = "This is an estimate"
    if estimate.losses is not None or estimate.buffer_bytes is not None:
        return Text(
            f"{begin} without losses. {_losses(estimate)} With losses, retransmission timeouts can "
            "make the time many times as long: run with fabric: express."
        )
    if estimate.mean_error is None or estimate.largest_error is None:
        return Text(
            f"{begin}, and its error is not known: no stored scenario has such a network "
            f"({estimate.network}). Run a smaller scenario with fabric: express as well."
        )
    names = estimate.scenarios
    if len(names) == 1:
        return Text(
            f"{begin}. Against packets (express), the time of {names[0]}, the only stored "
            f"scenario like it, is off by {_signed(estimate.largest_error)}."
        )
    least, greatest = estimate.least_error, estimate.greatest_error
    if least is None or greatest is None:  # a result of an earlier version
        least, greatest = sorted((estimate.largest_error, 0.0))
    return Text(
        f"{begin}. Against packets (express), the time of {len(names)} scenarios like it "
        f"is off by {_signed(least)} to {_signed(greatest)}, "
        f"{percent_text(estimate.mean_error)} on average."
    )


def _losses(estimate: Estimate) -> str:
    if estimate.losses == "link":
        return "Packets are lost here: links lose them at random."
    if estimate.losses == "failure":
        return "Packets may be lost here: links fail."
    return (
        f"Packets may be lost here: up to {scaled_text(estimate.arriving_bytes, 'B')} can arrive "
        f"at once at a port with a buffer of {scaled_text(estimate.buffer_bytes, 'B')}."
    )


def _signed(error: float) -> str:
    return f"{100 * error:+.1f} %".replace("-0.0", "+0.0")


def _iterations(result: Result) -> Table:
    rows = [
        (
            str(iteration.index),
            time_text(iteration.time_ns),
            time_text(iteration.compute_ns),
            time_text(iteration.exposed_comm_ns),
            time_text(iteration.waiting_ns),
            _share(iteration.exposed_comm_ns, iteration.time_ns),
        )
        for iteration in result.iterations
    ]
    headings = ("iteration", "time", "compute", "exposed comm.", "waiting", "exposed / time")
    return table(headings, rows)


def _training(training: Training) -> Table:
    rows = [
        (
            f"{scaled_text(training.tokens_per_s)}/s",
            percent_text(training.mfu),
            percent_text(training.bubble_fraction),
            scaled_text(training.memory_bytes, "B"),
        )
    ]
    return table(("tokens", "MFU", "pipeline bubble", "memory of a rank"), rows)


def _jobs(result: Result) -> Table:
    rows = []
    for job in result.jobs or ():
        times = [iteration.time_ns for iteration in job.iterations]
        if times:
            mean = time_text(sum(times) / len(times))
            rows.append(
                (job.name, time_text(job.start_ns), str(len(times)), mean, time_text(max(times)))
            )
    return table(("job", "start", "iterations", "mean", "longest"), rows)


def _iteration_times(times: IterationTimes) -> Table:
    texts = map(time_text, (times.mean_ns, times.p50_ns, times.p99_ns, times.max_ns))
    headings = ("iterations of all jobs", "mean", "p50", "p99", "longest")
    return table(headings, [(str(times.count), *texts)])


def _layers(result: Result) -> Table:
    rows = [
        (
            one.name,
            time_text(one.compute_ns),
            time_text(one.raw_comm_ns),
            time_text(one.exposed_comm_ns),
            _share(one.exposed_comm_ns, one.raw_comm_ns),
        )
        for one in layer_groups(result.layers)
    ]
    return table(("layer", "compute", "raw comm.", "exposed comm.", "exposed / raw"), rows)


def _collectives(collectives: Sequence[Collective]) -> Table:
    if len(collectives) <= MANY_COLLECTIVES:
        return table(
            ("collective", "algorithm", "bytes", "start", "time", "busbw"),
            [
                (
                    collective.name,
                    collective.algorithm,
                    scaled_text(collective.bytes, "B"),
                    time_text(collective.start_ns),
                    time_text(collective.time_ns),
                    byte_rate_text(collective.busbw_bps),
                )
                for collective in collectives
            ],
        )

    def kind(collective: Collective) -> tuple[str, str, int]:
        return (collective.operation, collective.algorithm, collective.bytes)

    rows = []
    for (operation, algorithm, size), same in groupby(sorted(collectives, key=kind), key=kind):
        group = list(same)
        times = [collective.time_ns for collective in group]
        rows.append(
            (
                operation,
                algorithm,
                scaled_text(size, "B"),
                str(len(group)),
                time_text(sum(times) / len(times)),
                time_text(max(times)),
            )
        )
    return table(("collectives", "algorithm", "bytes", "count", "mean time", "longest"), rows)


def _choices(collectives: Sequence[Collective]) -> Table:
    """Return what `auto` chose and why, once for each kind of collective."""
    chosen = {
        (one.operation, scaled_text(one.bytes, "B"), one.algorithm, one.choice)
        for one in collectives
        if one.choice
    }
    headings = ("auto for", "bytes", "chose", "estimated times")
    return table(headings, sorted(chosen), numbers=False)


def _simulator(result: Result) -> Table:
    simulator = result.simulator
    speed = simulator.events / simulator.wall_s if simulator.wall_s else None
    versions = ", ".join(f"{name} {version}" for name, version in simulator.versions.items())
    rows = [
        ("wall time", f"{seconds_text(simulator.wall_s)}, CPU {seconds_text(simulator.cpu_s)}"),
        ("events", f"{scaled_text(simulator.events)}, {scaled_text(speed)} per second"),
        ("peak memory", scaled_text(simulator.peak_rss_bytes, "B")),
        ("seed", str(simulator.seed)),
        ("versions", versions),
    ]
    return table(("simulator", ""), rows, numbers=False)


def _share(part: float, whole: float) -> str:
    return percent_text(part / whole if whole else None)
