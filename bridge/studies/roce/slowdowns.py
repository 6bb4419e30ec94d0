"""Slowdown of flows by size, under random traffic: Figure 11 of HPCC, on a smaller network."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bridge.studies.framework import Experiment, Figure, Finding, Points, Results, Scale
from bridge.studies.roce.flows import Done, Flow, done, point

FIGURE = Figure("slowdowns")
GBPS = 100
#: Sizes in bytes and the percentage of flows that are not larger, with straight lines between them.
#: Source: github.com/alibaba-edu/High-Precision-Congestion-Control at 9cf8b9e8, the files
#: traffic_gen/*_distribution.txt.
SIZES: Mapping[str, Sequence[tuple[int, float]]] = {
    "WebSearch": (
        *((0, 0), (10_000, 15), (20_000, 20), (30_000, 30), (50_000, 40), (80_000, 53)),
        *((200_000, 60), (1_000_000, 70), (2_000_000, 80), (5_000_000, 90), (10_000_000, 97)),
        (30_000_000, 100),
    ),
    "FB_Hadoop": (
        *((0, 0), (100, 1), (200, 2), (300, 5), (350, 15), (400, 20), (500, 30), (600, 40)),
        *((700, 50), (1000, 60), (2000, 67), (7000, 70), (30_000, 72), (50_000, 82)),
        *((80_000, 87), (120_000, 90), (300_000, 95), (1_000_000, 97.5), (2_000_000, 99)),
        (10_000_000, 100),
    ),
}
#: Classes of sizes, by the percentages of flows between which they lie.
CLASSES = {"short": (0, 60), "medium": (60, 90), "long": (90, 100)}


class Traffic(NamedTuple):
    """Flows between random pairs of servers."""

    sizes: str
    """A key of `SIZES`."""
    load: float
    """Mean rate of the flows over the rate of the servers."""

    @property
    def text(self) -> str:
        """The traffic in words."""
        return f"{self.sizes}, {self.load:.0%} load"


TRAFFICS = (Traffic("WebSearch", 0.3), Traffic("WebSearch", 0.5), Traffic("FB_Hadoop", 0.5))
SERVERS: Mapping[Scale, int] = {"small": 16, "full": 64}
FLOWS: Mapping[Scale, int] = {"small": 100, "full": 3000}
#: The congestion controls: "+w" is with a window of one bandwidth-delay product.
CONTROLS: Mapping[str, Mapping[str, Any]] = {
    "DCQCN": {"congestion_control": "dcqcn", "window": "none"},
    "DCQCN+w": {"congestion_control": "dcqcn", "window": "bdp"},
    "TIMELY": {"congestion_control": "timely", "window": "none"},
    "TIMELY+w": {"congestion_control": "timely", "window": "bdp"},
    "DCTCP": {"congestion_control": "dctcp"},
    "HPCC": {"congestion_control": "hpcc"},
}


def topology(scale: Scale) -> dict[str, Any]:
    """Four leaves, or two, each with as much bandwidth to the spines as to its servers."""
    servers = SERVERS[scale]
    below = 8 if scale == "small" else 16
    return {
        "family": "leaf_spine",
        "servers": servers,
        "radix": below + below // 4,
        "bandwidth": f"{GBPS}Gbps",
        "uplink": f"{4 * GBPS}Gbps",
        "spines": below // 4,
        "latency": "1us",
        "buffer": "32MB",
    }


def quantile(sizes: str, percents: Any) -> Any:
    """Return the sizes that some percentages of flows do not exceed."""
    known, shares = zip(*SIZES[sizes], strict=True)
    return np.interp(percents, shares, known)


def drawn(traffic: Traffic, scale: Scale) -> list[Flow]:
    """Return random flows: sizes of the distribution, at times of a Poisson process.

    A pair has one flow at most, and none goes from a rank to the next one.
    """
    servers, count = SERVERS[scale], FLOWS[scale]
    random = np.random.default_rng(1)
    pairs = [
        (source, target)
        for source in range(servers)
        for target in range(servers)
        if target not in (source, (source + 1) % servers)
    ]
    chosen = random.choice(len(pairs), count, replace=False)
    sizes = np.maximum(1, quantile(traffic.sizes, random.uniform(0, 100, count))).astype(int)
    mean = float(np.mean(quantile(traffic.sizes, np.linspace(0, 100, 100_001))))
    distance_ns = 8 * mean / (traffic.load * servers * GBPS)
    times = np.cumsum(random.exponential(distance_ns, count)).astype(int)
    return [
        Flow(source, target, int(size), int(at))
        for (source, target), size, at in zip(
            [pairs[one] for one in chosen], sizes, times, strict=True
        )
    ]


def points(folder: Path, scale: Scale) -> Points:
    """Return a simulation for each traffic and congestion control."""
    flows = {traffic: drawn(traffic, scale) for traffic in TRAFFICS}
    return {
        (traffic, control): point(
            f"{traffic.text}, {control}",
            topology(scale),
            SERVERS[scale],
            flows[traffic],
            2 * flows[traffic][-1].at_ns + 20_000_000,
            keys,
        )
        for traffic in TRAFFICS
        for control, keys in CONTROLS.items()
    }


def p95(traffic: Traffic, flows: Sequence[Done], group: str) -> float:
    """Return the 95th percentile of the slowdowns of a class of sizes."""
    least, most = quantile(traffic.sizes, CLASSES[group])
    values = [flow.slowdown for flow in flows if least < flow.size <= max(most, 1)]
    return float(np.percentile(values, 95, method="inverted_cdf"))


def evaluate(results: Results, scale: Scale) -> Iterator[Finding]:
    """Compare the slowdowns of the congestion controls by traffic and size."""
    reductions = []
    panels = []
    for traffic in TRAFFICS:
        flows = drawn(traffic, scale)
        ended = {
            control: list(done(results[traffic, control], flows).values()) for control in CONTROLS
        }
        slow = {
            control: {group: p95(traffic, one, group) for group in CLASSES}
            for control, one in ended.items()
        }
        reductions += [
            slow["HPCC"][group] / slow[other][group]
            for other in ("DCQCN", "TIMELY")
            for group in CLASSES
        ]
        for other in ("DCQCN", "TIMELY"):
            text = f"{traffic.text}: short flows are faster with HPCC than with {other}."
            yield FIGURE.order(text, slow[other]["short"] / slow["HPCC"]["short"])
            text = f"{traffic.text}: {other} is better with a window (short flows)."
            yield FIGURE.order(text, slow[other]["short"] / slow[f"{other}+w"]["short"])
        queues = {c: results[traffic, c].network.dimensions[0].max_queue_bytes for c in CONTROLS}
        text = f"{traffic.text}: the longest queue is shorter with HPCC than with DCQCN."
        yield FIGURE.order(text, queues["DCQCN"] / queues["HPCC"])
        title = f"95th percentile of the slowdown, {traffic.text}"
        panels.append((traffic.text, {c: list(slow[c].values()) for c in slow}))
        rows = [
            [
                control,
                str(len(ended[control])),
                *(f"{value:.2f}" for value in slow[control].values()),
                f"{queues[control] / 1e3:.0f}",
                str(pauses.count if (pauses := results[traffic, control].pauses) else 0),
            ]
            for control in CONTROLS
        ]
        yield FIGURE.table(title, ("", "flows", *CLASSES, "longest queue, kB", "pauses"), rows)
    title = "95th percentile of the slowdown by size"
    yield FIGURE.lines(title, CLASSES, "slowdown", *panels)
    text = "What HPCC leaves of the 95th percentile of DCQCN or TIMELY, at best ('by up to 95 %')."
    yield FIGURE.share(text, 0.05, min(reductions))


NOTES = """\
HPCC's Figure 11 shows slowdowns of flows by their size under two distributions of sizes, on a
network of 320 servers with 100 Gb/s. This experiment has the distributions, the rate, the latency
of 1 µs and the memory of 32 MB of each switch, but 64 servers below four leaves, and 3000 flows,
each between another pair. So short flows meet less often, and the run covers only some
milliseconds, in which DCQCN and TIMELY, whose rates change in hundreds of microseconds, converge
less. A slowdown is the completion time over that in an empty network. Sizes are classes: short
flows are the smallest 60 %, long ones the largest 10 %. Claims are those of the paper's abstract
and of the authors' web page (liyuliang001.github.io/projects/hpcc), and no numbers were read off
the figure. The abstract does not say which flows are faster by 95 %; here it is at best 87 %, for
short flows of FB_Hadoop against TIMELY.
"""

EXPERIMENT = Experiment("Slowdowns by size", (FIGURE,), evaluate, points, NOTES)
