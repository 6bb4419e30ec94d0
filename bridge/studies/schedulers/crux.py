"""Crux: the examples of its priorities, of which the paper gives all inputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import fmean

from bridge.batch.priorities import Demand, correction, traffic_classes
from bridge.results.result import Result
from bridge.studies.framework import Experiment, Figure, Finding, Points, Results, Scale
from bridge.studies.schedulers.jobs import Repeated, point, times_ms

FIRST, SECOND, CLASSES = Figure("example-1"), Figure("example-2"), Figure("figure-13")
TESTBED = Figure("section-6.2")

GBPS = 10
FABRICS = ("flow", "express")
ITERATIONS: Mapping[Scale, int] = {"small": 12, "full": 48}
SKIPPED = 4
"""Iterations until the two jobs have fallen into step."""

#: Iterations alone and times of the link [s], and GPUs, of each job of an example. All have the
#: same GPU intensity.
FIRST_JOBS = {"job1": Repeated("job1", 2, 0, 2, 1), "job2": Repeated("job2", 1, 0, 1, 1)}
SECOND_JOBS = {"job1": Repeated("job1", 2, 2, 1, 1), "job2": Repeated("job2", 1, 1, 3, 1)}
SECOND_GPUS = {"job1": 2, "job2": 12}
SECOND_MS = 13
"""Time over which the second example counts; the text does not say it."""


def points(folder: Path, scale: Scale) -> Points:
    """Return both jobs of an example with each of them first, and the first with neither."""
    found = {}
    for example, jobs in (("first", FIRST_JOBS), ("second", SECOND_JOBS)):
        for fabric in FABRICS if example == "first" else FABRICS[:1]:
            for first in ("job1", "job2", None):
                ranked = [
                    one._replace(
                        iterations=ITERATIONS[scale] * (2 if one.before_ms == 1 else 1),
                        traffic_class=None if first is None else 3 - (one.name != first),
                    )
                    for one in jobs.values()
                ]
                name = f"{example}, {first or 'neither'} first, {fabric}"
                found[example, first, fabric] = point(name, ranked, GBPS, fabric)
    return found


def utilization(result: Result, jobs: Mapping[str, Repeated]) -> float:
    """Return the part of the time for which the GPUs compute; both jobs have as many."""
    return fmean(
        (job.before_ms + job.beside_ms) / fmean(times_ms(result, name, SKIPPED))
        for name, job in jobs.items()
    )


def idle_ms(result: Result, name: str, job: Repeated, time_ms: float) -> float:
    """Return for how long the GPUs of a job do not compute, of some time from the begin on."""
    begin, idle, computes = 0.0, 0.0, job.before_ms + job.beside_ms
    for time in times_ms(result, name):
        idle += max(0.0, min(time_ms, begin + time) - min(time_ms, begin + computes))
        begin += time
    return idle


def demand(job: Repeated, gpus: float = 1) -> Demand:
    """Return what a job of an example asks of the link alone; times in ms."""
    period = job.before_ms + max(job.beside_ms, job.sent_ms)
    slack = max(0.0, job.beside_ms - job.sent_ms)
    return Demand(period, job.sent_ms, slack, gpus * (job.before_ms + job.beside_ms))


def evaluate(results: Results, scale: Scale) -> Iterator[Finding]:
    """Compare the utilization, the idle times, the correction factors and the classes."""
    used = {
        key[1:]: utilization(result, FIRST_JOBS)
        for key, result in results.items()
        if key[0] == "first"
    }
    for fabric in FABRICS:
        text = f"Job 1 first: GPUs are utilized for 37.5 % of the time ({fabric})."
        yield FIRST.share(text, 0.375, used["job1", fabric])
        text = f"Job 2 first: for 41.7 % ({fabric})."
        yield FIRST.share(text, 5 / 12, used["job2", fabric])
        text = f"Job 2 first is better ({fabric})."
        yield FIRST.order(text, used["job2", fabric] / used["job1", fabric])
    first = {name: demand(job) for name, job in FIRST_JOBS.items()}
    text = "The correction factor of job 2 is 1.5, if job 1 is the reference job."
    yield FIRST.times(text, 1.5, correction(first["job2"], first["job1"]))
    headings = ("first", *FABRICS)
    rows = [
        [who or "neither", *(f"{used[who, fabric]:.1%}" for fabric in FABRICS)]
        for who in ("job1", "job2", None)
    ]
    yield FIRST.table("Utilization of the GPUs", headings, rows)
    own = SECOND_JOBS["job2"]
    idle = {
        who: idle_ms(results["second", who, "flow"], "job2", own, SECOND_MS)
        for who in ("job1", "job2")
    }
    why = f"of the first {SECOND_MS} s; the text does not say of how many"
    text = "Job 1 first: the GPUs of job 2 are idle for 7 s."
    yield SECOND.ns(text, 7e9, 1e9 * idle["job1"], why=why)
    text = "Job 2 first: for 6 s."
    yield SECOND.ns(text, 6e9, 1e9 * idle["job2"], why=why)
    second = {name: demand(job, SECOND_GPUS[name]) for name, job in SECOND_JOBS.items()}
    text = "Of the same GPU intensity, job 2, whose communication is exposed, has the priority."
    yield SECOND.order(text, correction(second["job2"], second["job1"]))
    pairs = [frozenset(("job 1", "job 2")), frozenset(("job 3", "job 4"))]
    order = {"job 1": 4.0, "job 2": 3.0, "job 3": 2.0, "job 4": 1.0}
    found = traffic_classes(order, pairs, (0, 1))
    text = "Of four jobs, two on each link, the first on each link have the higher of two classes."
    evidence = ", ".join(f"{name}: {level}" for name, level in found.items())
    best = {"job 1": 1, "job 2": 0, "job 3": 1, "job 4": 0}
    yield CLASSES.fact(text, found == best, evidence=evidence)
    text = "On a testbed of 96 GPUs, GPUs are utilized 8.3 to 14.8 % better."
    yield TESTBED.untested(text, "the text has no batch sizes, layouts and rates of shared links")


NOTES = """\
Both examples of Section 4.2 have two jobs on one link. In the first, an iteration of job 1 computes
for 2 s and then communicates for 2 s, and one of job 2 for 1 s and 1 s. In the second, job 1
computes for 4 s on 2 GPUs and communicates for 1 s, and job 2 for 2 s on 12 GPUs and 3 s, both from
the half of the computation on. Each job has two ranks here, which send to each other. **Flow** has
the numbers of the examples: there, a link serves the higher class alone, at once, and at its full
rate. **Express** has the packets of RoCE with DCQCN, PFC and a queue for each class, which come to
the full rate only after some time.

In the first example, the two jobs fall into step, so all iterations are alike. In the second, a job
behind the other one is late once or twice, and then no more, as the link can be busy all the time:
the idle times are those of the begin, and grow no further apart.

The table has the same jobs with neither of them first. With packets, Crux's order then utilizes the
GPUs 19 % better; if the link is shared fairly at once, as on flow, it is 4 %. The paper's testbed
with other jobs is in between.
"""

EXPERIMENT = Experiment(
    "Crux: priorities", (FIRST, SECOND, CLASSES, TESTBED), evaluate, points, NOTES
)
