"""Links that fail, change their rate or lose packets."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bridge
from frontend import load_scenario
from frontend.fabrics import ESTIMATORS
from frontend.resolve import resolve
from frontend.resolve.events import happenings
from frontend.units import SIZE, parse
from tests.ns3_scratch.two_spines import CHANGING, ONE_WAY_OUT, TWO_SPINES, down, scenario


def spine_of(first: int, second: int) -> str:
    """Return the spine of the path between two ranks."""
    network = resolve(load_scenario(scenario())).network
    links = network.paths([first], [second]).links
    name: str = network.node_names[network.target[links[1]]]
    return name


@pytest.mark.parametrize("fabric", CHANGING)
def test_a_failure_elsewhere_or_after_the_end_changes_nothing(fabric: str) -> None:
    usual = bridge.run(scenario(fabric=fabric))
    stub = {
        "links": [*TWO_SPINES, ["spine0", "unused", "1Gbps", "9us"]],
        "nodes": [f"gpu{rank}" for rank in range(4)],
    }
    elsewhere = scenario(down(["spine0", "unused"]), fabric=fabric)
    elsewhere["topology"] |= stub
    for content in (elsewhere, scenario(down(ONE_WAY_OUT, "1s"), fabric=fabric)):
        other = bridge.run(content)
        assert other.time_ns == usual.time_ns


@pytest.mark.parametrize("fabric", CHANGING)
@pytest.mark.parametrize("detection", ["20us", None])
def test_a_link_that_comes_back(fabric: str, detection: str | None) -> None:
    """The run ends later, by at most the outage and the timers of TCP."""
    usual = bridge.run(scenario(fabric=fabric))
    event = down(ONE_WAY_OUT, until="250us")
    content = scenario(event, fabric=fabric, routing={"detection": detection})
    broken = bridge.run(content)
    assert broken.status == "complete"
    assert broken.network.payload_bytes == usual.network.payload_bytes
    assert usual.time_ns + 150_000 < broken.time_ns < usual.time_ns + 2_500_000
    assert bridge.run(content).time_ns == broken.time_ns
    assert broken.network_events is not None
    happened = [one.event for one in broken.network_events.events if not one.rerouting]
    assert happened == ["0 – leaf0 down", "0 – leaf0 up"]


@pytest.mark.parametrize("fabric", CHANGING)
def test_flows_take_the_other_spine(fabric: str) -> None:
    spine = spine_of(1, 2)
    result = bridge.run(scenario(down(["leaf0", spine]), fabric=fabric))
    assert result.status == "complete"
    assert result.network_events is not None
    failed, followed = result.network_events.events
    assert failed.broken_paths > 0
    assert failed.time_ns == 50_000
    assert followed.rerouted_paths == failed.broken_paths
    assert followed.broken_paths == 0
    assert followed.time_ns == 70_000


@pytest.mark.parametrize("fabric", CHANGING)
@pytest.mark.parametrize("detection", ["20us", None])
def test_a_divided_network_names_the_ranks(fabric: str, detection: str | None) -> None:
    events = [{"event": "switch_down", "switch": f"spine{s}", "at": "50us"} for s in (0, 1)]
    content = scenario(*events, fabric=fabric, routing={"detection": detection})
    with pytest.raises(bridge.SimulationError) as caught:
        bridge.run(content)
    text = str(caught.value)
    assert "the network is divided since switch spine1 down" in text
    assert "1 to 2" in text
    assert "3 to 0" in text
    assert "0 to 1" not in text


@pytest.mark.parametrize("fabric", CHANGING)
def test_the_last_bytes_are_not_lost(fabric: str) -> None:
    """The only path fails one packet time before the usual end, and comes back."""
    usual = bridge.run(scenario(fabric=fabric))
    at = f"{int(usual.time_ns) - 800}ns"
    result = bridge.run(scenario(down(ONE_WAY_OUT, at, until="1ms"), fabric=fabric))
    assert result.status == "complete"
    assert result.network.payload_bytes == usual.network.payload_bytes


@pytest.mark.parametrize("fabric", CHANGING)
def test_detours_are_those_of_the_graph_without_the_link(fabric: str) -> None:
    """From the start, a failure is the same as a network without this link."""
    links = [link for link in TWO_SPINES if link[:2] != ["leaf0", "spine0"]]
    topology = {"family": "graph", "links": links, "buffer": "16MB"}
    nodes = {"nodes": [*(f"gpu{r}" for r in range(4)), "leaf0", "leaf1", "spine0", "spine1"]}
    without = bridge.run(scenario(fabric=fabric, topology=topology | nodes))
    whole = scenario()["topology"] | nodes
    content = scenario(down(["leaf0", "spine0"], "0us"), fabric=fabric, topology=whole)
    failed = bridge.run(content | {"routing": {"detection": "0us"}})
    if fabric == "express":  # its connections open before the start, over one link more
        assert failed.time_ns == pytest.approx(without.time_ns, rel=0.02)
    else:
        assert failed.time_ns == without.time_ns


def test_rates_that_change() -> None:
    """Half the rate from the start: as a network with links of half the rate."""
    slow = [[*link[:2], "50Gbps", link[3]] for link in TWO_SPINES]
    usual = bridge.run(
        scenario(fabric="flow", topology={"family": "graph", "links": slow, "buffer": "16MB"})
    )
    events = [
        {"event": "link_rate", "at": "0us", "link": link[:2], "bandwidth": "50Gbps"}
        for link in TWO_SPINES
    ]
    assert bridge.run(scenario(*events, fabric="flow")).time_ns == usual.time_ns


@pytest.mark.parametrize("fabric", ESTIMATORS)
def test_to_an_estimator_a_loss_is_a_lower_rate(fabric: str) -> None:
    """Half of the packets are lost: as a network with links of half the rate."""
    slow: list[Any] = [[*link[:2], "50Gbps", link[3]] for link in TWO_SPINES]
    lossy: list[Any] = [
        {"ends": link[:2], "bandwidth": "100Gbps", "latency": link[3], "loss": 0.5}
        for link in TWO_SPINES
    ]
    halved, lost = (
        bridge.run(
            scenario(fabric=fabric, topology={"family": "graph", "links": links, "buffer": "16MB"})
        )
        for links in (slow, lossy)
    )
    # On `flow`, a packet that is not lost takes its usual time on each link.
    assert lost.time_ns == pytest.approx(halved.time_ns, rel=0.04 if fabric == "flow" else 0)


def passing(kind: str, **more: Any) -> st.SearchStrategy[dict[str, Any]]:
    """Return events of a kind that end within half a millisecond."""

    def event(at: int, length: int, **values: Any) -> dict[str, Any]:
        return {"event": kind, "at": f"{at}us", "until": f"{at + length}us"} | values

    return st.builds(event, st.integers(0, 200), st.integers(1, 300), **more)


some_links = st.sampled_from([link[:2] for link in TWO_SPINES])
passing_events = st.one_of(
    passing("link_down", link=some_links, one_way=st.booleans()),
    passing("switch_down", switch=st.sampled_from(["leaf0", "leaf1", "spine0", "spine1"])),
    passing("link_rate", link=some_links, bandwidth=st.sampled_from(["1Gbps", "400Gbps"])),
    passing("link_loss", link=some_links, loss=st.floats(0, 0.5)),
    passing("link_flap", link=some_links, down=st.just("7us"), period=st.just("20us"))
    .map(lambda event: event | {"times": 9}),
)  # fmt: skip
bursts = st.builds(
    lambda at, target, size: (
        {"event": "incast", "at": f"{at}us", "bytes": f"{size}B"}
        | {"target": target, "sources": [rank for rank in range(4) if rank != target]}
    ),
    st.integers(0, 100),
    st.integers(0, 3),
    st.integers(1, 100_000),
)


@pytest.mark.parametrize("fabric", CHANGING)
@settings(max_examples=12, deadline=None)
@given(
    st.lists(passing_events, min_size=1, max_size=6),
    st.lists(bursts, max_size=2),
    st.sampled_from(["0us", "20us", None]),
)
def test_what_passes_leaves_nothing_behind(
    fabric: str, events: list[Any], others: list[Any], detection: str | None
) -> None:
    """Whatever breaks for a while: every byte arrives, and the same run takes the same time."""
    usual = bridge.run(scenario(fabric=fabric))
    content = scenario(*events, *others, fabric=fabric, routing={"detection": detection})
    result = bridge.run(content)
    assert result.status == "complete"
    # The run may end before the messages of a burst have arrived, but not before those of the ring.
    more = sum(3 * parse(burst["bytes"], SIZE) for burst in others)
    sent = result.network.payload_bytes - usual.network.payload_bytes
    assert 0 <= sent <= more
    again = bridge.run(content)
    assert (again.time_ns, again.network) == (result.time_ns, result.network)
    assert again.network_events == result.network_events


@pytest.mark.parametrize("order", [1, -1])
def test_of_events_that_overlap_the_one_that_began_last_holds(order: int) -> None:
    """The rates of the link over time: 20 from 10 µs, 40 from 30 to 50, 20 until 60, 60 until 70.

    The order of the list has no effect, also where one ends as another begins.
    """
    times = [("20Gbps", "10us", "60us"), ("40Gbps", "30us", "50us"), ("60Gbps", "60us", "70us")]
    events = [
        {"event": "link_rate", "link": ONE_WAY_OUT, "bandwidth": rate, "at": at, "until": until}
        for rate, at, until in times[::order]
    ]
    resolved = resolve(load_scenario(scenario(*events)))
    rate, seen = 100, []
    found = happenings(resolved.scenario, resolved.network)
    for one in sorted(found, key=lambda one: one.time_ps):  # a stable order, as in the run
        rate = one.rate_bps // 10**9
        seen.append((one.time_ps // 10**6, rate))
    assert [dict(seen)[at] for at in (10, 30, 50, 60, 70)] == [20, 40, 20, 60, 100]


def test_stragglers_and_losses_that_overlap() -> None:
    """Each rank and each link has what the last event that lasts says, or its usual value."""
    links: list[Any] = [
        {"ends": TWO_SPINES[0][:2], "bandwidth": "1Gbps", "latency": "1us", "loss": loss}
        for loss in (0.1, 0.2)
    ]
    events = [
        {"event": "straggler", "ranks": [0, 1], "factor": 2, "at": "0us", "until": "40us"},
        {"event": "straggler", "ranks": [1, 2], "factor": 3, "at": "10us", "until": "20us"},
        {"event": "link_loss", "link": ONE_WAY_OUT, "loss": 0.5, "at": "5us", "until": "15us"},
    ]
    content = scenario(*events)
    content["topology"]["links"] = [*links, *TWO_SPINES[1:]]
    resolved = resolve(load_scenario(content))
    found = happenings(resolved.scenario, resolved.network)
    factors = {(one.time_ps // 10**6, rank): one.factor for one in found for rank in one.ranks}
    assert factors == {
        (0, 0): 2,
        (0, 1): 2,
        (10, 1): 3,
        (10, 2): 3,
        (20, 1): 2,
        (20, 2): 1,
        (40, 0): 1,
        (40, 1): 1,
    }
    losses = {(one.time_ps // 10**6, link): one.loss for one in found for link in one.links}
    ends = {loss for (at, _), loss in losses.items() if at == 15}
    assert ends == {0.1, 0.2}


@pytest.mark.parametrize("place", ["event", "link"])
def test_lost_packets_are_counted_and_sent_again(place: str) -> None:
    loss = 0.02
    if place == "event":
        content = scenario({"event": "link_loss", "at": "0us", "link": ONE_WAY_OUT, "loss": loss})
    else:
        first: dict[str, Any] = {"ends": TWO_SPINES[0][:2], "loss": loss}
        first |= {"bandwidth": "100Gbps", "latency": "1us"}
        topology = {"family": "graph", "links": [first, *TWO_SPINES[1:]], "buffer": "16MB"}
        content = scenario(topology=topology)
    result = bridge.run(content)
    assert result.network_events is not None
    lost = result.network_events.packets_lost
    crossing = result.network.packets / 4 * 2  # data and ACKs of two of the four pairs
    assert 0.3 * loss * crossing < lost < 3 * loss * crossing
    assert 0 < result.network.retransmissions <= 3 * lost
    assert result.network.drops == 0


def test_packets_at_a_dead_link_are_told() -> None:
    """Before the detection time, packets run into the failed link: these drops have a name."""
    result = bridge.run(scenario(down(ONE_WAY_OUT, until="250us")))
    assert result.network_events is not None
    assert 0 < result.network_events.packets_refused == result.network.drops


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        (
            {"events": [down(["leaf0", "spine9"])]},
            r"events\.0\.link: .*expected the name of",
        ),
        ({"events": [down([0, 1])]}, r"events\.0\.link: .*0 has links to leaf0"),
        ({"events": [{"event": "boom", "at": "1us"}]}, r"events\.0"),
        (
            {"events": [down(ONE_WAY_OUT)], "fabric": "native"},
            "fabric: .*expected express or flow, because events change links: .*PointToPoint",
        ),
        (
            {"events": [down(ONE_WAY_OUT)], "fabric": "analytical"},
            "fabric: .*expected express or flow, because events change links: analytical books",
        ),
        (
            {
                "fabric": "native",
                "topology": {
                    "family": "graph",
                    "links": [
                        {"ends": [0, 1], "bandwidth": "1Gbps", "latency": "1us", "loss": 0.1}
                    ],
                    "buffer": "16MB",
                },
            },
            "fabric: .*expected express, flow or analytical, because links lose packets",
        ),
        (
            {"events": [{"event": "switch_down", "at": "0us", "switch": "gpu1"}]},
            r"events\.0\.switch: .*expected a switch, not a rank",
        ),
        (
            {"events": [{"event": "straggler", "at": "0us", "ranks": [9], "factor": 2}]},
            r"events\.0\.ranks: .*expected ranks from 0 to 3",
        ),
        ({"routing": {"policy": "spray"}, "fabric": "flow"}, r"routing\.policy: .*express"),
        (
            {"routing": {"policy": "paths", "weights": [2, 1]}},
            r"routing\.weights: .*flows_per_pair \(1\)",
        ),
        ({"events": [down(ONE_WAY_OUT, until="10us")]}, "expected later than `at`"),
    ],
)
def test_refused(changes: dict[str, Any], problem: str) -> None:
    with pytest.raises(bridge.ScenarioError, match=problem):
        load_scenario(scenario() | changes)
