"""All-reduces of NCCL on clusters, predicted from messages between two machines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from bridge.batch.points import Point
from bridge.results.result import Result
from bridge.studies.framework import Experiment, Figure, Finding, Points, Results, Scale
from bridge.studies.tcp_clusters.hosts import cluster

FIGURE = Figure("all-reduce")
MESSAGE = 512 * 1024
MIB = 1024 * 1024
SIZE: Mapping[Scale, int] = {"small": 8 * MIB, "full": 128 * MIB}


class Sockets(NamedTuple):
    """How many sockets and threads NCCL has between two nodes."""

    threads: int
    """Threads of a channel."""
    per_thread: int = 1
    """Sockets of a thread."""
    channels: int = 1

    @property
    def flows(self) -> int:
        """Number of connections."""
        return self.channels * self.threads * self.per_thread

    @property
    def text(self) -> str:
        """The counts in words."""
        if self.channels == self.per_thread == 1:
            return f"flows {self.flows}"
        return f"channels {self.channels} threads {self.threads} sockets {self.per_thread}"


class Measurement(NamedTuple):
    """A bus bandwidth that a user measured."""

    name: str
    nodes: int
    gbps: float
    """Bandwidth of a node."""
    mtu: int
    sockets: Sockets
    """What the report gives."""
    lowest: float
    """Bus bandwidth [Gb/s]."""
    highest: float
    why: str
    """What explains the error."""


GPUS = "NCCL's developers suspect the order of a node's GPUs, which the prediction leaves out"
LINK = "the link is the limit"
MEASURED = (
    Measurement("Google Cloud, 2 nodes × 1 GPU", 2, 32, 1460, Sockets(8), 30.6, 31.4, LINK),
    Measurement("Google Cloud, 4 nodes × 1 GPU", 4, 32, 1460, Sockets(8, 2), 30.4, 30.8, LINK),
    Measurement("Google Cloud, 2 nodes × 8 GPUs", 2, 32, 1460, Sockets(4), 14.5, 14.9, GPUS),
    Measurement("Google Cloud, 4 nodes × 8 GPUs", 4, 32, 1460, Sockets(4, 3), 22.2, 22.9, GPUS),
    Measurement(
        "4 nodes × 8 V100, 100 Gb/s",
        4,
        100,
        1500,
        Sockets(1, channels=4),
        32,
        48,
        "four threads copy less than the link carries",
    ),
)
#: Time of an all-reduce on 2 nodes with one V100 each, 32 Gb/s, by size [MiB]: [ms].
TIMES_MS = {1: 2.059, 2: 3.047, 4: 5.074, 8: 7.145, 16: 17.6}
#: Without a setting, NCCL has one socket and one thread for a NIC that it does not know.
DEFAULT = Sockets(1)
#: Other counts that the tables show, with a thread for each flow.
OTHERS = (DEFAULT, Sockets(2), Sockets(4))


def bus_bandwidth_gbps(nodes: int, size: int, result: Result) -> float:
    """Return the bus bandwidth of a ring all-reduce as nccl-tests defines it [Gb/s]."""
    return 2 * (nodes - 1) / nodes * size * 8 / result.time_ns


def _point(name: str, nodes: int, gbps: float, mtu: int, size: int, sockets: Sockets) -> Point:
    return cluster(
        name,
        ranks=nodes,
        gbps=gbps,
        operation="all_reduce",
        size=size,
        chunks=max(1, size // nodes // (MESSAGE * sockets.channels)),
        flows=sockets.flows,
        threads=sockets.channels * sockets.threads,
        mtu=mtu,
    )


def points(folder: Path, scale: Scale) -> Points:
    """Return an all-reduce for each cluster and each size, with each number of sockets.

    The keys are a measured cluster, or a size in MiB, and the sockets.
    """
    rates = {
        (one, sockets): _point(
            f"{one.nodes} nodes {one.gbps} Gbps mtu {one.mtu} {sockets.text}",
            one.nodes,
            one.gbps,
            one.mtu,
            SIZE[scale],
            sockets,
        )
        for one in MEASURED
        for sockets in (one.sockets, *OTHERS)
    }
    times = {
        (size, sockets): _point(f"{size} MiB {sockets.text}", 2, 32, 1460, size * MIB, sockets)
        for size in TIMES_MS
        for sockets in OTHERS
    }
    return {**rates, **times}


def evaluate(results: Results, scale: Scale) -> Iterator[Finding]:
    """Compare bus bandwidths and times, and list every error."""
    rates = []
    for one in MEASURED:
        predicted = [
            bus_bandwidth_gbps(one.nodes, SIZE[scale], results[one, sockets])
            for sockets in (one.sockets, *OTHERS)
        ]
        middle = (one.lowest + one.highest) / 2
        text = f"Bus bandwidth, {one.name}, Gb/s."
        yield FIGURE.count(text, middle, predicted[0], why=one.why)
        rates.append(
            [
                one.name,
                f"{one.lowest:g} … {one.highest:g}",
                f"{one.sockets.channels} × {one.sockets.threads} × {one.sockets.per_thread}",
                *(_with_error(middle, value, ".1f") for value in predicted),
            ]
        )
    flows = {sockets: f"{sockets.flows} flow{'s' * (sockets.flows > 1)}" for sockets in OTHERS}
    headings = ["cluster", "measured", "channels × threads × sockets", "as reported"]
    title = "Bus bandwidth in Gb/s, and its error"
    yield FIGURE.table(title, [*headings, *flows.values()], rates)
    took = {
        sockets: [results[size, sockets].time_ns / 1e6 for size in TIMES_MS] for sockets in OTHERS
    }
    times = []
    for at, (size, measured_ms) in enumerate(TIMES_MS.items()):
        yield FIGURE.ns(
            f"Time of {size} MiB on 2 nodes with 32 Gb/s.",
            measured_ms * 1e6,
            took[DEFAULT][at] * 1e6,
            why="the prediction leaves out what happens on a GPU: launching NCCL's kernel, "
            "copying between GPU and host",
        )
        errors = (_with_error(measured_ms, took[sockets][at], ".2f") for sockets in OTHERS)
        times.append([f"{size} MiB", f"{measured_ms:g}", *errors])
    headings = ["2 nodes, 32 Gb/s", "measured", *flows.values()]
    yield FIGURE.table("Time in ms, and its error", headings, times)
    series = {"measured": list(TIMES_MS.values())}
    series |= {name: took[sockets] for sockets, name in flows.items()}
    labels = [f"{size} MiB" for size in TIMES_MS]
    title = "Time of an all-reduce on 2 nodes with 32 Gb/s"
    yield FIGURE.lines(title, labels, "ms", series)


def _with_error(measured: float, predicted: float, form: str) -> str:
    return f"{predicted:{form}} ({100 * (predicted / measured - 1):+.0f} %)"


NOTES = """\
**Bus bandwidths.** Each prediction has the sockets and threads of its report (*as reported*). The
copying of one thread, 12.2 Gb/s, limits one flow. Four threads nearly fill a link of 32 Gb/s. What
is missing are the headers of packets of 1460 bytes (3 %) and the start: slow start and the first
messages of the pipeline, which weigh less in longer runs. With eight GPUs in a node, the
measurements are lower, and more sockets do not explain this. NCCL's developers answer in the thread
that the order of the GPUs can.

