"""What sends of a member's own data wait for."""

import numpy as np
import pytest

from frontend.collectives.program.scheduled import in_order, in_turn
from topology_gen import graphs
from topology_gen.graphs.wiring import uniform
from topology_gen.schedules.trees import forest


@pytest.fixture
def all_gather():
    return forest(uniform(graphs.torus([3, 4]))).schedule(segments=6)


def parts(schedule):
    """Return step, member and target of each send, and pairs of a send and what it forwards."""
    step = np.repeat(np.arange(schedule.steps), np.diff(schedule.step_begin.astype(np.int64)))
    member = schedule.graph.source[schedule.link]
    target = schedule.graph.target[schedule.link]
    chunks = [
        (int(node), int(shard), int(first))
        for node, shard, first in zip(target, schedule.shard, schedule.first, strict=True)
    ]
    arrival = {chunk: send for send, chunk in enumerate(chunks)}
    pairs = [
        (send, arrival[int(member[send]), int(schedule.shard[send]), int(schedule.first[send])])
        for send in np.flatnonzero(member != schedule.shard).tolist()
    ]
    sent, received = (np.array(column) for column in zip(*pairs, strict=True))
    return step, member, target, sent, received


@pytest.mark.parametrize("ahead", [1, 3])
def test_own_data_keeps_the_order_of_each_link(all_gather, ahead):
    step, member, target, sent, received = parts(all_gather)
    own = np.flatnonzero(member == all_gather.shard)
    sends, waited = in_order(all_gather, own, ahead, sent, received)
    expected = [
        send
        for send in own.tolist()
        if np.any(step[sent[all_gather.link[sent] == all_gather.link[send]]] <= step[send] - ahead)
    ]
    assert sorted(sends.tolist()) == expected
    for send, wait in zip(sends.tolist(), waited.tolist(), strict=True):
        assert target[wait] == member[send]
        assert step[wait] < step[send] - ahead


def test_turns_wait_for_every_link_into_a_member(all_gather):
    step, member, target, *_ = parts(all_gather)
    own = np.flatnonzero(member == all_gather.shard)
    sends, waited = in_turn(all_gather, own, 2)
    assert np.array_equal(target[waited], member[sends])
    assert np.all(step[waited] <= step[sends] - 2)
    links = {(int(member[s]), int(all_gather.link[w])) for s, w in zip(sends, waited, strict=True)}
    assert len(links) == all_gather.graph.links
