"""Paths of jobs by GPU intensity, so that those whom GPUs wait for most share links least.

Source: J. Cao et al., "Crux: GPU-efficient communication scheduling for deep learning training",
SIGCOMM 2024. The jobs choose one after another, the one with the most intensity first. Each takes
the paths whose busiest link has the least load of the jobs before it and its own.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from bridge.results.result import Result
from frontend import Scenario
from frontend.compiler.shapes import Shape, Shapes
from frontend.resolve import resolve
from frontend.scenario.work import Work, work_of_job

_CANDIDATES = 32
"""Routes among which a job chooses."""


def routes(
    scenario: Scenario, alone: Mapping[str, Result], order: Mapping[str, float]
) -> dict[str, int]:
    """Return the route of each job.

    Parameters
    ----------
    scenario : Scenario
        The jobs, which do not wait for each other.
    alone : mapping
        The result of each job alone, by name.
    order : mapping
        The GPU intensity of each job.
    """
    resolved = resolve(scenario)
    shapes, rate_bps = Shapes(resolved), resolved.network.rate_bps
    works = {work.job.name: work for work in scenario.work if work.job is not None}
    load = np.zeros(resolved.network.links)
    found = {}
    for name in sorted(alone, key=lambda one: (-order[one], one)):
        # The job's own route first: it stays if no other one is better.
        own = works[name].job
        assert own is not None
        tried = dict.fromkeys([own.route, *range(_CANDIDATES)])
        added = {
            route: _load(_on_route(works[name], route), shapes, alone[name], rate_bps)
            for route in tried
        }
        best = min(added, key=lambda route: _congestion(load, added[route]))
        load += added[best]
        found[name] = best
    return found


def sent_bytes(shape: Shape, alone: Result) -> NDArray[np.float64]:
    """Return the payload that each of `Shape.connections` has sent in the result of a job alone."""
    sent = {
        (row["source"], row["target"], row["route"]): row["payload_bytes"]
        for row in alone.tables.rows("flows")
    }
    ends = shape.nodes[shape.connections[:, :2]]
    rows = np.column_stack([ends, shape.connections[:, 2]]).tolist()
    return np.array([sent.get(tuple(row), 0) for row in rows], np.float64)


def _on_route(work: Work, route: int) -> Work:
    assert work.job is not None
    job = work.job.model_copy(update={"route": route})
    return work_of_job(int(work.prefix.split(".")[1]), work.label, job)


def _load(
    work: Work, shapes: Shapes, alone: Result, rate_bps: NDArray[np.uint64]
) -> NDArray[np.float64]:
    """Return the part of the time of a job for which each link sends its data."""
    assert alone.schedule is not None
    (job,) = alone.schedule.jobs
    shape = shapes.of(work, job.ranks)
    carried = np.repeat(sent_bytes(shape, alone), np.diff(shape.begin))
    of_link = np.bincount(shape.links, carried, minlength=len(rate_bps))
    return of_link * 8e9 / rate_bps / max(1.0, job.completion_ns - job.waiting_ns)


def _congestion(before: NDArray[np.float64], added: NDArray[np.float64]) -> tuple[float, float]:
    """Return the load of the busiest link that a job uses, and how unevenly links are busy."""
    used = added > 0
    both = (before + added)[used]
    return float(both.max(initial=0.0)), float((both**2).sum())
