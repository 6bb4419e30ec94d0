"""Chakra traces that are refused, and the sentences."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from frontend import load_scenario
from frontend.errors import ScenarioError
from frontend.formats.chakra.decode import read_trace
from tests.frontend.chakra_files import Rank
from tests.frontend.chakra_files import scenario as made
from tests.frontend.chakra_plans import collectives, pair, plan, refusal, two


def changed(ranks: list[Rank], **attributes: Any) -> list[Rank]:
    """Return the ranks with other attributes of the first node of rank 0; None removes one."""
    node = ranks[0].nodes[0]
    kept = [one for one in node.attr if one.name not in attributes]
    del node.attr[:]
    node.attr.extend(kept)
    for name, value in attributes.items():
        if value is not None:
            node.attr.add(name=name, **value)
    return ranks


def cyclic() -> list[Rank]:
    ranks = two(lambda rank, _: [rank.compute(1, [1], name="a"), rank.compute(1, [0], name="b")])
    return ranks


def crossed() -> list[Rank]:
    """Two ranks that wait for each other's message before they send."""
    ranks = [Rank(), Rank()]
    for number, rank in enumerate(ranks):
        rank.receive(1 - number, 8)
        rank.send(1 - number, 8, [0])
    return ranks


def unordered() -> list[Rank]:
    """Each rank first joins a collective that the other joins second."""
    ranks = [Rank(), Rank()]
    for rank, order in zip(ranks, ([0, 1], [1, 0]), strict=True):
        for node in (0, 1):
            name = "ab"[node]
            after = [1 - node] if order[1] == node else []
            rank.collective("all_reduce", 8, after, pg_name=name)
    return ranks


AB = {"groups": {"a": [0, 1], "b": [1, 0]}}
REFUSALS: list[tuple[str, list[Rank], dict[str, Any], str]] = [
    ("cycle", cyclic(), {}, r"t.0.et: node 0 \(a\): waits for itself in a cycle .*node 1 \(b\)"),
    ("crossed", crossed(), {}, r"t.0.et: node 0 \(n0\): waits for itself in a cycle"),
    ("unordered", unordered(), AB, r"waits for itself in a cycle"),
    ("no size", changed(pair(), comm_size=None), {}, r"node 0 \(n0\): no attribute comm_size"),
    ("negative", changed(pair(), comm_size={"int64_val": -1}), {}, "comm_size: expected a whole"),
    ("fraction", changed(pair(), comm_dst={"double_val": 0.5}), {}, "comm_dst: expected a whole"),
    ("text", changed(pair(), comm_tag={"string_val": "x"}), {}, "comm_tag: expected a whole"),
    ("no peer", changed(pair(), comm_dst=None), {}, "no attribute comm_dst"),
    ("far peer", changed(pair(), comm_dst={"int32_val": 9}), {}, "rank 9: expected a rank from 0"),
    ("itself", changed(pair(), comm_dst={"int32_val": 0}), {}, "message of rank 0 to itself"),
    ("wrong source", changed(pair(), comm_src={"int32_val": 1}), {}, "comm_src 1: expected 0"),
    ("tags", changed(pair(), comm_tag={"int32_val": 5}), {}, "has no|no such send"),
    ("sizes", changed(pair(), comm_size={"int32_val": 5}), {}, "receives 64 bytes, but .* sends 5"),
    ("collective sizes", collectives([8], [9]), {}, "another size than .*t.0.et: node 0"),
    ("collective missing", collectives([8, 8], [8]), {}, "collective 2 of all ranks, but rank 1"),
    ("group", collectives([8], [8], pg_name="5"), {}, "process group 5 is not known"),
    ("not in group", collectives([8], [8], pg_name="5"), {"groups": {"5": [1]}}, "ranks 1, not 0"),
    ("far group", collectives([8]), {"groups": {"5": [0, 4]}}, "group 5: rank 4: expected a rank"),
    (
        "priority",
        changed(collectives([8], [8]), comm_priority={"int32_val": 7}),
        {},
        "priority than",
    ),
    ("type", changed(collectives([8], [8]), comm_type={"int32_val": 77}), {}, "comm_type 77"),
    ("no rates", two(lambda rank, _: rank.compute(0, num_ops=5)), {}, "expected workload.compute"),
    ("unknown node", two(lambda rank, _: rank.compute(1, [5])), {}, "depends on node 5, which"),
    ("node type", two(lambda rank, _: rank.add(12)), {}, "type 12: expected 0 to 7"),
]


