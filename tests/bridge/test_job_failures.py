"""Jobs that fail during a run: what they run is dropped, and they go on from their checkpoints."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import bridge
from bridge.batch.cluster import estimate
from bridge.batch.interference import points
from bridge.results.result import Result
from frontend import ScenarioError, load_scenario
from frontend.goodput import Period
from frontend.resolve import resolve
from frontend.resolve.outages import Rates
from tests.bridge.job_parts import CLOS, DLRM, FLAT, RING
from tests.bridge.test_jobs import FABRICS, KINDS, ONE_LINK, TO_ALL, job, measured, ps, run, times

LONG: dict[str, Any] = TO_ALL | {"bytes": "4MB"}
RANKS = [0, 1, 2, 3]


def down(at: str, until: str, ranks: Any = 2) -> dict[str, Any]:
    return {"event": "host_down", "at": at, "until": until, "ranks": ranks}


def names_of(topology: dict[str, Any]) -> tuple[str, ...]:
    content = {"topology": topology, "jobs": [job("a", RING, ranks=8)]}
    return tuple(resolve(load_scenario(content)).network.node_names)


def only(result: Any, name: str = "a") -> Any:
    (found,) = [one for one in result.jobs if one.name == name]
    return found


@pytest.mark.parametrize("fabric", FABRICS)
@pytest.mark.parametrize(
    ("recovery", "first"),
    [({}, 0), ({"interval": 1}, 5), ({"interval": 3}, 3), ({"interval": 10}, 0)],
)
def test_a_lone_job_repeats_the_iterations_since_its_checkpoint(fabric, recovery, first) -> None:
    """It fails in its sixth iteration, is up 300 us later, and takes 50 us to restart. Then it
    takes what a job takes that has so many iterations left."""
    entry = job("a", RING, placement=RANKS, iterations=8)
    usual = times(run([entry], fabric), "a")
    failed = sum(usual[:5]) + usual[5] // 2
    event = down(f"{failed}ps", f"{failed + 300_000_000}ps")
    entry["recovery"] = recovery | {"restart": "50us"}
    result = run([entry], fabric, events=[event])
    found = only(result)
    (failure,) = found.failures
    assert (ps(failure.at_ns), failure.iteration) == (failed, first)
    assert ps(failure.restart_ns) == failed + 350_000_000
    assert [one.index for one in found.iterations] == list(range(8))
    rest = times(run([entry | {"iterations": 8 - first}], fabric), "a")
    assert times(result, "a") == usual[:first] + rest
    assert ps(found.iterations[-1].end_ns) == ps(failure.restart_ns) + sum(rest)


@pytest.mark.parametrize("fabric", FABRICS)
def test_it_reads_its_checkpoint_over_the_network(fabric) -> None:
    """100 MB at 100 Gb/s take 8 ms, and headers 0.5 % more; the first attempt reads nothing."""
    entry = job("a", RING, placement=RANKS, iterations=4)
    usual = times(run([entry], fabric), "a")
    failed = usual[0] + usual[1] // 2
    event = [down(f"{failed}ps", f"{failed + 10_000_000}ps")]
    reads = {"interval": 1, "restore": {"bytes": "100MB", "storage": 7}}
    result = run([entry | {"recovery": reads}], fabric, events=event)
    after = times(result, "a")
    assert after[1] - usual[0] == pytest.approx(8e9, rel=0.01)
    read = job("a", RING, placement=RANKS, iterations=3, restore=reads["restore"])
    assert after == usual[:1] + times(run([read], fabric), "a")


WRITE = {"bytes": "40MB", "storage": [6, 7]}
"""40 MB to two ranks at 100 Gb/s take 1.6 ms, and headers 0.6 % more."""


@pytest.mark.parametrize("queue", ["none", "fifo"])
@pytest.mark.parametrize("fabric", ["express", "flow"])
@pytest.mark.parametrize("work", [RING, DLRM])
def test_it_writes_checkpoints_over_the_network(fabric, work, queue) -> None:
    """After the second and the fourth iteration; the others take what they take."""
    entry = job("a", work, placement=RANKS, iterations=5, arrival="7us")
    more = {"transport": {"window": "64KB"}, "queueing": queue}
    usual = times(run([entry], fabric, **more), "a")
    writes = entry | {"recovery": {"interval": 2, "write": WRITE}}
    result = run([writes], fabric, **more)
    found = times(result, "a")
    assert ps(only(result).start_ns) == 7_000_000
    assert found[0] == usual[0]
    for iteration in (1, 3):
        assert found[iteration] - usual[iteration] == pytest.approx(1.61e9, rel=0.02)
    assert found[2] == pytest.approx(usual[2], rel=0.02)


def test_a_checkpoint_that_is_not_whole_is_none() -> None:
    """It fails while it writes the second one, reads the first, and goes on behind that one."""
    recovery = {"interval": 2, "write": WRITE, "restore": WRITE}
    entry = job("a", RING, placement=RANKS, iterations=6, recovery=recovery)
    more: dict[str, Any] = {"transport": {"window": "64KB"}}
    usual = times(run([entry], **more), "a")
    failed = sum(usual[:3]) + usual[3] // 2
    event = down(f"{failed}ps", f"{failed + 10_000_000}ps")
    result = run([entry], events=[event], **more)
    (failure,) = only(result).failures
    assert (ps(failure.at_ns), failure.iteration) == (failed, 2)
    read = times(run([entry | {"iterations": 4, "restore": WRITE}], **more), "a")
    assert times(result, "a")[2:] == pytest.approx(read, rel=0.01)


COMPUTES: dict[str, Any] = RING | {"bytes": "4KB", "compute_before": "1ms"}
"""Hardly uses the network, so that what it writes does not slow it down."""


COMPUTES_ALONE: dict[str, Any] = job("a", COMPUTES, placement=RANKS)


def beside(stall: str, size: str = "40MB", interval: int = 2) -> dict[str, Any]:
    """Return a job that writes checkpoints while it goes on; 40 MB take 1.61 ms."""
    write = WRITE | {"bytes": size, "stall": stall}
    recovery = {"interval": interval, "write": write}
    return COMPUTES_ALONE | {"recovery": recovery}


@pytest.mark.parametrize("queue", ["none", "fifo"])
@pytest.mark.parametrize("fabric", ["express", "flow"])
def test_a_job_goes_on_while_a_checkpoint_is_written(fabric, queue) -> None:
    """It stops for 100 us after every second iteration, whatever the writing takes; it ends when
    the last checkpoint is complete."""
    entry = beside("100us") | {"iterations": 6}
    more: dict[str, Any] = {"transport": {"window": "64KB"}, "queueing": queue}
    usual = times(run([entry | {"recovery": {}}], fabric, **more), "a")
    result = run([entry], fabric, **more)
    found = only(result)
    extra = [one - alone for one, alone in zip(times(result, "a"), usual, strict=True)]
    assert extra == pytest.approx([0, 100e6] * 3, abs=4e6)
    assert [one.iteration for one in found.checkpoints] == [2, 4, 6]
    ends = [one.end_ns for one in found.iterations[1::2]]
    written = [one.end_ns - end for one, end in zip(found.checkpoints, ends, strict=True)]
    assert written == pytest.approx([1.61e6] * 3, rel=0.02)
    assert result.schedule is not None
    assert result.schedule.jobs[0].runs[0].end_ns == found.checkpoints[-1].end_ns


def test_the_next_checkpoint_waits_for_the_one_before() -> None:
    """Writing takes 4.02 ms and an iteration 1 ms: a period takes the longer one, and the stall."""
    entry = beside("200us", "100MB", interval=1) | {"iterations": 5}
    result = run([entry], transport={"window": "64KB"})
    found = times(result, "a")
    assert found[0] == pytest.approx(1.2e9, rel=0.02)
    assert found[2:] == pytest.approx([4.02e9 + 0.2e9] * 3, rel=0.01)


def test_writing_takes_bandwidth_from_the_job() -> None:
    """On packets, a job that communicates all the time is slower while it writes, and takes less
    time than one that waits."""
    entry = job("a", TO_ALL | {"bytes": "40MB"}, placement=RANKS, iterations=8)
    more: dict[str, Any] = {"transport": {"window": "64KB"}}
    waits = {"interval": 2, "write": WRITE}
    goes_on = {"interval": 2, "write": WRITE | {"stall": "0s"}}
    usual, meanwhile, after = (
        sum(times(run([entry | {"recovery": one}], **more), "a")) for one in ({}, goes_on, waits)
    )
    assert 1.03 * usual < meanwhile < 0.9 * after


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.sampled_from(["express", "flow"]),
    st.sampled_from(["0s", "70us"]),
    st.sampled_from(["5MB", "40MB"]),
    st.integers(1, 3),
    st.lists(st.integers(1, 9000), min_size=1, max_size=3),
)
def test_it_goes_on_with_the_last_complete_checkpoint(fabric, stall, size, interval, hits) -> None:
    """Wherever it fails, also while it writes: with the iteration of the last checkpoint that was
    complete before, and never with one that was not."""
    entry = beside(stall, size, interval) | {"iterations": 5}
    events = [down(f"{at}us", f"{at + 50}us") for at in hits]
    result = run([entry], fabric, events=events, transport={"window": "64KB"})
    found = only(result)
    assert [one.index for one in found.iterations] == list(range(5))
    ends = [one.end_ns for one in found.checkpoints]
    assert ends == sorted(ends)
    for failure in found.failures:
        complete = [one.iteration for one in found.checkpoints if one.end_ns < failure.at_ns]
        assert failure.iteration == max(complete, default=0)
    assert found.checkpoints[-1].iteration == 5 - 5 % interval
    assert measured(run([entry], fabric, events=events, transport={"window": "64KB"})) == measured(
        result
    )


def test_goodput_is_that_of_the_closed_form() -> None:
    """Failures at random times, and checkpoints that are written while the job goes on: Daly's form
    with the time of writing, within 5 %; if the job waited, it would be 26 % less."""
    entry = beside("500us") | {"iterations": 100}
    entry["recovery"]["restart"] = "1ms"
    hosts = {"mtbf": "60ms", "repair": "1us", "ranks": RANKS}
    event = {"event": "failures", "at": "0s", "until": "10s", "hosts": hosts}
    (alone,) = times(run([COMPUTES_ALONE], "flow"), "a")
    runs = [only(run([entry], "flow", events=[event], seed=seed)) for seed in range(1, 5)]
    assert sum(len(found.failures) for found in runs) > 30
    taken = sum(ps(found.iterations[-1].end_ns) for found in runs)
    restart, stall, write, interval = 1e-3, 5e-4, 1.61e-3, 2 * alone / 1e12
    expected = Period(4 / 0.06, restart, stall, write).goodput(interval)
    assert 4 * 100 * alone / taken == pytest.approx(expected, rel=0.05)
    assert Period(4 / 0.06, restart, write).goodput(interval) < 0.75 * expected


def test_checkpoints_that_nobody_needs_are_refused() -> None:
    write = {"bytes": "1MB", "storage": 7}
    sentence = r"jobs\.0\.recovery\.write: .*: expected no value, because recovery.interval is null"
    with pytest.raises(ScenarioError, match=sentence):
        run([job("a", RING, ranks=4, recovery={"write": write})])
    writes = {"interval": 1, "write": write}
    beyond = writes | {"write": write | {"storage": 8}}
    with pytest.raises(ScenarioError, match=r"write\.storage: value 8: expected ranks from 0 to 7"):
        run([job("a", RING, ranks=4, recovery=beyond)])
    with pytest.raises(ScenarioError, match="rank 7 is storage"):
        run([job("a", RING, placement=[6, 7], recovery=writes)])


@pytest.mark.parametrize(
    "more",
    [
        {"transport": {"variant": "cubic"}},
        {"transport": {"protocol": "roce"}, "switches": {"buffer_sharing": "pfc"}},
    ],
)
def test_its_connections_stop_at_once(more) -> None:
    """Both share a link. After the failure, the other one is as fast as alone. The packets that
    are queued take at most the time of the buffer (1 MB at 10 Gb/s: 0.8 ms)."""
    huge = TO_ALL | {"bytes": "400MB"}
    jobs = [
        job("a", huge, placement=[0, 2]),
        job("b", TO_ALL | {"bytes": "2MB"}, placement=[1, 3], iterations=40),
    ]
    alone = times(run(jobs[1:], topology=ONE_LINK, **more), "b")[-10:]
    both = run(jobs, topology=ONE_LINK, events=[down("15ms", "900ms", 0)], **more)
    rows = only(both, "b").iterations
    before = [ps(one.time_ns) for one in rows if one.end_ns < 15e6]
    after = [ps(one.time_ns) for one in rows if one.start_ns > 16e6]
    assert sum(before) / len(before) > 1.3 * max(alone)
    assert len(after) >= 10
    assert sum(after[-10:]) / 10 == pytest.approx(sum(alone) / 10, rel=0.02)


@pytest.mark.parametrize("fabric", FABRICS)
def test_jobs_that_share_nothing_with_it_do_not_notice(fabric) -> None:
    jobs = [
        job("a", RING, placement=RANKS, iterations=5, recovery={"interval": 2}),
        job("b", RING, placement=[4, 5, 6, 7], iterations=9),
    ]
    plain = run(jobs, fabric)
    result = run(jobs, fabric, events=[down("500us", "700us"), down("1ms", "1100us", [1, 3])])
    assert len(only(result).failures) == 2
    assert times(result, "b") == times(plain, "b")


@pytest.mark.parametrize("fabric", FABRICS)
def test_a_job_waits_for_all_of_its_hosts(fabric) -> None:
    """A host of it is down when it arrives, and another one fails before the first is up; a third
    one fails while it runs, and again while it restarts."""
    events = [
        down("0us", "100us", 0),
        down("90us", "200us", 1),
        down("210us", "230us", 2),
        down("220us", "400us", 7),
        down("240us", "260us", 2),
    ]
    entry = job("a", RING, placement=RANKS, arrival="50us", recovery={"restart": "20us"})
    result = run([entry], fabric, events=events)
    found = only(result)
    assert found.start_ns == 200_000
    assert [(one.at_ns, one.restart_ns) for one in found.failures] == [
        (210_000, 250_000),
        (240_000, 280_000),
    ]
    (alone,) = times(run([job("a", RING, placement=RANKS)], fabric), "a")
    end = ps(found.iterations[0].end_ns)
    # Estimators carry to its end what it had sent.
    assert end == 280_000_000 + alone if fabric == "express" else end >= 280_000_000 + alone
    assert result.schedule is not None
    (scheduled,) = result.schedule.jobs
    assert scheduled.waiting_ns == 150_000 + 20_000 + 20_000
    assert [run.begin_ns for run in scheduled.runs] == [200_000, 230_000, 260_000]


def test_hosts_fail_at_random_times_that_the_seed_decides() -> None:
    """With a host for each rank, and by Poisson: the number of failures in 100 times the MTBF of
    four hosts, less the repairs, is 400 in the mean."""
    rates = {"mtbf": "1ms", "repair": "10us", "ranks": RANKS}
    event = {"event": "failures", "at": "0s", "hosts": rates}
    jobs = [job("a", RING, placement=RANKS, iterations=40, recovery={"interval": 1})]
    runs = [
        run(jobs, "analytical", events=[event | {"until": "100ms"}], seed=seed)
        for seed in (1, 1, 2)
    ]
    assert measured(runs[0]) == measured(runs[1]) != measured(runs[2])
    for one in runs:
        found = only(one)
        usual = sum(times(run(jobs, "analytical"), "a"))
        lost = found.iterations[-1].end_ns * 1000 - usual
        count = len(found.failures)
        assert 0.4 < count / (4 * found.iterations[-1].end_ns / 1e6) < 1.8
        # Each failure costs the repair, and at most an iteration.
        assert 9e6 * count < lost < (10e6 + 1.01 * usual / 40) * count + 1e6


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.sampled_from(FABRICS),
    st.lists(st.sampled_from(KINDS), min_size=2, max_size=2),
    st.lists(
        st.tuples(st.integers(1, 900), st.integers(1, 300), st.integers(0, 7)),
        min_size=1,
        max_size=4,
    ),
    st.sampled_from([None, 1, 2]),
    st.sampled_from(
        [
            {},
            {"transport": {"protocol": "roce"}},
            {"transport": {"flows_per_pair": 2, "window": "60KB"}},
            {"system": {"admission": "local"}},
            {"system": {"send": {"message": "1us"}, "injection_latency": "2us"}},
            {"system": {"reduction_bandwidth": "50GB/s"}},
            {"queueing": "backfill"},
        ]
    ),
)
def test_every_job_ends(fabric, works, hosts, interval, more) -> None:
    """All iterations end once, in order; the last attempt begins after the last failure; and the
    same run gives the same result."""
    jobs = [
        job(name, work, ranks=4, placement="spread", iterations=3, recovery={"interval": interval})
        for name, work in zip("ab", works, strict=True)
    ]
    events = [down(f"{at}us", f"{at + lasts}us", rank) for at, lasts, rank in hosts]
    result = run(jobs, fabric, CLOS, events=events, **more)
    for found in result.jobs:
        assert [one.index for one in found.iterations] == [0, 1, 2]
        ends = [one.end_ns for one in found.iterations]
        assert ends == sorted(ends)
        for failure in found.failures:
            assert failure.iteration % (interval or 1) == 0
            assert not any(failure.at_ns <= end < failure.restart_ns for end in ends)
    assert measured(run(jobs, fabric, CLOS, events=events, **more)) == measured(result)


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("kind", ["host", "nic", "switch"])
def test_parts_fail_as_in_the_estimate_of_a_cluster(kind, seed) -> None:
    """The same parts at the same times: the only switch cuts all ranks off. Without checkpoints,
    and with connections of its own after each failure, the job ends at the same picosecond."""
    fabric = "express"
    jobs = [job("a", RING, ranks=8, iterations=12, recovery={"timeout": "0s"})]
    mtbf = "1ms" if kind == "switch" else "8ms"
    key = {"host": "hosts", "nic": "nics", "switch": "switches"}[kind]
    event = {"event": "failures", "at": "0s", "until": "1s", key: {"mtbf": mtbf, "repair": "100us"}}
    content = {"topology": FLAT, "jobs": jobs, "seed": seed, "fabric": fabric, "events": [event]}
    (expected,) = estimate(load_scenario(content), bridge.run).jobs
    rates = {kind: Rates(int(mtbf[0]) * 10**9, 10**8)}
    plain = load_scenario(content | {"events": [], "queueing": "fifo"})
    assert estimate(plain, bridge.run, failures=rates).jobs == (expected,)
    found = only(run(jobs, fabric, events=[event], seed=seed))
    assert len(found.failures) == expected.interruptions > 0
    begins = [0, *(ps(failure.restart_ns) for failure in found.failures)]
    assert begins == [ps(begin) for begin, _ in expected.runs_ns]
    assert ps(found.iterations[-1].end_ns) == ps(expected.runs_ns[-1][1])


def test_checkpoints_are_those_of_the_estimate() -> None:
    """Every third iteration, and 50 us to restart. The estimate takes all iterations for equal."""
    recovery = {"interval": 3, "restart": "50us"}
    jobs = [job("a", RING, placement=RANKS, iterations=12, recovery=recovery)]
    content = {"topology": FLAT, "jobs": jobs, "fabric": "analytical", "seed": 4}
    rates = {"mtbf": "2ms", "repair": "100us", "ranks": RANKS}
    content["events"] = [{"event": "failures", "at": "0s", "until": "1s", "hosts": rates}]
    (expected,) = estimate(load_scenario(content), bridge.run).jobs
    found = only(bridge.run(content))
    assert len(found.failures) == expected.interruptions > 0
    assert any(failure.iteration for failure in found.failures)
    assert found.iterations[-1].end_ns == pytest.approx(expected.runs_ns[-1][1], rel=5e-3)
    restarts = [end - begin for begin, end in expected.restarts_ns]
    assert restarts == pytest.approx([50_000] * expected.interruptions)


@pytest.mark.parametrize("fabric", ["express", "flow"])
@pytest.mark.parametrize(("timeout", "lasts", "fails"), [(300, 200, 0), (300, 900, 1), (0, 10, 1)])
def test_a_job_fails_if_its_ranks_are_cut_off_for_too_long(fabric, timeout, lasts, fails) -> None:
    """The cut begins in its fourth iteration; it fails `timeout` later, and goes on at the end of
    the cut, with the iteration after its last checkpoint."""
    entry = job("a", RING, placement=RANKS, iterations=8, recovery={"interval": 2})
    usual = times(run([entry], fabric), "a")
    begin = sum(usual[:3]) + usual[3] // 2
    names = names_of(FLAT)
    end = begin + lasts * 1_000_000
    event: dict[str, Any] = {"event": "link_down", "at": f"{begin}ps", "until": f"{end}ps"}
    event["link"] = [0, names[8]]
    entry["recovery"]["timeout"] = f"{timeout}us"
    result = run([entry], fabric, events=[event], transport={"min_rto": "100us"})
    found = only(result)
    assert len(found.failures) == fails
    if fails:
        (failure,) = found.failures
        assert (ps(failure.at_ns), ps(failure.restart_ns)) == (begin + timeout * 1_000_000, end)
        assert failure.iteration == 2
        rest = times(run([entry | {"iterations": 6}], fabric), "a")
        if fabric == "express":  # on flow, what it had sent is carried to its end
            assert ps(found.iterations[-1].end_ns) == end + sum(rest)
    else:
        assert sum(usual) < ps(found.iterations[-1].end_ns) < end + 2 * sum(usual[3:])


def test_a_job_within_a_leaf_does_not_notice_that_it_is_cut_off_from_others() -> None:
    """Both uplinks of its leaf fail: only the job with ranks at both leaves fails."""
    jobs = [
        job("near", RING, placement=[0, 1], iterations=9, recovery={"timeout": "0s"}),
        job("far", RING, placement=[2, 4], iterations=9, recovery={"timeout": "0s"}),
    ]
    names = names_of(CLOS)
    spines = [name for name in names if name.startswith("spine")]
    leaf = next(name for name in names if name.startswith("leaf"))
    events = [
        {"event": "link_down", "at": "300us", "until": "900us", "link": [leaf, spine]}
        for spine in spines
    ]
    result = run(jobs, "flow", CLOS, events=events)
    assert not only(result, "near").failures
    assert [one.at_ns for one in only(result, "far").failures] == [300_000]


ALL_KINDS = {
    "hosts": {"mtbf": "40ms", "repair": "200us"},
    "nics": {"mtbf": "15ms", "repair": "200us"},
    "switches": {"mtbf": "6ms", "repair": "100us"},
    "links": {"mtbf": "20ms", "repair": "100us"},
}


@pytest.mark.parametrize("fabric", ["express", "flow"])
def test_six_kinds_of_jobs_with_failures_of_all_kinds_twice(scenarios, fabric) -> None:
    """On a Clos, with other traffic: byte for byte the same, and all jobs end."""
    content = load_scenario(scenarios / "jobs_mix_small.yaml").resolved()
    content |= {"fabric": fabric, "transport": content["transport"] | {"min_rto": "100us"}}
    for entry in content["jobs"]:
        entry["recovery"] = {"interval": 1, "restart": "10us", "timeout": "50us"}
    event = {"event": "failures", "at": "0s", "until": "2ms", **ALL_KINDS}
    content["events"] = [*content["events"], event]
    first, second = (bridge.run(content) for _ in range(2))
    assert measured(first) == measured(second)
    jobs = first.jobs or ()
    assert sum(len(one.failures) for one in jobs) >= 3
    assert {one.name for one in jobs} == {entry["name"] for entry in content["jobs"]}
    assert first.network_events is not None
    told = " ".join(one.event for one in first.network_events.events)
    assert all(words in told for words in ("NIC ", "switch ", "job "))
    assert measured(bridge.run(content | {"seed": 9})) != measured(first)


@pytest.mark.parametrize("fabric", FABRICS)
def test_a_job_that_fails_waits_for_ranks_again(fabric) -> None:
    """Rank 2 is down when b ends, so a goes on with its checkpoint on other ranks, before c that
    arrived later; c waits for six ranks until a has ended."""
    jobs = [
        job("a", RING, ranks=4, iterations=6, recovery={"interval": 2, "restart": "20us"}),
        job("b", RING, ranks=4, iterations=6),
        job("c", RING, ranks=6, iterations=3, arrival="10us"),
    ]
    result = run(jobs, fabric, queueing="fifo", events=[down("300us", "900us")])
    assert result.schedule is not None
    a, b, c = result.schedule.jobs
    first, again = a.runs
    assert (first.end_ns, first.ranks) == (300_000, (0, 1, 2, 3))
    assert (again.begin_ns, again.ranks) == (b.runs[0].end_ns, (0, 1, 3, 4))
    (failure,) = only(result).failures
    assert (failure.at_ns, failure.iteration) == (300_000, 2)
    assert ps(failure.restart_ns) == ps(again.begin_ns) + 20_000_000
    rest = times(run([jobs[0] | {"iterations": 4, "recovery": {}}], fabric), "a")
    alone = times(run([jobs[0] | {"recovery": {}}], fabric), "a")
    assert times(result, "a")[3:] == rest[1:]
    assert times(result, "a")[:2] == alone[:2]
    assert ps(again.end_ns) == ps(failure.restart_ns) + sum(rest)
    assert (c.runs[0].begin_ns, c.runs[0].ranks) == (again.end_ns, (0, 1, 2, 3, 4, 5))
    assert a.waiting_ns == pytest.approx(again.begin_ns - 300_000)


def test_a_job_that_is_cut_off_keeps_its_ranks() -> None:
    """Another one could use them, but starts only when it has ended."""
    jobs = [
        job("a", RING, ranks=8, iterations=4, recovery={"interval": 1, "timeout": "10us"}),
        job("b", RING, ranks=2),
    ]
    cut = {"event": "link_down", "at": "200us", "until": "900us", "link": [0, names_of(FLAT)[8]]}
    result = run(jobs, "flow", queueing="backfill", events=[cut])
    assert result.schedule is not None
    a, b = result.schedule.jobs
    assert (a.runs[0].begin_ns, a.runs[0].end_ns) == (0, 210_000)
    assert a.runs[1].begin_ns == 210_000
    assert only(result).failures[0].restart_ns == 900_000
    assert b.runs[0].begin_ns == a.runs[1].end_ns


@pytest.mark.parametrize("policy", ["fifo", "backfill"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_queue_with_failures_is_that_of_the_estimate(policy, seed) -> None:
    """Jobs on a switch that share nothing, without checkpoints: `cosim cluster` follows a queue of
    its own. Both say who has which ranks; times differ by what packets of failed jobs delay."""
    sizes = [(4, 0, 4), (2, 0, 6), (3, 50, 5), (6, 200, 2), (1, 250, 3), (5, 400, 3), (2, 900, 4)]
    jobs = [
        job(
            f"j{number}",
            RING if size > 1 else {"kind": "dlrm", "batch_per_gpu": 64},
            ranks=size,
            arrival=f"{at}us",
            iterations=count,
            recovery={"restart": "30us"},
        )
        for number, (size, at, count) in enumerate(sizes)
    ]
    event = FAILURES | {"until": "3ms", "hosts": {"mtbf": "6ms", "repair": "300us"}}
    content = {"topology": FLAT, "jobs": jobs, "seed": seed, "events": [event], "queueing": policy}
    expected = estimate(load_scenario(content), bridge.run)
    result = bridge.run(content)
    assert result.schedule is not None
    assert sum(len(one.failures) for one in result.jobs or ()) > 1
    for one, other in zip(result.schedule.jobs, expected.schedule.jobs, strict=True):
        assert one.name == other.name
        assert [run.ranks for run in one.runs] == [run.ranks for run in other.runs]
        assert [run.begin_ns for run in one.runs] == pytest.approx(
            [run.begin_ns for run in other.runs], rel=0.01
        )
        assert one.runs[-1].end_ns == pytest.approx(other.runs[-1].end_ns, rel=0.01)


def test_interference_lets_jobs_fail_alone_as_together() -> None:
    jobs = [
        job("a", RING, placement=RANKS, iterations=4, recovery={"interval": 1}),
        job("b", RING, placement=[4, 5, 6, 7], iterations=4),
    ]
    scenario = load_scenario({"topology": FLAT, "jobs": jobs, "events": [down("300us", "400us")]})
    together = bridge.run(scenario)
    assert len(only(together).failures) == 1
    for point in points(scenario, together):
        name = point.name.removeprefix("alone-")
        assert times(bridge.run(point.scenario), name) == times(together, name)


WRONG = [
    (
        {"fabric": "native"},
        {},
        "fabric: value native: expected express, flow or analytical, because",
    ),
    ({}, {"ranks": [9]}, "events.0.ranks: value [9]: expected ranks from 0 to 7"),
    ({}, {"until": None}, "events.0.until: "),
    ({}, {"until": "1us"}, "events.0.until: value 1us: expected later than `at` (5us)"),
]

FAILURES: dict[str, Any] = {"event": "failures", "at": "0s", "until": "1ms"}
RATES: dict[str, Any] = {"mtbf": "1ms", "repair": "1us"}
WRONG_RATES = [
    ({}, ": expected hosts, nics, switches or links that fail"),
    ({"nics": RATES | {"ranks": 9}}, "events.0.nics.ranks: value 9: expected ranks from 0 to 7"),
    ({"hosts": RATES | {"ranks": 9}}, "events.0.hosts.ranks: value 9: expected ranks from 0 to 7"),
    ({"links": RATES}, "events.0.links: value "),
    (
        {"switches": RATES | {"mtbf": "1ns", "repair": "1ns"}},
        "events.0.switches.mtbf: value 1ns: expected at most 100000 failures until then",
    ),
]


@pytest.mark.parametrize(("rates", "sentence"), WRONG_RATES)
def test_wrong_rates_are_refused(rates, sentence) -> None:
    with pytest.raises(ScenarioError, match=re.escape(sentence)):
        run([job("a", RING, ranks=8)], events=[FAILURES | rates], fabric="flow")


def test_links_do_not_fail_on_fabrics_that_cannot_change_them() -> None:
    with pytest.raises(ScenarioError, match="expected express or flow, because events change link"):
        run([job("a", RING, ranks=8)], "analytical", events=[FAILURES | {"nics": RATES}])


@pytest.mark.parametrize(("more", "event", "sentence"), WRONG)
def test_wrong_failures_are_refused(more, event, sentence) -> None:
    with pytest.raises(ScenarioError, match=re.escape(sentence)):
        run([job("a", RING, ranks=8)], events=[down("5us", "9us") | event], **more)


def test_a_workload_of_its_own_does_not_fail() -> None:
    with pytest.raises(ScenarioError, match="expected jobs instead, because hosts fail"):
        bridge.run({"topology": FLAT, "workload": RING, "events": [down("5us", "9us")]})


def test_a_stream_has_the_failures(tmp_path) -> None:
    """Compiling simulates the jobs first, as their iterations decide what they repeat."""
    jobs = [job("a", RING, placement=RANKS, iterations=4, recovery={"interval": 1})]
    content = {"topology": FLAT, "jobs": jobs, "events": [down("300us", "400us")]}
    bridge.compile(content, out=tmp_path / "a.stream")
    replayed = bridge.replay(tmp_path / "a.stream")
    assert len(only(replayed).failures) == 1
    assert measured(replayed) == measured(bridge.run(content))


@pytest.mark.parametrize("queue", [False, True])
def test_a_folder_is_written_once(tmp_path, monkeypatch, queue) -> None:
    """Not for each of the simulations that lead to the last one."""
    saved: list[Any] = []
    save = Result.save

    def note(self: Result, folder: Any) -> Any:
        saved.append(folder)
        return save(self, folder)

    monkeypatch.setattr(Result, "save", note)
    jobs = [job("a", RING, ranks=6, iterations=4), job("b", RING, ranks=4), job("c", RING, ranks=2)]
    jobs[2]["arrival"] = "10us"
    more: dict[str, Any] = {"events": [down("300us", "400us"), down("900us", "950us")]}
    more = {"queueing": "backfill"} if queue else more
    content = {"topology": FLAT, "jobs": jobs if queue else jobs[:1], **more}
    result = bridge.run(content, out=tmp_path / "out")
    assert len(saved) == 1
    assert measured(bridge.run(tmp_path / "out" / "result.json")) == measured(result)
