"""The estimator: examples by hand, comparison with plain Python, and general bounds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frontend.parallelization import (
    Estimator,
    Operator,
    OperatorGraph,
    Server,
    Strategy,
    StrategyError,
    Wire,
    by_columns,
    data_parallel,
    demand,
    group_rings,
    hybrid,
    on_server,
    work,
)
from frontend.parallelization.fabric import TARGETS, Fabric
from frontend.parallelization.transfers import Boxes, Transfer
from frontend.roofline import Cost
from tests.frontend.parallelization.graphs import jobs, placements, small_dlrm
from tests.frontend.parallelization.naive_estimate import estimate
from topology_gen import direct_connect, fat_tree, flat
from topology_gen.topoopt import AllReduce, Demand, topology_finder

BARE = Wire(10**9, 0)
"""No headers: bytes on the wire are bytes sent."""
SERVER = Server(2, 1e9, 1e9, 0.5, 1e6, 1e8)
GBPS = 8 * 10**9
"""1 byte per nanosecond."""


def layer(name, inputs=(), flop=0, weights=0, output=0, parts=1):
    return Operator(name, inputs, Cost(flop, 0), Cost(2 * flop, 0), weights, 0, output, parts)


def test_data_parallel_layers_on_a_switch_by_hand():
    # 8 samples on 4 servers, 2 each: 2·1e6 flop on 2 GPUs of 5e8 effective flop/s: 2 ms forward,
    # 4 ms backward, and 2·(1/2)·1e6 B over 1e8 B/s: 10 ms of sums inside the server.
    graph = OperatorGraph("two", (layer("a", (), 10**6, 10**6), layer("b", (0,), 10**6, 10**6)), 8)
    network = flat(4, GBPS, 0)
    estimator = Estimator(graph, SERVER, network, wire=BARE)
    # b's all-reduce (2·3/4·1e6 B over each port: 1.5 ms) overlaps a's backward pass; a's does not.
    # Each of 6 rounds has 250 kB of "first packet" stored at the switch: 6 · 250 µs.
    assert estimator.seconds(estimator.plan(data_parallel(graph, 4))) == pytest.approx(
        2 * 2e-3 + 2 * 14e-3 + 1.5e-3 + 6 * 250e-6
    )


def test_a_chain_over_two_servers_by_hand():
    # a on server 0, b on server 1, as a whole: 4 samples of 1 MB go there and back over a link of
    # 1 GB/s and 3 µs; each server computes 1 ms forward and 2 ms backward.
    graph = OperatorGraph(
        "chain", (layer("a", (), 250_000, 0, 10**6), layer("b", (0,), 250_000)), 4
    )
    topology = topology_finder(demand(graph, data_parallel(graph, 2)), 1)
    network = direct_connect(topology.graph, GBPS, 3 * 10**6)
    estimator = Estimator(graph, SERVER, network, topology, BARE)
    chain = Strategy(2, (on_server(0), on_server(1)))
    there_and_back = 2 * (4e-3 + 3e-6)
    assert estimator.seconds(estimator.plan(chain)) == pytest.approx(6e-3 + there_and_back)
    # On one server nothing moves.
    alone = Strategy(2, (on_server(1),) * 2)
    assert estimator.seconds(estimator.plan(alone)) == pytest.approx(6e-3)


def test_what_is_ready_first_is_carried_first():
    # Server 0 sends a (1 ms) to server 1, and b (8 ms more to compute) to server 2.
    # c, on server 1, goes to server 2 as well: it is computed after b but ready long before.
    graph = OperatorGraph(
        "order",
        (
            layer("a", (), 250_000, 0, 10**6),
            layer("b", (), 2_000_000, 0, 10**6),
            layer("c", (0,), 0, 0, 10**6),
            layer("d", (1, 2), 0),
        ),
        4,
    )
    estimator = Estimator(graph, SERVER, flat(3, GBPS, 0), wire=Wire(1, 0))
    placed = [on_server(server) for server in (0, 0, 1, 2)]
    seconds = estimator.seconds(estimator.plan(Strategy(3, tuple(placed))))
    # Forward: a 1 ms, b 9 ms, at server 2 at 13 ms; c got there before. Backward: both gradients
    # leave server 2 at 13 ms, b's first (its reader's first input): 17 ms at server 0 and 21 ms at
    # server 1; b's gradient is computed until 33 ms, a's (25 ms at server 0) until 35 ms.
    assert seconds == pytest.approx(35e-3, rel=1e-5)


@st.composite
def places(draw):
    """Draw a job, and a network for it: a switch, a fat-tree, or TopoOpt's for any strategy."""
    graph, strategy = draw(jobs())
    servers = strategy.servers
    kind = draw(st.sampled_from(["switch", "fat_tree", "topoopt"]))
    if kind == "switch":
        return graph, strategy, flat(servers, GBPS, 10**6), None
    if kind == "fat_tree":
        return graph, strategy, fat_tree(servers, GBPS, 10**6), None
    made_for = draw(st.sampled_from([strategy, data_parallel(graph, servers)]))
    topology = topology_finder(demand(graph, made_for), draw(st.integers(2, 4)))
    network = direct_connect(topology.graph, GBPS, 10**6, forwarding_delay_ps=5 * 10**5)
    return graph, strategy, network, topology


