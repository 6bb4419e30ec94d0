"""Failed fibres: connected without any one, slower rings, and repairs with matched links."""

from __future__ import annotations

from collections import Counter

import networkx as nx
import numpy as np
import pytest

from topology_gen.errors import ParameterError
from topology_gen.topoopt import (
    AllReduce,
    Demand,
    all_reduce_slowdown,
    data_parallel,
    repaired,
    topology_finder,
    without_fibre,
)


def hybrid(servers: int) -> Demand:
    """A job with as many model-parallel bytes as all-reduced ones."""
    group = AllReduce(tuple(range(servers)), 1e9)
    mp = np.full((servers, servers), group.traffic / servers**2)
    np.fill_diagonal(mp, 0)
    return Demand(servers, (group,), mp)


def fibres(topology) -> list[tuple[int, int]]:
    """The fibres of all rings."""
    return [
        (server, (server + stride) % topology.nodes)
        for stride in topology.coins
        for server in range(topology.nodes)
    ]


@pytest.mark.parametrize(("servers", "degree"), [(12, 4), (16, 8), (32, 4)])
def test_no_single_fibre_disconnects_and_a_ring_takes_twice_as_long(
    servers: int, degree: int
) -> None:
    """A detour over links of other rings doubles their bytes: each carried 1/m of the vector."""
    job = data_parallel(servers, 1e9)
    topology = topology_finder(job, degree)
    assert all_reduce_slowdown(topology, job, topology.graph) == 1
    for fibre in fibres(topology):
        graph = without_fibre(topology.graph, fibre)
        assert graph.links == topology.graph.links - 2
        assert nx.is_strongly_connected(graph.graph())
        assert all_reduce_slowdown(topology, job, graph) == pytest.approx(2)
        assert repaired(topology, fibre) is None, "all links belong to rings"


def test_matched_links_repair_a_ring_within_the_ports() -> None:
    job = hybrid(16)
    topology = topology_finder(job, 8)
    assert topology.matchings
    for fibre in fibres(topology):
        graph = repaired(topology, fibre)
        assert graph is not None
        assert all_reduce_slowdown(topology, job, graph) == 1
        assert graph.self_loops == 0
        # Two matched fibres become two others, one of which replaces the failed fibre.
        assert graph.links == topology.graph.links - 2
        gone = Counter(topology.graph.edges()) - Counter(graph.edges())
        assert sum(gone.values()) <= 4
        assert np.bincount(graph.source).max() <= 8


def test_one_way_links() -> None:
    topology = topology_finder(data_parallel(6), 2, duplex=False)
    assert without_fibre(topology.graph, (0, 1), duplex=False).links == topology.graph.links - 1


@pytest.mark.parametrize("fibre", [(0, 2), (0, 0), (0, 99)])
def test_refusals(fibre: tuple[int, int]) -> None:
    topology = topology_finder(data_parallel(16), 2)
    with pytest.raises(ParameterError, match="expected two servers with a link"):
        without_fibre(topology.graph, fibre)
