"""RoCE on express: closed forms, what is conserved, and how runs end."""

import gzip
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bridge
from bridge.results.measurements import PauseHop
from frontend import ScenarioError, load_scenario
from tests.ns3_scratch.goal_messages import messages

PAYLOAD, HEADER, ACK = 1000, 48, 60
NS_PER_BYTE = 0.08  # at 100 Gb/s


def flow(source: int, target: int, size: int, at: str = "0us") -> dict[str, Any]:
    return {
        "event": "incast",
        "at": at,
        "target": target,
        "sources": [source],
        "bytes": f"{size}B",
    }


def star(ranks: int, buffer: str = "32MiB", **more: Any) -> dict[str, Any]:
    return {
        "family": "flat",
        "ranks": ranks,
        "bandwidth": "100Gbps",
        "latency": "1us",
        "buffer": buffer,
    } | more


def scenario(workload: dict[str, Any], ranks: int, **changes: Any) -> dict[str, Any]:
    transport = {
        "protocol": "roce",
        "congestion_control": "none",
        "header": "ns3",
        "payload": f"{PAYLOAD}B",
    }
    content: dict[str, Any] = {
        "topology": star(ranks),
        "workload": workload,
        "system": {"injection_latency": "0ns"},
        "transport": transport | changes.pop("transport", {}),
    }
    return content | changes


def round_ns(size: int) -> int:
    """Return the time of a packet at 100 Gb/s, cut to nanoseconds as in the public ns-3 code."""
    return int(size * NS_PER_BYTE)


@pytest.mark.parametrize("size", [1, 999, 1000, 1001, 64_500, 10_000_000])
def test_one_flow(tmp_path: Any, size: int) -> None:
    """n full packets and a last one over two links: n · t + max(t, t') + t' + 2 · 1 us."""
    result = bridge.run(scenario(messages(tmp_path, 2, [(0, 1, size)]), 2))
    full, rest = divmod(size - 1, PAYLOAD)
    whole, last = round_ns(PAYLOAD + HEADER), round_ns(rest + 1 + HEADER)
    expected = full * whole + (max(whole, last) if full else last) + last + 2000
    assert result.network.fct_max_ns == expected
    if size == 10_000_000:  # to the last ACK, in a reported round trip of the public code: 834.1 us
        assert round((expected + 2 * (round_ns(ACK) + 1000)) / 1000, 1) == 834.1
    assert result.network.data_packets == full + 1
    assert result.network.packets == 2 * (full + 1)
    assert result.rdma is not None
    assert result.rdma.repeated_bytes == 0


def test_header_presets(tmp_path: Any) -> None:
    """On Ethernet, 4096 bytes take 82 more, and times are exact: (4096 + 82) · 80 ps."""
    work = messages(tmp_path, 2, [(0, 1, 4096)])
    result = bridge.run(scenario(work, 2, transport={"header": "ethernet", "payload": "4096B"}))
    assert result.network.fct_max_ns == pytest.approx(2 * 4178 * NS_PER_BYTE + 2000, abs=1e-6)
    assert result.network.wire_bytes == 4178 + 86
    hpcc = {"header": "ethernet", "payload": "4096B", "congestion_control": "hpcc"}
    assert bridge.run(scenario(work, 2, transport=hpcc)).network.wire_bytes == 4178 + 86 + 2 * 42


