"""Transports of jobs: what the two ends of a connection do differs, and the network does not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import bridge
from bridge.batch.cluster import estimate
from bridge.batch.interference import points
from frontend import ScenarioError, compile_scenario, load_scenario
from frontend.stream import decode
from tests.bridge.job_parts import CLOS, DLRM, FLAT, RING
from tests.bridge.test_jobs import FABRICS, KINDS, ONE_LINK, TO_ALL, job, measured, ps, run, times

TCP: list[dict[str, Any]] = [
    {"variant": "cubic"},
    {"variant": "dctcp"},
    {"window": "30KB"},
    {"initial_cwnd": 2},
    {"sack": False, "recovery": "classic"},
    {"delayed_ack": {"segments": 2, "timeout": "1ms"}, "min_rto": "5ms"},
    {"window_scaling": False, "window": "20KB"},
]
ROCE: list[dict[str, Any]] = [
    {"congestion_control": "timely", "timely": {"low": "5us"}},
    {"congestion_control": "dctcp", "rate_ai": "1Gbps"},
    {"congestion_control": "none", "window": "20KB", "recovery": "selective_repeat"},
]
ALL = [("tcp", own) for own in TCP] + [("roce", own) for own in ROCE]
LONG: dict[str, Any] = TO_ALL | {"bytes": "40MB"}


def whole(protocol: str, **keys: Any) -> dict[str, Any]:
    return {"transport": {"protocol": protocol, **keys}}


@pytest.mark.parametrize("fabric", [*FABRICS, "native"])
@pytest.mark.parametrize(("protocol", "own"), ALL)
def test_a_job_takes_what_it_takes_with_its_transport_alone(fabric, protocol, own) -> None:
    """Beside a job with the scenario's transport, with which it shares nothing; alone; and as the
    only one in a scenario that has this transport: three times the same, to the picosecond."""
    if fabric == "native" and protocol == "roce":
        pytest.skip("native has TCP")
    jobs = [
        job("a", RING, placement=[0, 1, 2, 3], iterations=2, transport=own),
        job("b", RING, placement=[4, 5, 6, 7], iterations=2),
    ]
    both = run(jobs, fabric, **whole(protocol))
    alone = run(jobs[:1], fabric, **whole(protocol))
    plain = job("a", RING, placement=[0, 1, 2, 3], iterations=2)
    expected = run([plain], fabric, **whole(protocol, **own))
    assert times(both, "a") == times(alone, "a") == times(expected, "a")
    assert times(both, "b") == times(run(jobs[1:], fabric, **whole(protocol)), "b")


@pytest.mark.parametrize("fabric", ["express", "native"])
@pytest.mark.parametrize("own", TCP)
def test_so_it_does_with_losses(fabric, own) -> None:
    """Two jobs on one link lose packets; here, recovery and timeouts matter, too."""
    jobs = [job(name, LONG, placement=[rank, rank + 2]) for rank, name in enumerate("ab")]
    found = run([one | {"transport": own} for one in jobs], fabric, ONE_LINK)
    expected = run(jobs, fabric, ONE_LINK, **whole("tcp", **own))
    assert [times(found, name) for name in "ab"] == [times(expected, name) for name in "ab"]
    assert found.network == expected.network
    assert (found.network.drops > 0) != ("window" in own or own == {"variant": "dctcp"})


@pytest.mark.parametrize("own", [{"window": "30KB"}, {"initial_cwnd": 2}])
@pytest.mark.parametrize("fabric", ["express", "analytical"])
def test_windows_of_a_job_matter(fabric, own) -> None:
    """Otherwise the test above would say nothing."""
    plain = times(run([job("a", RING, placement=[0, 1, 2, 3])], fabric), "a")
    assert times(run([job("a", RING, placement=[0, 1, 2, 3], transport=own)], fabric), "a") > plain


@pytest.mark.parametrize(("protocol", "own"), [("tcp", {}), *ALL])
def test_the_scenario_s_transport_spelled_out_changes_nothing(protocol, own) -> None:
    """The stream has the same bytes, but for its first record, which has the scenario."""
    content = {
        "topology": CLOS,
        **whole(protocol, **own),
        "jobs": [job("a", RING, ranks=4), job("b", TO_ALL, ranks=4)],
    }
    every = load_scenario(content)
    spelled = every.transport.model_dump(mode="json")
    jobs = [one | {"transport": spelled} for one in content["jobs"]]
    again = load_scenario(content | {"jobs": jobs})
    first, second = (list(decode(compile_scenario(one)))[1:] for one in (every, again))
    assert first == second


PAIRS = [
    (None, None),
    ({"variant": "cubic"}, {"variant": "dctcp"}),
    ({"variant": "cubic"}, {"variant": "vegas", "window": "100KB"}),
    ({"variant": "dctcp", "initial_cwnd": 2}, {"sack": False, "recovery": "classic"}),
]


@pytest.mark.parametrize("pair", PAIRS)
def test_on_one_link_they_behave_as_in_ns_3(pair) -> None:
    """The stock sockets of `native`, with losses and marks, to the picosecond."""
    jobs = [
        job("a", LONG, placement=[0, 2], iterations=2, transport=pair[0]),
        job("b", LONG, placement=[1, 3], iterations=2, transport=pair[1]),
    ]
    found = [run(jobs, fabric, ONE_LINK) for fabric in ("express", "native")]
    assert found[0].network.drops > 0
    for name in "ab":
        assert times(found[0], name) == times(found[1], name)
    assert found[0].network.drops == found[1].network.drops


def test_dctcp_gives_way_to_cubic_which_sees_no_marks() -> None:
    """Marks keep the queue of dctcp short, and nothing but losses that of cubic. Both with dctcp
    lose nothing."""
    own = [{"variant": "cubic"}, {"variant": "dctcp"}]
    jobs = [
        job(name, LONG, placement=[rank, rank + 2], iterations=2, transport=transport)
        for rank, (name, transport) in enumerate(zip("ab", own, strict=True))
    ]
    mixed = run(jobs, topology=ONE_LINK)
    alike = run([one | {"transport": own[1]} for one in jobs], topology=ONE_LINK)
    assert sum(times(mixed, "a")) < sum(times(mixed, "b"))
    assert mixed.network.ecn_marks > 0
    assert mixed.network.drops > 0 == alike.network.drops


@pytest.mark.parametrize("fabric", [*FABRICS, "native"])
@pytest.mark.parametrize("work", [RING, DLRM])
def test_after_another_job_a_job_takes_what_it_takes_alone(fabric, work) -> None:
    """It has connections of its own on ranks that another job had before. What that job has sent
    last can delay it by some ns: the last ACKs by packets, and short messages on `flow`."""
    own = {"initial_cwnd": 4, "variant": "cubic"}
    jobs = [
        job("first", RING, ranks=8, iterations=3),
        job("second", work, ranks=8, transport=own),
        job("third", RING, placement=[2, 3, 4, 5]),
    ]
    both = run(jobs, fabric, queueing="fifo")
    for name in ("second", "third"):
        (entry,) = [one for one in jobs if one["name"] == name]
        alone = run([entry], fabric)
        after = times(both, name)
        assert after == pytest.approx(times(alone, name), abs=0 if fabric == "analytical" else 2e4)


@pytest.mark.parametrize("fabric", [*FABRICS, "native"])
def test_a_pause_between_jobs_makes_them_equal_to_the_picosecond(fabric) -> None:
    jobs = [job(name, RING, ranks=8, iterations=2) for name in "abc"]
    for number, one in enumerate(jobs):
        one["arrival"] = f"{5 * number}ms"
    found = run(jobs, fabric, queueing="fifo")
    assert times(found, "a") == times(found, "b") == times(found, "c")


def test_a_queue_takes_the_paths_that_hashes_choose_for_a_job_alone() -> None:
    """Later connections of a pair would have other hashes."""
    topology = {"family": "leaf_spine", "servers": 8, "radix": 8, "buffer": "4MB"}
    more = {"routing": {"policy": "ecmp"}, "queueing": "fifo"}
    jobs = [job(name, RING, ranks=8, arrival=f"{at}ms") for name, at in (("a", 0), ("b", 9))]
    jobs.append(jobs[1] | {"name": "c", "arrival": "18ms", "route": 3})
    found = run(jobs, "express", topology, **more)
    assert times(found, "a") == times(found, "b")
    alone = run(jobs[2:], "express", topology, **more)
    assert times(found, "c") == times(alone, "c")


@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.lists(st.sampled_from([None, *TCP]), min_size=3, max_size=3),
    st.lists(st.sampled_from(KINDS), min_size=3, max_size=3),
    st.sampled_from(["none", "fifo"]),
    st.booleans(),
)
def test_mixes_are_the_same_on_express_and_native(own, works, queueing, detour) -> None:
    """Also with events that change links, which only `express` has: there, the run ends."""
    ranks = 4 if queueing == "fifo" else 2
    jobs = [
        job(name, work, ranks=ranks + 2 * (name == "a"), transport=transport)
        for name, work, transport in zip("abc", works, own, strict=True)
    ]
    jobs = [one | {"ranks": 4 if one["workload"]["kind"] == "llm" else 2} for one in jobs[:2]]
    more: dict[str, Any] = {"queueing": queueing, "transport": {"window": "0.1MB"}}
    express = run(jobs, "express", CLOS, **more)
    native = run(jobs, "native", CLOS, **more)
    for one in jobs:
        assert times(express, one["name"]) == times(native, one["name"])
    if detour:
        more["events"] = [
            {"event": "link_down", "at": "1us", "until": "1ms", "link": ["leaf0", "spine0"]}
        ]
        run(jobs, "express", CLOS, **more)


def test_interference_simulates_jobs_alone_with_their_own_transports() -> None:
    jobs = [
        job("a", RING, ranks=4, transport={"variant": "cubic"}),
        job("b", RING, ranks=4),
    ]
    scenario = load_scenario({"topology": FLAT, "jobs": jobs, **whole("tcp", window="1MB")})
    together = bridge.run(scenario)
    alone = {point.name: point.scenario for point in points(scenario, together)}
    own: Any = alone["alone-a"].transports["jobs.0.transport"]
    assert (own.variant, own.window) == ("cubic", 1_000_000)
    assert list(alone["alone-b"].transports) == ["transport"]
    for name in "ab":
        assert times(bridge.run(alone[f"alone-{name}"]), name) == times(together, name)


def test_cluster_has_the_times_of_each_transport() -> None:
    jobs = [
        job(name, RING, ranks=4, iterations=2, transport=own)
        for name, own in (("a", {"window": "30KB"}), ("b", None))
    ]
    scenario = load_scenario({"topology": FLAT, "jobs": jobs})
    together = bridge.run(scenario)
    found = {one.name: one.time_ns for one in estimate(scenario, bridge.run).jobs}
    for name in "ab":
        assert ps(found[name]) == sum(times(together, name))


@pytest.mark.parametrize(
    ("protocol", "key", "value"), [("tcp", "variant", "dctcp"), ("roce", "rate_ai", "1Gbps")]
)
def test_a_key_of_a_job_without_a_transport_can_be_set(protocol, key, value) -> None:
    content = {"topology": FLAT, "jobs": [job("a", RING, ranks=8)], **whole(protocol)}
    set_ = load_scenario(content, {f"jobs.0.transport.{key}": value})
    content["jobs"][0]["transport"] = {key: value}
    assert set_ == load_scenario(content)
    with pytest.raises(ScenarioError, match=rf"did you mean jobs\.0\.transport\.{key}\?"):
        load_scenario(content, {f"jobs.0.transport.{key}s": value})


def test_a_loaded_scenario_has_what_a_job_gives(tmp_path: Path) -> None:
    """Also if keys of the scenario's transport are set afterwards."""
    given = {"delayed_ack": {"segments": 2}, "window": "1MB"}
    content: dict[str, Any] = {
        "topology": FLAT,
        "jobs": [job("a", RING, ranks=8, transport=given)],
        **whole("tcp", delayed_ack={"timeout": "1ms"}, variant="cubic"),
    }
    first = load_scenario(content)
    again = load_scenario(first.resolved())
    assert first == again
    assert first.resolved()["jobs"][0]["transport"] == {"protocol": "tcp", **given}
    for scenario in (first, again, load_scenario(again, {"transport.variant": "vegas"})):
        own: Any = scenario.transports["jobs.0.transport"]
        assert (own.delayed_ack.segments, own.delayed_ack.timeout) == (2, 10**9)
        assert own.window == 10**6
        assert own.variant == scenario.transport.model_dump()["variant"]
    result = bridge.run(content, out=tmp_path)
    replayed = bridge.run(tmp_path / "result.json")
    assert measured(replayed) == measured(result)


