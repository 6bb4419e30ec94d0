"""The two trees: shape, depth and complementarity."""

from math import gcd

import networkx as nx
import numpy as np
import pytest

from frontend.collectives import Op, build, check
from frontend.collectives.algorithms.double_binary_tree import binary_tree, double_tree, trees_of
from topology_gen import graphs
from topology_gen.networks.direct_connect import parallel_index
from topology_gen.topoopt import tree_permutations

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


@pytest.mark.parametrize(("size", "pairs"), [(2, 3), (12, 3), (16, 4), (17, 2), (12, 9)])
def test_pairs_of_trees_are_the_first_with_other_orders(size, pairs):
    """TopoOpt's tree permutations: stride p puts rank j·p at the place of rank j."""
    strides = tree_permutations(size, pairs)
    first = list(double_tree(size))
    expected = []
    for stride in strides:
        for parents in first:
            permuted: list[int | None] = [None] * size
            for rank, parent in enumerate(parents):
                if parent is not None:
                    permuted[rank * stride % size] = parent * stride % size
            expected.append(permuted)
    found = trees_of(size, pairs)
    assert found == expected
    assert found[:2] == first
    assert len(found) == 2 * min(pairs, sum(gcd(p, size) == 1 for p in range(1, size)))
    for parents in found:
        assert nx.is_arborescence(graph(parents))


@pytest.mark.parametrize("operation", ["all_reduce", "reduce_scatter", "all_gather"])
@pytest.mark.parametrize(("size", "pairs"), [(2, 2), (5, 2), (12, 3)])
@pytest.mark.parametrize("separate", [False, True])
def test_programs_of_several_pairs_are_right(operation, size, pairs, separate):
    program = build(operation, "dbt", size, segments=3, pairs=pairs, separate_links=separate)
    check(program)


def test_more_pairs_load_more_links_more_evenly():
    """Each pair carries an equal part, so no pair of ranks carries more than with one pair."""

    def busiest(pairs):
        program = build("all_reduce", "dbt", 16, segments=2, pairs=pairs)
        sends = program.op == Op.SEND
        load = np.zeros((16, 16))
        np.add.at(load, (program.members()[sends], program.peer[sends]), 1 / program.units)
        return load.max(), np.count_nonzero(load)

    (one, few), (four, many) = busiest(1), busiest(4)
    assert four < one
    assert many > few


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
