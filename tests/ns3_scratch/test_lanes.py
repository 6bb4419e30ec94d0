"""Lanes of a rank: slots, the order of what waits for them, and waiting for a start."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from bridge import _core
from frontend import network_api_pb2 as api
from frontend.stream import encode
from tests.ns3_scratch.streams import Trace, header, ps, run, settings, star

PS = 1_000_000


def records(
    trace: Trace,
    lanes: Sequence[int],
    slots: Sequence[int],
    start: Sequence[Sequence[int]] = (),
) -> list[api.Record]:
    """Return a stream with one trace, whose nodes have lanes and wait for starts."""
    record = trace.record()
    record.trace.lane.extend(lanes)
    record.trace.lane_slots.extend(slots)
    if start:
        record.trace.start_dep_begin.extend(
            [sum(map(len, start[:i])) for i in range(len(start) + 1)]
        )
        record.trace.start_dep.extend(node for nodes in start for node in nodes)
    return [header(), settings(), star(2), record]


def time(*arguments: Any) -> int:
    return ps(run(records(*arguments))["time_ns"])


@pytest.mark.parametrize(("slots", "expected"), [(1, 9), (2, 5), (3, 4)])
def test_a_lane_runs_as_many_nodes_as_it_has_slots(slots: int, expected: int) -> None:
    """Of durations 4, 2, 3: 9 one after another; 4 beside 2 + 3; 4 beside 2 beside 3."""
    trace = Trace([0])
    for duration in (4, 2, 3):
        trace.compute(duration * PS)
    assert time(trace, [1, 1, 1], [slots]) == expected * PS


def test_lanes_run_beside_each_other_and_beside_the_compute_stream() -> None:
    trace = Trace([0])
    for duration in (4, 2, 3):
        trace.compute(duration * PS)
    assert time(trace, [0, 1, 2], [1, 1]) == 4 * PS
    assert time(trace, [0, 1, 1], [1, 1]) == 5 * PS


def test_overlapping_computations_count_each_for_a_layer_and_once_for_an_iteration() -> None:
    trace = Trace([0])
    for duration in (4, 2, 3):
        trace.compute(duration * PS)
    result = run(records(trace, [0, 1, 2], [1, 1]))
    assert [ps(layer["compute_ns"]) for layer in result["layers"]] == [9 * PS]
    assert [ps(part["compute_ns"]) for part in result["iterations"]] == [4 * PS]


def test_the_lowest_index_starts_first() -> None:
    """Node 0 waits for node 1, and then comes before node 2, which was ready earlier.

    Node 3 shows it: it follows node 0 at 1 + 1 and lasts 5; had node 2 been first, it would end at
    1 + 3 + 1 + 5.
    """
    trace = Trace([0])
    trace.compute(PS, [1])
    trace.compute(PS)
    trace.compute(3 * PS, [1])
    trace.compute(5 * PS, [0])
    assert time(trace, [1, 1, 1, 0], [1]) == 7 * PS


def test_a_lane_chooses_when_everything_of_the_time_has_happened() -> None:
    """Node 1 ends, and frees the lane, before node 3, for which node 0 waits, at the same time.

    Node 0 still precedes node 2, which was ready earlier: 1 + 1 + 5; otherwise 1 + 3 + 1 + 5.
    """
    trace = Trace([0])
    trace.compute(PS, [3])
    trace.compute(PS)
    trace.compute(3 * PS)
    trace.compute(PS)
    trace.compute(5 * PS, [0])
    assert time(trace, [1, 1, 1, 2, 0], [1, 1]) == 7 * PS


def test_a_node_can_wait_for_the_start_of_another() -> None:
    """Node 1 starts with node 0, which starts after node 2: 2 + max(5, 3)."""
    trace = Trace([0])
    trace.compute(5 * PS, [2])
    trace.compute(3 * PS)
    trace.compute(2 * PS)
    assert time(trace, [1, 2, 3], [1, 1, 1], [[], [0], []]) == 7 * PS
    assert time(trace, [1, 2, 3], [1, 1, 1], [[1], [], []]) == 7 * PS


def test_a_run_that_waits_for_a_lane_says_so() -> None:
    trace = Trace([0])
    trace.receive(1, 100)
    trace.compute(PS)
    other = Trace([1])
    other.compute(PS)
    stream = records(trace, [1, 1], [1])
    result = run([*stream, other.record()])
    assert result["status"] == "deadlock"
    assert "node 0 (n0), 100 bytes from rank 1" in result["error"]


@pytest.mark.parametrize(
    ("lanes", "slots", "start", "text"),
    [
        ([2], [1], (), r"lane\[0\] is 2, but there are 1 lanes"),
        ([1], [0], (), r"lane_slots\[0\] is 0, but at least 1 are needed"),
        ([1, 1], [1], (), "lane has 2 entries"),
        ([1], [1], [[5]], r"start_dep\[0\] is 5, but there are 1 nodes"),
    ],
)
def test_wrong_lanes_are_refused(
    lanes: list[int], slots: list[int], start: list[list[int]], text: str
) -> None:
    trace = Trace([0])
    trace.compute(PS)
    with pytest.raises(ValueError, match=text):
        _core.Simulation(encode(records(trace, lanes, slots, start)))
