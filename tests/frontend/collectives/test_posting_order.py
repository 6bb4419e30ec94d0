"""The order in which members post their SENDs, which `peer_order` and `segments` change."""

import numpy as np
import pytest

from frontend.collectives import CollectiveError, Op, build

OPERATIONS = ("all_reduce", "reduce_scatter", "all_gather", "all_to_all")


def destinations(program):
    """Return the peers of each member's SENDs, in order."""
    members = program.members()
    sends = program.op == Op.SEND
    return [program.peer[sends & (members == g)].tolist() for g in range(program.group_size)]


@pytest.mark.parametrize("operation", OPERATIONS)
def test_rotated_starts_with_the_next_member(operation):
    turns = 2 if operation == "all_reduce" else 1
    for member, peers in enumerate(destinations(build(operation, "direct", 5))):
        assert peers == [(member + k) % 5 for k in range(1, 5)] * turns


@pytest.mark.parametrize("operation", OPERATIONS)
def test_same_starts_with_member_zero(operation):
    turns = 2 if operation == "all_reduce" else 1
    program = build(operation, "direct", 5, peer_order="same")
    for member, peers in enumerate(destinations(program)):
        assert peers == [k for k in range(5) if k != member] * turns


def test_random_is_a_permutation_given_by_the_seed():
    def orders(seed):
        return destinations(build("all_to_all", "direct", 9, peer_order="random", seed=seed))

    assert orders(1) == orders(1) != orders(2)
    for member, peers in enumerate(orders(1)):
        assert sorted(peers) == [k for k in range(9) if k != member]


def test_unknown_order_names_the_accepted_ones():
    with pytest.raises(CollectiveError, match="'sorted' is not known; accepted: rotated, same"):
        build("all_reduce", "direct", 4, peer_order="sorted")


def test_segments_leave_in_order():
    program = build("all_reduce", "dbt", 13, segments=6)
    members = program.members()
    for g in range(13):
        for peer in range(13):
            posted = (program.op == Op.SEND) & (members == g) & (program.peer == peer)
            assert np.all(np.diff(program.offset[posted].astype(int) % 6) >= 0)


def test_segments_are_independent():
    program = build("all_reduce", "dbt", 13, segments=6)
    units = program.offset.astype(int)
    assert np.array_equal(units[program.dependents()], units[program.dep])


@pytest.mark.parametrize("segments", [0, -1, 1.5, True])
def test_segments_must_be_positive(segments):
    with pytest.raises(CollectiveError, match="not a positive number"):
        build("all_reduce", "dbt", 4, segments=segments)
