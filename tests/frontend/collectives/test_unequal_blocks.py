"""All-to-alls with a matrix of sizes, checked symbolically and by their closed form."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frontend.collectives import CollectiveError, build, check, traffic
from frontend.collectives.algorithms.nccl import Place
from frontend.collectives.program.composition import side_by_side

ROWS = st.integers(2, 7).flatmap(
    lambda n: st.lists(
        st.lists(st.integers(0, 5), min_size=n, max_size=n).map(tuple), min_size=n, max_size=n
    ).map(tuple)
)


@settings(max_examples=40, deadline=None)
@given(ROWS, st.sampled_from(["rotated", "same", "random"]))
def test_each_member_gets_what_the_others_send_to_it(blocks, order):
    program = build("all_to_all", "direct", len(blocks), blocks=blocks, peer_order=order, seed=3)
    check(program)
    # Member i sends its row and receives its column, both without the diagonal.
    off = np.array(blocks) - np.diag(np.diag(blocks))
    found = traffic(program)
    assert found.sent.tolist() == off.sum(axis=1).tolist()
    assert found.received.tolist() == off.sum(axis=0).tolist()
    assert found.messages.tolist() == (off > 0).sum(axis=1).tolist()


@pytest.mark.parametrize("local", [1, 2])
def test_nccl_sends_the_same_blocks(local):
    blocks = ((0, 3, 1, 0), (2, 1, 0, 4), (0, 0, 0, 1), (5, 1, 1, 0))
    place = Place(local, tuple(range(local)))
    order = (("blocks", blocks), ("peer_order", "rotated"))
    program = build("all_to_all", "nccl", 4, place=place, order=order)
    check(program)
    plain = build("all_to_all", "direct", 4, blocks=blocks)
    assert traffic(program).sent.tolist() == traffic(plain).sent.tolist()
    assert traffic(program).received.tolist() == traffic(plain).received.tolist()


def test_the_matrix_must_fit_the_group():
    with pytest.raises(CollectiveError, match="expected 3 rows of 3"):
        build("all_to_all", "direct", 3, blocks=((0, 1), (1, 0)))


@pytest.mark.parametrize(
    ("operation", "name"), [("all_reduce", "dbt"), ("all_to_all", "ring"), ("all_gather", "direct")]
)
def test_groups_side_by_side_each_run_the_program(operation, name):
    one = build(operation, name, 5)
    several = side_by_side(one, 3).table()
    assert several.group_size == 15
    for group in range(3):
        steps = slice(group * one.steps, (group + 1) * one.steps)
        members = several.members()[steps]
        assert (members // 5 == group).all()
        message = one.op <= 2
        assert (several.peer[steps] == one.peer + 5 * group).all()
        assert (several.target[steps][message] == one.target[message] + group * one.steps).all()
        assert (several.target[steps][~message] == one.target[~message]).all()
        first, last = several.dep_begin[[steps.start, steps.stop]]
        assert (several.dep[first:last] == one.dep + group * one.steps).all()