**Times.** Their report does not give sockets, so the prediction has those of NCCL's source without
a setting (`net_socket.cc`). Before version 2.4.8, a channel has one socket. From 2.4.8 on, it has
one socket for a NIC that NCCL does not know, and 2 threads with 8 sockets each on AWS. From 2.5.6
(November 2019) on, NCCL also knows gVNIC, a NIC of Google Cloud, where it has 4 threads with one
socket each. A thread handles all channels of a GPU. So one flow is the prediction, unless the
report is later than 2.5.6 and of machines with gVNIC. Nothing in the report confirms this. The five
times agree with one flow, and none of them is within a factor of 1.5 with two or four flows. All
five predictions are too low, and that of 16 MiB is close to the limit.

Issue 209 also gives bus bandwidths of NCCL 2.4.2, where one thread handles all rings of a GPU:
14.8, 15.6, 13.8 and 11.6 Gb/s with 1, 2, 4 and 8 rings. One flow gives 12.0 Gb/s. This is no claim
here, because the thread does not say how many GPUs took part.

The thread also has the number 41 Gb/s for AWS p3dn with 100 Gb/s. It is not on this page, because
it is no bus bandwidth: it is the traffic of a link while a model trains on 2 nodes with 8 GPUs
each.
"""

EXPERIMENT = Experiment("All-reduces of NCCL", (FIGURE,), evaluate, points, NOTES)
