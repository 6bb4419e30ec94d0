"""The sections of a report about the network: its links, and what TCP did."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from bridge.present import series_charts
from bridge.present.charts import Chart
from bridge.present.link_chart import link_heat
from bridge.present.link_map import LinkMap, hottest, link_map
from bridge.present.metrics import is_estimate
from bridge.present.page import html
from bridge.present.page.each import Parts, Results, add_each, of
from bridge.present.quantities import percent_text, scaled_text, time_text
from bridge.results.result import Result

#: Rows of a table at most.
_ROWS = 15


def hot_links(results: Results) -> Parts:
    """The topology with the utilization of its links."""
    parts: list[str] = []
    found: list[Chart] = []
    for number, (name, result) in enumerate(results.items()):
        links = link_map(result)
        if links is None:
            continue
        hot = hottest(links.links, _ROWS)
        chart = link_heat(f"links-{number}", f"Links by utilization{of(results, name)}", links)
        busiest = f"The busiest link is {links.link_name(hot[0])}"
        parts.append(html.chart(chart, f"{busiest}, {percent_text(hot[0]['utilization'])}"))
        found.append(chart)
        lossy = sorted((one for one in links.links if one["drops"]), key=lambda one: -one["drops"])
        for caption, shown in (("The busiest links", hot), ("Links with drops", lossy[:_ROWS])):
            if shown:
                rows = [_link_row(links, one) for one in shown]
                parts.append(html.table(caption + of(results, name), _LINK_HEADINGS, rows))
    add_each(results, series_charts.queues, parts, found)
    add_each(results, series_charts.throughput, parts, found)
    return parts, found


_LINK_HEADINGS = ("link", "dimension", "utilization", "bytes", "queue", "drops", "marks")


def _link_row(links: LinkMap, link: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        links.link_name(link),
        link["dimension"],
        percent_text(link["utilization"]),
        scaled_text(link["wire_bytes"], "B"),
        scaled_text(link["max_queue_bytes"], "B"),
        str(link["drops"]),
        str(link["ecn_marks"]),
    )


def transport(results: Results) -> Parts:
    """What TCP did, and the flows that repaired losses."""
    numbers: tuple[tuple[str, Callable[[Result], str]], ...] = (
        ("packets", lambda r: scaled_text(r.network.packets)),
        ("drops", lambda r: str(r.network.drops)),
        ("retransmissions", lambda r: str(r.network.retransmissions)),
        ("timeouts (RTO)", lambda r: str(r.network.rto_events)),
        ("ECN marks", lambda r: str(r.network.ecn_marks)),
        ("round-trip time, mean over flows", lambda r: time_text(r.network.rtt_mean_ns or None)),
        ("round-trip time, p99", lambda r: time_text(r.network.rtt_p99_ns or None)),
    )
    packets = {name: one for name, one in results.items() if not is_estimate(one)}
    if not packets:
        return [html.note("The fabric estimates, so there are no packets and no losses.")], []
    rows = [(label, *(text(result) for result in packets.values())) for label, text in numbers]
    parts = [html.table("Counters of TCP", ("", *packets), rows)]
    for name, result in packets.items():
        flows = [row for row in result.tables.rows("flows") if row["retransmissions"]]
        flows.sort(key=lambda row: (-row["rto_events"], -row["retransmissions"]))
        if flows:
            rows = [
                (
                    f"rank {row['source']} → rank {row['target']}",
                    str(row["retransmissions"]),
                    str(row["rto_events"]),
                    time_text(row["fct_max_ns"]),
                    f"{row['slowdown']:.1f}",
                )
                for row in flows[:_ROWS]
            ]
            headings = ("flow", "retransmissions", "timeouts", "slowest message", "slowdown")
            caption = f"The {len(rows)} of {len(flows)} flows with losses that had most timeouts"
            parts.append(html.table(caption + of(packets, name), headings, rows))
    found: list[Chart] = []
    add_each(packets, series_charts.windows, parts, found)
    add_each(packets, series_charts.round_trips, parts, found)
    if not found:
        parts.append(html.note(_NO_SERIES))
    return parts, found


_NO_SERIES = (
    "Congestion windows, round trips and queues over time: run with "
    "--set 'outputs.series={interval: 10us}'."
)
