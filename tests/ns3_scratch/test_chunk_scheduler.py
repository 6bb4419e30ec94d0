"""The chunk scheduler: slots, order of chunks, and no deadlock for any order of issues."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from frontend import collectives
from frontend import network_api_pb2 as api
from tests.ns3_scratch.streams import (
    FIFO,
    LIFO,
    Trace,
    collective,
    header,
    message_ps,
    one_collective,
    program,
    run,
    settings,
    star,
)

RANKS = 4
RING = collectives.build("all_reduce", "ring", RANKS)
DIRECT = collectives.build("all_to_all", "direct", RANKS)


def issue_in_turn(
    uses: list[tuple[int, int]], chunks: int, gap_ps: int = 1000, **changes: Any
) -> dict[str, Any]:
    """Issue collectives one after another, `gap_ps` apart; `uses` are (program, class)."""
    trace = Trace(range(RANKS))
    last: list[int] = []
    for number in range(len(uses)):
        trace.issue(number, last)
        last = [trace.compute(gap_ps, last)]
    records = [header(), settings(**changes), star(RANKS), program(0, RING), program(1, DIRECT)]
    for number, (used, priority_class) in enumerate(uses):
        records.append(
            collective(number, used, range(RANKS), 40_000, chunks, priority_class=priority_class)
        )
    return run([*records, trace.record()])


def order_of_ends(result: dict[str, Any]) -> list[str]:
    done = sorted(result["collectives"], key=lambda entry: entry["end_ns"])
    return [entry["name"] for entry in done]


@pytest.mark.parametrize(
    ("scheduling", "chunks", "order"),
    [
        (FIFO, 1, ["c0", "c1", "c2"]),
        # The only chunk of c0 is committed when the others are issued.
        (LIFO, 1, ["c0", "c2", "c1"]),
        # One chunk of c0 is committed, the others wait until c2 and c1 are done.
        (LIFO, 4, ["c2", "c1", "c0"]),
        (FIFO, 4, ["c0", "c1", "c2"]),
    ],
)
def test_order_of_all_reduces(
    scheduling: api.System.Scheduling, chunks: int, order: list[str]
) -> None:
    result = issue_in_turn([(0, 1)] * 3, chunks, scheduling=scheduling, limits=[1])
    assert order_of_ends(result) == order
    assert result["system"]["max_outstanding_chunks"] == {"scale_out": 1}


@pytest.mark.parametrize("scheduling", [LIFO, FIFO])
def test_all_to_all_goes_before_all_reduces(scheduling: api.System.Scheduling) -> None:
    """An all-to-all waits only for the committed chunk, whether it is issued last or not."""
    uses = [(0, 1), (1, 0), (0, 1)]
    result = issue_in_turn(uses, 4, scheduling=scheduling, limits=[1])
    assert order_of_ends(result)[0] == "c1"
    chunk_ps = 6 * message_ps(2500)  # a ring with 40 kB in 4 chunks over 4 ranks
    start = result["collectives"][1]["start_ns"] * 1000
    all_to_all_ps = result["collectives"][1]["end_ns"] * 1000 - chunk_ps
    assert start < chunk_ps
    alone = issue_in_turn([(1, 0)], 4, limits=[1])
    assert all_to_all_ps == pytest.approx(alone["collectives"][0]["end_ns"] * 1000)


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 64])
def test_no_more_chunks_than_allowed(limit: int) -> None:
    result = run(one_collective(RING, 100_000, chunks=20, limits=[limit]))
    assert result["system"]["max_outstanding_chunks"] == {"scale_out": min(limit, 20)}
    assert result["network"]["payload_bytes"] == 2 * (RANKS - 1) * 100_000


def test_more_slots_are_not_slower() -> None:
    times = [
        run(one_collective(RING, 100_000, chunks=16, limits=[limit]))["time_ns"]
        for limit in (1, 2, 4)
    ]
    assert times == sorted(times, reverse=True)
    assert times[0] == pytest.approx(16 * 6 * message_ps(100_000 // 64) / 1000, rel=1e-3)


TWO_DIMENSIONS = ("scale_up", "scale_out")


def test_phases_take_slots_of_their_dimensions() -> None:
    made = collectives.build("all_reduce", "hierarchical_optimal", 8, local_size=4)
    assert set(made.phase_dimension) == set(TWO_DIMENSIONS)
    trace = Trace(range(8))
    trace.issue(0)
    result = run(
        [
            header(),
            settings(limits=[3, 2]),
            star(8, TWO_DIMENSIONS),
            program(0, made, TWO_DIMENSIONS),
            collective(0, 0, range(8), 80_000, chunks=10),
            trace.record(),
        ]
    )
    assert result["status"] == "complete"
    assert result["system"]["max_outstanding_chunks"] == {"scale_up": 3, "scale_out": 2}


@pytest.mark.parametrize("algorithm", ["hierarchical", "hierarchical_optimal"])
@pytest.mark.parametrize(("ranks", "local_size"), [(6, 3), (8, 2), (8, 4)])
@pytest.mark.parametrize("limits", [(1, 1), (1, 5), (4, 2)])
def test_all_phases_of_all_chunks_are_run(
    algorithm: str, ranks: int, local_size: int, limits: tuple[int, int]
) -> None:
    """Two hierarchical collectives over shifted groups, so lanes of different sizes share ranks."""
    made = collectives.build("all_reduce", algorithm, ranks, local_size=local_size)
    trace = Trace(range(ranks))
    trace.issue(0)
    trace.issue(1)
    size, chunks = 10_001, 7
    result = run(
        [
            header(),
            settings(limits=limits),
            star(ranks, TWO_DIMENSIONS),
            program(0, made, TWO_DIMENSIONS),
            collective(0, 0, range(ranks), size, chunks),
            collective(1, 0, [*range(1, ranks), 0], size, chunks),
            trace.record(),
        ]
    )
    assert result["status"] == "complete"
    outstanding = result["system"]["max_outstanding_chunks"]
    assert outstanding["scale_up"] == limits[0]
    assert outstanding["scale_out"] <= limits[1]
    sent = sum(sent_bytes(made, chunk) for chunk in chunk_bytes(size, chunks))
    assert result["network"]["payload_bytes"] == 2 * sent


def test_a_small_group_does_not_starve_a_large_one() -> None:
    """With FIFO, later collectives of two ranks do not overtake the large one, issued first.

    Each rank has one slot. When the large collective is issued, ranks 0 and 1 are busy. Ranks 2 and
    3 are free and reserve their slots for it, although a collective of the pair needs them.
    """
    pair = collectives.build("all_reduce", "ring", 2)
    first, second = Trace([0, 1]), Trace([2, 3])
    first.issue(0)
    first.issue(1, [first.compute(1000)])
    second.issue(1, [second.compute(1000)])
    second.issue(2, [second.compute(2000)])
    records = [header(), settings(limits=[1], scheduling=FIFO), star(RANKS)]
    records += [program(0, pair), program(1, RING)]
    records += [
        collective(0, 0, [0, 1], 100_000),
        collective(1, 1, range(RANKS), 100_000),
        collective(2, 0, [2, 3], 100_000),
    ]
    result = run([*records, first.record(), second.record()])
    assert order_of_ends(result) == ["c0", "c1", "c2"]
    start = result["collectives"][0]["end_ns"]
    ring_ns = 6 * message_ps(25_000) / 1000
    assert result["collectives"][1]["end_ns"] == pytest.approx(start + ring_ns)


ALGORITHMS = ["ring", "direct", "dbt", "halving_doubling"]


@hypothesis_settings(deadline=None)
@given(st.data())
def test_no_order_of_issues_deadlocks(data: st.DataObject) -> None:
    """Groups overlap, and each rank issues its collectives in a different order."""
    ranks = data.draw(st.integers(2, 6))
    limit = data.draw(st.integers(1, 3))
    records = [
        header(),
        settings(limits=[limit], scheduling=data.draw(st.sampled_from([LIFO, FIFO]))),
        star(ranks),
    ]
    groups = data.draw(
        st.lists(
            st.permutations(range(ranks)).flatmap(
                lambda order: st.integers(2, ranks).map(lambda size: order[:size])
            ),
            min_size=1,
            max_size=6,
        )
    )
    payload = 0
    for number, group in enumerate(groups):
        algorithm = data.draw(st.sampled_from(ALGORITHMS))
        made = collectives.build("all_reduce", algorithm, len(group))
        size = data.draw(st.integers(0, 20_000))
        chunks = data.draw(st.integers(1, 5))
        records.append(program(number, made))
        records.append(
            collective(
                number,
                number,
                group,
                size,
                chunks,
                priority_class=data.draw(st.integers(0, 1)),
            )
        )
        payload += sum(sent_bytes(made, chunk) for chunk in chunk_bytes(size, chunks))
    for rank in range(ranks):
        trace = Trace([rank])
        mine = [number for number, group in enumerate(groups) if rank in group]
        for number in data.draw(st.permutations(mine)):
            trace.issue(number, [trace.compute(data.draw(st.integers(0, 5000)))])
        records.append(trace.record())
    result = run(records)
    assert result["status"] == "complete"
    assert len(result["collectives"]) == len(groups)
    assert result["system"]["max_outstanding_chunks"]["scale_out"] <= limit
    assert result["network"]["payload_bytes"] == payload


def chunk_bytes(size: int, chunks: int) -> list[int]:
    return [(i + 1) * size // chunks - i * size // chunks for i in range(chunks)]


def sent_bytes(made: collectives.Program, size: int) -> int:
    """Return the payload of all messages of a chunk, with units as in network_api.proto."""
    units = made.units
    if made.equal_units:
        sizes = [-(-size // units)] * units
    else:
        sizes = [(i + 1) * size // units - i * size // units for i in range(units)]
    sends = np.flatnonzero(made.op == 0)
    return sum(
        sizes[unit % units]
        for step in sends
        for unit in range(made.offset[step], int(made.offset[step]) + int(made.count[step]))
    )
