"""Traffic classes of jobs by GPU intensity, so that links serve first whom GPUs wait for most.

Source: J. Cao et al., "Crux: GPU-efficient communication scheduling for deep learning training",
SIGCOMM 2024. The intensity of a job is what it computes over the time that its busiest link sends
for it. Jobs with more of it come first. As there are fewer classes than jobs, jobs next to each
other in this order share one; between those that share links, as little intensity as possible is
treated alike. What Crux adds for computation that hides communication is left out.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cache

from bridge.results.result import Result
from frontend.scenario.work import TRAFFIC_CLASSES


def intensity(alone: Result) -> float:
    """Return the GPU intensity of the job of a result.

    Returns
    -------
    float
        Computation of all its ranks over the time that its busiest link sends for it: a number of
        GPUs, as both are times. Infinite if it sends nothing.
    """
    (job,) = (alone.schedule.jobs if alone.schedule is not None else ()) or (None,)
    ranks = len(job.ranks) if job is not None else 0
    computed_ns = ranks * sum(layer.compute_ns for layer in alone.layers)
    sent_ns = max(
        (row["wire_bytes"] * 8e9 / row["rate_bps"] for row in alone.tables.rows("links")),
        default=0.0,
    )
    return computed_ns / sent_ns if sent_ns else float("inf")


def traffic_classes(
    intensities: Mapping[str, float],
    pairs: Collection[frozenset[str]],
    classes: Sequence[int] = TRAFFIC_CLASSES,
) -> dict[str, int]:
    """Return the traffic class of each job.

    Parameters
    ----------
    intensities : mapping
        GPU intensity of each job, by name.
    pairs : collection of sets
        The pairs of jobs that share links.
    classes : sequence of int
        The classes, the lowest first.

    Returns
    -------
    dict
        No job has a lower class than one with less intensity. Of such assignments, it is one with
        the least sum of the intensities of the first job of each pair in the same class. Jobs of
        equal intensity and name order are told apart by their names.
    """
    order = sorted(intensities, key=lambda name: (-intensities[name], name))
    cuts = _cuts([intensities[name] for name in order], order, pairs, len(classes))
    found: dict[str, int] = {}
    for place, (begin, end) in enumerate(cuts):
        found |= dict.fromkeys(order[begin:end], classes[len(classes) - 1 - place])
    return {name: found[name] for name in intensities}


def _cuts(
    values: Sequence[float], order: Sequence[str], pairs: Collection[frozenset[str]], most: int
) -> list[tuple[int, int]]:
    """Return where to cut an order into at most some groups, so that they cost least."""
    count = len(order)
    # cost[i][j]: of one group with the jobs i … j-1
    cost = [[0.0] * (count + 1) for _ in range(count + 1)]
    for begin in reversed(range(count)):
        own = 0.0
        for end in range(begin + 1, count + 1):
            own += values[begin] if frozenset((order[begin], order[end - 1])) in pairs else 0.0
            cost[begin][end] = cost[begin + 1][end] + own

    @cache
    def best(begin: int, left: int) -> tuple[float, tuple[int, ...]]:
        if begin == count:
            return 0.0, ()
        ends = range(begin + 1, count + 1) if left > 1 else (count,)
        found = []
        for end in ends:
            rest, cuts = best(end, left - 1)
            found.append((cost[begin][end] + rest, (end, *cuts)))
        return min(found)

    ends = best(0, min(most, count))[1]
    return list(zip((0, *ends), ends, strict=False))
