"""Jobs that arrive at random and wait: what a run says is what its queue would decide."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

import bridge
from bridge.results.measurements import Job, Schedule
from frontend import load_scenario
from frontend.resolve.layout import layout
from frontend.resolve.turns import turns
from tests.bridge.job_parts import CLOS, DLRM, FLAT, RING

FABRICS = ["express", "flow", "analytical"]


def mix(fabric, policy, **more):
    arrivals = {"count": 8, "interval": "200us"}
    jobs = [
        {"name": "a", "ranks": 4, "workload": RING, "iterations": 2, "placement": "random"},
        {"name": "d", "ranks": 2, "workload": DLRM, "placement": "spread", "expected": "300us"},
        {"name": "b", "ranks": 6, "workload": RING, "expected": "150us"},
    ]
    listed = [job | {"arrivals": arrivals} for job in jobs]
    return {"topology": CLOS, "fabric": fabric, "queueing": policy, "jobs": listed, **more}


def schedule_of(result: bridge.Result) -> Schedule:
    assert result.schedule is not None
    return result.schedule


def jobs_of(result: bridge.Result) -> tuple[Job, ...]:
    assert result.jobs is not None
    return result.jobs


def measured(result):
    document = result.to_dict()
    for key in ("wall_s", "cpu_s", "peak_rss_bytes"):
        del document["simulator"][key]
    return json.dumps(document)


@pytest.mark.parametrize("policy", ["fifo", "backfill"])
@pytest.mark.parametrize("fabric", FABRICS)
def test_the_order_follows_from_the_times_of_its_own_run(fabric, policy):
    """Each job starts when it arrives, or when the job ends that the queue says, to the ps."""
    result = bridge.run(mix(fabric, policy))
    scenario = load_scenario(mix(fabric, policy))
    durations = {
        job.name: round(1000 * (job.iterations[-1].end_ns - job.start_ns))
        for job in jobs_of(result)
    }
    starts = {job.name: round(1000 * job.start_ns) for job in jobs_of(result)}
    jobs = [work.job for work in scenario.work if work.job is not None]
    names = [job.name for job in jobs]
    told = {name: [[time]] for name, time in durations.items()}
    order = turns(scenario, 8, layout(scenario), told)
    assert len(order) == len(names) == 24
    for turn in order:
        name = names[turn.job]
        if turn.after is None:
            assert starts[name] == jobs[turn.job].arrival
        else:
            assert starts[name] == starts[names[turn.after]] + durations[names[turn.after]]
    assert [job.ranks for job in schedule_of(result).jobs] == [
        turn.members for turn in sorted(order, key=lambda turn: turn.job)
    ]


@pytest.mark.parametrize("fabric", FABRICS)
def test_jobs_that_take_all_ranks_wait_as_in_a_queue_with_one_server(fabric):
    """Lindley: a job waits what the one before waited and ran, less the time between them."""
    job = {
        "name": "a",
        "ranks": 8,
        "workload": RING,
        "arrivals": {"count": 20, "interval": "150us"},
    }
    result = bridge.run({"topology": FLAT, "fabric": fabric, "queueing": "fifo", "jobs": [job]})
    alone = {"topology": FLAT, "fabric": fabric, "jobs": [{**job, "arrivals": None}]}
    time = round(1000 * bridge.run(alone).time_ns)
    jobs = [
        {
            key: round(1000 * getattr(one, f"{key}_ns"))
            for key in ("arrival", "waiting", "completion")
        }
        for one in schedule_of(result).jobs
    ]
    first, *others = (one["completion"] - one["waiting"] for one in jobs)
    assert first == time
    assert len(set(others)) == 1  # windows are as the job before left them
    assert time >= others[0] > 0.98 * time
    assert jobs[0]["waiting"] == 0
    assert max(one["waiting"] for one in jobs) > time
    for one, following in pairwise(jobs):
        between = following["arrival"] - one["arrival"]
        assert following["waiting"] == max(0, one["completion"] - between)
    busy = first + sum(others)
    assert schedule_of(result).utilization == pytest.approx(busy / (1000 * result.time_ns))


@pytest.mark.parametrize("fabric", FABRICS)
def test_a_queue_is_the_same_twice_and_from_its_stream(tmp_path, fabric):
    first = bridge.run(mix(fabric, "backfill"))
    assert measured(bridge.run(mix(fabric, "backfill"))) == measured(first)
    bridge.compile(mix(fabric, "backfill"), out=tmp_path / "x.stream")
    assert measured(bridge.replay(tmp_path / "x.stream")) == measured(first)


@pytest.mark.parametrize("fabric", FABRICS)
def test_jobs_that_never_wait_run_as_without_a_queue(fabric):
    jobs = [
        {"name": "a", "placement": [0, 5, 2], "workload": RING, "iterations": 2},
        {"name": "b", "placement": [4, 1, 6], "workload": RING, "arrival": "20us"},
    ]
    plain = bridge.run({"topology": CLOS, "fabric": fabric, "jobs": jobs})
    queued = bridge.run({"topology": CLOS, "fabric": fabric, "jobs": jobs, "queueing": "fifo"})
    assert queued.jobs == plain.jobs
    assert queued.schedule == plain.schedule


def test_jobs_with_streams_take_turns_with_others(repository):
    """Traces with lanes of their own follow each other on a rank, each as fast as alone."""
    file = repository / "scenarios" / "jobs_mix_small.yaml"
    data = load_scenario(file).model_dump(mode="json", exclude_unset=True)
    chosen = [job for job in data["jobs"] if job["name"] in ("llama", "traced")]
    data = data | {"events": [], "topology": FLAT, "fabric": "flow"}
    listed = [job | {"placement": list(range(8)), "arrival": "0s"} for job in chosen]
    both = bridge.run(data | {"jobs": listed, "queueing": "fifo"})
    for job in listed:
        alone = bridge.run(data | {"jobs": [job]})
        times = next(one for one in jobs_of(both) if one.name == job["name"]).iterations
        assert [round(1000 * one.time_ns) for one in times] == [
            round(1000 * one.time_ns) for one in jobs_of(alone)[0].iterations
        ]
