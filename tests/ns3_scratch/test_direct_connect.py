"""Simulated schedules on direct-connect topologies: α-β times, link loads, forwarding."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bridge
from frontend import load_scenario
from frontend.collectives.algorithms.link_schedules import best_chunks
from frontend.compiler.compile import compile_scenario
from frontend.stream import decode, encode
from topology_gen import graphs, specs
from topology_gen.graphs.digraph import Digraph
from topology_gen.schedules import bfb
from topology_gen.schedules.schedule import Schedule

FABRICS = ["express", "native", "flow", "analytical"]
HEADERS = 42  # IP, TCP and PPP
MSS = 8960
RATE_BPS = 25e9
LATENCY_NS = 1000
INJECTION_NS = 10
ALPHA_NS = LATENCY_NS + 2 * INJECTION_NS


def scenario(
    spec: str, algorithm: str, size: int, operation: str = "all_reduce", **topology: Any
) -> dict[str, Any]:
    """Return a scenario with one collective on a topology given as `family:key=value,…`."""
    graph = {"family": "direct_connect", "graph": spec}
    links = {"bandwidth": f"{RATE_BPS}bps", "latency": f"{LATENCY_NS}ns", "buffer": "unlimited"}
    return {
        "topology": graph | links | topology,
        "workload": {
            "kind": "collective",
            "operation": operation,
            "algorithm": algorithm,
            "bytes": f"{size}B",
        },
        "system": {"injection_latency": f"{INJECTION_NS}ns"},
    }


def time_ns(fabric: str, *args: Any, **kwargs: Any) -> float:
    result = bridge.run(scenario(*args, **kwargs), {"fabric": fabric})
    assert result.network.drops == 0
    return result.iterations[0].time_ns


def all_reduce_schedules(graph: Digraph, size: int) -> list[Schedule]:
    chunks = best_chunks(graph, "all_reduce", Fraction(size, graph.nodes), HEADERS)
    return [bfb.reduce_scatter(graph, chunks), bfb.all_gather(graph, chunks)]


@pytest.mark.parametrize("fabric", FABRICS)
@pytest.mark.parametrize("spec", ["torus:dims=4x4", "circulant:n=12,offsets=2+3", "hypercube:n=8"])
def test_bfb_all_reduce_takes_alpha_steps_and_the_bandwidth_time(fabric: str, spec: str) -> None:
    """T = 2·(α·steps + T_B). The bytes of a link include headers, and ACKs for the reverse link.

    α is the latency of a link plus the injection latency at both ends.
    """
    size, graph = 4_000_000, specs.parse(spec)
    packet = MSS + HEADERS * (2 if fabric in ("express", "native") else 1)
    schedules = all_reduce_schedules(graph, size)
    steps = sum(schedule.steps for schedule in schedules)
    bandwidth_time = float(sum(schedule.bandwidth_time for schedule in schedules))
    payload_ns = bandwidth_time * size * 8e9 / (graph.degree * RATE_BPS)
    measured = time_ns(fabric, spec, "bfb", size)
    assert measured == pytest.approx(steps * ALPHA_NS + payload_ns * packet / MSS, rel=0.02)
    assert measured > payload_ns


@pytest.mark.parametrize("spec", ["shifted_ring:n=10", "hypercube:n=16", "circulant:n=24"])
@pytest.mark.parametrize("operation", ["reduce_scatter", "all_gather"])
def test_no_send_of_a_later_step_holds_up_an_earlier_one(spec: str, operation: str) -> None:
    """Large data takes T_B: what a rank could send at once waits for its step of the schedule."""
    size, graph = 50_000_000, specs.parse(spec)
    steps, bandwidth_time = bfb.costs(graph)[0].steps, float(bfb.costs(graph)[0].bandwidth_time)
    payload_ns = bandwidth_time * size * 8e9 / (graph.degree * RATE_BPS)
    measured = time_ns("flow", spec, "bfb", size, operation)
    # Headers take 0.5 %, and waiting for the ACKs of a window 0.7 %.
    assert measured == pytest.approx(steps * ALPHA_NS + payload_ns, rel=0.012)


@pytest.mark.parametrize("fabric", FABRICS)
def test_small_all_reduces_take_their_steps(fabric: str) -> None:
    """On ShiftedRing(12), 1 kB takes 2·3 steps with BFB and 2·11 around the rings (section 8.3)."""
    spec = "shifted_ring:n=12"
    performance = bfb.all_gather_performance(graphs.shifted_ring(12)).in_chunks(1)
    steps = performance.steps
    assert steps == 3
    packets_ns = float(sum(performance.loads)) * (1000 / 12 + HEADERS) * 8e9 / RATE_BPS
    by_bfb = time_ns(fabric, spec, "bfb", 1000)
    by_rings = time_ns(fabric, spec, "superposed_rings", 1000)
    assert by_bfb == pytest.approx(2 * (steps * ALPHA_NS + packets_ns), rel=0.02)
    assert by_rings == pytest.approx(2 * 11 * ALPHA_NS, rel=0.05)


@pytest.mark.parametrize("fabric", FABRICS)
def test_parallel_links_carry_their_share(fabric: str) -> None:
    """Two links to each neighbour are twice as fast as one."""
    one = time_ns(fabric, "ring:n=6", "bfb", 2_000_000)
    two = time_ns(fabric, "ring:n=6,d=4", "bfb", 2_000_000)
    latency = 2 * 3 * ALPHA_NS
    assert one - latency == pytest.approx(2 * (two - latency), rel=0.02)


@pytest.mark.parametrize("fabric", ["express", "native", "flow"])
def test_host_links_limit_all_links_of_a_rank_together(fabric: str) -> None:
    """An all-gather on K_5: each rank sends its shard over four links, at a host's rate if lower.

    `analytical` queues whole messages on the host link, so the links behind it idle.
    """
    size, spec = 50_000_000, "complete:n=5"
    for host_bps, rate_bps in ((60e9, 60e9), (400e9, 4 * RATE_BPS)):
        measured = time_ns(fabric, spec, "bfb", size, "all_gather", host_bandwidth=f"{host_bps}bps")
        payload_ns = size * 4 / 5 * 8e9 / rate_bps
        assert measured == pytest.approx(ALPHA_NS + payload_ns, rel=0.06)  # ACKs queue, too
        assert measured > payload_ns


@pytest.mark.parametrize("spec", ["torus:dims=4x4", "generalized_kautz:d=4,n=11", "ring:n=5,d=4"])
@pytest.mark.parametrize("fabric", ["flow", "express"])
def test_every_link_carries_what_the_schedule_says(fabric: str, spec: str, tmp_path: Path) -> None:
    """Return the bytes on each link: payload, headers and, with TCP, ACKs for the reverse links."""
    size, graph = 2_000_000, specs.parse(spec)
    loaded = load_scenario(scenario(spec, "bfb", size), {"fabric": fabric})
    payload, headers = np.zeros(graph.links), np.zeros(graph.links)
    for schedule in all_reduce_schedules(graph, size):
        units = graph.nodes * schedule.chunks
        first = schedule.shard.astype(np.int64) * schedule.chunks + schedule.first
        sent = (first + schedule.count) * size // units - first * size // units
        payload += np.bincount(schedule.link, sent, minlength=graph.links)
        packets = HEADERS * -(-sent // MSS)
        headers += np.bincount(schedule.link, packets, minlength=graph.links)
    kept = graph.source != graph.target
    file = tmp_path / "links.stream"
    file.write_bytes(with_a_dimension_a_link(compile_scenario(loaded)))
    result = bridge.replay(file)
    wire = np.array([entry.wire_bytes for entry in result.network.dimensions])
    # A packet may contain the end of a message and the start of the next one.
    assert (wire >= payload[kept] * (1 + HEADERS / MSS) - 1).all()
    if fabric == "flow":
        assert (wire <= (payload + headers)[kept]).all()
    elif graph.bidirectional:
        back = headers[kept].max()
        assert (wire <= (payload + headers)[kept] + back).all()


def with_a_dimension_a_link(stream: bytes) -> bytes:
    """Make every link a separate dimension, so that the result has the bytes of each link."""
    records = list(decode(stream))
    for record in records:
        if record.HasField("topology"):
            links = len(record.topology.link_source)
            record.topology.ClearField("dimensions")
            record.topology.dimensions.extend(f"link{i}" for i in range(links))
            record.topology.ClearField("link_dimension")
            record.topology.link_dimension.extend(range(links))
    for record in records:
        if record.HasField("settings"):
            record.settings.system.ClearField("concurrent_chunks")
            record.settings.system.concurrent_chunks.extend([64] * links)
    return encode(records)


@pytest.mark.parametrize("fabric", FABRICS)
@pytest.mark.parametrize("delay_ns", [0, 700])
def test_ranks_pass_packets_on_after_a_delay(fabric: str, delay_ns: int) -> None:
    """A packet over h links takes h·(transmission + latency) + (h-1)·delay."""
    given = scenario("unidirectional_ring:n=5", "ring", 1, forwarding_delay=f"{delay_ns}ns")
    with bridge.Network(given, {"fabric": fabric}, pairs=[(0, 3)]) as network:
        arrived: list[float] = []
        network.sim_recv(0, 3, 1000, callback=lambda: arrived.append(network.sim_get_time()))
        network.sim_send(0, 3, 1000)
        network.run()
    transmission_ns = (1000 + HEADERS) * 8e9 / RATE_BPS
    assert arrived == [pytest.approx(3 * (transmission_ns + LATENCY_NS) + 2 * delay_ns)]


@pytest.mark.parametrize(
    ("spec", "algorithm", "operation", "delay"),
    [
        ("torus:dims=3x4", "direct", "all_to_all", "500ns"),
        ("twisted_hypercube:n=8", "halving_doubling", "all_reduce", "500ns"),
        ("generalized_kautz:d=2,n=7", "bfb", "all_reduce", "0ns"),
        ("de_bruijn:d=2,k=3", "direct", "all_to_all", "500ns"),
        ("double_binary_tree:n=12", "dbt", "all_reduce", "0ns"),
        ("unidirectional_ring:n=4,d=3", "bfb", "all_gather", "500ns"),
    ],
)
def test_the_datapaths_agree_over_several_hops(
    spec: str, algorithm: str, operation: str, delay: str
) -> None:
    args = (spec, algorithm, 400_000, operation)
    native = time_ns("native", *args, forwarding_delay=delay)
    express = time_ns("express", *args, forwarding_delay=delay)
    assert express == pytest.approx(native, rel=0.005)


def test_a_port_that_is_too_small_drops() -> None:
    """Packets that a rank forwards and packets that it sends share the buffer of the port."""
    given = scenario("ring:n=6", "direct", 3_000_000, "all_to_all", buffer="30kB")
    results = [bridge.run(given, {"fabric": fabric}) for fabric in ("express", "native")]
    for result in results:
        assert result.network.drops > 0
        assert result.network.payload_bytes == 6 * 5 * 500_000
        assert result.network.dimensions[0].max_queue_bytes <= 30_000
