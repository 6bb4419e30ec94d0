"""The study of schedulers: its jobs take what their closed forms say."""

from __future__ import annotations

from pathlib import Path

import pytest

import bridge
from bridge.studies.schedulers import cassini, crux, jobs


@pytest.mark.parametrize("fabric", ["flow", "express"])
def test_a_job_alone_takes_what_it_computes_and_sends(fabric: str) -> None:
    """Headers count as sent; computation beside the communication hides it. The way takes 1 %."""
    for before, beside, sent in ((2, 0, 1), (1, 0.5, 1), (1, 3, 1)):
        one = jobs.Repeated("job", before, beside, sent, 3)
        result = bridge.run(jobs.point("alone", [one], 10, fabric).scenario)
        for time in jobs.times_ms(result, "job"):
            assert time == pytest.approx(before + max(beside, sent), rel=0.015)


def test_the_first_example_falls_into_step(scenarios: Path) -> None:
    """Job 2 behind job 1 takes 4 s, and job 1 behind job 2 takes 6 s, in each iteration."""
    points = crux.points(scenarios, "small")
    for first, other, expected in (("job1", "job2", 4), ("job2", "job1", 6)):
        result = bridge.run(points["first", first, "flow"].scenario)
        times = jobs.times_ms(result, other, crux.SKIPPED)
        assert times == pytest.approx([expected] * len(times), rel=0.005)


def test_delayed_jobs_take_what_they_take_alone(scenarios: Path) -> None:
    for count, part in cassini.PARTS.items():
        point = cassini.points(scenarios, "small")[count, True]
        told = cassini.told(bridge.run(point.scenario))
        assert told.mean_ms == pytest.approx(cassini.PERIOD_MS, rel=0.02), part
        assert told.marks == 0
