"""Host links: a rank's ports share one connection, and paths keep their links between NICs."""

import numpy as np
import pytest

from topology_gen import graphs
from topology_gen.errors import LinkError
from topology_gen.networks.direct_connect import direct_connect, with_host_links

RATE, HOST = 25 * 10**9, 60 * 10**9


@pytest.mark.parametrize("graph", [graphs.torus([3, 3, 2]), graphs.ring(5, 4)])
def test_paths_are_those_before_between_two_host_links(graph):
    before = direct_connect(graph, RATE, 1000, 5000)
    after = with_host_links(before, HOST)
    pairs = [(s, t) for s in range(graph.nodes) for t in range(graph.nodes) if s != t]
    source, target = np.array(pairs).T
    for route in (0, 1):
        old, new = before.paths(source, target, route), after.paths(source, target, route)
        for i, (s, t) in enumerate(pairs):
            path = new.links[new.begin[i] : new.begin[i + 1]]
            assert path[1:-1].tolist() == old.links[old.begin[i] : old.begin[i + 1]].tolist()
            assert (after.source[path[0]], after.target[path[-1]]) == (s, t)
            assert np.array_equal(after.target[path[:-1]], after.source[path[1:]])
            assert after.rate_bps[path[[0, -1]]].tolist() == [HOST, HOST]


def test_links_between_ports_stay_the_same():
    before = direct_connect(graphs.circulant(8), RATE, 1000, 5000, 100)
    after = with_host_links(before, HOST)
    for name in ("rate_bps", "latency_ps", "buffer_bytes", "ecn_threshold_bytes", "dimension"):
        assert np.array_equal(getattr(after, name)[: before.links], getattr(before, name)), name
    assert after.nodes == len(after.node_names) == 16


def test_what_is_refused():
    network = direct_connect(graphs.ring(4), RATE, 1000, forwarding_delay_ps=5)
    with pytest.raises(LinkError, match="expected no forwarding delay"):
        with_host_links(network, HOST)
    with pytest.raises(LinkError, match="at least 1 bit/s"):
        with_host_links(direct_connect(graphs.ring(4), RATE, 1000), 0)
