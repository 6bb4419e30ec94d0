"""Servers that are linked directly: ports, NICs and rates, and the transfers between servers."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topology_gen import specs
from topology_gen.errors import ParameterError
from topology_gen.networks.servers import SERVERS, direct_servers
from topology_gen.topoopt import AllReduce, Demand
from topology_gen.topoopt.demand import between_servers

H100 = SERVERS["dgx_h100"]
GRAPHS = [
    "ring:n=5",
    "unidirectional_ring:n=4",
    "circulant:n=9,offsets=1+2",
    "kautz:d=2,k=2",
    "complete:n=5",
    "generalized_kautz:d=4,n=7",
]


def server_of(name):
    return int(name[len("gpu") :].partition(".")[0])


@pytest.mark.parametrize("spec", GRAPHS)
@pytest.mark.parametrize(("gpus", "nics"), [(8, 8), (4, 8), (2, 2), (1, 1)])
def test_every_nic_carries_its_rate(spec, gpus, nics):
    """Each link of the digraph is there, and no NIC sends or receives more than it can."""
    graph, server = specs.parse(spec), replace(H100, gpus=gpus, nics=nics)
    network = direct_servers(graph, server, 1000)
    outside = [link for link in network.links if not link.scale_up]
    joined = Counter((server_of(link.source), server_of(link.target)) for link in outside)
    copies = max(1, nics // graph.ports)
    # Self-loops use ports and carry nothing.
    wanted = Counter((a, b) for a, b in graph.edges() if a != b)
    assert joined == Counter({pair: count * copies for pair, count in wanted.items()})
    limit = server.endpoint_bps * server.nics_per_gpu
    for end in ("source", "target"):
        rates: Counter[str] = Counter()
        for link in outside:
            rates[getattr(link, end)] += link.rate_bps
        assert max(rates.values()) <= limit
        assert len(rates) <= graph.nodes * gpus
    degrees = Counter(a for a, b in graph.edges() if a != b)
    full = [server for server, degree in degrees.items() if degree == graph.ports]
    for number in full:  # a server with all its links sends at the rate of all its NICs
        rate = sum(link.rate_bps for link in outside if server_of(link.source) == number)
        assert rate == nics * server.endpoint_bps


def test_both_directions_use_the_same_nics():
    """A cable has two ends: what GPU a sends to over it sends to GPU a."""
    network = direct_servers(
        specs.parse("circulant:n=9,offsets=1+2"), replace(H100, gpus=4, nics=4), 0
    )
    outside = {(link.source, link.target) for link in network.links if not link.scale_up}
    assert outside == {(target, source) for source, target in outside}
    network.check_connected(ranks_forward=True)


def test_refused():
    with pytest.raises(ParameterError, match="3 ports of a server: expected a multiple or a div"):
        direct_servers(specs.parse("kautz:d=3,k=2"), H100, 0)


@given(st.integers(1, 4), st.integers(2, 5), st.integers(0, 10**6))
def test_transfers_between_servers(gpus, servers, seed):
    """No byte between servers is lost or invented, and none inside a server is left."""
    random = np.random.default_rng(seed)
    ranks = gpus * servers
    groups = tuple(
        AllReduce(tuple(random.permutation(ranks)[: random.integers(1, ranks + 1)].tolist()), 8.0)
        for _ in range(3)
    )
    matrix = random.integers(0, 9, (ranks, ranks)).astype(float)
    found = between_servers(Demand(ranks, groups, matrix), gpus)
    apart = np.arange(ranks)[:, None] // gpus != np.arange(ranks)[None, :] // gpus
    assert found.mp.sum() == matrix[apart].sum()
    assert np.trace(found.mp) == 0
    wide = [group for group in groups if len({member // gpus for member in group.members}) > 1]
    assert sum(group.bytes for group in found.groups) == 8.0 * len(wide)
    assert all(len(group.members) > 1 for group in found.groups)
