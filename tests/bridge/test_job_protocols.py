"""Jobs over TCP beside jobs over RoCE: each as in a network of its own protocol, in its classes."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import bridge
from bridge.batch.cluster import estimate
from bridge.batch.interference import points
from frontend import ScenarioError, load_scenario
from tests.bridge.job_parts import CLOS, DLRM, FLAT, RING
from tests.bridge.test_jobs import (
    FABRICS,
    KINDS,
    LLM,
    ONE_LINK,
    TO_ALL,
    job,
    measured,
    ps,
    run,
    times,
)

LONG: dict[str, Any] = TO_ALL | {"bytes": "40MB"}
TCP: dict[str, Any] = {"protocol": "tcp", "window": "0.15MB"}
ROCE: dict[str, Any] = {"protocol": "roce"}
OTHER = {"tcp": ROCE, "roce": TCP}
BOTH = {"tcp": TCP, "roce": ROCE}
STEADY: dict[str, Any] = {**ROCE, "congestion_control": "none", "window": "200KB"}
LOSSLESS: dict[str, Any] = {"switches": {"buffer_sharing": "pfc"}}
SHARED: dict[str, Any] = {"switches": {"buffer_sharing": "dynamic"}}
TWO_LINKS: dict[str, Any] = ONE_LINK | {
    "nodes": [*(f"gpu{rank}" for rank in range(8)), *(f"leaf{leaf}" for leaf in range(4))],
    "links": [
        *[[f"gpu{rank}", f"leaf{rank // 2}", "100Gbps", "1us"] for rank in range(8)],
        *[[f"leaf{leaf}", f"leaf{leaf + 1}", "10Gbps", "1us"] for leaf in range(3)],
    ],
}
"""The ranks 0 to 3 share one slow link, and the ranks 4 to 7 another one."""
SWITCHES: list[dict[str, Any]] = [{}, SHARED, LOSSLESS]


def of(name: str, protocol: str, whole: str, work: Any = RING, **keys: Any) -> dict[str, Any]:
    """Return a job with a protocol in a scenario that has perhaps another one."""
    own = {} if protocol == whole else {"transport": BOTH[protocol]}
    found: dict[str, Any] = job(name, work, **own, **keys)
    return found


def run_alone(one: dict[str, Any], fabric="express", topology=None, **more: Any):
    """Run a job in a scenario that has its protocol and no other.

    By packets, ports have classes where there are two protocols. For TCP that makes no difference.
    ACKs of RoCE have a class of their own, so they are behind data without it.
    """
    own = {key: value for key, value in one.items() if key != "transport"}
    protocol = one.get("transport", more["transport"])["protocol"]
    if protocol == "roce" and fabric == "express":
        own["traffic_class"] = 3
    return run([own], fabric, topology, **more | {"transport": BOTH[protocol]})


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@pytest.mark.parametrize("fabric", FABRICS)
@given(
    st.sampled_from(["tcp", "roce"]),
    st.sampled_from(KINDS),
    st.sampled_from(KINDS),
    st.permutations(range(8)),
    st.sampled_from(SWITCHES[:2]),
)
def test_jobs_that_share_nothing_take_what_they_take_in_a_scenario_of_their_own(
    fabric, whole, first, second, order, switches
) -> None:
    """To the picosecond, on ports with one queue and on those with a queue for each class."""
    more = {"transport": BOTH[whole], **switches}
    jobs = [
        of("a", "tcp", whole, first, placement=order[:4], iterations=2),
        of("b", "roce", whole, second, placement=order[4:], arrival="7us"),
    ]
    both = run(jobs, fabric, **more)
    for one in jobs:
        assert times(both, one["name"]) == times(run_alone(one, fabric, **more), one["name"])


@pytest.mark.parametrize("whole", ["tcp", "roce"])
@pytest.mark.parametrize("fabric", FABRICS)
def test_it_does_not_matter_which_protocol_is_that_of_the_scenario(fabric, whole) -> None:
    """Also where they share links, with all that the network counts."""
    results = []
    for one in ("tcp", whole):
        jobs = [
            of("a", "tcp", one, LLM, placement=[0, 5, 2, 7]),
            of("b", "roce", one, DLRM, placement=[4, 1, 6, 3]),
        ]
        results.append(run(jobs, fabric, CLOS, transport=BOTH[one]))
    first, second = results
    assert [times(first, name) for name in "ab"] == [times(second, name) for name in "ab"]
    assert first.network == second.network


@pytest.mark.parametrize("fabric", ["express", "flow"])
@pytest.mark.parametrize("switches", SWITCHES)
@pytest.mark.parametrize("classes", [(None, None), (5, None), (None, 1)])
def test_the_higher_class_takes_the_link(fabric, switches, classes) -> None:
    """RoCE has the class 3 and TCP the class 0. The higher one is as fast as alone, and the other
    ends when the link has carried both and their ACKs: twice 20 MB of payload each way at 10 Gb/s.
    A packet of RoCE has 4096 of 4178 bytes of payload, and an ACK 86 bytes; one of TCP has 8960 of
    9002, and an ACK 42. A connection of TCP that waited begins with its first window."""
    if fabric == "flow" and switches:
        pytest.skip("flow has no buffers")
    more: dict[str, Any] = {"transport": TCP, **switches}
    jobs = [
        job("tcp", LONG, placement=[0, 2], traffic_class=classes[0]),
        job("roce", LONG, placement=[1, 3], transport=STEADY, traffic_class=classes[1]),
    ]
    high, low = ("tcp", "roce") if classes[0] == 5 else ("roce", "tcp")
    both = run(jobs, fabric, ONE_LINK, **more)
    entry = next(one for one in jobs if one["name"] == high)
    (alone,) = times(run([entry], fabric, ONE_LINK, **more), high)
    acks = (86, 42) if fabric == "express" else (0, 0)
    wire = 20e6 * ((4178 + acks[0]) / 4096 + (9002 + acks[1]) / 8960)
    assert alone <= times(both, high)[0] < 1.03 * alone
    assert times(both, low)[0] == pytest.approx(wire * 8e12 / 10e9, rel=0.02)
    assert both.network.drops == 0


@pytest.mark.parametrize("fabric", FABRICS)
@pytest.mark.parametrize("work", KINDS)
def test_bytes_are_conserved(fabric, work) -> None:
    """Payload and packets are the sums of those of the jobs alone; and on estimates, every byte on
    the wire, as they send nothing twice and no ACKs."""
    more: dict[str, Any] = {"transport": TCP | {"window": "1MB"}}
    jobs = [
        job("a", work, placement=[0, 5, 2, 7], transport=ROCE),
        job("b", RING, placement=[4, 1, 6, 3]),
    ]
    both = run(jobs, fabric, CLOS, **more).network
    alone = [run([one], fabric, CLOS, **more).network for one in jobs]
    assert both.payload_bytes == sum(one.payload_bytes for one in alone)
    assert both.messages == sum(one.messages for one in alone)
    if fabric != "express":
        assert both.wire_bytes == sum(one.wire_bytes for one in alone)
    wire = run(jobs[:1], fabric, CLOS, **more).network
    if work is RING and fabric != "express":
        # 2 · 3 messages of 250 kB on each of 4 ranks, chunk by chunk: 62 packets of 82 more bytes
        assert wire.packets > wire.payload_bytes / 4096
        assert wire.wire_bytes == wire.payload_bytes + 82 * wire.packets


@pytest.mark.parametrize("fabric", FABRICS)
@pytest.mark.parametrize("topology", [FLAT, CLOS])
def test_no_flow_is_faster_than_an_empty_network(fabric, topology, tmp_path: Path) -> None:
    """The ideal time of each flow has the format of its own packets. Alone on its links, a message
    of one packet takes it exactly."""
    tiny = TO_ALL | {"bytes": "4KB"}
    jobs = [
        job("a", tiny, placement=[0, 4], transport=ROCE),
        job("b", tiny, placement=[1, 5]),
        job("c", RING, placement=[2, 3, 6, 7], transport=ROCE),
    ]
    scenario = {"topology": topology, "fabric": fabric, "jobs": jobs, "transport": TCP}
    bridge.run(scenario, out=tmp_path)
    with (tmp_path / "flows.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {int(row["source"]) for row in rows} == set(range(8))
    for row in rows:
        assert float(row["fct_mean_ns"]) >= float(row["ideal_fct_mean_ns"]) - 1e-3
        if topology is FLAT and int(row["source"]) in (0, 1, 4, 5):
            headers = 82 if int(row["source"]) in (0, 4) else 42
            rate = 12.5  # bytes a nanosecond
            wire = 2000 + headers
            ideal = float(row["ideal_fct_mean_ns"])
            assert ideal == pytest.approx(2 * (1000 + wire / rate), abs=1e-2)
            assert float(row["fct_mean_ns"]) == pytest.approx(ideal, abs=1e-2)


MARKS_TCP: dict[str, Any] = {"ecn_threshold": "1KB"}
NEVER: dict[str, Any] = {"ecn": {"kmin": "900KB", "kmax": "900KB"}}
ALWAYS: dict[str, Any] = {"ecn": {"kmin": "1B", "kmax": "1B"}}


def test_each_protocol_sees_only_its_marks() -> None:
    """Switches mark TCP from 1 kB on, and RoCE nowhere before a queue is full: no queue pair gets a
    notification. The other way round, DCTCP keeps its window while queue pairs slow down."""
    tcp = TCP | {"variant": "dctcp", "window": "0.1MB"}
    jobs = [
        job("tcp", LONG, placement=[0, 2]),
        job("roce", LONG, placement=[1, 3], transport=ROCE | {"congestion_control": "dctcp"}),
    ]

    def of_marks(roce: dict[str, Any], threshold: str):
        jobs[1]["transport"] = ROCE | {"window": "200KB"} | roce
        more = {"transport": tcp, "switches": {"ecn_threshold": threshold}}
        return run(jobs, "express", ONE_LINK, **more)

    only_tcp = of_marks(NEVER, "1KB")
    assert only_tcp.network.ecn_marks > 0
    assert only_tcp.rdma.cnps == 0
    only_roce = of_marks(ALWAYS, "300KB")
    assert only_roce.rdma.cnps > 0
    neither = of_marks(NEVER, "300KB")
    assert neither.network.ecn_marks == 0 == neither.rdma.cnps
    # In the lower class, TCP has what RoCE leaves: as much again if RoCE never slows down.
    assert times(only_roce, "roce") > times(neither, "roce")
    assert times(only_tcp, "roce") == pytest.approx(times(neither, "roce"), rel=1e-3)


@pytest.mark.parametrize("whole", ["tcp", "roce"])
@pytest.mark.parametrize("marking", ["enqueue", "dequeue"])
def test_marks_are_those_of_each_protocol_alone(whole, marking) -> None:
    """On links of their own, one by one: TCP from a length on that follows from the rate, when
    packets come or leave, and RoCE by chance between two lengths, when they leave."""
    more: dict[str, Any] = {"transport": BOTH[whole], "switches": {"ecn_marking": marking}}
    jobs = [
        of("tcp", "tcp", "", LONG, placement=[0, 1, 2, 3]),
        of("roce", "roce", "", LONG, placement=[4, 5, 6, 7]),
    ]
    jobs[0]["transport"] = TCP | {"variant": "dctcp", "window": "2MB"}
    both = run(jobs, "express", TWO_LINKS, **more)
    alone = [
        run(
            [one | {"transport": None}],
            "express",
            TWO_LINKS,
            **more | {"transport": one["transport"]},
        )
        for one in (jobs[0], jobs[1] | {"traffic_class": 3})
    ]
    marks = [result.network.ecn_marks for result in alone]
    assert min(marks) > 100
    assert both.network.ecn_marks == sum(marks)
    for result, one in zip(alone, jobs, strict=True):
        assert times(both, one["name"]) == times(result, one["name"])


@pytest.mark.parametrize("whole", ["tcp", "roce"])
def test_switches_pause_roce_and_drop_tcp(whole) -> None:
    """Without congestion control, RoCE is paused and loses nothing, and CUBIC loses packets, on the
    same slow link. Other jobs have both protocols, so that these are always there."""
    own = {
        "tcp": TCP | {"window": "2MB", "min_rto": "1ms"},
        "roce": ROCE | {"congestion_control": "none"},
    }
    other = "roce" if whole == "tcp" else "tcp"
    found = {}
    for names in (["roce"], ["tcp"], ["tcp", "roce"]):
        jobs = [
            job(name, LONG, placement=[place, place + 2], transport=own[name])
            for place, name in enumerate(["tcp", "roce"])
            if name in names
        ]
        jobs.append(of("other", other, whole, RING, placement=[4, 5]))
        found["+".join(names)] = run(
            jobs, "express", TWO_LINKS, transport=BOTH[whole] | {"window": "2MB"}, **LOSSLESS
        )
    assert found["roce"].network.drops == 0 < found["roce"].pauses.count
    assert found["tcp"].network.drops > 0 == found["tcp"].pauses.count
    both = found["tcp+roce"]
    assert both.network.drops > 0 < both.pauses.count
    assert both.pauses.headroom_drops == 0 == both.rdma.repeated_bytes


def test_the_classes_that_are_paused_can_be_named() -> None:
    """Of two jobs over TCP, the one in the class 1 is paused and loses nothing."""
    more: dict[str, Any] = {"transport": {"window": "2MB", "min_rto": "1ms", "variant": "cubic"}}

    def drops(paused: list[int], level: int) -> tuple[int, int]:
        more["switches"] = {"buffer_sharing": "pfc", "pfc": {"classes": paused}}
        one = job("a", LONG, placement=[0, 1, 2, 3], traffic_class=level)
        result = run([one], "express", ONE_LINK, **more)
        assert result.pauses is not None
        return result.network.drops, result.pauses.count

    assert drops([1], 1)[0] == 0 < drops([1], 1)[1]
    assert drops([1], 0)[1] == 0 < drops([1], 0)[0]
    assert drops(list(range(6)), 0) == drops([0], 0)


@pytest.mark.parametrize("fabric", FABRICS)
def test_the_same_twice_from_a_file_and_without_replay(fabric, tmp_path: Path) -> None:
    jobs = [
        job("a", LLM, placement=[0, 5, 2, 7], transport=ROCE, iterations=3),
        job("b", DLRM, placement=[4, 1, 6, 3]),
    ]
    scenario: dict[str, Any] = {"topology": CLOS, "fabric": fabric, "jobs": jobs, "transport": TCP}
    first = bridge.run(scenario, out=tmp_path)
    assert measured(bridge.run(scenario)) == measured(first)
    assert measured(bridge.run(tmp_path / "result.json")) == measured(first)
    whole = bridge.run(scenario | {"simulation": {"replay": "off"}})
    assert whole.network == first.network
    assert [times(whole, name) for name in "ab"] == [times(first, name) for name in "ab"]


@pytest.mark.parametrize("fabric", FABRICS)
def test_one_after_the_other_on_the_same_ranks(fabric) -> None:
    """A rank has connections of both protocols. After a pause, each job takes what it takes in a
    scenario of its own."""
    jobs = [
        of("a", "tcp", "tcp", RING, ranks=8),
        of("b", "roce", "tcp", RING, ranks=8, arrival="9ms"),
        of("c", "tcp", "tcp", DLRM, ranks=8, arrival="18ms"),
    ]
    found = run(jobs, fabric, transport=TCP, queueing="fifo")
    for one in jobs:
        alone = run_alone(one, fabric, transport=TCP, queueing="fifo")
        assert times(found, one["name"]) == times(alone, one["name"])


@pytest.mark.parametrize("fabric", FABRICS)
@pytest.mark.parametrize("whole", ["tcp", "roce"])
def test_a_storage_sends_to_each_job_by_its_own_protocol(fabric, whole) -> None:
    """Two jobs read from the same rank, the second when the first has read."""
    read = {"bytes": "2MB", "storage": [0]}
    jobs = [
        of("a", "tcp", whole, RING, placement=[1, 2], restore=read),
        of("b", "roce", whole, RING, placement=[3, 4], restore=read, arrival="20ms"),
    ]
    both = run(jobs, fabric, transport=BOTH[whole])
    for one in jobs:
        alone = run_alone(one, fabric, transport=BOTH[whole])
        assert times(both, one["name"]) == times(alone, one["name"])


@pytest.mark.parametrize("fabric", ["express", "flow"])
def test_links_that_fail_and_several_connections_of_a_pair(fabric) -> None:
    """Packets of both protocols take another way, and all of them arrive."""
    leaves = {"family": "leaf_spine", "servers": 8, "radix": 8, "buffer": "4MB"}
    down = {"event": "link_down", "at": "20us", "until": "2ms", "link": ["leaf0", "spine0"]}
    jobs = [
        job("a", TO_ALL, placement=[0, 5, 2, 7], transport=ROCE | {"timeout": "1ms"}),
        job("b", TO_ALL, placement=[4, 1, 6, 3]),
    ]
    more: dict[str, Any] = {"transport": TCP | {"flows_per_pair": 2, "min_rto": "1ms"}}
    more |= {"events": [down], "routing": {"policy": "ecmp", "detection": "10us"}}
    both = run(jobs, fabric, leaves, **more)
    assert both.network.payload_bytes == 2 * 4 * 225_000


def test_what_a_server_reduces_goes_by_the_protocol_of_the_job() -> None:
    server = {"family": "rail_only", "servers": 2, "server": "dgx_h100", "buffer": "16MB"}
    nvls = RING | {"algorithm": "nvls"}
    jobs = [
        of("a", "tcp", "tcp", nvls, placement=list(range(8))),
        of("b", "roce", "tcp", nvls, placement=list(range(8, 16))),
    ]
    both = run(jobs, "express", server, transport=TCP)
    for one in jobs:
        alone = run_alone(one, "express", server, transport=TCP)
        assert times(both, one["name"]) == times(alone, one["name"])


@pytest.mark.parametrize("switches", SWITCHES)
@pytest.mark.parametrize("whole", ["tcp", "roce"])
def test_interference_and_cluster_have_the_times_of_each_protocol(whole, switches) -> None:
    """The jobs share nothing, so they take alone what they take together."""
    jobs = [
        of("a", "tcp", whole, RING, ranks=4, iterations=2),
        of("b", "roce", whole, DLRM, ranks=4, iterations=2),
    ]
    content = {"topology": FLAT, "jobs": jobs, "transport": BOTH[whole], **switches}
    scenario = load_scenario(content)
    together = bridge.run(scenario)
    for point in points(scenario, together):
        name = point.name.removeprefix("alone-")
        assert times(bridge.run(point.scenario), name) == times(together, name)
    found = {one.name: one.time_ns for one in estimate(scenario, bridge.run).jobs}
    for name in "ab":
        assert ps(found[name]) == sum(times(together, name))


def test_alone_a_job_has_the_same_lossy_classes() -> None:
    jobs = [of("a", "tcp", "tcp", RING, ranks=4), of("b", "roce", "tcp", RING, ranks=4)]
    scenario = load_scenario({"topology": FLAT, "jobs": jobs, "transport": TCP, **LOSSLESS})
    assert scenario.lossy_classes == (0, 1, 2, 4, 5)
    for point in points(scenario, bridge.run(scenario)):
        assert point.scenario.lossy_classes == (0, 1, 2, 4, 5)


WRONG: list[tuple[str, dict[str, Any], dict[str, Any], str]] = [
    (
        "tcp",
        ROCE | {"header": "ns3"},
        {},
        "jobs.0.transport.header: value ns3: expected ethernet, because ns3 cuts",
    ),
    (
        "tcp",
        ROCE,
        {"fabric": "native"},
        "fabric: value native: expected express, flow or analytical, because "
        "jobs.0.transport.protocol is roce",
    ),
    (
        "tcp",
        ROCE | {"flows_per_pair": 2},
        {},
        "jobs.0.transport.flows_per_pair: value 2: expected the value of transport.flows_per_pair",
    ),
    (
        "tcp",
        ROCE,
        {"switches": {"buffer_unit": "packets"}},
        "switches.buffer_unit: value packets: expected bytes, because buffers of roce hold bytes",
    ),
    (
        "roce",
        {"protocol": "tcp", "window": "10B"},
        {},
        "jobs.0.transport.window: value 10B: expected at least one segment",
    ),
    (
        "tcp",
        ROCE,
        {"switches": {"buffer_sharing": "pfc", "pfc": {"classes": [6]}}},
        "switches.pfc.classes.0: value 6",
    ),
]


@pytest.mark.parametrize(("whole", "own", "more", "sentence"), WRONG)
def test_what_does_not_fit_is_refused(whole, own, more, sentence) -> None:
    with pytest.raises(ScenarioError) as caught:
        load_scenario(
            {
                "topology": FLAT,
                "jobs": [job("a", RING, ranks=8, transport=own)],
                "transport": BOTH[whole],
                **more,
            }
        )
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_protocols_have_classes_of_their_own() -> None:
    jobs = [job("a", RING, ranks=4, transport=ROCE, traffic_class=0), job("b", RING, ranks=4)]
    expected = r"jobs\.0\.traffic_class: value 0: expected another class than 0, which has tcp"
    with pytest.raises(ScenarioError, match=expected):
        run(jobs, transport=TCP)


def test_jobs_of_the_other_protocol_have_one_format() -> None:
    jobs = [
        job("a", RING, ranks=4, transport=ROCE | {"payload": "1000B"}),
        job("b", RING, ranks=4, transport=ROCE),
    ]
    expected = (
        r"jobs\.1\.transport\.payload: value \(default\): expected the value of "
        r"jobs\.0\.transport\.payload, or none, because packets of all jobs have the same size"
    )
    with pytest.raises(ScenarioError, match=expected):
        run(jobs, transport=TCP)


def test_a_scenario_holds_the_other_protocol() -> None:
    """What a job gives, and the number of connections of a pair, which all protocols have."""
    jobs = [job("a", RING, ranks=8, transport=ROCE | {"payload": "2000B"})]
    content = {"topology": FLAT, "jobs": jobs, "transport": TCP | {"flows_per_pair": 2}}
    scenario = load_scenario(content)
    again = load_scenario(scenario.resolved())
    assert again == scenario
    own: Any = again.transports["jobs.0.transport"]
    assert (own.protocol, own.payload, own.flows_per_pair) == ("roce", 2000, 2)
    assert list(again.protocols) == ["tcp", "roce"]
