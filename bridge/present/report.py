"""Lays out the summary of a result as tables for a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from io import StringIO
from itertools import groupby
from pathlib import Path

from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from bridge.files import write_whole
from bridge.present.quantities import percent_text, scaled_text, seconds_text, time_text
from bridge.present.unbroken import unbroken
from bridge.results.measurements import Collective, IterationTimes, Reconfiguration
from bridge.results.result import Result

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
    if result.iteration_times:
        parts += [_jobs(result), _iteration_times(result.iteration_times)]
    if any(layer.compute_ns or layer.raw_comm_ns for layer in result.layers):
        parts.append(_layers(result))
    if result.collectives:
        parts.append(_collectives(result.collectives))
    parts.append(_network(result))
    if result.reconfigurations is not None:
        parts.append(_circuits(result.reconfigurations))
    parts.append(_simulator(result))
    spaced = (line for part in parts for line in (part, Text()))
    return Group(*spaced)


def _title(result: Result) -> Text:
    name = str(result.scenario.get("name", "simulation"))
    title = Text(f"{name}: {time_text(result.time_ns)} simulated", style="bold")
    if result.status != "complete":
        title.append(f", {result.status.replace('_', ' ')}: partial result", style="bold red")
    return title


def _iterations(result: Result) -> Table:
    rows = [
        (
            str(iteration.index),
            time_text(iteration.time_ns),
            time_text(iteration.compute_ns),
            time_text(iteration.exposed_comm_ns),
            _share(iteration.exposed_comm_ns, iteration.time_ns),
        )
        for iteration in result.iterations
    ]
    return table(("iteration", "time", "compute", "exposed comm.", "exposed / time"), rows)


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
            layer.name,
            time_text(layer.compute_ns),
            time_text(layer.raw_comm_ns),
            time_text(layer.exposed_comm_ns),
            _share(layer.exposed_comm_ns, layer.raw_comm_ns),
        )
        for layer in result.layers
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
                    scaled_text(collective.busbw_bps, "bit/s"),
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


def _network(result: Result) -> Table:
    network = result.network
    lost = (
        f"{scaled_text(network.drops)} drops, "
        f"{scaled_text(network.retransmissions)} retransmissions, "
        f"{scaled_text(network.rto_events)} RTOs"
    )
    carried = (
        f"{scaled_text(network.payload_bytes, 'B')} payload, "
        f"{scaled_text(network.wire_bytes, 'B')} on the wire, "
        f"{scaled_text(network.packets)} packets"
    )
    rows = [
        ("carried", carried),
        ("lost", lost),
        (
            "RTT",
            _percentiles(network.rtt_mean_ns, network.rtt_p50_ns, network.rtt_p99_ns)
            if network.rtt_flows
            else "not sampled",
        ),
        (
            "FCT",
            _percentiles(network.fct_mean_ns, network.fct_p50_ns, network.fct_p99_ns)
            if network.messages
            else "no message",
        ),
        ("link utilization", f"{percent_text(network.link_utilization_mean)} mean"),
    ]
    rows += [
        (
            f"  {dimension.name}",
            f"{percent_text(dimension.utilization_mean)} mean, "
            f"{percent_text(dimension.utilization_max)} busiest link, "
            f"longest queue {scaled_text(dimension.max_queue_bytes, 'B')}",
        )
        for dimension in network.dimensions
    ]
    return table(("network", ""), rows, numbers=False)


def _circuits(changes: Sequence[Reconfiguration]) -> Table:
    paused = time_text(sum(change.pause_ns for change in changes))
    rows = [("changed", f"{scaled_text(len(changes))} times, paused {paused} in all")]
    if changes:
        circuits = sum(change.new_circuits for change in changes) / len(changes)
        demand = sum(change.demand_bytes for change in changes) / len(changes)
        distant = sum(change.distant_pairs for change in changes)
        pairs = sum(change.demand_pairs for change in changes)
        rows += [
            ("new circuits", f"{scaled_text(circuits)} a change, mean"),
            ("demand measured", f"{scaled_text(demand, 'B')} mean"),
            ("without a circuit", f"{percent_text(distant / pairs)} of the pairs with demand"),
        ]
    return table(("circuits", ""), rows, numbers=False)


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


def table(headings: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: bool = True) -> Table:
    """Return a table for a terminal.

    Parameters
    ----------
    headings : sequence of str
        The names of the columns.
    rows : iterable of sequence of str
        The cells of each row.
    numbers : bool
        Whether all columns but the first hold numbers, which are right-aligned.

    Returns
    -------
    rich.table.Table
    """
    layout = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False)
    for index, heading in enumerate(headings):
        layout.add_column(
            heading,
            justify="right" if numbers and index else "left",
            # Long names wrap instead of being cut; numbers never wrap.
            overflow="fold",
            no_wrap=numbers and index > 0,
        )
    for row in rows:
        # Text instead of str, so that rich does not read a name in brackets as markup.
        layout.add_row(*(Text(cell) for cell in row))
    return layout


def _percentiles(mean: float, median: float, p99: float) -> str:
    return f"mean {time_text(mean)}, p50 {time_text(median)}, p99 {time_text(p99)}"


def _share(part: float, whole: float) -> str:
    return percent_text(part / whole if whole else None)