@settings(max_examples=60, deadline=None)
@given(places())
def test_equal_to_plain_python(place):
    graph, strategy, network, topology = place
    wire = Wire(1448, 54)
    estimator = Estimator(graph, SERVER, network, topology, wire)
    expected = estimate(
        graph, strategy, SERVER, network, lambda group: group_rings(group, topology), wire
    )
    assert estimator.seconds(estimator.plan(strategy)) == pytest.approx(expected, rel=1e-9)


@settings(max_examples=60, deadline=None)
@given(places())
def test_no_faster_than_computing_and_no_faster_than_any_link(place):
    graph, strategy, network, topology = place
    estimator = Estimator(graph, SERVER, network, topology, BARE)
    seconds = estimator.seconds(estimator.plan(strategy))
    busy = np.zeros(strategy.servers)
    parts = strategy.microbatches
    for operator, placed in zip(graph.operators, strategy.placements, strict=True):
        # A micro-batch may have fewer samples than servers, so the servers of a batch may differ.
        done = work(operator, placed, graph.microbatch(parts).batch, SERVER)
        np.add.at(busy, list(placed.servers), parts * (done.forward + done.backward))
    assert seconds >= busy.max() * (1 - 1e-9)
    # All that a server sends leaves through its own links, at their rates together.
    wanted = demand(graph, strategy)
    leaving = wanted.mp.sum(axis=1)
    for group in wanted.groups:
        size = len(group.members)
        leaving[list(group.members)] += 2 * (size - 1) / size * group.bytes
    ports = np.bincount(network.source, minlength=network.nodes)[: strategy.servers]
    assert seconds >= (leaving / (ports * GBPS / 8)).max() * (1 - 1e-9)


@settings(max_examples=60, deadline=None)
@given(places(), st.data())
def test_a_changed_plan_is_the_plan_of_the_changed_strategy(place, data):
    graph, strategy, network, topology = place
    estimator = Estimator(graph, SERVER, network, topology)
    plan = estimator.plan(strategy)
    for _ in range(3):
        some = data.draw(st.sets(st.integers(0, len(graph.operators) - 1), min_size=1))
        operators = {index: graph.operators[index] for index in sorted(some)}
        changes = {
            index: data.draw(placements(strategy.servers, one.parts, one.rows))
            for index, one in operators.items()
        }
        plan = estimator.changed(plan, changes)
    again = Estimator(graph, SERVER, network, topology).plan(plan.strategy)
    assert estimator.seconds(plan) == estimator.seconds(again)
    assert plan.memory_bytes.tolist() == again.memory_bytes.tolist()


