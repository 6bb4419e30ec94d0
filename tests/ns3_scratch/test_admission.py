"""Who decides when a rank starts a phase of a chunk: the rank itself, or all members together."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from frontend import collectives
from frontend import network_api_pb2 as api
from frontend.collectives.program.program import Program
from tests.ns3_scratch.streams import (
    FIFO,
    LIFO,
    LOCAL,
    NEGOTIATED,
    Trace,
    collective,
    header,
    message_ps,
    one_collective,
    program,
    ps,
    run,
    settings,
    star,
)
from tests.ns3_scratch.test_chunk_scheduler import chunk_bytes, sent_bytes

DIMENSIONS = ("scale_up", "scale_out")


@st.composite
def programs(draw: st.DrawFn, ranks: int) -> Program:
    """Draw an all-reduce with one phase, or with phases in two dimensions."""
    sizes = [size for size in range(2, ranks) if ranks % size == 0]
    algorithms = ["ring", "direct", "dbt", "halving_doubling"]
    algorithms += ["hierarchical", "hierarchical_optimal"] if sizes else []
    algorithm = draw(st.sampled_from(algorithms))
    if algorithm.startswith("hierarchical"):
        size = draw(st.sampled_from(sizes))
        return collectives.build("all_reduce", algorithm, ranks, local_size=size)
    return collectives.build("all_reduce", algorithm, ranks)


@st.composite
def workloads(draw: st.DrawFn, *, same_order: bool) -> tuple[list[api.Record], list[int], int]:
    """Draw collectives of overlapping groups on ranks with few slots.

    Returns
    -------
    tuple
        The stream, the limits, and the payload of all messages.
    """
    ranks = draw(st.integers(2, 8))
    limits = [draw(st.integers(1, 3)), draw(st.integers(1, 3))]
    groups = draw(
        st.lists(
            st.permutations(range(ranks)).flatmap(
                lambda order: st.integers(2, ranks).map(lambda size: order[:size])
            ),
            min_size=1,
            max_size=6,
        )
    )
    records = [
        header(),
        settings(
            limits=limits,
            scheduling=draw(st.sampled_from([LIFO, FIFO])),
            admission=LOCAL,
            injection_ps=draw(st.sampled_from([0, 10_000])),
        ),
        star(ranks, DIMENSIONS),
    ]
    payload = 0
    for number, group in enumerate(groups):
        made = draw(programs(len(group)))
        size, chunks = draw(st.integers(0, 50_000)), draw(st.integers(1, 6))
        priority = draw(st.integers(0, 1))
        records.append(program(number, made, DIMENSIONS))
        records.append(collective(number, number, group, size, chunks, priority_class=priority))
        payload += sum(sent_bytes(made, chunk) for chunk in chunk_bytes(size, chunks))
    for rank in range(ranks):
        trace = Trace([rank])
        mine = [number for number, group in enumerate(groups) if rank in group]
        for number in mine if same_order else draw(st.permutations(mine)):
            trace.issue(number, [trace.compute(draw(st.sampled_from([0, 0, 1000, 5_000_000])))])
        records.append(trace.record())
    return records, limits, payload


Drawn = tuple[list[api.Record], list[int], int]


def check_same_order(drawn: Drawn) -> None:
    """Ranks start their chunks at any time, in any priority class, with LIFO and with one slot."""
    records, limits, payload = drawn
    result = run(records)
    assert result["status"] == "complete"
    assert result["network"]["payload_bytes"] == payload
    outstanding = result["system"]["max_outstanding_chunks"]
    assert all(outstanding[name] <= limit for name, limit in zip(DIMENSIONS, limits, strict=True))


def check_other_order(drawn: Drawn) -> None:
    records, _, payload = drawn
    result = run(records)
    if result["status"] == "complete":
        assert result["network"]["payload_bytes"] == payload
    else:
        assert result["status"] == "deadlock"
        assert "wait for each other" in result["error"]
    (record,) = [record for record in records if record.HasField("settings")]
    record.settings.system.admission = NEGOTIATED
    assert run(records)["status"] == "complete"


@hypothesis_settings(max_examples=100, deadline=None)
@given(workloads(same_order=True))
def test_ranks_that_issue_in_the_same_order_never_deadlock(drawn: Drawn) -> None:
    check_same_order(drawn)


@hypothesis_settings(max_examples=100, deadline=None)
@given(workloads(same_order=False))
def test_other_orders_complete_or_are_reported(drawn: Drawn) -> None:
    check_other_order(drawn)


@pytest.mark.long
@hypothesis_settings(max_examples=2000, deadline=None)
@given(workloads(same_order=True), workloads(same_order=False))
def test_many_orders(same: Drawn, other: Drawn) -> None:
    check_same_order(same)
    check_other_order(other)


def opposite_orders(admission: api.System.Admission, limit: int) -> dict[str, Any]:
    """Rank 0 issues collective 0 before collective 1, rank 1 the other way round."""
    made = collectives.build("all_reduce", "ring", 2)
    traces = []
    for rank in range(2):
        trace = Trace([rank])
        first = trace.issue(rank)
        assert first == 0
        trace.issue(1 - rank, [trace.compute(1000)])
        traces.append(trace.record())
    records = [
        header(),
        settings(limits=[limit], admission=admission),
        star(2),
        program(0, made),
        collective(0, 0, range(2), 1000),
        collective(1, 0, range(2), 1000),
    ]
    return run([*records, *traces])


def test_a_deadlock_names_ranks_and_collectives_and_what_to_do() -> None:
    result = opposite_orders(LOCAL, 1)
    assert result["status"] == "deadlock"
    for text in (
        "2 of 2 ranks wait (0-1)",
        "the slots of dimension scale_out on ranks 0-1 are taken by chunks of collectives 0-1",
        "raise system.concurrent_chunks",
        "set system.admission to negotiated",
        "(c0)",
    ):
        assert text in result["error"]
    assert re.search(r"rank 0 waits for node 0 .*0 of 1 chunks done", result["error"])
    assert opposite_orders(LOCAL, 2)["status"] == "complete"
    assert opposite_orders(NEGOTIATED, 1)["status"] == "complete"


def one_late_rank(admission: api.System.Admission) -> tuple[int, int]:
    """Let one of two ranks start an all-to-all late and then compute; return time and unit [ps].

    The unit is the time of a message. The delay takes two of it, the all-to-all one, and the
    computation three.
    """
    size, unit = 100_000, message_ps(50_000)
    made = collectives.build("all_to_all", "direct", 2)
    early, late = Trace([0]), Trace([1])
    early.issue(0)
    late.compute(3 * unit, [late.issue(0, [late.compute(2 * unit)])])
    records = one_collective(made, size, admission=admission)
    return ps(run([*records[:-1], early.record(), late.record()])["time_ns"]), unit


def test_a_local_start_does_not_wait_for_the_last_rank() -> None:
    # The message to the late rank has arrived before it starts, so it computes at once: 2 + 3.
    time, unit = one_late_rank(LOCAL)
    assert time == 5 * unit
    # Together with the late rank, its peer starts late as well: 2 + 1 + 3.
    time, unit = one_late_rank(NEGOTIATED)
    assert time == 6 * unit


@pytest.mark.parametrize("injection_ps", [0, 10_000])
def test_a_receive_ends_an_injection_after_its_start(injection_ps: int) -> None:
    """A message that arrived before counts from the start of the chunk."""
    made = collectives.build("all_to_all", "direct", 2)
    early, late = Trace([0]), Trace([1])
    early.issue(0)
    start = 100_000_000
    late.issue(0, [late.compute(start)])
    records = one_collective(made, 2000, admission=LOCAL, injection_ps=injection_ps)
    result = run([*records[:-1], early.record(), late.record()])
    # The late rank sends after its injection, and its peer receives one injection later.
    assert ps(result["time_ns"]) == start + injection_ps + message_ps(1000) + injection_ps


@pytest.mark.parametrize("fabric", ["analytical", "flow", "express"])
@pytest.mark.parametrize("algorithm", ["ring", "dbt"])
def test_both_agree_if_all_ranks_start_one_chunk_together(fabric: str, algorithm: str) -> None:
    made = collectives.build("all_reduce", algorithm, 6)
    times = {
        admission: run(one_collective(made, 100_000, fabric=fabric, admission=admission))["time_ns"]
        for admission in (LOCAL, NEGOTIATED)
    }
    assert times[LOCAL] == times[NEGOTIATED]


def order_of_ends(scheduling: api.System.Scheduling, limit: int) -> list[str]:
    """Issue three all-reduces of 16 chunks one after another, and return the order of ends."""
    made = collectives.build("all_reduce", "ring", 4)
    trace = Trace(range(4))
    last: list[int] = []
    for number in range(3):
        trace.issue(number, last)
        last = [trace.compute(1000, last)]
    records = [
        header(),
        settings(limits=[limit], scheduling=scheduling, admission=LOCAL),
        star(4),
        program(0, made),
        *(collective(number, 0, range(4), 40_000, 16) for number in range(3)),
    ]
    result = run([*records, trace.record()])
    done = sorted(result["collectives"], key=lambda entry: entry["end_ns"])
    return [entry["name"] for entry in done]


def test_lifo_leaves_the_last_slot_to_the_oldest() -> None:
    # One slot serves c0, the others serve the latest first.
    assert order_of_ends(LIFO, 5) == ["c2", "c1", "c0"]
    assert order_of_ends(FIFO, 5) == ["c0", "c1", "c2"]
    # The only slot is the last one.
    assert order_of_ends(LIFO, 1) == ["c0", "c1", "c2"]
