"""Ranks that do the same in other groups share traces and collectives."""

from typing import Any

import pytest

from frontend import collectives
from frontend import network_api_pb2 as api
from frontend.collectives.program.composition import side_by_side
from tests.ns3_scratch.streams import (
    Trace,
    collective,
    header,
    message_ps,
    program,
    ps,
    run,
    settings,
    star,
)

RANKS = 6
PAIR = collectives.build("all_reduce", "ring", 2)


def execute(trace: api.Record, *others: api.Record) -> dict[str, Any]:
    return run([header(), settings(), star(RANKS), *others, trace])


def shift(offset: int, back: int, modulus: int) -> api.Record:
    """Every rank sends to the rank `offset` places on, and receives from that `back` places on."""
    trace = Trace(range(RANKS))
    trace.receive(back, 60_000)
    trace.send(offset, 60_000)
    record = trace.record()
    record.trace.peer_modulus = modulus
    return record


def test_relative_peers_are_other_ranks_of_each_rank() -> None:
    # Every rank sends one message over its own links, so all arrive together.
    result = execute(shift(2, RANKS - 2, RANKS))
    assert ps(result["time_ns"]) == message_ps(60_000)
    assert result["network"]["messages"] == RANKS
    assert result["network"]["payload_bytes"] == RANKS * 60_000


def test_a_deadlock_names_the_rank_that_a_relative_peer_means() -> None:
    # Rank 0 waits for rank 1, which sends to rank 3.
    result = execute(shift(2, 1, RANKS))
    assert result["status"] == "deadlock"
    assert "rank 0 waits for node 0 (n0), 60000 bytes from rank 1" in result["error"]


@pytest.mark.parametrize(
    ("record", "sentence"),
    [
        (shift(RANKS, RANKS - 2, RANKS), "is a message of rank 0 to itself"),
        (shift(2, 2, RANKS + 5), "rank 6"),
    ],
)
def test_wrong_relative_peers_are_refused(record: api.Record, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        execute(record)


def three_pairs(groups: int) -> list[api.Record]:
    made = side_by_side(PAIR, 3).table()
    issue = collective(0, 0, [0, 3, 1, 4, 2, 5], 100_000, groups=groups)
    return [program(0, made), issue]


def test_groups_run_next_to_each_other() -> None:
    trace = Trace(range(RANKS))
    trace.issue(0)
    result = execute(trace.record(), *three_pairs(3))
    (entry,) = result["collectives"]
    # A ring of two: two rounds of half of the data, at the same time in all groups.
    assert ps(entry["time_ns"]) == 2 * message_ps(50_000)
    assert (entry["group_size"], entry["groups"]) == (2, 3)
    # Bus bandwidth as of one pair: 2 · (2 - 1) / 2 times the algorithm bandwidth.
    assert entry["busbw_bps"] == entry["algbw_bps"]
    assert result["network"]["messages"] == 3 * 4


def test_a_number_of_groups_must_divide_the_members() -> None:
    trace = Trace(range(RANKS))
    with pytest.raises(ValueError, match="6 members do not divide into 4 groups"):
        execute(trace.record(), *three_pairs(4))
