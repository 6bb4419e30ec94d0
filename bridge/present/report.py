"""Lays out the summary of a result as tables for a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Sequence
from io import StringIO
from pathlib import Path

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from bridge.files import write_whole
from bridge.present.columns import (
    COLLECTIVES,
    GOODPUT,
    ITERATIONS,
    LAYERS,
    SHARED_LINKS,
    TRAINING,
    cells,
    ranks_text,
    versions_text,
    without,
)
from bridge.present.deciding import what_decides
from bridge.present.metrics import is_estimate, path_times
from bridge.present.pictures.charts import layer_groups
from bridge.present.pictures.waterfall import UPDATE, waterfall, waterfall_table
from bridge.present.quantities import percent_text, scaled_text, seconds_text, time_text
from bridge.present.table import table, unbroken
from bridge.results.measurements import (
    Collective,
    CriticalPath,
    DimensionStatistics,
    Estimate,
    IterationTimes,
    NetworkEvent,
    NetworkEvents,
    NetworkStatistics,
    PathStep,
    Reconfiguration,
    Reordering,
    Schedule,
    Simulator,
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
        parts.append(table(ITERATIONS, cells(ITERATIONS, result.iterations)))
    if result.training:
        parts.append(table(TRAINING, cells(TRAINING, [result.training])))
    spent = waterfall(result)
    if UPDATE in spent:  # a model is trained
        parts.append(waterfall_table(spent))
    if result.goodput:
        parts.append(table(GOODPUT, cells(GOODPUT, [result.goodput])))
    if result.iteration_times:
        parts += [_jobs(result), _iteration_times(result.iteration_times)]
    if result.schedule:
        parts.append(_schedule(result.schedule))
    if any(layer.compute_ns or layer.raw_comm_ns for layer in result.layers):
        parts.append(table(LAYERS, cells(LAYERS, layer_groups(result.layers))))
    if result.critical_path:
        parts.append(path_table(result.critical_path))
    decisive = what_decides(result)
    if decisive:
        parts.append(Text(f"{decisive}\nWhat would help: cosim sensitivities FILE"))
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
        rows = cells(SHARED_LINKS, result.shared_links)
        parts.append(table(SHARED_LINKS, rows, numbers=False))
    if result.estimate:
        parts.append(estimate_text(result.estimate))
    parts.append(_simulator(result))
    spaced = (line for part in parts for line in (part, Text()))
    return Group(*spaced)


def _title(result: Result) -> Text:
    title = Text(f"{printable(result.name)}: {time_text(result.time_ns)} simulated", style="bold")
    if result.status != "complete":
        title.append(f", {result.status.replace('_', ' ')}: partial result", style="bold red")
    return title


def estimate_text(estimate: Estimate) -> Text:
    """Return what is known about the error of an estimate."""
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


def _jobs(result: Result) -> Table:
    placed = {job.name: job for job in result.schedule.jobs} if result.schedule else {}
    fails = any(job.failures for job in result.jobs or ())
    rows = []
    for job in result.jobs or ():
        times = [iteration.time_ns for iteration in job.iterations]
        if not times:
            continue
        mean = time_text(sum(times) / len(times))
        row = [job.name, time_text(job.start_ns), str(len(times)), mean, time_text(max(times))]
        if placed:
            own = placed[job.name]
            row[1:1] = [str(len(own.ranks)), time_text(own.arrival_ns), time_text(own.waiting_ns)]
            row.append(time_text(own.completion_ns))
        if fails:
            row.append(str(len(job.failures)))
        rows.append(row)
    more = ("failures",) if fails else ()
    if not placed:
        return table(("job", "start", "iterations", "mean", "longest", *more), rows)
    headings = ("job", "ranks", "arrival", "waiting", "start", "iterations", "mean", "longest")
    return table((*headings, "completion", *more), rows)


def _schedule(schedule: Schedule) -> Table:
    rows = [
        ("utilization", f"{percent_text(schedule.utilization)} of {schedule.ranks} ranks"),
        (
            "waiting",
            f"mean {time_text(schedule.waiting_mean_ns)}, "
            f"longest {time_text(schedule.waiting_max_ns)}",
        ),
        (
            "completion",
            f"mean {time_text(schedule.completion_mean_ns)}, "
            f"p50 {time_text(schedule.completion_p50_ns)}, "
            f"p99 {time_text(schedule.completion_p99_ns)}",
        ),
    ]
    return table(("cluster", ""), rows, numbers=False)


def _iteration_times(times: IterationTimes) -> Table:
    texts = map(time_text, (times.mean_ns, times.p50_ns, times.p99_ns, times.max_ns))
    headings = ("iterations of all jobs", "mean", "p50", "p99", "longest")
    return table(headings, [(str(times.count), *texts)])


def _collectives(collectives: Sequence[Collective]) -> Table:
    if len(collectives) <= MANY_COLLECTIVES:
        columns = without(COLLECTIVES, "iteration")
        return table(columns, cells(columns, collectives))
    groups: dict[tuple[str, str, int], list[float]] = {}
    for one in collectives:
        groups.setdefault((one.operation, one.algorithm, one.bytes), []).append(one.time_ns)
    rows = [
        (
            operation,
            algorithm,
            scaled_text(size, "B"),
            str(len(times)),
            time_text(sum(times) / len(times)),
            time_text(max(times)),
        )
        for (operation, algorithm, size), times in sorted(groups.items())
    ]
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
    rows = [
        ("wall time", f"{seconds_text(simulator.wall_s)}, CPU {seconds_text(simulator.cpu_s)}"),
        ("events", f"{scaled_text(simulator.events)}, {scaled_text(speed)} per second"),
        *_replayed(result),
        *_folded(simulator),
        ("peak memory", scaled_text(simulator.peak_rss_bytes, "B")),
        ("seed", str(simulator.seed)),
        ("versions", versions_text(result)),
    ]
    return table(("simulator", ""), rows, numbers=False)


def _folded(simulator: Simulator) -> list[tuple[str, str]]:
    if simulator.ranks is None:
        return []
    return [("ranks", f"{simulator.ranks} simulated; all others do the same as one of them")]


def _replayed(result: Result) -> list[tuple[str, str]]:
    replay = result.replay
    if replay is None or replay.packets == 0:
        return []
    simulated = result.network.packets - replay.packets
    return [
        (
            "replayed",
            f"{scaled_text(replay.packets)} packets; {scaled_text(simulated)} were simulated",
        )
    ]


#: The least share of critical paths that is shown.
LEAST = 5e-4


def path_table(paths: Sequence[CriticalPath]) -> Table:
    """Return what the critical paths consist of: the longest kind of time first.

    Parameters
    ----------
    paths : sequence of CriticalPath
        The path of each iteration.

    Returns
    -------
    rich.table.Table
        For each kind its time in a mean iteration, its share, and the step that has most of it.
    """
    whole = sum(path.time_ns for path in paths)
    rows = [
        (kind, time_text(time / len(paths)), percent_text(time / whole), _longest(paths, kind))
        for kind, time in sorted(path_times(paths).items(), key=lambda item: -item[1])
        if time > LEAST * whole
    ]
    shown = table(("critical path", "time", "share", "longest in"), rows)
    shown.columns[-1].justify = "left"
    shown.columns[-1].no_wrap = False
    return shown


def _longest(paths: Sequence[CriticalPath], kind: str) -> str:
    """Return the step with the most time of a kind, its ranks and this time."""

    def time(step: PathStep) -> float:
        value: float = getattr(step.times, f"{kind}_ns")
        return value

    step = max((step for path in paths for step in path.steps), key=time, default=None)
    if step is None:
        return ""
    return f"{step.name}, rank {ranks_text(step)}: {time_text(time(step))}"


def network_table(result: Result) -> Table:
    """Return what the network carried and lost, and how full it was; an estimate has no packets."""
    network = result.network
    carried = (
        f"{scaled_text(network.payload_bytes, 'B')} payload, "
        f"{scaled_text(network.wire_bytes, 'B')} on the wire"
    )
    rows = [("carried", carried)] if is_estimate(result) else _packets(result, carried)
    rows += [
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
            f"{percent_text(dimension.utilization_max)} busiest link{_queue(result, dimension)}",
        )
        for dimension in network.dimensions
    ]
    return table(("network", ""), rows, numbers=False)


def _queue(result: Result, dimension: DimensionStatistics) -> str:
    """Return the longest queue of a dimension, if its fabric models queues."""
    if is_estimate(result) and not dimension.max_queue_bytes:
        return ""
    return f", longest queue at a switch {scaled_text(dimension.max_queue_bytes, 'B')}"


def _packets(result: Result, carried: str) -> list[tuple[str, str]]:
    """Return the rows that only simulated packets have; with their number beside `carried`."""
    network = result.network
    rows = [
        ("carried", f"{carried}, {scaled_text(network.packets)} packets"),
        (
            "lost",
            f"{scaled_text(network.drops)} drops, "
            f"{scaled_text(network.retransmissions)} retransmissions, "
            f"{scaled_text(network.rto_events)} RTOs"
            + (f", {time_text(network.rto_wait_ns)} of waiting" if network.rto_wait_ns else ""),
        ),
    ]
    if result.reordering is not None:
        rows.append(("reordered", _reordered(result.reordering, network)))
    if network.ecn_marks:
        rows.append(("marked", f"{scaled_text(network.ecn_marks)} packets with ECN"))
    rows += [*_queue_pairs(result), *_paused(result)]
    rtt = (
        _percentiles(network.rtt_mean_ns, network.rtt_p50_ns, network.rtt_p99_ns)
        if network.rtt_flows
        else "not sampled"
    )
    return [*rows, ("RTT", rtt)]


def _queue_pairs(result: Result) -> list[tuple[str, str]]:
    rdma = result.rdma
    if rdma is None:
        return []
    return [
        (
            "queue pairs",
            f"{scaled_text(rdma.cnps)} CNPs, {scaled_text(rdma.nacks)} NACKs, "
            f"{scaled_text(rdma.repeated_bytes, 'B')} sent twice",
        ),
        (
            "rates",
            f"mean {scaled_text(rdma.rate_mean_bps, 'bit/s')}, "
            f"p1 {scaled_text(rdma.rate_p01_bps, 'bit/s')}, "
            f"p50 {scaled_text(rdma.rate_p50_bps, 'bit/s')}, "
            f"p99 {scaled_text(rdma.rate_p99_bps, 'bit/s')}",
        ),
    ]


def _paused(result: Result) -> list[tuple[str, str]]:
    """Return how much switches paused, and whether headroom was large enough."""
    pauses = result.pauses
    if pauses is None:
        return []
    if not pauses.count:
        return [("paused", "never")]
    rows = [
        (
            "paused",
            f"{scaled_text(pauses.count)} times, {time_text(pauses.time_ns)} in all, "
            f"{time_text(pauses.worst_ns)} at the worst port ({pauses.worst_link}), "
            f"over up to {pauses.hops} hop{'s' * (pauses.hops != 1)}, "
            f"{pauses.hosts} links of ranks",
        ),
        (
            "headroom",
            f"at most {scaled_text(pauses.headroom_peak_bytes, 'B')} of "
            f"{scaled_text(pauses.headroom_bytes, 'B')} used",
        ),
    ]
    if pauses.headroom_drops:
        rows.append(
            (
                "headroom too small",
                f"{scaled_text(pauses.headroom_drops)} packets did not fit; a link had needed "
                f"{scaled_text(pauses.headroom_lack_bytes, 'B')} more",
            )
        )
    return rows


def _reordered(found: Reordering, network: NetworkStatistics) -> str:
    share = percent_text(found.packets / network.data_packets) if network.data_packets else "0 %"
    late = f", by up to {scaled_text(found.largest_displacement)} places" if found.packets else ""
    return (
        f"{scaled_text(found.packets)} data packets ({share}){late}, "
        f"{scaled_text(found.unneeded_retransmissions)} unneeded retransmissions"
    )


def circuits_table(changes: Sequence[Reconfiguration]) -> Table:
    """Return how often the circuits changed, and what the changes brought."""
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


MANY_EVENTS = 24
"""Of more events, the table has the first and the last ones."""


def events_table(result: Result, events: NetworkEvents) -> Table:
    """Return what broke, when, and how many paths changed or stayed broken."""
    shown = list(events.events)
    hidden = max(0, len(shown) - MANY_EVENTS)
    rows = [_event(event) for event in shown]
    if hidden:
        half = MANY_EVENTS // 2
        rows = [*rows[:half], ("…", f"{hidden} more", ""), *rows[-half:]]
    lost = f"packets: {scaled_text(events.packets_lost)} lost on links"
    if events.packets_refused:
        lost += f", {scaled_text(events.packets_refused)} dropped at links that were down"
    return table(("events", "" if is_estimate(result) else lost, "paths"), rows, numbers=False)


def _event(event: NetworkEvent) -> tuple[str, str, str]:
    what = f"rerouted: {event.event}" if event.rerouting else event.event
    parts = [f"{event.rerouted_paths} changed"] if event.rerouting else []
    parts += [f"{event.broken_paths} broken"] if event.broken_paths else []
    return time_text(event.time_ns), what, ", ".join(parts)


def _percentiles(mean: float, median: float, p99: float) -> str:
    return f"mean {time_text(mean)}, p50 {time_text(median)}, p99 {time_text(p99)}"
