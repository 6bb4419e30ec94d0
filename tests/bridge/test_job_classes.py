"""Traffic classes of jobs: a port sends what has a higher class first, and nothing else changes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import bridge
from frontend import ScenarioError, load_scenario
from tests.bridge.job_parts import CLOS, DLRM, RING
from tests.bridge.test_jobs import KINDS, LLM, ONE_LINK, TO_ALL, job, measured, run, times

LONG: dict[str, Any] = TO_ALL | {"bytes": "40MB"}
TCP = {"transport": {"variant": "cubic", "window": "0.15MB"}}
ROCE = {"transport": {"protocol": "roce"}}
LOSSLESS = ROCE | {"switches": {"buffer_sharing": "pfc"}}
SHARED = {"switches": {"buffer_sharing": "dynamic"}}
MARKING: dict[str, Any] = {
    "transport": {"variant": "dctcp", "window": "2MB", "ecn": True},
    "switches": {"ecn_threshold": "100KB"},
}
MIX: dict[str, dict[str, Any]] = {
    "tcp": TCP,
    "shared": TCP | SHARED,
    "marking": MARKING,
    "roce": ROCE,
    "lossless": LOSSLESS,
    "flow": TCP | {"fabric": "flow"},
}


@pytest.fixture(params=MIX)
def network(request: pytest.FixtureRequest) -> dict[str, Any]:
    """How packets are sent and dropped, or that there are none."""
    return MIX[request.param]


def on_one_link(classes, work=LONG, **more):
    """Two jobs that share one link of 10 Gb/s, with these classes."""
    jobs = [
        job("a", work, placement=[0, 2], traffic_class=classes[0]),
        job("b", work, placement=[1, 3], traffic_class=classes[1]),
    ]
    return run(jobs, topology=ONE_LINK, **more)


@pytest.mark.parametrize("classes", [(5, 0), (1, 2), (4, None)])
@pytest.mark.parametrize("network", ["tcp", "shared", "marking", "lossless", "flow"], indirect=True)
def test_the_higher_class_takes_the_link(network, classes) -> None:
    """It is as fast as alone, but for packets of the other that have begun; the long queue of the
    other marks none of its packets. The other ends when the link has carried both: 2 · 20 MB at
    10 Gb/s in each direction. RoCE adds 2 % of headers, and its rates take time to rise again.
    (With losses, RoCE alone is as slow.)"""
    first = "a" if classes[0] > (classes[1] or 0) else "b"
    (second,) = {"a", "b"} - {first}
    both = on_one_link(classes, **network)
    (alone,) = times(run([job("a", LONG, placement=[0, 2])], topology=ONE_LINK, **network), "a")
    assert alone <= times(both, first)[0] < 1.1 * alone
    assert 2 * 16_000_000_000 < times(both, second)[0] < 1.1 * 2 * 16_000_000_000


def test_a_full_queue_of_a_low_class_drops_nothing_of_a_high_one() -> None:
    """The windows of both fill a port (333 KB), that of one does not: only a queue that both share
    drops packets."""
    more = {"transport": {"window": "0.3MB"}}
    (alone,) = times(run([job("a", LONG, placement=[0, 2])], "express", ONE_LINK, **more), "a")
    assert on_one_link((0, 0), **more).network.drops > 0
    found = on_one_link((1, 0), **more)
    assert found.network.drops == 0
    assert times(found, "a")[0] < 1.05 * alone


@settings(
    max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.sampled_from(KINDS),
    st.sampled_from(KINDS),
    st.permutations(range(8)),
    st.tuples(st.integers(0, 5), st.integers(0, 5)),
)
def test_jobs_that_share_nothing_take_what_they_take_alone(network, first, second, order, classes):
    """To the picosecond, whatever their classes are."""
    jobs = [
        job("a", first, placement=order[:4], iterations=2, traffic_class=classes[0]),
        job("b", second, placement=order[4:], arrival="7us", traffic_class=classes[1]),
    ]
    both = run(jobs, **network)
    for one in jobs:
        assert times(both, one["name"]) == times(run([one], **network), one["name"])


@settings(
    max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.sampled_from([RING, DLRM, LLM]), st.integers(0, 5), st.integers(0, 5))
def test_only_the_order_of_classes_counts(network, work, low, step):
    """Equal classes are as good as others, and so are others in the same order."""
    high = min(5, low + step)
    same = 0 if high == low else 1
    results = []
    for classes in [(low, high), (0, same)]:
        jobs = [
            job("a", work, placement=[0, 5, 2, 7], traffic_class=classes[0]),
            job("b", work, placement=[4, 1, 6, 3], traffic_class=classes[1]),
        ]
        result = run(jobs, topology=CLOS, **network)
        results.append([times(result, "a"), times(result, "b"), result.network])
    assert results[0] == results[1]


def test_a_mix_with_classes_is_the_same_twice(network) -> None:
    """Byte for byte, and from its stream; without replay, as with it."""
    jobs = [
        job("a", LLM, placement=[0, 5, 2, 7], traffic_class=2),
        job("b", DLRM, placement=[4, 1, 6, 3]),
    ]
    first, second = (run(jobs, topology=CLOS, **network) for _ in range(2))
    assert measured(first) == measured(second)
    whole = run(jobs, topology=CLOS, simulation={"replay": "off"}, **network)
    assert whole.network == first.network
    assert times(whole, "b") == times(first, "b")


def test_classes_on_flow_share_what_higher_ones_leave() -> None:
    """Exactly: the first has the link as if alone, and the last bytes of the others leave when they
    leave without classes, because the link is never idle. Two of one class share the rest."""
    jobs = [job(name, LONG, placement=[rank, rank + 3]) for rank, name in enumerate("abc")]
    for one, level in zip(jobs, (3, 1, 1), strict=True):
        one["traffic_class"] = level
    wide = json.loads(json.dumps(ONE_LINK))
    wide["nodes"] = [*(f"gpu{rank}" for rank in range(6)), "leaf0", "leaf1"]
    wide["links"] = [[f"gpu{rank}", f"leaf{rank // 3}", "100Gbps", "1us"] for rank in range(6)]
    wide["links"].append(["leaf0", "leaf1", "10Gbps", "1us"])
    found = run(jobs, "flow", wide, **TCP)
    (alone,) = times(run(jobs[:1], "flow", wide, **TCP), "a")
    equal = run([one | {"traffic_class": 0} for one in jobs], "flow", wide, **TCP)
    assert times(found, "a") == [alone]
    assert times(found, "b") == times(found, "c") == times(equal, "b")
    assert times(equal, "b")[0] == pytest.approx(3 * alone, rel=1e-3)


def test_a_short_message_on_flow_waits_for_streams_of_higher_classes_only() -> None:
    """Behind a stream of a higher class, it waits until that ends; before one of a lower class, it
    waits for nothing."""
    short = TO_ALL | {"bytes": "2KB"}
    jobs = [
        job("long", LONG, placement=[0, 2], traffic_class=2),
        job("short", short, placement=[1, 3], arrival="5ms"),
    ]
    (alone,) = times(run(jobs[1:], "flow", ONE_LINK, **TCP), "short")
    (behind,) = times(run(jobs, "flow", ONE_LINK, **TCP), "short")
    jobs[1]["traffic_class"] = 3
    (before,) = times(run(jobs, "flow", ONE_LINK, **TCP), "short")
    assert before == alone
    (long,) = times(run(jobs[:1], "flow", ONE_LINK, **TCP), "long")
    assert 5_000_000_000 + behind == pytest.approx(long, rel=1e-3)


def test_flow_estimates_classes_as_packets_have_them(repository: Path) -> None:
    """Two trainings before a bulk transfer: 0.5, 2 and 13 % faster than by packets, of which RoCE
    slows down the bulk transfer even alone."""
    file = repository / "scenarios" / "jobs_classes_small.yaml"
    packets, flows = (
        {one.name: one.iterations[-1].end_ns for one in result.jobs or ()}
        for result in (
            bridge.run(load_scenario(file, {"fabric": fabric})) for fabric in ("express", "flow")
        )
    )
    for name, error in (("first", 0.01), ("second", 0.03), ("bulk", 0.15)):
        assert packets[name] * (1 - error) < flows[name] <= packets[name]


@pytest.mark.parametrize("fabric", ["express", "flow"])
def test_links_that_fail_keep_the_classes(fabric: str) -> None:
    """Packets that take another way have the class of their job, too."""
    wide = json.loads(json.dumps(ONE_LINK))
    wide["nodes"].append("leaf2")
    wide["links"] += [["leaf0", "leaf2", "10Gbps", "1us"], ["leaf2", "leaf1", "10Gbps", "1us"]]
    down = {"event": "link_down", "at": "1ms", "link": ["leaf0", "leaf1"]}
    jobs = [
        job("a", LONG, placement=[0, 2], traffic_class=1),
        job("b", LONG, placement=[1, 3]),
    ]
    more: dict[str, Any] = {"transport": TCP["transport"] | {"min_rto": "1ms"}}
    more |= {"events": [down], "routing": {"detection": "10us"}}
    (alone,) = times(run(jobs[:1], fabric, wide, **more), "a")
    both = run(jobs, fabric, wide, **more)
    assert times(both, "a")[0] < 1.1 * alone
    assert times(both, "b")[0] > 1.8 * alone


@pytest.mark.parametrize("fabric", ["analytical", "native"])
def test_other_fabrics_refuse_classes(fabric: str) -> None:
    with pytest.raises(ScenarioError, match=f"fabric: value {fabric}: expected express or flow, "):
        run([job("a", RING, ranks=4, traffic_class=1)], fabric)


@pytest.mark.parametrize("fabric", ["express", "flow"])
def test_what_a_switch_sends_has_the_class_of_the_job(fabric: str) -> None:
    """Beside a job with which it shares nothing, a job with nvls takes what it takes alone."""
    server = {"family": "rail_only", "servers": 2, "server": "dgx_h100", "buffer": "16MB"}
    nvls = RING | {"algorithm": "nvls"}
    jobs = [
        job("a", nvls, placement=list(range(8)), traffic_class=1),
        job("b", nvls, placement=list(range(8, 16))),
    ]
    both = run(jobs, fabric, server)
    plain = run([job("a", nvls, placement=list(range(8)))], fabric, server)
    assert times(both, "a") == times(both, "b") == times(plain, "a")


def test_connections_between_switches_that_reduce_have_no_class() -> None:
    """Several jobs can use them."""
    leaves = {"family": "leaf_spine", "servers": 8, "radix": 6, "buffer": "4MB", "in_network": True}
    own = job("a", RING | {"algorithm": "sharp"}, ranks=8, traffic_class=1)
    expected = (
        r"jobs\.0\.traffic_class: value 1: expected no value, because a collective uses switch"
    )
    with pytest.raises(ScenarioError, match=expected):
        run([own], topology=leaves)


@pytest.mark.parametrize("network", ["tcp", "roce", "lossless", "flow"], indirect=True)
def test_jobs_that_wait_for_the_same_ranks_have_their_own_classes(network) -> None:
    """The first job of the ranks 0 and 2 goes before the bulk transfer beside it, and the second
    one waits for its end. A rank then sends in two classes."""
    short = LONG | {"bytes": "4MB"}
    jobs = [
        job("bulk", LONG, placement=[1, 3], traffic_class=2),
        job("first", short, placement=[0, 2], traffic_class=5, arrival="1us"),
        job("second", short, placement=[0, 2], traffic_class=0, arrival="2us"),
    ]
    alone = {
        one["name"]: times(run([one], topology=ONE_LINK, **network), one["name"])[0] for one in jobs
    }
    found = run(jobs, topology=ONE_LINK, queueing="fifo", **network)
    (bulk,), (first,), (second,) = (times(found, name) for name in ("bulk", "first", "second"))
    assert first < 1.1 * alone["first"]
    assert alone["bulk"] < bulk < 1.2 * alone["bulk"]
    assert first + second > bulk


@pytest.mark.parametrize("network", ["tcp", "roce", "flow"], indirect=True)
def test_what_a_storage_sends_has_the_class_of_the_job_that_reads(network) -> None:
    """Two jobs read equal checkpoints from one storage over one link: as if alone, and after it."""
    read = {"bytes": "20MB", "storage": [0]}
    jobs = [
        job("a", RING | {"bytes": "1KB"}, placement=[2, 3], restore=read),
        job("b", RING | {"bytes": "1KB"}, placement=[4, 5], restore=read, traffic_class=5),
    ]
    wide = {"family": "flat", "ranks": 6, "bandwidth": "10Gbps", "latency": "1us", "buffer": "4MB"}
    together = run(jobs, topology=wide, **network)
    (alone,) = times(run(jobs[1:], topology=wide, **network), "b")
    assert times(together, "b")[0] < 1.05 * alone
    assert times(together, "a")[0] > 1.8 * alone