def test_memory_by_hand():
    # Two tables of 100 000 × 16 elements, 6.4 MB each, and 64 samples of 64 B; layers of 4 kB,
    # 12 kB and 16 kB and their gradients on each of 2 GPUs, and 16 samples of 64, 256 and 256 B.
    graph = small_dlrm(tables=2, layers=2, batch=64, width=64, columns=16)
    estimator = Estimator(graph, SERVER, flat(4, GBPS, 0))
    plan = estimator.plan(hybrid(graph, 4))
    dense = 4 * (4096 + 12288 + 16384) + 16 * (64 + 256 + 256)
    table = 6_400_000 + 64 * 64
    assert plan.memory_bytes.tolist() == [dense + table, dense, dense + table, dense]
    assert not estimator.fits(plan)
    roomy = Estimator(graph, SERVER._replace(memory_bytes=(dense + table) / 2), flat(4, GBPS, 0))
    assert roomy.fits(roomy.plan(hybrid(graph, 4)))
    assert not roomy.fits(roomy.plan(data_parallel(graph, 4)))
    # Split by columns, a server has a quarter of each table, and 64 samples of 16 B.
    everywhere = by_columns((0, 1, 2, 3))
    quarters = plan.strategy.replaced(0, everywhere).replaced(1, everywhere)
    split = roomy.plan(quarters)
    assert split.memory_bytes.tolist() == [dense + 2 * (1_600_000 + 64 * 16)] * 4


def test_strategies_for_other_networks_are_refused():
    graph = small_dlrm()
    estimator = Estimator(graph, SERVER, flat(4, GBPS, 0))
    with pytest.raises(StrategyError, match="a strategy for 3 servers: expected one for 4"):
        estimator.plan(data_parallel(graph, 3))
    plan = estimator.plan(data_parallel(graph, 4))
    with pytest.raises(StrategyError, match="operator top_0: server 4"):
        estimator.changed(plan, {5: on_server(4)})


@pytest.mark.parametrize(
    ("servers", "degree", "size", "stride", "rings"),
    [(128, 8, 4, 32, 3), (128, 4, 16, 1, 1), (64, 4, 4, 16, 1)],
)
def test_disjoint_groups_reduce_as_fast_as_their_own_rings(servers, degree, size, stride, rings):
    """Every group has rings of its own: no other bytes are on them, and they have no relays."""
    span = size * stride
    groups = [
        tuple(range(block + first, block + first + span, stride))
        for block in range(0, servers, span)
        for first in range(stride)
    ]
    job = Demand(servers, tuple(AllReduce(one, 10**9) for one in groups), np.zeros((servers,) * 2))
    topology = topology_finder(job, degree)
    fabric = Fabric(direct_connect(topology.graph, GBPS, 0), BARE)
    loads = [fabric.all_reduces([(group_rings(one, topology), 10**9)]) for one in groups]
    busy = np.zeros(topology.graph.links)
    for load in loads:
        assert load is not None
        busy[load.links] += load.seconds
    assert busy.max() == pytest.approx(2 * (size - 1) / size / (2 * rings))
    # All at once they load the same links.
    every = fabric.all_reduces([(group_rings(one, topology), 10**9) for one in groups])
    assert every is not None
    assert every.links.tolist() == np.flatnonzero(busy).tolist()
    assert every.seconds == pytest.approx(busy[busy > 0])


def test_paths_are_found_for_the_targets_that_are_needed():
    """A transfer to one server of many looks up no paths to others than those of its block."""
    asked: list[int] = []
    network = flat(3 * TARGETS, GBPS, 0)

    def router(source, target, route):
        asked.extend(np.unique(target).tolist())
        return network.router(source, target, route)

    fabric = Fabric(replace(network, router=router), BARE)

    def box(server: int, size: int) -> Boxes:
        return Boxes(*(np.array([number]) for number in (server, 0, 1, 0, size)))

    first, last = 0, 3 * TARGETS - 1
    assert asked == []
    load = fabric.transfer(Transfer(box(first, 1000), box(last, 1000)))
    assert load is not None
    assert load.links.size == 2
    assert asked == list(range(2 * TARGETS, 3 * TARGETS))
    fabric.transfer(Transfer(box(first, 7), box(last, 1000)))
    assert len(asked) == TARGETS
