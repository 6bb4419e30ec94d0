"""Programs by a rule: what a rotation and a composition stand for, step by step."""

from dataclasses import replace

import numpy as np
import pytest

from frontend.collectives import ALGORITHMS, Op, check
from frontend.collectives.algorithms import ring
from frontend.collectives.program.composition import (
    Composition,
    Piece,
    compose,
    on_routes,
    parts_of,
    side_by_side,
)
from frontend.collectives.program.rotation import Rotation, rotation
from frontend.compiler.network import flows

RULES = [
    ("ring", "all_reduce"),
    ("ring", "reduce_scatter"),
    ("ring", "all_gather"),
    ("ring", "all_to_all"),
    ("direct", "all_reduce"),
    ("direct", "reduce_scatter"),
    ("direct", "all_gather"),
    ("direct", "all_to_all"),
    ("direct", "barrier"),
    ("halving_doubling", "all_to_all"),
    ("multi_ring", "all_reduce"),
    ("multi_ring", "reduce_scatter"),
    ("multi_ring", "all_gather"),
]
"""The programs that are rotations."""


def turned(address: int, turn: int, member: int, size: int) -> int:
    """Walk from the address of member 0 to that of another, one member at a time."""
    for _ in range(member):
        address += turn
        if turn and address // (size * turn) != (address - turn) // (size * turn):
            address -= size * turn
    return address


@pytest.mark.parametrize(("algorithm", "operation"), RULES)
@pytest.mark.parametrize("size", [2, 3, 6, 8])
def test_a_rotation_is_its_table_step_by_step(algorithm, operation, size):
    rule = ALGORITHMS[algorithm].build(operation, size)
    assert isinstance(rule, Rotation)
    table = rule.table()
    check(table)
    steps = rule.op.size
    assert table.steps == rule.steps == size * steps
    for member in range(size):
        for step in range(steps):
            row = member * steps + step
            is_message = rule.op[step] <= Op.RECV_REDUCE
            peer = (int(rule.peer[step]) + member) % size if is_message else member
            target = int(rule.target[step])
            expected = {
                "op": rule.op[step],
                "phase": 0,
                "peer": peer,
                "count": rule.count[step],
                "offset": turned(int(rule.offset[step]), int(rule.offset_turn[step]), member, size),
                "target": peer * steps + target
                if is_message
                else turned(target, int(rule.target_turn[step]), member, size),
            }
            found = {name: int(getattr(table, name)[row]) for name in expected}
            assert found == expected, f"member {member}, step {step}"
            waits = table.dep[table.dep_begin[row] : table.dep_begin[row + 1]]
            own = rule.edges[rule.edges[:, 0] == step, 1]
            assert sorted(waits - member * steps) == sorted(own)


@pytest.mark.parametrize(("algorithm", "operation"), RULES)
def test_the_flows_of_a_rule_are_those_of_its_table(algorithm, operation):
    rule = on_routes(side_by_side(ALGORITHMS[algorithm].build(operation, 5), 3), 2)
    assert np.array_equal(flows(rule), flows(rule.table()))
    assert set(flows(rule)[:, 2]) == {2}


@pytest.mark.parametrize("operation", ["all_reduce", "reduce_scatter", "all_gather", "all_to_all"])
def test_large_groups_need_the_steps_of_few_members(operation):
    # 256 super-nodes of 8: the local program, that of one rank in each super-node, and the copies.
    rule = ALGORITHMS["hierarchical"].build(operation, 2048, local_size=8)
    assert isinstance(rule, Composition)
    stored = sum(part.op.size for part in parts_of(rule))
    assert rule.steps > 7 * stored
    assert np.array_equal(flows(rule)[:5, 0], [0] * 5)


def test_a_composition_places_members_and_units():
    wide = replace(ring.all_gather(2), units=6, space=6)
    whole = compose(
        "x",
        "all_gather",
        6,
        units=6,
        dimensions=("a",),
        pieces=[Piece(wide, groups=3, group_step=1, member_step=3, unit_step=2)],
    )
    table = whole.table()
    sends = table.op == Op.SEND
    assert table.members()[sends].tolist() == [0, 1, 2, 3, 4, 5]
    assert table.peer[sends].tolist() == [3, 4, 5, 0, 1, 2]
    assert table.offset[sends].tolist() == [0, 2, 4, 1, 3, 5]


def test_addresses_without_a_turn_are_alike():
    rule = rotation(
        "x",
        "all_gather",
        3,
        units=3,
        space=7,
        dimension="a",
        op=[Op.COPY, Op.COPY],
        peer=0,
        offset=[4, 2],
        target=[6, 3],
        offset_turn=[1, 0],
        target_turn=[0, 1],
    )
    table = rule.table()
    assert table.offset.reshape(3, 2).tolist() == [[4, 2], [5, 2], [3, 2]]
    assert table.target.reshape(3, 2).tolist() == [[6, 3], [6, 4], [6, 5]]
