"""Experiments 2 to 4 of the paper's DLRM study: what a system depends on (Figs. 14 to 16).

They vary the memory copies (Section IV.C), the switch buffer (IV.D), and the chunks and their
concurrency (IV.E).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bridge.present.quantities import time_text
from bridge.studies.astra_ns3_dlrm.systems import (
    SYSTEMS,
    compute_share,
    exposed_ns,
    paper_time_ns,
    shares,
    system_point,
)
from bridge.studies.framework import Experiment, Figure, Finding, Points, Results, Scale, each

FIG_14, FIG_15, FIG_16 = Figure("14"), Figure("15"), Figure("16")

#: What a setting changes in each system, by its name.
Settings = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Variation:
    """Systems with each of some settings; results have the names of both: ``"hier 1GB"``."""

    title: str
    figure: Figure
    heading: str
    """Of the first column of the table."""
    by: str
    """What is varied, for the title of the chart."""
    settings: Mapping[Scale, Settings]
    claims: Callable[[Results], Iterator[Finding]]
    notes: str
    systems: Sequence[str] = tuple(SYSTEMS)

    @property
    def experiment(self) -> Experiment:
        """The experiment with these settings."""
        return Experiment(self.title, (self.figure,), self._evaluate, self._points, self.notes)

    def _points(self, folder: Path, scale: Scale) -> Points:
        return {
            f"{system} {name}": system_point(folder, scale, system, **changes)
            for system in self.systems
            for name, changes in self.settings[scale].items()
        }

    def _evaluate(self, results: Results, scale: Scale) -> Iterator[Finding]:
        yield from self.claims(results)
        yield from shares(self.figure, self.heading, f" by {self.by}", results)


def _values(change: str, small: Sequence[str], full: Sequence[str]) -> Mapping[Scale, Settings]:
    return {
        "small": {value: {change: value} for value in small},
        "full": {value: {change: value} for value in full},
    }


#: Observation 9: the share of compute at 100 µs, and the ratio of iteration times.
COPIES = {"flat800": (0.015, 50.0), "hierOpt": (0.175, 4.53)}


def _copies(rows: Results) -> Iterator[Finding]:
    """Compare how much slower the systems become."""
    worse = {
        system: paper_time_ns(rows[f"{system} 100us"]) / paper_time_ns(rows[f"{system} 10ns"])
        for system in SYSTEMS
    }
    yield FIG_14.order(
        "At 100 µs, the flat systems lose more time than the hierarchical ones.",
        min(worse["flat100"], worse["flat800"]) / max(worse["hier"], worse["hierOpt"]),
        evidence=each(worse),
    )
    for system, (after, factor) in COPIES.items():
        share = compute_share(rows[f"{system} 100us"])
        yield FIG_14.share(f"Share of compute at 100 µs, {system}.", after, share)
        text = f"Iteration time from 10 ns to 100 µs, {system}."
        yield FIG_14.times(text, factor, worse[system], basis="quotient")


def _buffers(rows: Results) -> Iterator[Finding]:
    """Compare the gains from a larger buffer."""
    gains = {
        name: paper_time_ns(result) / paper_time_ns(rows[f"{name.split()[0]} 1GB"])
        for name, result in rows.items()
    }
    gain = {system: gains[f"{system} 64MB"] for system in SYSTEMS}
    yield FIG_15.same(
        "Neither flat system depends on the switch buffer.",
        *(one for name, one in gains.items() if "flat" in name and "1GB" not in name),
        evidence=each(gain),
    )
    yield FIG_15.order(
        "hierOpt gains more from 1 GB instead of 64 MB than the flat systems.",
        gain["hierOpt"] / max(gain["flat100"], gain["flat800"]),
        evidence=each(gain),
        basis="quotient",
    )
    share = compute_share(rows["hierOpt 64MB"])
    yield FIG_15.share("Share of compute of hierOpt at 64 MB.", 0.034, share)
    text = "Iteration time of hierOpt, 64 MB to 1 GB."
    yield FIG_15.times(text, 22.9, gain["hierOpt"], basis="quotient")


#: Observation 11: the largest over the smallest exposed communication, and total iteration time.
CHUNKS = {"flat800": (8.89, 1.215), "hierOpt": (1.54, 1.074)}


def _chunks(rows: Results) -> Iterator[Finding]:
    """Compare the effects of chunking and concurrency."""
    for system, (exposed, total) in CHUNKS.items():
        own = [result for name, result in rows.items() if name.startswith(system)]
        waits, times = [exposed_ns(one) for one in own], [paper_time_ns(one) for one in own]
        yield FIG_16.times(
            f"Largest over smallest exposed communication, {system}.",
            exposed,
            max(waits) / min(waits) if min(waits) else None,
            evidence=f"from {time_text(min(waits))} to {time_text(max(waits))}",
        )
        text = f"Largest over smallest iteration time, {system}."
        yield FIG_16.times(text, total, max(times) / min(times), basis="quotient")


def _combined(chunks: Sequence[int]) -> Settings:
    return {
        f"{count} chunks, {concurrent} at a time": {"chunks": count, "concurrent": concurrent}
        for count in chunks
        for concurrent in (64, 128)
    }


INJECTION = Variation(
    "DLRM: effect of memory copies (Section IV.C)",
    FIG_14,
    "system and latency",
    "injection latency",
    _values("injection", ("10ns", "100us"), ("10ns", "1us", "10us", "100us")),
    _copies,
    """\
A chunk of DBT over 128 ranks needs 14 messages, one after the other. A chunk in the hierarchical
systems needs 10. 64 chunks are in flight at the same time. If the full latency applied at both ends
of a message, its effect would double.
""",
).experiment

BUFFER = Variation(
    "DLRM: effect of the switch buffer (Section IV.D)",
    FIG_15,
    "system and buffer",
    "switch buffer",
    _values("buffer", ("64MB", "1GB"), ("64MB", "128MB", "1GB")),
    _buffers,
    """\
The flat systems have 64 chunks of 8 KiB in flight. This is 512 KiB for each rank, as much as one
port of the 64 MB buffer holds. The hierarchical systems have 64 chunks of 64 KiB in flight; each
rank sends an eighth of it through the scale-out switch in hierOpt, and all of it in hier. If the
buffer is too small, hierOpt waits mostly for its all-to-all.
""",
).experiment

SCHEDULING = Variation(
    "DLRM: effect of pipelining and scheduling (Section IV.E)",
    FIG_16,
    "system, chunks and concurrency",
    "chunks and concurrency",
    {"small": _combined((1024, 32)), "full": _combined((1024, 128, 32))},
    _chunks,
    """\
The latency of its steps limits flat800. Twice as many chunks in flight, or larger chunks, hide
nearly all communication, until there are too few chunks to keep the trees busy. hierOpt is best
with the default, and slowest where the 64 chunks in flight are smallest.
""",
    tuple(CHUNKS),
).experiment
