"""The two trees: shape, depth and complementarity."""

import networkx as nx
import pytest

from frontend.collectives.double_binary_tree import binary_tree, double_tree

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