@pytest.mark.parametrize("count", [2, 4, 7])
def test_equal_flows_share_fairly(tmp_path: Any, count: int) -> None:
    """At a lossless switch, n flows of equal size end within a few packets of each other."""
    size = 1_000_000
    work = messages(tmp_path, count + 1, [(rank, count, size) for rank in range(count)])
    result = bridge.run(
        scenario(
            work,
            count + 1,
            topology=star(count + 1, "1MB"),
            switches={"buffer_sharing": "pfc"},
        )
    )
    packet = round_ns(PAYLOAD + HEADER)
    assert result.network.fct_max_ns == (count * size // PAYLOAD + 1) * packet + 2000
    assert result.network.fct_mean_ns > 0.9 * result.network.fct_max_ns
    assert result.network.drops == 0
    assert result.pauses is not None


@pytest.mark.parametrize("control", ["dcqcn", "dctcp", "hpcc", "timely"])
def test_controls_differ_and_keep_queues_short(tmp_path: Any, control: str) -> None:
    """A congestion control ends near the time without one, with a shorter queue."""
    count, size = 4, 4_000_000
    work = messages(tmp_path, count + 1, [(rank, count, size) for rank in range(count)])
    ecn = {"kmin": "100kB", "kmax": "400kB"}
    results = {
        name: bridge.run(
            scenario(
                work,
                count + 1,
                transport={"congestion_control": name, "preset": "hpcc_2019", "ecn": ecn}
                | {"window": "none"},
                switches={"buffer_sharing": "pfc"},
            )
        )
        for name in (control, "none")
    }
    queue = {
        name: max(one.max_queue_bytes for one in result.network.dimensions)
        for name, result in results.items()
    }
    assert queue[control] < queue["none"]
    ratio = results[control].network.fct_max_ns / results["none"].network.fct_max_ns
    assert 1 <= ratio < 3  # dcqcn: a first rise comes after 900 us only


def test_small_headroom_drops_and_says_so(tmp_path: Any) -> None:
    work = messages(tmp_path, 5, [(rank, 4, 2_000_000) for rank in range(4)])
    result = bridge.run(
        scenario(
            work,
            5,
            topology=star(5, "200KB"),
            transport={"timeout": "100us"},
            switches={"buffer_sharing": "pfc", "pfc": {"headroom": "2KB", "reserve": "2KB"}},
        )
    )
    pauses, rdma = result.pauses, result.rdma
    assert pauses is not None
    assert rdma is not None
    assert pauses.headroom_drops == result.network.drops > 0
    assert pauses.headroom_lack_bytes > 0
    assert rdma.repeated_bytes > 0
    assert result.network.payload_bytes == 8_000_000
    again = bridge.run(
        scenario(
            work,
            5,
            topology=star(5, "1MB"),
            switches={"buffer_sharing": "pfc"},
        )
    )
    assert again.network.drops == 0


def test_pauses_spread_to_ranks(tmp_path: Any) -> None:
    """Two leaves and a spine: the leaf of the target pauses the spine, which pauses the other leaf,
    which pauses the ranks."""
    links = [
        *([f"gpu{rank}", f"leaf{rank // 4}", "100Gbps", "1us"] for rank in range(8)),
        ["leaf0", "spine", "100Gbps", "1us"],
        ["leaf1", "spine", "100Gbps", "1us"],
    ]
    work = messages(tmp_path, 8, [(rank, 7, 2_000_000) for rank in range(7)])
    result = bridge.run(
        scenario(
            work,
            8,
            topology={"family": "graph", "links": links, "buffer": "1MB"},
            switches={"buffer_sharing": "pfc"},
        )
    )
    assert result.pauses is not None
    assert result.pauses.hops == 3
    assert result.pauses.hosts == 7
    assert result.network.drops == 0
    spread = result.pauses.spread
    assert len(spread) == 3
    assert spread[2].links == 4  # the ranks at the other leaf
    assert sum(hop.count for hop in spread) == result.pauses.count
    assert sum(hop.time_ns for hop in spread) == pytest.approx(result.pauses.time_ns)


def test_pauses_are_told_in_four_ways(tmp_path: Path) -> None:
    """The sums in result.json, a row per pause, a sum per link, and the timeline agree."""
    work = messages(tmp_path, 5, [(rank, 4, 2_000_000) for rank in range(4)])
    outputs = {"timeline": True}
    content = scenario(
        work,
        5,
        topology=star(5, "500KB"),
        switches={"buffer_sharing": "pfc"},
        outputs=outputs,
    )
    result = bridge.run(content, out=tmp_path / "out")
    pauses = result.pauses
    assert pauses is not None
    rows = result.tables.rows("pauses")
    assert len(rows) == pauses.count > 0
    times = [row["end_ns"] - row["start_ns"] for row in rows]
    assert sum(times) == pytest.approx(pauses.time_ns)
    assert {row["hops"] for row in rows} == {1}
    assert pauses.spread == (PauseHop(count=len(rows), time_ns=pauses.time_ns, links=4),)
    for link in result.tables.rows("links"):
        own = [row for row in rows if row["link"] == link["link"]]
        assert link["pauses"] == len(own)
        assert link["paused_ns"] == pytest.approx(sum(r["end_ns"] - r["start_ns"] for r in own))
        assert all(a["end_ns"] <= b["start_ns"] for a, b in pairwise(own))
    with gzip.open(tmp_path / "out" / "timeline.json.gz") as file:
        events = json.load(file)["traceEvents"]
    begun = [one for one in events if one.get("name") == "paused"]
    tracks = {one["tid"] for one in begun}
    ended = [one for one in events if one["ph"] == "E" and one["tid"] in tracks and one["pid"] > 5]
    assert len(begun) == len(ended) == len(rows)
    assert 1e3 * (sum(one["ts"] for one in ended) - sum(one["ts"] for one in begun)) == (
        pytest.approx(pauses.time_ns, rel=1e-6)
    )


def test_a_pause_is_on_the_critical_path_of_who_suffers_from_it(tmp_path: Path) -> None:
    """Ranks 0 to 2 send to rank 4, whose link is slow; rank 3 sends to rank 5 by the same links.

    Nothing else uses the links to rank 5, and the link between the leaves has ten times the rate of
    the slow one. So what delays rank 3 are pauses. In the messages to rank 4, the slow link is
    busy all the time: none of their wait is for pauses.
    """
    links = [
        *([f"gpu{rank}", "leaf0", "100Gbps", "1us"] for rank in range(4)),
        ["gpu4", "leaf1", "10Gbps", "1us"],
        ["gpu5", "leaf1", "100Gbps", "1us"],
        ["leaf0", "leaf1", "100Gbps", "1us"],
    ]

    def paused_ns(sends: list[tuple[int, int, int]]) -> tuple[float, bridge.Result]:
        content = scenario(
            messages(tmp_path, 6, sends),
            6,
            topology={"family": "graph", "links": links, "buffer": "600KB"},
            switches={"buffer_sharing": "pfc"},
            outputs=["critical_path"],
        )
        result = bridge.run(content)
        assert result.critical_path is not None
        (path,) = result.critical_path
        assert sum(time for _, time in path.times) == pytest.approx(path.time_ns)
        return path.times.paused_ns, result

    slow = [(rank, 4, 300_000) for rank in range(3)]
    assert paused_ns(slow)[0] == 0
    # the victim ends last: 12 MB at 100 Gb/s are more than 0.9 MB at 10 Gb/s
    alone = paused_ns([(3, 5, 12_000_000)])
    with_others = paused_ns([*slow, (3, 5, 12_000_000)])
    assert alone[0] == 0
    lost = with_others[1].time_ns - alone[1].time_ns
    assert lost > 0
    assert with_others[0] <= lost


def test_the_mean_rate_without_congestion_control_is_that_of_the_line(tmp_path: Path) -> None:
    work = messages(tmp_path, 5, [(rank, 4, 2_000_000) for rank in range(4)])
    result = bridge.run(scenario(work, 5, topology=star(5, "500KB")))
    rdma = result.rdma
    assert rdma is not None
    rates = (rdma.rate_mean_bps, rdma.rate_p01_bps, rdma.rate_p50_bps, rdma.rate_p99_bps)
    assert rates == pytest.approx((100e9,) * 4)
    slow = {"congestion_control": "dcqcn", "ecn": {"kmin": "20kB", "kmax": "20kB", "pmax": 1}}
    cut = bridge.run(scenario(work, 5, topology=star(5, "500KB"), transport=slow)).rdma
    assert cut is not None
    assert 0 < cut.rate_p01_bps <= cut.rate_p50_bps <= cut.rate_p99_bps < 100e9


@pytest.mark.parametrize("nodes", [5, 7])
def test_a_deadlock_is_named(tmp_path: Any, nodes: int) -> None:
    """On a ring of switches, all send half of the way round: each link waits for the next one."""
    links = [
        *([f"gpu{rank}", f"s{rank}", "100Gbps", "1us"] for rank in range(nodes)),
        *([f"s{a}", f"s{b}", "100Gbps", "1us"] for a, b in pairwise([*range(nodes), 0])),
    ]
    sends = [(rank, (rank + nodes // 2) % nodes, 4_000_000) for rank in range(nodes)]
    content = scenario(
        messages(tmp_path, nodes, sends),
        nodes,
        topology={"family": "graph", "links": links, "buffer": "400KB"},
        switches={"buffer_sharing": "pfc"},
    )
    cycle = ", ".join(f"s{a} → s{b}" for a, b in pairwise([*range(nodes), 0]))
    with pytest.raises(bridge.SimulationError, match=f"deadlock: .* cycle: {cycle}, and again"):
        bridge.run(content)
    cures = bridge.run(
        content | {"switches": {}, "topology": content["topology"] | {"buffer": "1GB"}}
    )
    assert cures.network.payload_bytes == nodes * 4_000_000


def test_a_lost_flow_fails_by_name(tmp_path: Any) -> None:
    """A link that loses everything: after 1 + 2 timeouts of 1 ms the run names the flow."""
    changes = {
        "transport": {"timeout": "1ms", "retries": 2},
        "events": [
            {"event": "link_loss", "link": ["switch", 1], "at": "100us", "loss": 0.999999999}
        ],
    }
    content = scenario(messages(tmp_path, 2, [(0, 1, 10_000_000)]), 2, **changes)
    with pytest.raises(bridge.SimulationError, match="rank 0 to rank 1 was closed after 3 retrans"):
        bridge.run(content)


@pytest.mark.parametrize("event", ["link_flap", "link_loss"])
def test_losses_are_repaired(tmp_path: Any, event: str) -> None:
    """Both recoveries send again what was lost, after a NACK or a timeout."""
    choices: dict[str, list[dict[str, Any]]] = {
        "link_flap": [
            {
                "event": "link_flap",
                "link": ["switch", 1],
                "at": "100us",
                "down": "50us",
                "period": "1ms",
            }
        ],
        "link_loss": [{"event": "link_loss", "link": ["switch", 1], "at": "0us", "loss": 0.001}],
    }
    content = scenario(
        messages(tmp_path, 2, [(0, 1, 10_000_000)]),
        2,
        transport={"timeout": "300us", "nack_interval": "10us"},
        events=choices[event],
    )
    result = bridge.run(content)
    rdma = result.rdma
    assert rdma is not None
    assert result.network.payload_bytes == 10_000_000
    assert rdma.repeated_bytes >= result.network.retransmissions * PAYLOAD > 0
    assert rdma.nacks > 0
    assert bridge.run(content).time_ns == result.time_ns
    selective = bridge.run(content, {"transport.recovery": "selective_repeat"})
    assert selective.network.payload_bytes == 10_000_000
    assert selective.rdma is not None
    if event == "link_loss":  # exactly what was lost, or a little more after a timeout
        lost = selective.network_events
        assert lost is not None
        assert lost.packets_lost * PAYLOAD / 2 < selective.rdma.repeated_bytes
        assert 20 * selective.rdma.repeated_bytes < rdma.repeated_bytes


@settings(max_examples=25, deadline=None)
@given(
    data=st.data(),
    ranks=st.integers(2, 6),
    control=st.sampled_from(["none", "dcqcn", "dctcp", "hpcc", "timely"]),
    latency=st.sampled_from(["0us", "0.3us", "1us", "7us"]),
    lossless=st.booleans(),
    window=st.sampled_from(["none", "bdp", "5KB"]),
    interval=st.sampled_from(["1B", "4000B", "1MB"]),
    recovery=st.sampled_from(["go_back_n", "selective_repeat"]),
)
def test_bytes_are_conserved(
    tmp_path_factory: Any,
    data: st.DataObject,
    ranks: int,
    control: str,
    latency: str,
    lossless: bool,
    window: str,
    interval: str,
    recovery: str,
) -> None:
    """Everything is delivered once, whatever is dropped; with headroom, nothing is dropped."""
    pair = st.tuples(st.integers(0, ranks - 1), st.integers(0, ranks - 1)).filter(
        lambda ends: ends[0] != ends[1]
    )
    size = st.sampled_from([0, 1, 999, 1000, 4001, 30_000, 300_000])
    sends = [(*data.draw(pair), data.draw(size)) for _ in range(data.draw(st.integers(1, 12)))]
    folder = tmp_path_factory.mktemp("random")
    result = bridge.run(
        scenario(
            messages(folder, ranks, sends),
            ranks,
            topology=star(ranks, "1500KB" if lossless else "60KB", latency=latency),
            transport={
                "congestion_control": control,
                "window": window,
                "ack_interval": interval,
                "recovery": recovery,
                "timeout": "200us",
                "retries": 100,
                "nack_interval": "20us",
                "min_rate": "1Gbps",
            },
            switches={"buffer_sharing": "pfc"} if lossless else {},
        )
    )
    assert result.network.payload_bytes == sum(size for _, _, size in sends)
    assert result.network.messages == len(sends)
    if lossless:
        assert result.network.drops == 0
        assert result.rdma is not None
        assert result.rdma.nacks == 0


def two_tiers(data: st.DataObject) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """Draw a network of leaves and spines, or a ring of switches, and return its links by name."""
    latency = data.draw(st.sampled_from(["0us", "0.5us", "2us"]))
    up = data.draw(st.sampled_from(["25Gbps", "100Gbps", "400Gbps"]))
    if data.draw(st.booleans()):
        leaves, spines = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 2))
        fabric = [(f"leaf{a}", f"spine{b}") for a in range(leaves) for b in range(spines)]
        hosts = [(f"gpu{2 * a + b}", f"leaf{a}") for a in range(leaves) for b in range(2)]
    else:
        count = data.draw(st.integers(3, 5))
        fabric = [(f"leaf{a}", f"leaf{b}") for a, b in pairwise([*range(count), 0])]
        hosts = [(f"gpu{a}", f"leaf{a}") for a in range(count)]
    links = [[*ends, "100Gbps", latency] for ends in hosts]
    links += [[*ends, up, latency] for ends in fabric]
    return {"family": "graph", "links": links}, fabric


def check_that_it_ends(folder: Any, data: st.DataObject) -> str:
    """Run a random scenario: everything arrives, or a sentence names what went wrong."""
    topology, fabric = two_tiers(data)
    ranks = sum(1 for link in topology["links"] if link[0].startswith("gpu"))
    choose = lambda *values: data.draw(st.sampled_from(values))  # noqa: E731
    rank = st.integers(0, ranks - 1)
    pairs = st.lists(
        st.tuples(rank, rank).filter(lambda ends: ends[0] != ends[1]), min_size=1, max_size=12
    )
    sends = [(*ends, choose(1, 4000, 100_000, 1_000_000)) for ends in data.draw(pairs)]
    events: list[dict[str, Any]] = []
    if choose(True, False):
        link = list(choose(*fabric))
        flap = {"down": choose("5us", "50us"), "period": "100us", "times": 2}
        events.append(
            choose(
                {"event": "link_flap", "link": link, "at": "10us", **flap},
                {"event": "link_loss", "link": link, "at": "0us", "loss": choose(0.001, 0.1)},
                {"event": "link_down", "link": link, "at": "20us", "until": "300us"},
                {"event": "incast", "at": "5us", "target": 0, "sources": [1], "bytes": "200KB"},
            )
        )
    lossless = choose(True, False)
    pfc = {"headroom": choose("cable", "0B", "3KB"), "reserve": choose("0B", "4KiB")}
    if any(link[3] == "2us" for link in topology["links"]) and pfc["headroom"] == "cable":
        topology["buffer"] = "4MB"
    else:
        topology["buffer"] = choose("300KB", "2MB") if lossless else choose("80KB", "1MB")
    content = scenario(
        messages(folder, ranks, sends),
        ranks,
        topology=topology,
        transport={
            "congestion_control": choose("none", "dcqcn", "dctcp", "hpcc", "timely"),
            "preset": choose("mellanox", "hpcc_2019"),
            "window": choose("none", "bdp", "10KB"),
            "recovery": choose("go_back_n", "selective_repeat"),
            "ack_interval": choose("1B", "16KB"),
            "timeout": choose("100us", "1ms"),
            "acks_first": choose(True, False),
            "ecn": {"kmin": "10kB", "kmax": "40kB"},
        },
        routing={"policy": choose("ecmp", "spray", "flowlet"), "detection": "20us"},
        switches={"buffer_sharing": "pfc", "pfc": pfc} if lossless else {},
        events=events,
        simulation={"time_limit": "1s"},
    )
    try:
        result = bridge.run(content)
    except ScenarioError as error:
        assert "switches.buffer_sharing" in str(error)
        return "refused"
    except bridge.SimulationError as error:
        text = str(error)
        known = {"deadlock: ": " → ", "was closed after": "from rank", "divided": "ranks"}
        assert any(name in text and what in text for name, what in known.items()), text
        return next(name for name in known if name in text)
    assert result.network.payload_bytes >= sum(size for _, _, size in sends)
    if not events and lossless and pfc["headroom"] == "cable":
        assert result.network.drops == 0
    assert result.pauses is None or (result.pauses.headroom_drops <= result.network.drops)
    return "complete"


@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_every_run_ends(tmp_path_factory: Any, data: st.DataObject) -> None:
    check_that_it_ends(tmp_path_factory.mktemp("ends"), data)


@pytest.mark.long
@settings(max_examples=1000, deadline=None)
@given(data=st.data())
def test_a_thousand_runs_end(tmp_path_factory: Any, data: st.DataObject) -> None:
    check_that_it_ends(tmp_path_factory.mktemp("ends"), data)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"fabric": "native"}, "fabric: value native: expected express, flow or analytical"),
        (
            {"transport": {"window": "many"}},
            "transport.window: value many: .* or bdp or none",
        ),
        (
            {"transport": {"ecn": {"kmin": "2MB", "kmax": "1MB"}}},
            "transport.ecn.kmax: value 1MB: expected at least transport.ecn.kmin",
        ),
        ({"transport": {"ecn": {"kmin": "2MB"}}}, "transport.ecn.kmax: value .*: expected a size"),
    ],
)
def test_wrong_keys(tmp_path: Any, changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ScenarioError, match=sentence):
        load_scenario(scenario(messages(tmp_path, 2, [(0, 1, 1)]), 2, **changes))


def test_small_memory_is_refused(tmp_path: Any) -> None:
    work = messages(tmp_path, 4, [(0, 1, 1)])
    content = scenario(work, 4, topology=star(4, "100KB"), switches={"buffer_sharing": "pfc"})
    with pytest.raises(ScenarioError, match=r"switches\.buffer_sharing: value pfc: .* 100000 b"):
        bridge.run(content)
