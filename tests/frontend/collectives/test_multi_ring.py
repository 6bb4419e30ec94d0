"""Multi-ring: each ring carries an equal part over its own links, in 2(k-1) rounds."""

from __future__ import annotations

from math import gcd

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frontend import load_scenario
from frontend.collectives import CollectiveError, Op, build, check
from frontend.collectives.algorithms.ring import MULTI_RING, logical_rings
from frontend.collectives.program.program import COLUMNS
from frontend.collectives.program.rotation import Rotation
from frontend.collectives.program.scheduled import scheduled
from frontend.compiler.compile import compile_scenario
from frontend.stream import decode
from topology_gen.graphs.totient_perms import ring
from topology_gen.schedules import rings
from topology_gen.topoopt import all_reduce_matrix, data_parallel, topology_finder, traffic_matrix


def matrix(program):
    """Return the traffic between members, as fractions of the vector."""
    result = np.zeros((program.group_size, program.group_size))
    sends = program.op == Op.SEND
    ends = (program.members()[sends], program.peer[sends])
    np.add.at(result, ends, program.count[sends] / program.units)
    return result


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 12), st.integers(1, 3), st.booleans(), st.randoms(use_true_random=False))
def test_right_for_any_orders_and_evenly_split(size, count, duplex, random):
    orders = [random.sample(range(size), size) for _ in range(count)]
    program = build("all_reduce", "multi_ring", size, orders=orders, duplex=duplex)
    check(program)
    expected = all_reduce_matrix(size, orders, 1.0, duplex and size > 2)
    assert matrix(program) == pytest.approx(expected)


@pytest.mark.parametrize("operation", ["all_reduce", "reduce_scatter", "all_gather"])
@pytest.mark.parametrize("duplex", [False, True])
@pytest.mark.parametrize("size", [2, 3, 5, 8, 9])
def test_rings_with_strides_are_a_rotation_with_the_same_steps(size, duplex, operation):
    strides = [stride for stride in (1, 3, 1, 4) if gcd(stride, size) == 1]
    orders = [ring(range(size), stride) for stride in strides]
    rule = MULTI_RING.build(operation, size, orders=orders, duplex=duplex)
    assert isinstance(rule, Rotation)
    graph = logical_rings(size, orders, duplex)
    table = scheduled(
        "multi_ring",
        operation,
        scatter=None if operation == "all_gather" else rings.reduce_scatter(graph),
        gather=None if operation == "reduce_scatter" else rings.all_gather(graph),
    )
    made = rule.table()
    assert made.units == table.units
    for column in COLUMNS:
        assert np.array_equal(getattr(made, column), getattr(table, column)), column


def test_on_topoopt_every_message_has_a_link_of_its_own():
    topology = topology_finder(data_parallel(16, 1.0), 6)
    program = MULTI_RING.build("all_reduce", 16, orders=topology.spanning_orders, duplex=True)
    assert isinstance(program, Rotation)
    traffic = traffic_matrix(data_parallel(16, 1.0), topology)
    assert matrix(program.table()) == pytest.approx(traffic)
    assert logical_rings(16, topology.spanning_orders, True).edges() == topology.graph.edges()


@pytest.mark.parametrize(
    ("topology", "rings", "flows"),
    [
        # TopoOpt has three duplex rings; a fat-tree has the given number of rings, or one.
        ({"family": "topoopt", "n": 16, "d": 6}, "auto", 16 * 6),
        ({"family": "topoopt", "n": 16, "d": 6}, 2, 16 * 2),
        ({"family": "fat_tree", "ranks": 16}, "auto", 16),
        ({"family": "fat_tree", "ranks": 16}, 3, 16 * 3),
    ],
)
def test_scenario(topology, rings, flows):
    links = {"bandwidth": "25Gbps", "latency": "1us", "buffer": "1MB"}
    workload = {"kind": "collective", "operation": "all_reduce", "algorithm": "multi_ring"}
    scenario = load_scenario(
        {"topology": links | topology, "workload": workload | {"bytes": "1MB", "rings": rings}}
    )
    records = decode(compile_scenario(scenario))
    paths = next(r.topology for r in records if r.HasField("topology"))
    pairs = set(zip(paths.path_source, paths.path_target, strict=True))
    # The pairs of each ring and, for ACKs, their reverses.
    duplex = topology["family"] == "topoopt" and rings == "auto"
    assert len(pairs) == (flows if duplex else 2 * flows)


@pytest.mark.parametrize("orders", [[[0, 1]], [[0, 1, 1]], [[0, 1, 2], [0, 1, 3]], []])
def test_refusals(orders):
    with pytest.raises(CollectiveError, match="multi_ring: expected"):
        build("all_reduce", "multi_ring", 3, orders=orders)