@pytest.mark.parametrize(
    ("ranks", "changes", "pattern"), [row[1:] for row in REFUSALS], ids=[r[0] for r in REFUSALS]
)
def test_refusals_name_file_and_node(
    ranks: list[Rank], changes: dict[str, Any], pattern: str, tmp_path: Path
) -> None:
    if len(ranks) == 1:
        ranks = [*ranks, ranks[0]]
    sentence = refusal(tmp_path, ranks, **changes)
    assert re.search(pattern, sentence), sentence


def test_two_nodes_with_one_id(tmp_path: Path) -> None:
    ranks = two(lambda rank, _: [rank.compute(1), rank.compute(2)])
    ranks[1].nodes[1].id = 0
    assert "t.1.et: node 0 (n1): a second node with this id" in refusal(tmp_path, ranks)


def test_dimensions_are_refused(tmp_path: Path) -> None:
    ranks = collectives([8], [8], involved_dim=("bool_list", [True, True]))
    assert len(plan(tmp_path, ranks).issues) == 1
    ranks = collectives([8], [8], involved_dim=("bool_list", [True, False]))
    assert "involved_dim excludes a dimension" in refusal(tmp_path, ranks)
    named = collectives([8], [8], involved_dim=("bool_list", [True, False]), pg_name="1")
    (issue,) = plan(tmp_path, named, groups={"1": [1, 0]}).issues
    assert issue.ranks == (1, 0)


def test_the_number_of_traces_is_that_of_the_ranks(tmp_path: Path) -> None:
    content = made(tmp_path, collectives([8], [8], [8]))
    for ranks, text in ((2, "t.2.et is one more"), (4, "t.3.et does not exist")):
        with pytest.raises(ScenarioError, match=re.escape(text)):
            load_scenario(content, {"topology.ranks": ranks})
    with pytest.raises(ScenarioError, match=r"with \{rank\} in place of the rank"):
        load_scenario(content, {"workload.traces": "t.0.et"})


CONTENT = collectives([8, 8])[0].content()


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, len(CONTENT) - 1), st.integers(1, 255))
def test_damaged_files_are_refused_or_read(tmp_path: Path, place: int, change: int) -> None:
    """A cut file is refused, unless the cut is between nodes. No change of a byte is a crash."""
    file = tmp_path / "t.0.et"
    file.write_bytes(CONTENT[:place])
    ends = {0}
    while max(ends) < len(CONTENT):
        ends.add(max(ends) + 1 + CONTENT[max(ends)])  # all lengths are below 128
    if place == 0 or place not in ends:
        with pytest.raises(ScenarioError, match=r"t\.0\.et: the file is .*expected a Chakra trace"):
            read_trace(file)
    else:
        assert read_trace(file).size == sorted(ends).index(place) - 1
    damaged = bytearray(CONTENT)
    damaged[place] ^= change
    file.write_bytes(damaged)
    try:
        read_trace(file)
    except ScenarioError as error:
        assert "t.0.et" in str(error)


def test_other_files_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "t.0.et"
    for content, text in (
        (b"", "the file is empty"),
        (b"\x1f\x8b\x08\x00", "damaged gzip file"),
        (b"num_ranks 2\n", "expected a Chakra trace"),
        (collectives([8])[0].content()[8:], "expected a Chakra trace"),
    ):
        file.write_bytes(content)
        with pytest.raises(ScenarioError, match=text):
            read_trace(file)
