"""The tables of a summary that describe the network."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table

from bridge.present.metrics import is_estimate
from bridge.present.quantities import percent_text, scaled_text, time_text
from bridge.present.table import table
from bridge.results.measurements import (
    DimensionStatistics,
    NetworkEvent,
    NetworkEvents,
    NetworkStatistics,
    Reconfiguration,
    Reordering,
    SharedLink,
)
from bridge.results.result import Result


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
    rtt = (
        _percentiles(network.rtt_mean_ns, network.rtt_p50_ns, network.rtt_p99_ns)
        if network.rtt_flows
        else "not sampled"
    )
    return [*rows, ("RTT", rtt)]


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


def shared_links_table(links: Sequence[SharedLink]) -> Table:
    """Return the links between switches that most flows share, and the ranks of these flows."""
    rows = [
        (
            f"{link.source} → {link.target}",
            str(link.flows),
            scaled_text(link.bytes, "B"),
            ", ".join(f"{source}→{target}" for source, target in link.pairs[:4])
            + (" …" if link.flows > 4 else ""),
        )
        for link in links
    ]
    return table(("shared links", "flows", "carried", "ranks"), rows, numbers=False)


def _event(event: NetworkEvent) -> tuple[str, str, str]:
    what = f"rerouted: {event.event}" if event.rerouting else event.event
    parts = [f"{event.rerouted_paths} changed"] if event.rerouting else []
    parts += [f"{event.broken_paths} broken"] if event.broken_paths else []
    return time_text(event.time_ns), what, ", ".join(parts)


def _percentiles(mean: float, median: float, p99: float) -> str:
    return f"mean {time_text(mean)}, p50 {time_text(median)}, p99 {time_text(p99)}"
