"""Replay finds every error in a schedule, and measures correct schedules."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from topology_gen import graphs
from topology_gen.errors import ScheduleError
from topology_gen.schedules import bfb
from topology_gen.schedules.replay import can_replay, replay
from topology_gen.schedules.schedule import Schedule

RING = graphs.unidirectional_ring(3)  # link v runs from v to v+1


def hand_made(sends, chunks=1, operation="all_gather"):
    """A schedule on RING of steps of (link, shard, first, count)."""
    table = np.array([send for step in sends for send in step], dtype=np.uint32).reshape(-1, 4)
    begin = np.cumsum([0, *(len(step) for step in sends)]).astype(np.uint64)
    return Schedule(operation, RING, chunks, begin, *table.T)


RIGHT = [[(v, v, 0, 1) for v in range(3)], [(v, (v - 1) % 3, 0, 1) for v in range(3)]]


def test_what_it_measures():
    played = replay(hand_made(RIGHT))
    assert (played.steps, played.sends) == (2, 6)
    assert played.loads == (Fraction(1), Fraction(1))
    assert played.bandwidth_time == Fraction(2, 3)  # 1/N · (1 + 1)

    # Half of the shards a step later: the loads of half shards are 1/2, 1/2 + 1/2 and 1/2.
    halves = [
        [(v, v, 0, 1) for v in range(3)],
        [send for v in range(3) for send in ((v, v, 1, 1), (v, (v - 1) % 3, 0, 1))],
        [(v, (v - 1) % 3, 1, 1) for v in range(3)],
    ]
    played = replay(hand_made(halves, chunks=2))
    assert played.loads == (Fraction(1, 2), Fraction(1), Fraction(1, 2))


def test_reduce_scatter():
    # Shard v goes all the way round to v: it starts at v+1, and v+2 adds its part.
    right = [
        [((v + 1) % 3, v, 0, 1) for v in range(3)],
        [((v + 2) % 3, v, 0, 1) for v in range(3)],
    ]
    assert replay(hand_made(right, operation="reduce_scatter")).steps == 2
    with pytest.raises(ScheduleError, match="takes in chunk 0 of shard 0 in step 2, but does not"):
        replay(hand_made(right[::-1], operation="reduce_scatter"))


@pytest.mark.parametrize(
    ("sends", "text"),
    [
        (RIGHT[:1], r"rank 0 never gets chunk 0 of shard 1"),
        (RIGHT[::-1], r"rank 0 sends chunk 0 of shard 2 in step 1, but does not have it before"),
        ([*RIGHT, RIGHT[0][:1]], r"rank 1 gets chunk 0 of shard 0 in step 3, but also elsewhere"),
        ([*RIGHT, [(2, 0, 0, 1)]], r"rank 0 gets chunk 0 of shard 0 in step 3, its own"),
        ([RIGHT[0] + RIGHT[1]], r"does not have it before"),
        ([RIGHT[0] + RIGHT[0][:1], RIGHT[1]], r"rank 1 gets chunk 0 of shard 0 in step 1"),
        ([[(3, 0, 0, 1)]], r"send 0 is over link 3, but there are 3"),
        (
            [[(0, 3, 0, 1)]],
            r"send 0 has chunks 0 and the next 1 of shard 3, but there",
        ),
        ([[(0, 0, 1, 1)]], r"send 0 has chunks 1"),
        ([[(0, 0, 0, 0)]], r"send 0 has chunks 0 and the next 0"),
        ([], r"never gets"),
    ],
)
def test_wrong_schedules(sends, text):
    with pytest.raises(ScheduleError, match=text) as caught:
        replay(hand_made(sends))
    assert str(caught.value).startswith("all_gather on UniRing(1,3): ")


def test_arrays_that_do_not_fit():
    schedule = hand_made(RIGHT)
    for wrong in (
        replace(schedule, count=schedule.count[1:]),
        replace(schedule, step_begin=np.array([], dtype=np.uint64)),
        replace(schedule, step_begin=np.array([0, 7, 6], dtype=np.uint64)),
        replace(schedule, step_begin=np.array([1, 6], dtype=np.uint64)),
    ):
        with pytest.raises(
            ScheduleError, match="the arrays of the schedule differ in length or order"
        ):
            replay(wrong)


def test_wrong_claim():
    graph = graphs.torus([3, 3])
    claim = bfb.all_gather_performance(graph)
    lower = replace(claim, loads=(claim.loads[0], claim.loads[1] / 2))
    with pytest.raises(ScheduleError, match="the loads of its 2 steps are 1, 1, not 1, 1/2"):
        replay(bfb.all_gather(graph), lower)


def test_size():
    schedule = bfb.all_gather(graphs.ring(8))
    assert can_replay(schedule)
    for chunks in (0, 2**30):
        assert not can_replay(replace(schedule, chunks=chunks))
        with pytest.raises(ScheduleError, match="expected at most"):
            replay(replace(schedule, chunks=chunks))


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_any_single_change_is_found(data):
    schedule = bfb.all_gather(graphs.generalized_kautz(2, 9))
    field = data.draw(st.sampled_from(["link", "shard", "first", "count"]))
    place = data.draw(st.integers(0, schedule.sends - 1))
    values = getattr(schedule, field).copy()
    bound = {"link": 18, "shard": 9, "first": schedule.chunks, "count": schedule.chunks + 1}[field]
    change = data.draw(st.integers(0, bound).filter(lambda value: value != values[place]))
    if field == "link" and change < 18:  # another link into the same node may do as well
        target = schedule.graph.target
        assume(target[change] != target[values[place]])
    values[place] = change
    with pytest.raises(ScheduleError):
        replay(replace(schedule, **{field: values}), bfb.all_gather_performance(schedule.graph))
