"""The columns of the tables of results: for each its heading and the text of a cell.

A terminal and a page only lay them out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from bridge.present.metrics import METRICS
from bridge.present.pictures.charts import LayerGroup
from bridge.present.pictures.links import LinkMap
from bridge.present.quantities import (
    byte_rate_text,
    percent_text,
    scaled_text,
    seconds_text,
    time_text,
)
from bridge.results.measurements import (
    Collective,
    DimensionStatistics,
    Goodput,
    Iteration,
    PathStep,
    SharedLink,
    Training,
)
from bridge.results.result import Result

Item = TypeVar("Item")

Columns = Mapping[str, Callable[[Item], str]]
"""For each column its heading, and what makes the text of a cell from the item of its row."""


def cells(columns: Columns[Item], items: Iterable[Item]) -> list[tuple[str, ...]]:
    """Return the rows of a table, one for each item."""
    return [tuple(text(one) for text in columns.values()) for one in items]


def without(columns: Columns[Item], heading: str) -> Columns[Item]:
    """Return all columns but one."""
    return {name: text for name, text in columns.items() if name != heading}


def share_text(part: float, whole: float) -> str:
    """Return a part of a whole as a percentage; a dash if the whole is 0."""
    return percent_text(part / whole if whole else None)


def ranks_text(step: PathStep) -> str:
    """Return where a step of a critical path is: one rank, or from which rank to which."""
    if step.first_rank == step.last_rank:
        return str(step.last_rank)
    return f"{step.first_rank} → {step.last_rank}"


def _longest_part(step: PathStep) -> str:
    kind, time = max(step.times, key=lambda one: one[1])
    return f"{kind.removesuffix('_ns')} {percent_text(time / (step.end_ns - step.start_ns))}"


def versions_text(result: Result) -> str:
    """Return the versions that ran a result."""
    return ", ".join(f"{name} {version}" for name, version in result.simulator.versions.items())


ITERATIONS: Columns[Iteration] = {
    "iteration": lambda one: str(one.index),
    "time": lambda one: time_text(one.time_ns),
    "compute": lambda one: time_text(one.compute_ns),
    "exposed comm.": lambda one: time_text(one.exposed_comm_ns),
    "waiting": lambda one: time_text(one.waiting_ns),
    "exposed / time": lambda one: share_text(one.exposed_comm_ns, one.time_ns),
}

TRAINING: Columns[Training] = {
    "tokens": lambda one: f"{scaled_text(one.tokens_per_s)}/s",
    "MFU": lambda one: percent_text(one.mfu),
    "pipeline bubble": lambda one: percent_text(one.bubble_fraction),
    "memory of a rank": lambda one: scaled_text(one.memory_bytes, "B"),
}

GOODPUT: Columns[Goodput] = {
    "goodput": lambda one: percent_text(one.fraction),
    "tokens": lambda one: f"{scaled_text(one.tokens_per_s)}/s",
    "failures": lambda one: f"{one.failures_per_day:.3g} a day",
    "checkpoints": lambda one: f"every {seconds_text(one.checkpoint_interval_s)}",
    "to write one": lambda one: seconds_text(one.checkpoint_write_s),
}

LAYERS: Columns[LayerGroup] = {
    "layer": lambda one: one.name,
    "compute": lambda one: time_text(one.compute_ns),
    "raw comm.": lambda one: time_text(one.raw_comm_ns),
    "exposed comm.": lambda one: time_text(one.exposed_comm_ns),
    "exposed / raw": lambda one: share_text(one.exposed_comm_ns, one.raw_comm_ns),
}

COLLECTIVES: Columns[Collective] = {
    "collective": lambda one: one.name,
    "iteration": lambda one: str(one.iteration),
    "algorithm": lambda one: one.algorithm,
    "bytes": lambda one: scaled_text(one.bytes, "B"),
    "start": lambda one: time_text(one.start_ns),
    "time": lambda one: time_text(one.time_ns),
    "busbw": lambda one: byte_rate_text(one.busbw_bps),
}

PATH_STEPS: Columns[PathStep] = {
    "step": lambda one: one.name,
    "kind": lambda one: one.kind,
    "rank": ranks_text,
    "start": lambda one: time_text(one.start_ns),
    "time": lambda one: time_text(one.end_ns - one.start_ns),
    "mostly": _longest_part,
}

DIMENSIONS: Columns[DimensionStatistics] = {
    "dimension": lambda one: one.name,
    "links": lambda one: str(one.links),
    "bytes": lambda one: scaled_text(one.wire_bytes, "B"),
    "utilization": lambda one: percent_text(one.utilization_mean),
    "busiest": lambda one: percent_text(one.utilization_max),
    "queue": lambda one: scaled_text(one.max_queue_bytes, "B"),
    "drops": lambda one: str(one.drops),
}

SHARED_LINKS: Columns[SharedLink] = {
    "shared links": lambda one: f"{one.source} → {one.target}",
    "flows": lambda one: str(one.flows),
    "carried": lambda one: scaled_text(one.bytes, "B"),
    "ranks": lambda one: (
        ", ".join(f"{source}→{target}" for source, target in one.pairs[:4])
        + (" …" if one.flows > 4 else "")
    ),
}


def link_columns(links: LinkMap) -> Columns[Mapping[str, Any]]:
    """Return the columns about the rows of links.csv."""
    return {
        "link": links.link_name,
        "dimension": lambda row: str(row["dimension"]),
        "utilization": lambda row: percent_text(row["utilization"]),
        "bytes": lambda row: scaled_text(row["wire_bytes"], "B"),
        "queue": lambda row: scaled_text(row["max_queue_bytes"], "B"),
        "drops": lambda row: str(row["drops"]),
        "marks": lambda row: str(row["ecn_marks"]),
    }


FLOWS: Columns[Mapping[str, Any]] = {
    "flow": lambda row: f"rank {row['source']} → rank {row['target']}",
    "retransmissions": lambda row: str(row["retransmissions"]),
    "timeouts": lambda row: str(row["rto_events"]),
    "slowest message": lambda row: time_text(row["fct_max_ns"]),
    "slowdown": lambda row: f"{row['slowdown']:.1f}",
}
"""Of the rows of flows.csv."""

TCP_COUNTERS: Columns[Result] = {
    "packets": lambda one: scaled_text(one.network.packets),
    "drops": lambda one: str(one.network.drops),
    "retransmissions": lambda one: str(one.network.retransmissions),
    "timeouts (RTO)": lambda one: str(one.network.rto_events),
    "ECN marks": lambda one: str(one.network.ecn_marks),
    "round-trip time, mean over flows": lambda one: time_text(one.network.rtt_mean_ns or None),
    "round-trip time, p99": lambda one: time_text(one.network.rtt_p99_ns or None),
}

RUNS: Columns[Result] = {
    "versions": versions_text,
    "seed": lambda one: str(one.simulator.seed),
    "events": lambda one: scaled_text(one.simulator.events),
    "CPU": METRICS["CPU"].cell,
}
