"""The two trees: shape, depth and complementarity."""

import networkx as nx
import numpy as np
import pytest

from frontend.collectives import Op, build
from frontend.collectives.algorithms.double_binary_tree import binary_tree, double_tree
from topology_gen import graphs
from topology_gen.networks.direct_connect import parallel_index

SIZES = [*range(2, 34), 64, 100, 127, 128]


def graph(parents):
    return nx.DiGraph((parent, rank) for rank, parent in enumerate(parents) if parent is not None)


@pytest.mark.parametrize("size", SIZES)
def test_both_are_binary_trees_of_logarithmic_depth(size):
    for parents in double_tree(size):
        tree = graph(parents)
        assert nx.is_arborescence(tree)
        assert sorted(tree) == list(range(size))
        assert max(degree for _, degree in tree.out_degree()) <= 2
        assert nx.dag_longest_path_length(tree) == (size - 1).bit_length()


@pytest.mark.parametrize("size", SIZES)
def test_ranks_are_interior_in_one_tree(size):
    interior = [{p for p in parents if p is not None} for parents in double_tree(size)]
    both = interior[0] & interior[1]
    assert len(both) <= size % 2
    assert interior[0] | interior[1] == set(range(size))


def test_depths_of_the_paper():
    # "trees in scale-out dimension are shallower in hierarchical (4 … vs. 7 in flat)"
    for ranks, depth in ((16, 4), (128, 7)):
        assert nx.dag_longest_path_length(graph(binary_tree(ranks))) == depth


def test_eight_ranks_by_hand():
    assert double_tree(8) == (
        [None, 2, 4, 2, 0, 6, 4, 6],
        [1, 3, 1, 7, 5, 3, 5, None],
    )


@pytest.mark.parametrize("size", [2, 5, 8, 12, 16])
def test_with_links_of_their_own_the_trees_share_none(size):
    """On the topology of both trees, each link carries one tree's half once per direction."""
    segments = 3
    program = build("all_reduce", "dbt", size, segments=segments, separate_links=True)
    sends = program.op == Op.SEND
    route = program.route[sends] if program.route.size else np.zeros(int(sends.sum()), int)
    ends = np.column_stack((program.members()[sends], program.peer[sends], route))
    used, messages = np.unique(ends, axis=0, return_counts=True)
    # Each segment of the tree crosses a link once, up or down.
    assert set(messages.tolist()) == {segments}
    both = graphs.double_binary_tree(size)
    links = {(s, t, int(k)) for (s, t), k in zip(both.edges(), parallel_index(both), strict=True)}
    assert set(map(tuple, used.tolist())) == links
