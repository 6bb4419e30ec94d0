"""CASSINI: what delays gain if several equal jobs share a link."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from bridge.batch.phases import Pattern, delays
from bridge.results.result import Result
from bridge.studies.framework import Experiment, Figure, Finding, Points, Results, Scale
from bridge.studies.schedulers.jobs import Repeated, point, times_ms

ABSTRACT = Figure("abstract")

GBPS = 50
PERIOD_MS = 3.0
#: Part of an iteration in which each of so many jobs communicates: they just fit beside each other.
PARTS: Mapping[int, float] = {2: 0.49, 3: 0.32, 4: 0.24, 5: 0.19}
ITERATIONS: Mapping[Scale, int] = {"small": 10, "full": 40}


def points(folder: Path, scale: Scale) -> Points:
    """Return so many equal jobs that begin at the same time, and with CASSINI's delays."""
    found = {}
    for count, part in PARTS.items():
        sent = round(PERIOD_MS * part, 3)
        names = [f"job{number}" for number in range(count)]
        phases = ((PERIOD_MS - sent) * 1e6, PERIOD_MS * 1e6)
        pattern = Pattern(PERIOD_MS * 1e6, (phases,), {0: 1.0})
        late = delays(dict.fromkeys(names, pattern), dict.fromkeys(names, 0.0))
        for shifted in (False, True):
            jobs = [
                Repeated(
                    name,
                    round(PERIOD_MS - sent, 3),
                    0,
                    sent,
                    ITERATIONS[scale],
                    arrival_ns=late[name] if shifted else 0.0,
                )
                for name in names
            ]
            name = f"{count} jobs, {'delayed' if shifted else 'together'}"
            found[count, shifted] = point(name, jobs, GBPS, "express")
    return found


class Told(NamedTuple):
    """What became of jobs."""

    mean_ms: float
    """Mean time of an iteration."""
    p99_ms: float
    """99th percentile."""
    marks: int
    """Packets that were marked."""


def told(result: Result) -> Told:
    """Return the iterations of all jobs, and the marks of all links."""
    times = sorted(time for job in result.jobs or () for time in times_ms(result, job.name))
    marks = sum(row["ecn_marks"] for row in result.tables.rows("links"))
    return Told(fmean(times), times[-(-99 * len(times) // 100) - 1], marks)


def evaluate(results: Results, scale: Scale) -> Iterator[Finding]:
    """Compare the gains in the mean and the tail, and the marks."""
    both = {count: (told(results[count, False]), told(results[count, True])) for count in PARTS}
    most = "the most of these mixes"
    text = "Jobs are up to 1.6 times as fast in the mean."
    yield ABSTRACT.times(text, 1.6, max(a.mean_ms / b.mean_ms for a, b in both.values()), why=most)
    text = "They are up to 2.5 times as fast in the tail."
    yield ABSTRACT.times(text, 2.5, max(a.p99_ms / b.p99_ms for a, b in both.values()), why=most)
    text = "Up to 33 times fewer packets are marked (ECN)."
    fewer = max(a.marks / max(1, b.marks) for a, b in both.values())
    yield ABSTRACT.at_least(text, 33, fewer, "times", why="a mix without marks counts as one mark")
    headings = ("jobs", "communicate", "mean", "delayed", "p99", "delayed", "marks", "delayed")
    rows = [
        [
            str(count),
            f"{PARTS[count]:.0%}",
            *(f"{one.mean_ms:.2f} ms" for one in pair),
            *(f"{one.p99_ms:.2f} ms" for one in pair),
            *(str(one.marks) for one in pair),
        ]
        for count, pair in both.items()
    ]
    yield ABSTRACT.table(
        "Equal jobs on one link, that begin together or with delays", headings, rows
    )


NOTES = """\
The abstract has the gains over other schedulers, of 13 models on 24 servers. Here, two to five
equal jobs share one link of 50 Gb/s with RoCE, and each communicates for a part of its iteration
that just leaves room for the others; a job alone takes 3 ms. If they begin together, all of them
communicate at the same time, and DCQCN uses the link less well than it could.

If n jobs share a whole link fairly, and each communicates for 1/n of its iteration, an iteration
takes 2 − 1/n times as long as alone: 1.5 times for two jobs, 1.67 for three, and less than twice
for any number. So of a tail that is 2.5 times as fast, fair sharing explains less than a factor of
2. CASSINI also chooses placements, which these mixes do not.
"""

EXPERIMENT = Experiment("CASSINI: delays", (ABSTRACT,), evaluate, points, NOTES)
