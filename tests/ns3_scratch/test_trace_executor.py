"""Traces: the compute stream, exposed communication, messages, and runs that get stuck."""

import re
from typing import Any

import pytest

from bridge import _core
from frontend import collectives
from frontend import network_api_pb2 as api
from frontend.stream import encode
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

RANKS = 4
RING = collectives.build("all_reduce", "ring", RANKS)
RING_PS = 6 * message_ps(25_000)  # time of a ring with 100 kB
LAYERS = ("a", "b")


def execute(*traces: Trace, collectives: int = 0, **changes: Any) -> dict[str, Any]:
    records = [header(), settings(**changes), star(RANKS), program(0, RING)]
    for number in range(collectives):
        records.append(collective(number, 0, range(RANKS), 100_000, layer=number % 2))
    return run([*records, *(trace.record() for trace in traces)])


def layer(result: dict[str, Any], name: str) -> tuple[float, float, float]:
    (entry,) = (entry for entry in result["layers"] if entry["name"] == name)
    times = (entry[key] for key in ("compute_ns", "raw_comm_ns", "exposed_comm_ns"))
    return tuple(ps(time) for time in times)  # type: ignore[return-value]


def test_computes_run_in_order_and_one_at_a_time() -> None:
    trace = Trace(range(RANKS), LAYERS)
    trace.compute(1_000_000)
    trace.compute(2_000_000, layer=1)
    trace.compute(500_500)
    result = execute(trace)
    assert result["time_ns"] == 3500.5
    assert layer(result, "a") == (1_500_500, 0, 0)
    assert layer(result, "b") == (2_000_000, 0, 0)


def test_communication_behind_compute_is_not_exposed() -> None:
    trace = Trace(range(RANKS), LAYERS)
    issued = trace.issue(0)
    done = trace.compute(2 * RING_PS)
    trace.compute(1000, [issued, done])
    result = execute(trace, collectives=1)
    assert layer(result, "a") == (2 * RING_PS + 1000, RING_PS, 0)


