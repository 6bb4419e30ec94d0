"""Ways to share paths and the memory of switches."""

from io import StringIO
from itertools import permutations
from typing import Any

import pytest
from rich.console import Console

import bridge
from bridge.present.report import print_report
from frontend import load_scenario
from frontend.resolve import resolve
from tests.ns3_scratch.two_spines import scenario


@pytest.mark.parametrize("memory", [{}, {"buffer_sharing": "dynamic", "buffer_alpha": 0.5}])
def test_static_graphs_on_native(memory: dict[str, Any]) -> None:
    """Equal to the picosecond, with drops in the memory of the switches."""
    topology = scenario()["topology"] | {"buffer": "100KB"}
    work = scenario()["workload"] | {"operation": "all_to_all", "algorithm": "direct"}
    both = [
        bridge.run(scenario(fabric=fabric, topology=topology, workload=work, switches=memory))
        for fabric in ("express", "native")
    ]
    assert both[0].time_ns == both[1].time_ns
    assert both[0].network.drops == both[1].network.drops > 0


def test_shared_memory_admits_a_longer_queue() -> None:
    """α/(1+α) of the memory, instead of one of three ports' parts."""
    burst = {"event": "incast", "at": "0us", "target": 0, "sources": [1, 2, 3], "bytes": "1MB"}
    content = scenario(
        burst,
        topology=scenario()["topology"] | {"buffer": "400KB"},
        workload=scenario()["workload"] | {"bytes": "4MB"},
        transport={"min_rto": "200us", "window": "1MB"},
    )
    longest = {}
    for alpha in (None, 1, 8):
        memory = {} if alpha is None else {"buffer_sharing": "dynamic", "buffer_alpha": alpha}
        result = bridge.run(content | {"switches": memory})
        longest[alpha] = max(d.max_queue_bytes for d in result.network.dimensions)
    assert longest[None] <= 100_000
    memory_bytes, packet = 400_000, 9002
    for factor in (1, 8):  # a packet is admitted if the queue is at the limit with it
        limit = factor * (memory_bytes + packet) / (1 + factor)
        assert limit - 3 * packet < longest[factor] <= limit


@pytest.mark.parametrize("policy", ["spray", "flowlet", "paths", "ecmp"])
def test_connections_over_both_spines(policy: str) -> None:
    """Two pairs that would share a spine use both; the cost of reordering is visible."""
    work = {"kind": "collective", "operation": "all_to_all", "algorithm": "direct", "bytes": "4MB"}
    transport = {"flows_per_pair": 1 if policy in ("spray", "flowlet") else 4}
    result = bridge.run(
        scenario(
            workload=work,
            transport=transport,
            routing={"policy": policy, "flowlet_gap": "1ns"},
        )
    )
    assert result.status == "complete"
    assert result.shared_links is not None
    if policy == "paths":
        flows = {(link.source, link.target): link.flows for link in result.shared_links}
        assert len(set(flows.values())) == 1  # evenly over all links
    if policy == "spray":
        assert result.network.link_utilization_mean > 0


def two_ways(slower: str, **changes: Any) -> dict[str, Any]:
    """Two ranks with two switches between them, of which one is as slow as given."""
    links = [[rank, f"s{way}", "100Gbps", "1us"] for rank in (0, 1) for way in (0, 1)]
    links[1][3] = slower
    topology = {"family": "graph", "links": links, "buffer": "unlimited"}
    work = {"kind": "collective", "operation": "all_gather", "algorithm": "ring", "bytes": "1MB"}
    return scenario(topology=topology, workload=work) | changes


@pytest.mark.parametrize("policy", ["spray", "flowlet", "family"])
def test_reordered_packets_and_their_cost(policy: str) -> None:
    """Half of the packets take the slow way, and arrive after later ones of the fast way.

    The ways differ by 20 µs, 27 packets of 9000 bytes at 100 Gbit/s. TCP takes what three packets
    have overtaken for lost, and sends it again, although nothing is lost.
    """
    result = bridge.run(two_ways("21us", routing={"policy": policy}))
    network, found = result.network, result.reordering
    assert network.drops == 0
    if policy == "family":
        assert found is None
        assert network.retransmissions == 0
        return
    assert found is not None
    if policy == "flowlet":  # the gap of 50 µs never comes
        assert (found.packets, found.unneeded_retransmissions) == (0, 0)
        return
    assert 0.25 * network.data_packets < found.packets < 0.5 * network.data_packets
    assert found.largest_displacement >= 3
    assert 0 < found.unneeded_retransmissions <= network.retransmissions
    text = StringIO()
    print_report(result, Console(file=text, width=120))
    assert f"{found.unneeded_retransmissions} unneeded retransmissions" in text.getvalue()


def test_shared_links_name_the_flows() -> None:
    work = {"kind": "collective", "operation": "all_to_all", "algorithm": "direct", "bytes": "1MB"}
    result = bridge.run(scenario(workload=work, routing={"shared_links": 100}))
    network = resolve(load_scenario(scenario())).network
    expected: dict[tuple[str, ...], list[tuple[int, int]]] = {}
    for pair in permutations(range(4), 2):
        for link in network.paths([pair[0]], [pair[1]]).links.tolist():
            ends = [network.node_names[end[link]] for end in (network.source, network.target)]
            if not any("gpu" in end for end in ends):
                expected.setdefault(tuple(ends), []).append(pair)
    shared = {ends: pairs for ends, pairs in expected.items() if len(pairs) > 1}
    assert shared
    assert result.shared_links is not None
    assert {(o.source, o.target): sorted(o.pairs) for o in result.shared_links} == shared
