"""What each member sends and receives equals the closed form of its algorithm.

Units are 1/`units` of the buffer of D bytes; equations are in buffers.
"""

from fractions import Fraction

import numpy as np
import pytest

from frontend.collectives import build, traffic

SIZES = [*range(2, 34), 64, 128]


def sent_and_received(program, phase=None):
    """Return the buffers sent and received by each member, as exact fractions."""
    moved = traffic(program, phase)
    assert moved.sent.sum() == moved.received.sum()
    return tuple(
        [Fraction(int(units), program.units) for units in side]
        for side in (moved.sent, moved.received)
    )


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("algorithm", ["ring", "direct"])
def test_ring_and_direct_are_optimal(algorithm, size):
    # all-reduce: 2(N-1)/N · D; reduce-scatter and all-gather: half of it.
    share = Fraction(size - 1, size)
    for operation, factor in (("all_reduce", 2), ("reduce_scatter", 1), ("all_gather", 1)):
        sent, received = sent_and_received(build(operation, algorithm, size))
        assert sent == received == [factor * share] * size


@pytest.mark.parametrize("size", SIZES)
def test_all_to_all(size):
    # direct: N-1 blocks of D/N. ring: N(N-1)/2 block hops. Bruck: set bits of 1 … N-1.
    hops = {
        "direct": size - 1,
        "ring": size * (size - 1) // 2,
        "halving_doubling": sum(j.bit_count() for j in range(1, size)),
    }
    for algorithm, blocks in hops.items():
        sent, received = sent_and_received(build("all_to_all", algorithm, size))
        assert sent == received == [Fraction(blocks, size)] * size
    rounds = (size - 1).bit_length()
    assert set(traffic(build("all_to_all", "halving_doubling", size)).messages) == {rounds}


@pytest.mark.parametrize("size", SIZES)
def test_double_binary_tree_all_reduce(size):
    # 2 trees · (N-1) edges · 2 ways · D/2 in all; 2·D at most anywhere.
    sent, received = sent_and_received(build("all_reduce", "dbt", size, segments=4))
    assert sum(sent) == 2 * (size - 1)
    assert max(sent) <= 2
    assert max(received) <= 2
    assert sent == received  # each edge carries as much up as down


@pytest.mark.parametrize("size", SIZES)
def test_double_binary_tree_shards(size):
    # Each shard crosses every edge of a tree once: (N-1)·D in all, evenly on one side.
    share = Fraction(size - 1, size)
    sent, received = sent_and_received(build("reduce_scatter", "dbt", size))
    assert sent == [share] * size
    gathered = sent_and_received(build("all_gather", "dbt", size))
    assert gathered == (received, sent)
    # A rank interior in one tree only: (1 + 1/N)·D at most.
    assert sum(amount > 1 + Fraction(1, size) for amount in received) <= size % 2


@pytest.mark.parametrize("size", SIZES)
def test_halving_doubling_all_reduce(size):
    # 2(P-1)/P · D for the P participants, D for the extra ranks and D more for their neighbours.
    power = 1 << (size.bit_length() - 1)
    extras = size - power
    core = Fraction(2 * (power - 1), power)
    expected = [Fraction(1), core + 1] * extras + [core] * (power - extras)
    assert sent_and_received(build("all_reduce", "halving_doubling", size)) == (expected, expected)


@pytest.mark.parametrize("size", SIZES)
def test_halving_doubling_shards(size):
    # (N-1)/N · D on the one side that is even, whatever N is; on both for a power of two.
    share = [Fraction(size - 1, size)] * size
    sent, received = sent_and_received(build("reduce_scatter", "halving_doubling", size))
    assert sent == share
    assert sent_and_received(build("all_gather", "halving_doubling", size)) == (received, share)
    if size & (size - 1) == 0:
        assert received == share


@pytest.mark.parametrize(("nodes", "supers"), [(2, 2), (3, 5), (8, 4), (8, 16), (5, 3)])
class TestHierarchical:
    def test_all_reduce_moves_all_data_in_both_dimensions(self, nodes, supers):
        size = nodes * supers
        program = build("all_reduce", "hierarchical", size, local_size=nodes)
        assert program.phase_dimension == ("scale_up", "scale_out")
        local = Fraction(2 * (nodes - 1), nodes)
        assert sent_and_received(program, 0) == ([local] * size, [local] * size)
        across = sent_and_received(build("all_reduce", "dbt", supers))[0]
        assert sent_and_received(program, 1)[0] == [x for x in across for _ in range(nodes)]

    def test_optimal_all_reduce_moves_a_shard_between_super_nodes(self, nodes, supers):
        size = nodes * supers
        program = build("all_reduce", "hierarchical_optimal", size, local_size=nodes)
        assert program.phase_dimension == ("scale_up", "scale_out", "scale_up")
        local = [Fraction(nodes - 1, nodes)] * size
        assert sent_and_received(program, 0) == sent_and_received(program, 2) == (local, local)
        across = sent_and_received(build("all_reduce", "dbt", supers))[0]
        expected = [x / nodes for x in across for _ in range(nodes)]
        assert sent_and_received(program, 1)[0] == expected

    def test_a_shard_goes_between_super_nodes_once(self, nodes, supers):
        """Reduce-scatter: (L-1)/L · D, then (S-1)/S of a shard D/L. An all-gather is the reverse.

        Blocks are copied in a first or last phase without messages.
        """
        size = nodes * supers
        local = Fraction(nodes - 1, nodes)
        across = Fraction(supers - 1, size)
        ring = {"local_size": nodes, "scale_out_algorithm": "ring"}
        for operation, phases in (
            ("reduce_scatter", [local, across, 0]),
            ("all_gather", [0, across, local, 0]),
        ):
            program = build(operation, "hierarchical", size, **ring)
            for phase, share in enumerate(phases):
                assert sent_and_received(program, phase) == ([share] * size, [share] * size)

    def test_all_to_all_moves_blocks_once_in_each_dimension(self, nodes, supers):
        size = nodes * supers
        program = build("all_to_all", "hierarchical", size, local_size=nodes)
        assert program.phase_dimension == ("scale_up", "scale_out")
        for phase, share in enumerate((Fraction(nodes - 1, nodes), Fraction(supers - 1, supers))):
            assert sent_and_received(program, phase) == ([share] * size, [share] * size)
        assert set(traffic(program, 0).messages) == {nodes - 1}
        assert set(traffic(program, 1).messages) == {supers - 1}

    def test_messages_stay_within_their_dimension(self, nodes, supers):
        for operation, algorithm in (
            ("all_reduce", "hierarchical"),
            ("all_reduce", "hierarchical_optimal"),
            ("all_to_all", "hierarchical"),
            ("reduce_scatter", "hierarchical"),
            ("all_gather", "hierarchical"),
        ):
            program = build(operation, algorithm, nodes * supers, local_size=nodes)
            names = np.array(program.phase_dimension)[program.phase]
            member, peer = program.members(), program.peer.astype(np.int64)
            up = names == "scale_up"
            assert np.array_equal(member[up] // nodes, peer[up] // nodes)
            assert np.array_equal(member[~up] % nodes, peer[~up] % nodes)
