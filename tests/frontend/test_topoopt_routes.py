"""TopoOpt's routes in a scenario: spread model-parallel messages, and all-reduces along rings."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

from frontend import ScenarioError, load_scenario
from frontend.collectives import build, check
from frontend.compiler.compile import records
from frontend.resolve import resolve
from frontend.workloads import training
from frontend.workloads.plan import NodeType
from tests.frontend.test_training import load, topoopt
from topology_gen.topoopt import Routes

RANKS = 16


def resolved_with(**changes):
    collective = changes.pop("collective", None)
    return resolve(load(topology=topoopt(n=RANKS, **changes), collective=collective))


def topology_record(resolved):
    (found,) = [r.topology for r in records(resolved) if r.HasField("topology")]
    return found


def sends(resolved):
    """Return the route and bytes of each message, by its ends and name."""
    found = defaultdict(list)
    for trace in resolved.plan.all_traces():
        for rank in trace.ranks:
            for node in trace.nodes:
                if node.type == NodeType.SEND:
                    found[rank, node.peer, node.name].append((node.route, node.bytes))
    return found


@pytest.mark.parametrize("count", [1, 2, 3])
def test_messages_are_divided_among_the_paths(count):
    resolved = resolved_with(paths=count)
    moved = np.zeros((RANKS, RANKS))
    for (source, target, _), parts in sends(resolved).items():
        assert [route for route, _ in parts] == list(range(count))
        sizes = [size for _, size in parts]
        assert max(sizes) - min(sizes) <= 1
        moved[source, target] += sum(sizes)
    demand = training.transfers(resolved.scenario.workload, RANKS)
    assert moved.any()
    assert (moved == demand.mp).all()


def test_two_paths_are_the_default():
    assert resolved_with().scenario.topology.paths == 2
    assert {len(parts) for parts in sends(resolved_with()).values()} == {2}


def test_the_stream_has_the_routes_of_the_topology():
    resolved = resolved_with(paths=3)
    record = topology_record(resolved)
    links = {}
    counts: dict[tuple[int, int], int] = defaultdict(int)
    for path, pair in enumerate(zip(record.path_source, record.path_target, strict=True)):
        begin, end = record.path_begin[path], record.path_begin[path + 1]
        links[(*pair, counts[pair])] = list(record.path_links[begin:end])
        counts[pair] += 1
    routes = Routes(resolved.layout.found, 3)
    source, target, route = np.array(list(links)).T
    begin, found = routes(source, target, route)
    for index, wanted in enumerate(links.values()):
        assert found[begin[index] : begin[index + 1]].tolist() == wanted
    # Messages between ranks that are not neighbours take different paths.
    spread = [[links[a, b, route] for route in range(3)] for a, b in counts if counts[a, b] >= 3]
    assert any(len({tuple(path) for path in paths}) == 3 for paths in spread)


def test_all_reduces_are_relayed_along_rings():
    """The trees of a DBT have few links of their own: coin-change ways along the rings do."""
    resolved = resolved_with(paths=2, collective={"all_reduce": "dbt"})
    every = list(records(resolved))
    programs = [record.program for record in every if record.HasField("program")]
    assert programs
    first = resolved.layout.relay_route
    assert first == 2
    for program in programs:
        sent = [i for i, op in enumerate(program.op) if op == 0]
        assert {program.route[step] for step in sent} >= {first}
        assert min(program.route[step] for step in sent) == first
    topology = resolved.layout.found
    ring_links = topology.graph.links - 2 * sum(len(pairs) for pairs in topology.matchings)
    far = np.argwhere(~np.eye(RANKS, dtype=bool))
    linked = set(topology.graph.edges())
    far = np.array([pair for pair in far.tolist() if tuple(pair) not in linked])
    paths = resolved.network.paths(*far.T, first)
    assert (paths.links < ring_links).all()


def test_other_topologies_have_one_path():
    flat = resolve(load(ranks=RANKS))
    assert {len(parts) for parts in sends(flat).values()} == {1}
    assert flat.layout.relay_route == 0


@pytest.mark.parametrize("count", [0, 65])
def test_refused_counts(count):
    with pytest.raises(ScenarioError, match=r"topology\.paths"):
        load_scenario(load(topology=topoopt()), {"topology.paths": count})


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_direct_all_to_all_is_divided_among_the_paths(count):
    """Every block has a message on each of the k paths, and the messages have equal parts."""
    topology = {**topoopt(n=RANKS, paths=count)}
    del topology["demand"]
    workload = {"kind": "collective", "operation": "all_to_all", "bytes": "96KB"}
    resolved = resolve(
        load_scenario({"topology": topology, "workload": workload | {"algorithm": "direct"}})
    )
    (program,) = [r.program for r in records(resolved) if r.HasField("program")]
    routes: dict[tuple[int, int], list[int]] = defaultdict(list)
    assert program.offset_turn, "a rotation: the steps are those of member 0"
    taken = program.route or [0] * len(program.op)
    for step, op in enumerate(program.op):
        if op == 0:
            assert program.count[step] == 1
            for member in range(RANKS):
                routes[member, (program.peer[step] + member) % RANKS].append(taken[step])
    assert set(routes) == {(a, b) for a in range(RANKS) for b in range(RANKS) if a != b}
    assert all(sorted(found) == list(range(count)) for found in routes.values())
    assert program.units == RANKS * count


@pytest.mark.parametrize("order", ["rotated", "same", "random"])
@pytest.mark.parametrize("routes", [2, 3])
def test_divided_all_to_alls_are_right(order, routes):
    check(build("all_to_all", "direct", 5, peer_order=order, routes=routes))