WRONG = [
    ("tcp", {"mss": "1000B"}, "jobs.0.transport.mss: value 1000B: expected the value of"),
    ("tcp", {"timestamps": True}, "packets of all jobs have the same headers"),
    ("tcp", {"flows_per_pair": 2}, "messages of all jobs are divided in the same way"),
    ("tcp", {"ecn": True}, "expected a size such as 200KB, because jobs.0.transport.ecn is true"),
    (
        "tcp",
        {"variant": "dctcp", "ecn": False},
        "jobs.0.transport.ecn: value false: expected true or null, because "
        "jobs.0.transport.variant is dctcp",
    ),
    (
        "tcp",
        {"window": "10B"},
        "jobs.0.transport.window: value 10B: expected at least one segment (transport.mss, ",
    ),
    ("tcp", {"speed": 1}, "jobs.0.transport.speed: unknown key: expected one of protocol, "),
    ("tcp", {"variant": "fast"}, "jobs.0.transport.variant: value fast: expected new_reno, "),
    ("tcp", {"congestion_control": "hpcc"}, "unknown key here, it belongs to protocol roce"),
    ("tcp", "cubic", "jobs.0.transport: value cubic: did you mean jobs.0.transport.variant: cubic"),
    (
        "roce",
        {"congestion_control": "hpcc"},
        "jobs.0.transport.congestion_control: value hpcc: expected dcqcn, dctcp, timely, none, ",
    ),
    (
        "roce",
        {"preset": "hpcc_2019"},
        "jobs.0.transport.preset: value hpcc_2019: expected mellanox",
    ),
    ("roce", {"ecn": {"pmax": 1}}, "switches mark the packets of all jobs in the same way"),
    ("roce", {"header": "ns3"}, "packets of all jobs have the same headers"),
    (
        "roce",
        {"timely": {"low": "1s"}},
        "jobs.0.transport.timely.high: value (default): expected more than "
        "jobs.0.transport.timely.low",
    ),
]


@pytest.mark.parametrize(("protocol", "own", "sentence"), WRONG)
def test_what_belongs_to_the_network_is_refused(protocol, own, sentence) -> None:
    with pytest.raises(ScenarioError) as caught:
        run([job("a", RING, ranks=8, transport=own)], **whole(protocol))
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_job_that_needs_marks_needs_switches_that_mark() -> None:
    off = whole("roce", congestion_control="timely", ecn={"enabled": False})
    expected = "transport.ecn.enabled: value false: expected true, because jobs.0.transport."
    with pytest.raises(ScenarioError, match=expected):
        run([job("a", RING, ranks=8, transport={"congestion_control": "dcqcn"})], **off)
