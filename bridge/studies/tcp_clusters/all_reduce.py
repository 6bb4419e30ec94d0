"""All-reduces of NCCL on clusters, predicted from messages between two machines."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from bridge.batch.points import Point
from bridge.results.result import Result
from bridge.studies.framework.model import (
    Chart,
    Experiment,
    Findings,
    Panel,
    Results,
    Scale,
    Table,
)
from bridge.studies.framework.scoring import number
from bridge.studies.tcp_clusters.hosts import cluster

FIGURE = "all-reduce"
FLOWS = (1, 2, 4)
MESSAGE = 512 * 1024
MIB = 1024 * 1024
SIZE: Mapping[Scale, int] = {"small": 8 * MIB, "full": 128 * MIB}
SHOWN_FLOWS = 4
"""NCCL's number of sockets on Google Cloud, from version 2.4.8 on."""


class Measurement(NamedTuple):
    """A bus bandwidth that a user measured."""

    name: str
    nodes: int
    gbps: float
    """Bandwidth of a node."""
    mtu: int
    lowest: float
    """Bus bandwidth [Gb/s]."""
    highest: float
    why: str
    """What explains the error."""


GPUS = "eight GPUs of a node share its PCIe and memory, which the prediction leaves out"
MEASURED = (
    Measurement("Google Cloud, 2 nodes × 1 GPU", 2, 32, 1460, 30.6, 31.4, "the link is the limit"),
    Measurement("Google Cloud, 4 nodes × 1 GPU", 4, 32, 1460, 30.4, 30.8, "the link is the limit"),
    Measurement("Google Cloud, 2 nodes × 8 GPUs", 2, 32, 1460, 14.5, 14.9, GPUS),
    Measurement("Google Cloud, 4 nodes × 8 GPUs", 4, 32, 1460, 22.2, 22.9, GPUS),
    Measurement(
        "AWS p3dn, 2 nodes",
        2,
        100,
        9001,
        41,
        41,
        "the processors of another cloud copy at another rate, and NCCL 2.3 has fewer sockets",
    ),
    Measurement("4 nodes × 8 V100, 100 Gb/s", 4, 100, 1460, 32, 48, GPUS),
)
#: Time of an all-reduce on 2 nodes with one V100 each, 32 Gb/s, by size [MiB]: [ms].
TIMES_MS = {1: 2.059, 2: 3.047, 4: 5.074, 8: 7.145, 16: 17.6}


def bus_bandwidth_gbps(nodes: int, size: int, result: Result) -> float:
    """Return the bus bandwidth of a ring all-reduce as nccl-tests defines it [Gb/s]."""
    return 2 * (nodes - 1) / nodes * size * 8 / result.time_ns


def _point(name: str, nodes: int, gbps: float, mtu: int, size: int, flows: int) -> Point:
    return cluster(
        name,
        ranks=nodes,
        gbps=gbps,
        operation="all_reduce",
        size=size,
        chunks=max(1, size // nodes // MESSAGE),
        flows=flows,
        mtu=mtu,
    )


def _name(nodes: int, gbps: float, mtu: int, flows: int) -> str:
    return f"{nodes} nodes {gbps} Gbps mtu {mtu} flows {flows}"


def points(folder: Path, scale: Scale) -> list[Point]:
    """Return an all-reduce for each kind of cluster and number of flows, and for each size."""
    kinds = sorted({(one.nodes, one.gbps, one.mtu) for one in MEASURED})
    rates = [
        _point(_name(*kind, flows), *kind, SIZE[scale], flows) for kind in kinds for flows in FLOWS
    ]
    times = [
        _point(f"{size} MiB flows {flows}", 2, 32, 1460, size * MIB, flows)
        for size in TIMES_MS
        for flows in FLOWS
    ]
    return rates + times


def evaluate(results: Results, scale: Scale) -> Findings:
    """Compare bus bandwidths and times, and list every error."""
    statements = []
    rates = []
    for one in MEASURED:
        predicted = {
            flows: bus_bandwidth_gbps(
                one.nodes, SIZE[scale], results[_name(one.nodes, one.gbps, one.mtu, flows)]
            )
            for flows in FLOWS
        }
        middle = (one.lowest + one.highest) / 2
        statements.append(
            number(
                FIGURE,
                f"Bus bandwidth, {one.name}, Gb/s.",
                paper=middle,
                ours=predicted[SHOWN_FLOWS],
                unit="count",
                why=one.why,
            )
        )
        measured = f"{one.lowest:g} … {one.highest:g}"
        rates.append([one.name, measured, *_errors(middle, predicted, ".1f")])
    times = []
    for size, measured_ms in TIMES_MS.items():
        took = {flows: results[f"{size} MiB flows {flows}"].time_ns / 1e6 for flows in FLOWS}
        statements.append(
            number(
                FIGURE,
                f"Time of {size} MiB on 2 nodes with 32 Gb/s.",
                paper=measured_ms * 1e6,
                ours=took[SHOWN_FLOWS] * 1e6,
                unit="ns",
                why=f"one flow gives {100 * (took[1] / measured_ms - 1):+.0f} %, so this report is "
                "probably of one socket; the rest is what happens on a GPU: launching NCCL's "
                "kernel, copying between GPU and host",
            )
        )
        times.append([f"{size} MiB", f"{measured_ms:g}", *_errors(measured_ms, took, ".2f")])
    flows = [f"{flows} flow{'s' * (flows > 1)}" for flows in FLOWS]
    tables = [
        Table(
            FIGURE, "Bus bandwidth in Gb/s, and its error", ["cluster", "measured", *flows], rates
        ),
        Table(FIGURE, "Time in ms, and its error", ["2 nodes, 32 Gb/s", "measured", *flows], times),
    ]
    series: dict[str, list[float | None]] = {"measured": list(TIMES_MS.values())}
    for count, label in zip(FLOWS, flows, strict=True):
        series[label] = [results[f"{size} MiB flows {count}"].time_ns / 1e6 for size in TIMES_MS]
    chart = Chart(
        FIGURE,
        "Time of an all-reduce on 2 nodes with 32 Gb/s",
        [f"{size} MiB" for size in TIMES_MS],
        [Panel("ms", series, kind="lines", logarithmic=True)],
    )
    return Findings(statements, tables, [chart], NOTES)


def _errors(measured: float, predicted: Mapping[int, float], form: str) -> list[str]:
    return [
        f"{value:{form}} ({100 * (value / measured - 1):+.0f} %)" for value in predicted.values()
    ]


NOTES = """\
A claim holds here if the prediction with four flows is within a factor of 1.5. The copying of one
thread, 12.2 Gb/s, limits one flow. Four flows nearly fill a link of 32 Gb/s. What is missing are
the headers of packets of 1460 bytes (3 %), and the start: slow start and the first messages of the
pipeline, which weigh less in longer runs.

The times of small all-reduces fit one flow. They do not hold with four flows, because no parameter
was chosen for them.
"""

EXPERIMENT = Experiment("All-reduces of NCCL", (FIGURE,), points, evaluate)