def test_the_gap_of_the_compute_stream_is_exposed() -> None:
    trace = Trace(range(RANKS), LAYERS)
    issued = trace.issue(0)
    done = trace.compute(RING_PS // 4)
    trace.compute(1000, [issued, done], layer=1)
    result = execute(trace, collectives=1)
    assert layer(result, "a") == (RING_PS // 4, RING_PS, RING_PS - RING_PS // 4)
    assert layer(result, "b") == (1000, 0, 0)
    assert ps(result["time_ns"]) == RING_PS + 1000


def test_the_wait_counts_for_the_dependency_that_finished_last() -> None:
    """Two collectives start together. FIFO with one slot runs a, then b: the wait belongs to b."""
    trace = Trace(range(RANKS), LAYERS)
    both = [trace.issue(0), trace.issue(1, layer=1)]
    trace.compute(1000, both)
    result = execute(trace, collectives=2, limits=[1])
    assert layer(result, "a") == (1000, RING_PS, 0)
    assert layer(result, "b") == (0, 2 * RING_PS, 2 * RING_PS)


def test_a_chain_of_collectives_is_split_where_the_next_one_starts() -> None:
    trace = Trace(range(RANKS), LAYERS)
    second = trace.issue(1, [trace.issue(0)], layer=1)
    trace.compute(1000, [second])
    result = execute(trace, collectives=2)
    assert layer(result, "a") == (1000, RING_PS, RING_PS)
    assert layer(result, "b") == (0, RING_PS, RING_PS)


def test_the_wait_at_the_end_is_exposed() -> None:
    trace = Trace(range(RANKS), LAYERS)
    trace.issue(1, [trace.compute(7000)], layer=1)
    result = execute(trace, collectives=2)
    assert layer(result, "b") == (0, RING_PS, RING_PS)
    assert ps(result["time_ns"]) == 7000 + RING_PS


def test_iterations_add_up() -> None:
    """The compute of iteration 2 overlaps the all-reduce that ends iteration 1."""
    trace = Trace(range(RANKS), LAYERS)
    first = trace.compute(10_000)
    issued = trace.issue(0, [first])
    second = trace.compute(20_000, iteration=1)
    trace.compute(30_000, [issued, second], iteration=1)
    result = execute(trace, collectives=1)
    ends = [10_000 + RING_PS, 10_000 + RING_PS + 30_000]
    assert [ps(entry["end_ns"]) for entry in result["iterations"]] == ends
    assert [entry["compute_ns"] for entry in result["iterations"]] == [30, 30]  # when it happens
    exposed = [ps(entry["exposed_comm_ns"]) for entry in result["iterations"]]
    assert exposed == [RING_PS - 20_000, 0]
    assert sum(entry["time_ns"] for entry in result["iterations"]) == result["time_ns"]
    split = [(entry["iteration"], entry["name"]) for entry in result["layer_iterations"]]
    assert split == [(0, "a"), (0, "b"), (1, "a"), (1, "b")]


def test_times_are_means_over_the_ranks() -> None:
    fast, slow = Trace([0, 1]), Trace([2, 3])
    fast.compute(1000)
    slow.compute(2001)
    result = execute(fast, slow)
    assert result["time_ns"] == 2.001
    assert result["layers"][0]["compute_ns"] == 1.501  # 1.5005, rounded to the picosecond


@pytest.mark.parametrize("injection_ps", [0, 10_000])
@pytest.mark.parametrize("head_start_ps", [0, 50_000_000])
def test_send_and_receive(injection_ps: int, head_start_ps: int) -> None:
    """A receive that is posted after its message has arrived is done immediately."""
    size = 100_000
    source, target = Trace([0]), Trace([1])
    source.send(1, size, tag=7)
    ready = target.compute(head_start_ps)
    got = target.receive(0, size, [ready], tag=7)
    target.compute(1000, [got])
    result = execute(source, target, injection_ps=injection_ps)
    arrival = injection_ps + message_ps(size)
    end = max(arrival, head_start_ps) + injection_ps + 1000
    assert ps(result["time_ns"]) == end
    exposed = end - 1000 - head_start_ps
    assert result["layers"][0]["exposed_comm_ns"] * 1000 == pytest.approx(exposed / 2)


@pytest.mark.parametrize("tag", [2**32, 2**63, 2**64 - 1])
def test_tags_have_64_bits(tag: int) -> None:
    """Messages whose tags differ only in the upper half are not confused."""
    source, target = Trace([0]), Trace([1])
    source.send(1, 1000, tag=tag)
    source.send(1, 2000, tag=tag % 2**32)
    target.receive(0, 2000, tag=tag % 2**32)
    target.receive(0, 1000, tag=tag)
    assert execute(source, target)["status"] == "complete"


def test_timers_take_no_part_of_the_compute_stream() -> None:
    """Two consecutive timers overlap the computation and delay the node that waits for them."""
    trace = Trace(range(RANKS), LAYERS)
    trace.compute(5000)
    second = trace.timer(4000, [trace.timer(3000)])
    trace.compute(1000, [second], layer=1)
    result = execute(trace)
    assert result["time_ns"] == 8
    assert layer(result, "a") == (5000, 0, 0)
    assert layer(result, "b") == (1000, 0, 0)  # waiting for a timer is not communication


def test_a_run_that_only_waits_for_a_timer_is_not_stuck() -> None:
    trace = Trace([0])
    trace.timer(10**15)
    result = execute(trace)
    assert (result["status"], result["time_ns"]) == ("complete", 10**12)


@pytest.mark.parametrize("fabric", ["analytical", "flow", "express", "native"])
def test_messages_take_the_route_that_they_name(fabric: str) -> None:
    """Between the two ranks, route 1 has a tenth of the rate of route 0."""
    network = api.Topology(
        ranks=2,
        nodes=2,
        dimensions=["scale_out"],
        link_source=[0, 1, 0, 1],
        link_target=[1, 0, 1, 0],
        link_rate_bps=[10**11, 10**11, 10**10, 10**10],
        link_latency_ps=[1000] * 4,
        link_buffer_bytes=[0] * 4,
        link_ecn_threshold_bytes=[0] * 4,
        link_dimension=[0] * 4,
        path_source=[0, 0, 1, 1],
        path_target=[1, 1, 0, 0],
        path_begin=range(5),
        path_links=[0, 2, 1, 3],
    )
    times = []
    for route in (0, 1):
        source, target = Trace([0]), Trace([1])
        source.send(1, 10**6, route=route)
        target.receive(0, 10**6)
        records = [header(), settings(fabric=fabric), api.Record(topology=network)]
        result = run([*records, source.record(), target.record()])
        times.append(result["time_ns"])
    assert times[1] / times[0] == pytest.approx(10, rel=0.02)


def test_jobs_have_iterations_of_their_own() -> None:
    """Job b starts on rank 1 after a timer. Nodes without a job count for no job."""
    one = Trace([0], jobs=("a", "b"))
    one.compute(1000, job=1)
    one.compute(2000, job=1, iteration=1)
    two = Trace([1], jobs=("a", "b"))
    late = two.timer(4000)
    first = two.compute(500, [late], job=2)
    two.compute(700, [first], job=2, iteration=1)
    two.compute(9000, [first], iteration=1)
    result = execute(one, two)
    assert result["iterations"] == []
    got = [
        (j["name"], j["start_ns"], [i["time_ns"] for i in j["iterations"]]) for j in result["jobs"]
    ]
    assert got == [("a", 0, [1, 2]), ("b", 4, [0.5, 0.7])]
    assert result["iteration_times"] == {
        "count": 4, "mean_ns": 1.05, "p50_ns": 0.7, "p99_ns": 2, "max_ns": 2,
    }  # fmt: skip


def test_jobs_that_have_not_ended_are_told_so_far() -> None:
    one = Trace([0], jobs=("a", "b", "c"))
    one.compute(1000, job=1)
    one.compute(9000, job=1, iteration=1)
    one.compute(9000, job=2)
    result = execute(one, time_limit_ps=5000)
    (job,) = result["jobs"]  # the others have not started
    assert (job["name"], [i["end_ns"] for i in job["iterations"]]) == ("a", [1])


def test_messages_of_different_sizes_fail_the_run() -> None:
    source, target = Trace([0]), Trace([1])
    source.send(1, 1000)
    target.receive(0, 999)
    result = execute(source, target)
    assert result["status"] == "failed"
    assert "expects 999 bytes" in result["error"]


def test_a_collective_that_a_rank_never_issues() -> None:
    trace = Trace([0, 1, 3])
    trace.issue(0, [trace.compute(5000)])
    result = execute(trace, collectives=1)
    assert result["status"] == "deadlock"
    assert result["time_ns"] == 5
    for text in (
        "3 of 3 ranks wait (0-1, 3)",
        "rank 0 waits for node 1 (n1)",
        "collective 0 (c0)",
        "0 of 1 chunks done",
        "not issued by 1 of 4 ranks, the first of them rank 2",
    ):
        assert text in result["error"]


def test_a_receive_without_its_send() -> None:
    trace = Trace([0])
    trace.receive(2, 1000, tag=9)
    result = execute(trace)
    assert result["status"] == "deadlock"
    assert "rank 0 waits for node 0 (n0), 1000 bytes from rank 2 with tag 9" in result["error"]


def test_nodes_that_wait_for_each_other() -> None:
    trace = Trace([0])
    trace.compute(1000, [1])
    trace.compute(1000, [0])
    result = execute(trace)
    assert result["status"] == "deadlock"
    assert "rank 0 cannot start node 0 (n0) before node 1 (n1)" in result["error"]


def test_steps_that_wait_for_each_other() -> None:
    trace = Trace(range(RANKS))
    trace.issue(0)
    record = program(0, RING)
    # The first step of member 0 now waits for itself, so it never sends.
    record.program.dep.insert(0, 0)
    for step in range(1, len(record.program.dep_begin)):
        record.program.dep_begin[step] += 1
    group = collective(0, 0, range(RANKS), 100_000)
    result = run([header(), settings(), star(RANKS), record, group, trace.record()])
    assert result["status"] == "deadlock"
    assert "4 of 4 ranks wait (0-3)" in result["error"]
    waits = r"rank 1 .* chunk 0 with \d+ of 12 steps done in phase 0, waiting for rank 0"
    assert re.search(waits, result["error"])


def test_the_time_limit_ends_a_run() -> None:
    trace = Trace(range(RANKS))
    trace.issue(0)
    result = execute(trace, collectives=1, time_limit_ps=RING_PS - 1)
    assert result["status"] == "time_limit"
    assert ps(result["time_ns"]) == RING_PS - 1
    assert "the time limit is reached: 4 of 4 ranks wait" in result["error"]
    assert result["collectives"] == []
    assert execute(trace, collectives=1, time_limit_ps=RING_PS + 1)["status"] == "complete"


def simulation() -> _core.Simulation:
    trace = Trace(range(RANKS))
    for _ in range(2000):
        trace.compute(1000)
    trace.issue(0)
    records: list[api.Record] = [header(), settings(), star(RANKS), program(0, RING)]
    return _core.Simulation(encode([*records, collective(0, 0, range(RANKS), 400), trace.record()]))


def test_progress_is_reported() -> None:
    made = simulation()
    made.build()
    seen: list[_core.Progress] = []
    assert made.run(seen.append, 0) == "complete"
    made.close()
    assert len(seen) > 2
    times = [progress.time_ns for progress in seen]
    assert times == sorted(times)
    assert seen[0].total_bytes == seen[-1].total_bytes == seen[-1].delivered_bytes == 2400
    assert seen[-1].events > 0
    assert seen[-1].wall_s >= 0


def test_an_interrupt_keeps_what_was_measured() -> None:
    made = simulation()
    made.build()

    def interrupt(progress: _core.Progress) -> None:
        if progress.time_ns > 500:
            raise KeyboardInterrupt

    assert made.run(interrupt, 0) == "interrupted"
    assert '"status":"interrupted"' in made.result()
    made.close()


def test_another_exception_passes_through() -> None:
    made = simulation()
    made.build()

    def fail(_: _core.Progress) -> None:
        raise LookupError("lost")

    with pytest.raises(LookupError, match="lost"):
        made.run(fail, 0)
    made.close()


def test_the_order_of_calls() -> None:
    first, second = simulation(), simulation()
    with pytest.raises(_core.CoreError, match="runs only after it is built"):
        first.run()
    with pytest.raises(_core.CoreError, match="has a result only after it is built"):
        first.result()
    first.build()
    with pytest.raises(_core.CoreError, match="built only once"):
        first.build()
    with pytest.raises(_core.CoreError, match="another Simulation or Network is open"):
        second.build()
    with pytest.raises(ValueError, match="interval_s"):
        first.run(None, -1)
    first.run()
    with pytest.raises(_core.CoreError, match="runs only once"):
        first.run()
    first.close()
    first.close()
    third = simulation()
    third.build()
    third.close()
    with pytest.raises(_core.CoreError):
        third.run()


def test_two_runs_in_a_process_are_the_same() -> None:
    texts = []
    for _ in range(2):
        made = simulation()
        made.build()
        made.run()
        texts.append(made.result())
        made.close()
    assert texts[0] == texts[1]
