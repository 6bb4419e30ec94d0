"""Network: export to networkx, path requests, and laws over both families."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from topology_gen import PathError, TopologyError, errors, flat, hierarchical

NETWORKS = {
    "flat": lambda: flat(6, 10**9, 5, 600, 7),
    "hierarchical": lambda: hierarchical(6, 3, 2, 10**9, 5, 10**8, 9, 300, 600, 7),
}


@pytest.mark.parametrize("family", NETWORKS)
def test_networkx_export_is_the_same_network(family):
    network = NETWORKS[family]()
    graph = network.graph()
    assert graph.number_of_nodes() == network.nodes
    assert graph.number_of_edges() == network.links
    assert tuple(nx.get_node_attributes(graph, "name").values()) == network.node_names
    for source, target, link, data in graph.edges(keys=True, data=True):
        assert source == network.source[link]
        assert target == network.target[link]
        for name in ("rate_bps", "latency_ps", "buffer_bytes", "ecn_threshold_bytes"):
            assert data[name] == getattr(network, name)[link]
        assert data["dimension"] == network.dimensions[network.dimension[link]]
    assert nx.is_strongly_connected(graph)


def test_flat_is_a_star():
    graph = nx.Graph(NETWORKS["flat"]().graph())
    assert nx.is_isomorphic(graph, nx.star_graph(6))


@settings(deadline=None)
@given(
    supers=st.integers(1, 5),
    local=st.integers(2, 9),
    switches=st.integers(1, 9),
    data=st.data(),
)
def test_paths_consist_of_consecutive_links(supers, local, switches, data):
    ranks = supers * local
    network = data.draw(
        st.sampled_from(
            [
                flat(ranks, 10**9, 1),
                hierarchical(ranks, local, switches, 10**9, 1, 10**9, 1),
            ]
        )
    )
    source = data.draw(st.integers(0, ranks - 1))
    target = data.draw(st.integers(0, ranks - 1).filter(lambda rank: rank != source))
    links = network.paths([source], [target]).links
    nodes = [source, *network.target[links].tolist()]
    assert nodes[:-1] == network.source[links].tolist()
    assert nodes[-1] == target


def test_no_pairs_give_no_paths():
    paths = NETWORKS["flat"]().paths([], [])
    assert paths.begin.tolist() == [0]
    assert paths.links.size == 0
    assert paths.links.dtype == np.uint32


@pytest.mark.parametrize(
    ("source", "target", "text"),
    [
        ([0, 1], [2], "expected pairs, but there are 2 sources and 1 targets"),
        ([6], [0], "no path: 6 is not a rank (0 … 5)"),
        ([0], [-1], "no path: -1 is not a rank (0 … 5)"),
        ([0, 3], [1, 3], "no path from rank 3 to itself"),
    ],
)
def test_impossible_pairs(source, target, text):
    with pytest.raises(PathError) as caught:
        NETWORKS["flat"]().paths(source, target)
    assert str(caught.value) == text


def test_one_exception_tree_with_one_line_meanings():
    for error in (errors.RankCountError, errors.LinkError, errors.PathError):
        assert issubclass(error, TopologyError)
        assert error.__doc__
        assert "\n" not in error.__doc__
