"""Servers that are linked directly, from the scenario to the result."""

from typing import Any

import numpy as np
import pytest

import bridge
from frontend import load_scenario
from frontend.resolve import resolve

SERVER = {"model": "dgx_h100", "gpus": 2, "nics": 2}
DIRECT = {
    "family": "direct_servers",
    "servers": 6,
    "server": SERVER,
    "scale_out": "ring:n=6",
    "buffer": "64MB",
}
TOPOOPT = {"family": "topoopt_servers", "servers": 6, "server": SERVER, "buffer": "64MB"}
BERT = {
    "name": "bert",
    "blocks": 1,
    "hidden": 16,
    "feed_forward": 32,
    "sequence": 4,
    "heads": 2,
    "embedding": 8,
    "vocabulary": 100,
}


def scenario(topology: dict[str, Any], fabric: str = "express", **work: Any) -> dict[str, Any]:
    usual = {"kind": "collective", "operation": "all_reduce", "algorithm": "hierarchical"}
    return {"fabric": fabric, "topology": topology, "workload": usual | {"bytes": "1MB"} | work}


@pytest.mark.parametrize("fabric", ["express", "flow"])
def test_topoopt_finds_the_ring_for_an_all_reduce(fabric: str) -> None:
    """With two ports, TopoOpt's links for one all-reduce are a ring; it takes as long as one."""
    results = [bridge.run(scenario(topology, fabric)) for topology in (DIRECT, TOPOOPT)]
    assert results[0].time_ns == pytest.approx(results[1].time_ns, rel=0.05)
    assert results[0].network.payload_bytes == results[1].network.payload_bytes
    # 2·(6-1)/6 of half of the vector in each direction: NIC k is linked to the next or the last
    # server, so a rail's ring uses both NICs in turn.
    least = 2 * 5 / 6 * 500_000 * 8 / 400
    assert all(result.time_ns > least for result in results)


def test_topoopt_links_servers_for_the_transfers_of_the_workload() -> None:
    """Two groups of servers that train on their own get rings of their own."""
    demand = {
        "nodes": 6,
        "all_reduce": [{"members": [0, 1, 2], "bytes": 100}, {"members": [3, 4, 5], "bytes": 100}],
    }
    topology = TOPOOPT | {"demand": demand, "d": 4, "server": SERVER | {"nics": 4}}
    network = resolve(load_scenario(scenario(topology))).network
    outside = network.dimension == network.dimensions.index("scale_out")
    ends = np.stack([network.source, network.target])[:, outside] // 2
    inside = sum((a // 3 == b // 3) for a, b in ends.T.tolist())
    assert inside > outside.sum() / 2  # the other links connect the two groups


def test_a_training_job_on_servers_that_topoopt_links() -> None:
    work = {"kind": "training", "model": BERT, "batch_per_gpu": 1, "gpus": 1}
    content = scenario(TOPOOPT | {"demand": "workload"}) | {"workload": work}
    resolved = resolve(load_scenario(content))
    assert resolved.ranks == 12
    assert resolved.layout.super_node == 2
    assert bridge.run(content).status == "complete"


@pytest.mark.parametrize(
    ("topology", "problem"),
    [
        (DIRECT | {"servers": 5}, r"topology\.scale_out: value ring:n=6: 6 nodes: .*5 servers"),
        (DIRECT | {"scale_out": "blob"}, r"topology\.scale_out: .*expected one of the families"),
        (
            DIRECT | {"scale_out": "complete:n=6"},
            r"topology\.scale_out: .*5 ports of a server: expected a multiple or a divisor",
        ),
        (DIRECT | {"server": SERVER | {"nics": 3}}, r"topology\.server\.nics: .*3 NICs"),
        (TOPOOPT | {"demand": "workload"}, r"topology\.demand: .*workload.kind is not training"),
        (TOPOOPT | {"demand": {"nodes": 4}}, r"topology\.demand: .*4 nodes: expected the 6 serv"),
        (TOPOOPT | {"d": 3}, r"topology\.d: .*multiple or a divisor of the 2 NICs"),
        (TOPOOPT | {"d": 1}, r"topology\.d: .*degree 1: expected at least"),
        (DIRECT | {"buffer": "1KB"}, r"topology\.buffer: .*expected at least"),
    ],
)
def test_refused(topology: dict[str, Any], problem: str) -> None:
    with pytest.raises(bridge.ScenarioError, match=problem):
        load_scenario(scenario(topology))
