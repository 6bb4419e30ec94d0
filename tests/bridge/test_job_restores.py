"""Jobs that read a checkpoint from storage ranks before they begin."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from frontend import ScenarioError, load_scenario
from frontend.resolve import resolve
from tests.bridge.job_parts import CLOS, FLAT, RING
from tests.bridge.test_jobs import FABRICS, KINDS, job, measured, ps, run, times


def restored(size: str, storage: Any, **keys: Any) -> Any:
    return job("a", RING, restore={"bytes": size, "storage": storage}, **keys)


def usual(fabric: str, **keys: Any) -> Any:
    return times(run([job("a", RING, **keys)], fabric), "a")


@pytest.mark.parametrize("fabric", FABRICS)
@pytest.mark.parametrize(("storage", "rates"), [(7, 1), ([6, 7], 2), ([4, 5, 6, 7], 4)])
def test_a_lone_restart_takes_its_bytes_over_the_rate(fabric, storage, rates) -> None:
    """The links of the storage are the bottleneck: 400 MB at 100 Gb/s each, plus 0.5 % of headers.
    Only the first iteration is later, and the job starts when it arrives."""
    ranks = [0, 1, 2, 3]
    before = usual(fabric, placement=ranks, iterations=2)
    result = run([restored("400MB", storage, placement=ranks, iterations=2, arrival="3us")], fabric)
    after = times(result, "a")
    expected = 400e6 * 8 / 100e9 / rates * 1e12
    assert after[0] - before[0] == pytest.approx(expected, rel=0.02)
    assert after[0] - before[0] > expected
    assert after[1] == pytest.approx(before[1], rel=0.1)
    (own,) = result.jobs or (None,)
    assert own is not None
    assert ps(own.start_ns) == 3_000_000
    assert result.schedule is not None
    assert result.schedule.jobs[0].waiting_ns == 0


@pytest.mark.parametrize("fabric", ["express", "flow"])
def test_two_restarts_share_the_storage(fabric) -> None:
    """Each alone takes 8 ms; together, both take 16 ms, because one link sends both."""
    jobs = [
        restored("100MB", 7, placement=[0, 1]),
        restored("100MB", 7, placement=[2, 3]) | {"name": "b"},
    ]
    (alone,) = times(run(jobs[:1], fabric), "a")
    both = run(jobs, fabric)
    for name in "ab":
        assert times(both, name)[0] == pytest.approx(2 * alone, rel=0.02)


def test_a_restart_slows_down_others_on_its_links_only() -> None:
    """Ranks 0 … 3 are at one leaf, with one link to the others. b reads over that link while a uses
    it, and c at the other leaf is as fast as alone."""
    work = {"kind": "collective", "operation": "all_to_all", "algorithm": "direct", "bytes": "4MB"}
    jobs = [
        job("a", work, placement=[0, 4], iterations=4),
        job("b", work, placement=[1, 2], restore={"bytes": "20MB", "storage": 7}),
        job("c", work, placement=[5, 6], iterations=4),
    ]
    found = run(jobs, "express", CLOS)
    for name, is_slower in (("a", True), ("c", False)):
        (own,) = [one for one in jobs if one["name"] == name]
        alone = sum(times(run([own], "express", CLOS), name))
        assert (sum(times(found, name)) > 1.2 * alone) == is_slower
        if not is_slower:
            assert sum(times(found, name)) == alone


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.sampled_from(FABRICS),
    st.sampled_from(KINDS),
    st.permutations(range(8)),
    st.integers(0, 3),
    st.sampled_from(["none", "fifo", "backfill"]),
)
def test_jobs_that_share_nothing_take_what_they_take_alone(fabric, work, order, late, queueing):
    """To the picosecond, with storage of their own; without queueing and with it."""
    jobs = [
        job(
            name,
            work if name == "a" else RING,
            placement=order[3 * place : 3 * place + 2],
            restore={"bytes": "3MB", "storage": order[3 * place + 2]},
            arrival=f"{late * place}us",
        )
        for place, name in enumerate("ab")
    ]
    if work["kind"] == "llm":
        jobs[0]["workload"] = work | {"layout": {"tp": 2}}
    more = {"queueing": queueing}
    both = run(jobs, fabric, **more)
    for one in jobs:
        assert times(both, one["name"]) == times(run([one], fabric, **more), one["name"])
    assert measured(both) == measured(run(jobs, fabric, **more))


def test_jobs_in_a_queue_never_get_storage() -> None:
    jobs = [
        restored(
            "1MB", [2, 5], ranks=3, placement=policy, arrivals={"count": 4, "interval": "20us"}
        )
        | {"name": f"j{place}"}
        for place, policy in enumerate(["packed", "random", "spread"])
    ]
    schedule = run(jobs, "flow", queueing="fifo").schedule
    assert schedule is not None
    assert len(schedule.jobs) == 12
    assert all({2, 5}.isdisjoint(one.ranks) for one in schedule.jobs)
    assert max(one.waiting_ns for one in schedule.jobs) > 0


def test_the_bytes_are_those_of_the_checkpoint() -> None:
    """1 000 001 bytes in 2 · 3 messages: each of 166 667."""
    scenario = load_scenario(
        {"topology": FLAT, "jobs": [restored("1000001B", [6, 7], placement=[0, 1, 2])]}
    )
    plan = resolve(scenario).plan
    sent = [
        (rank, int(nodes.peer[node]), int(nodes.bytes[node]))
        for ranks, nodes in plan.work(8)
        for rank in ranks
        for node in (nodes.type == 2).nonzero()[0]
    ]
    assert sorted(sent) == [(rank, to, 166_667) for rank in (6, 7) for to in (0, 1, 2)]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"storage": 8}, r"jobs\.0\.restore\.storage: value 8: expected ranks from 0 to 7"),
        ({"storage": [6, 6]}, r"restore\.storage: .*expected each rank once"),
        ({"storage": 1}, r"jobs\.0\.placement: .*rank 1 is storage"),
        ({"storage": []}, r"restore\.storage: "),
        ({"bytes": "0B"}, r"restore\.bytes: value 0B: expected"),
    ],
)
def test_what_is_wrong_with_a_restore(changes, expected) -> None:
    content = restored("1MB", 7, placement=[0, 1])
    content["restore"] |= changes
    with pytest.raises(ScenarioError, match=expected):
        load_scenario({"topology": FLAT, "jobs": [content]})


def test_jobs_do_not_fit_beside_storage() -> None:
    with pytest.raises(ScenarioError, match="other jobs and storage have 1"):
        load_scenario({"topology": FLAT, "jobs": [restored("1MB", 7, ranks=8)]})
