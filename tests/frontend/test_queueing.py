"""Jobs that wait for free ranks: who starts when, and where, if it is known how long they run."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontend import load_scenario
from frontend.resolve import resolve
from frontend.resolve.turns import turns

SUM = {"kind": "collective", "operation": "all_reduce", "algorithm": "ring", "bytes": "1MB"}
RANKS = 8
FLAT = {"family": "flat", "ranks": RANKS, "bandwidth": "100Gbps", "latency": "1us", "buffer": "1MB"}


def load(jobs, **keys):
    listed = [{"name": f"j{number}", "workload": SUM, **job} for number, job in enumerate(jobs)]
    return load_scenario({"topology": FLAT, "jobs": listed, **keys})


class Ran:
    """A job that ran: from when to when, and where."""

    def __init__(self, scenario, turn, start, duration):
        job = scenario.work[turn.job].job
        self.number, self.members, self.name = turn.job, set(turn.members), job.name
        self.arrival, self.start, self.end = int(job.arrival), start, start + duration


def ran(scenario, durations):
    """Follow what `turns` promises: a job starts when it arrives, or when another one ends."""
    found: dict[int, Ran] = {}
    for turn in turns(
        scenario,
        RANKS,
        resolve(scenario).layout,
        {name: [[time]] for name, time in durations.items()},
    ):
        job = scenario.work[turn.job].job
        start = int(job.arrival) if turn.after is None else found[turn.after].end
        found[turn.job] = Ran(scenario, turn, start, durations[job.name])
    return list(found.values())


def free_at(time, jobs):
    """The ranks that are free at a time, if jobs that end then have ended."""
    return set(range(RANKS)).difference(*(j.members for j in jobs if j.start <= time < j.end))


JOBS = st.lists(
    st.tuples(
        st.integers(1, RANKS),  # ranks
        st.integers(0, 30),  # arrival [us]
        st.integers(1, 20),  # duration [us]
        st.sampled_from(["packed", "spread", "random"]),
    ),
    min_size=1,
    max_size=12,
)


def mix(jobs, policy):
    scenario = load(
        [
            {"ranks": n, "arrival": f"{at}us", "placement": how, "expected": f"{time}us"}
            for n, at, time, how in jobs
        ],
        queueing=policy,
    )
    return ran(scenario, {f"j{k}": time * 10**6 for k, (_, _, time, _) in enumerate(jobs)})


@pytest.mark.parametrize("policy", ["fifo", "backfill"])
@given(JOBS)
def test_no_two_jobs_have_a_rank_at_the_same_time(policy, jobs):
    found = mix(jobs, policy)
    assert sorted(job.number for job in found) == list(range(len(jobs)))
    for job in found:
        assert len(job.members) == jobs[job.number][0]
        assert job.start >= job.arrival
        for other in found:
            if other is not job and job.start < other.end and other.start < job.end:
                assert not job.members & other.members


@given(JOBS)
def test_fifo_starts_each_job_as_soon_as_its_turn_comes(jobs):
    """The oracle goes through the jobs in their order and looks for the first time with room."""
    found = sorted(mix(jobs, "fifo"), key=lambda job: (job.arrival, job.number))
    before = 0
    for turn, job in enumerate(found):
        earlier = found[:turn]
        times = sorted({max(job.arrival, before), *(one.end for one in earlier)})
        expected = next(
            time
            for time in times
            if time >= max(job.arrival, before) and len(free_at(time, earlier)) >= len(job.members)
        )
        assert job.start == expected
        before = job.start


@given(JOBS)
def test_backfilling_delays_no_first_job(jobs):
    """If times are as expected, the first job starts when it could without those that overtake."""
    found = mix(jobs, "backfill")
    order = {job.number: turn for turn, job in enumerate(found)}
    for first in found:
        for other in found:
            waits = (first.arrival, first.number) < (other.arrival, other.number)
            if not (waits and order[other.number] < order[first.number]):
                continue
            earlier = [one for one in found if order[one.number] < order[other.number]]
            if any(
                (one.arrival, one.number) < (first.arrival, first.number)
                and order[one.number] > order[other.number]
                for one in found
            ):
                continue  # another one was the first
            running = [one for one in earlier if one.start <= other.start < one.end]
            shadow = min(
                time
                for time in [other.start, *(one.end for one in running)]
                if time >= other.start and len(free_at(time, running)) >= len(first.members)
            )
            assert first.start <= shadow


def test_a_small_job_overtakes_only_by_backfilling():
    """j1 waits for all ranks until 10 us; j2 fits beside j0, and ends before, but j3 does not."""
    jobs = [(4, 0, 10, "packed"), (8, 1, 5, "packed"), (2, 2, 8, "packed"), (2, 2, 9, "packed")]
    starts = {job.name: job.start // 10**6 for job in mix(jobs, "backfill")}
    assert starts == {"j0": 0, "j1": 10, "j2": 2, "j3": 15}
    starts = {job.name: job.start // 10**6 for job in mix(jobs, "fifo")}
    assert starts == {"j0": 0, "j1": 10, "j2": 15, "j3": 15}


def test_a_job_waits_for_the_ranks_that_it_lists():
    jobs = [{"placement": [0, 1]}, {"placement": [1, 2]}, {"ranks": 1}]
    found = ran(load(jobs, queueing="fifo"), {"j0": 5, "j1": 5, "j2": 5})
    assert [(job.name, job.start) for job in found] == [("j0", 0), ("j1", 5), ("j2", 5)]


def test_arrivals_are_a_poisson_process():
    """Mean and variance of 4000 exponential times, within four standard errors."""
    several = {"ranks": 1, "arrival": "1ms", "arrivals": {"count": 4000, "interval": "2us"}}

    def times(seed):
        scenario = load([several, several | {"ranks": 2}], queueing="fifo", seed=seed)
        return [[int(w.job.arrival) for w in scenario.work if w.label == f"j{k}"] for k in (0, 1)]

    first, second = times(1)
    assert times(1) == [first, second]
    assert first != second
    assert first != times(2)[0]
    assert first == sorted(first)
    gaps = [b - a for a, b in zip([10**9, *first], first, strict=False)]
    mean = sum(gaps) / len(gaps)
    variance = sum((gap - mean) ** 2 for gap in gaps) / len(gaps)
    assert mean == pytest.approx(2e6, rel=4 / len(gaps) ** 0.5)
    assert variance == pytest.approx(4e12, rel=4 * (8 / len(gaps)) ** 0.5)


def test_jobs_of_one_entry_share_layers_and_have_names_of_their_own():
    scenario = load([{"ranks": 2, "arrivals": {"count": 3, "interval": "1us"}}])
    plan = resolve(scenario).plan
    assert plan.jobs == ("j0_0", "j0_1", "j0_2")
    assert plan.layers == ("jobs", "j0.all_reduce")


def test_ranks_share_a_trace_if_they_have_had_the_same_jobs():
    """j1 and j2 take turns on ranks of j0; rank 3 has j0 only, and 4 to 7 have nothing."""
    jobs = [{"placement": [0, 1, 2, 3]}, {"placement": [0, 1, 2]}, {"placement": [2, 1]}]
    plan = resolve(load(jobs, queueing="fifo")).plan
    assert sorted(tuple(sorted(ranks)) for ranks, _ in plan.tables) == [(0,), (1, 2), (3,)]
    sizes = {ranks: nodes.size for ranks, nodes in plan.tables}
    # a job is its collective, and timers for its arrival, its start and its end
    assert {min(ranks): size for ranks, size in sizes.items()} == {0: 8, 1: 12, 3: 4}
