"""Scenarios with links that differ, boxes with switches, failures, and trees over them."""

import pytest

from frontend import ScenarioError, load_scenario
from frontend.collectives import check
from frontend.collectives.program.program import Op
from frontend.compiler.programs import ProgramLibrary
from frontend.resolve import resolve
from topology_gen.networks.direct_connect import route_numbers
from topology_gen.schedules.tree_collectives import tree_collective

LINKS = {"bandwidth": "100Gbps", "latency": "1us", "buffer": "unlimited"}
BOXES = {
    "family": "boxes",
    "ranks": 8,
    "ranks_per_box": 4,
    "scale_up": {"bandwidth": "300Gbps", "latency": "500ns"},
    "rail": {"bandwidth": "50Gbps", "latency": "2us"},
    "buffer": "unlimited",
}


def load(topology, operation="all_gather", algorithm="trees", **workload):
    return load_scenario(
        {
            "topology": topology,
            "workload": {
                "kind": "collective",
                "operation": operation,
                "algorithm": algorithm,
                "bytes": "1MB",
            }
            | workload,
        }
    )


def program_of(scenario):
    """Return the program of a scenario's only collective."""
    resolved = resolve(scenario)
    library = ProgramLibrary(resolved)
    library.use(resolved.plan.issues[0])
    return library.programs[0]


@pytest.mark.parametrize("inside", ["mesh", "switch"])
@pytest.mark.parametrize(
    ("operation", "root"),
    [("all_gather", 0), ("reduce_scatter", 0), ("all_reduce", 0), ("broadcast", 5), ("reduce", 2)],
)
def test_trees_are_right(inside, operation, root):
    program = program_of(load(BOXES | {"inside": inside}, operation, root=root, segments=3))
    assert (program.name, program.operation, program.root) == ("trees", operation, root)
    check(program)


def test_rates_and_latencies_of_links():
    setting = {"link": "0-1", "bandwidth": "25Gbps"}, {"link": "1>2", "latency": "9us"}
    scenario = load(
        LINKS | {"family": "direct_connect", "graph": "ring:n=4", "links": setting}, algorithm="bfb"
    )
    network = resolve(scenario).network
    found = {
        (int(s), int(t)): (int(r) // 10**9, int(p) // 10**6)
        for s, t, r, p in zip(
            network.source, network.target, network.rate_bps, network.latency_ps, strict=True
        )
    }
    assert found[0, 1] == found[1, 0] == (25, 1)
    assert (found[1, 2], found[2, 1], found[2, 3]) == ((100, 9), (100, 1), (100, 1))
    assert load_scenario(scenario.resolved()).resolved() == scenario.resolved()
    # Shards avoid the slow link where they can: rank 2's goes to 0 over 3, not over 1.
    program = program_of(scenario)
    check(program)
    carried = {(0, 1): 0, (2, 3): 0}
    for step, member in enumerate(program.members().tolist()):
        pair = member, int(program.peer[step])
        if program.op[step] == Op.SEND and pair in carried:
            carried[pair] += int(program.count[step])
    assert carried[0, 1] < carried[2, 3]


def test_failures():
    torus = LINKS | {"family": "direct_connect", "graph": "torus:dims=4x4"}
    for without, ranks, links in (["0-1"], 16, 62), ([5], 15, 56), (["0>1", "7"], 15, 55):
        for algorithm in ("bfb", "trees"):
            scenario = load(torus | {"without": without}, algorithm=algorithm)
            resolved = resolve(scenario)
            assert (resolved.ranks, resolved.network.links) == (ranks, links)
            check(program_of(scenario))


def test_switches_of_edges():
    # Ranks 0 … 2 on switches 3 and 4, of which the second is faster.
    up = [[rank, 3] for rank in range(3)] + [[rank, 4, "400Gbps"] for rank in range(3)]
    edges = [*up, *([pair[1], pair[0], *pair[2:]] for pair in up)]
    scenario = load(LINKS | {"family": "direct_connect", "graph": edges, "switches": 2})
    resolved = resolve(scenario)
    assert (resolved.ranks, resolved.network.nodes) == (3, 5)
    wiring = resolved.layout.wiring
    assert wiring is not None
    made = tree_collective(wiring, "all_gather")
    assert made.optimum_bps == 500 * 10**9 * 3 // 2
    # Every path over a switch has a route that follows it.
    routes = route_numbers(made.wiring, made.graph, made.paths)
    found = resolved.network.paths(made.graph.source, made.graph.target, routes)
    for channel, path in enumerate(made.paths):
        begin, end = found.begin[channel : channel + 2]
        assert found.links[begin:end].tolist() == list(path)
    check(program_of(scenario))


@pytest.mark.parametrize(
    ("topology", "workload", "sentence"),
    [
        ({"links": [{"link": "0-2"}]}, {}, "topology.links.0.link: value 0-2: '0-2': there is no"),
        ({"links": [{"link": "0"}]}, {}, "topology.links.0.link: value 0: '0': expected"),
        ({"without": ["0-1", "2-3"]}, {}, "topology.without: value ['0-1', '2-3']: not connected"),
        ({}, {"root": 4, "operation": "reduce"}, "workload.root: value 4: expected a rank from 0"),
        ({}, {"root": 1}, "workload.root: value 1: expected 0, because all_gather has no root"),
        (BOXES | {"ranks": 6}, {}, "topology.ranks: value 6: expected a multiple of topology.rank"),
        (
            BOXES | {"inside": "switch"},
            {"algorithm": "bfb"},
            "workload.algorithm: value bfb: expected one of ring, direct, dbt, ",
        ),
    ],
)
def test_wrong_input(topology, workload, sentence):
    ring = LINKS | {"family": "direct_connect", "graph": "ring:n=4"}
    whole = topology if "family" in topology else ring | topology
    with pytest.raises(ScenarioError) as caught:
        load(whole, **workload)
    assert str(caught.value).startswith(sentence)
