"""Mixes of jobs, and jobs that take turns: numbers, arrivals, ranks, links, and dependencies."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontend import ScenarioError, load_scenario
from frontend.resolve import resolve
from frontend.workloads.plan import NodeType

LINKS = {"bandwidth": "100Gbps", "latency": "1us", "buffer": "unlimited"}
MODEL = {"name": "candle", "features": [8], "feature_layers": 1, "feature_width": 8}
MODEL |= {"dense_layers": 1, "dense_width": 8}
WORK = {"kind": "training", "batch_per_gpu": 1, "model": MODEL, "strategy": "data_parallel"}
TOPOOPT = {"family": "topoopt", "d": 2, "n": 9, "demand": "workload"}
PANEL = {"latency": "1s", "switch": "1ms"}


def kind(name="a", share=1, **changes):
    return {"name": name, "share": share, "ranks": 3, "workload": WORK} | changes


def load(count=4, jobs=None, topology=None, interval="0s", **keys):
    content = {
        "topology": LINKS | (topology or TOPOOPT),
        "jobs": jobs or [kind()],
        "mix": {"count": count, "interval": interval},
        "queueing": "in_turn",
    }
    return load_scenario(content | keys)


def jobs_of(scenario):
    return [work.job for work in scenario.work]


def arrivals(scenario):
    return [int(job.arrival) for job in jobs_of(scenario)]


def test_the_mix_of_section_5_6():
    """The mix is 40 % DLRM, 30 % BERT, 20 % CANDLE and 10 % VGG, for 5 to 27 jobs."""
    kinds = [kind(name, share) for name, share in zip("dbcv", (40, 30, 20, 10), strict=True)]
    expected = {5: (2, 2, 1, 0), 10: (4, 3, 2, 1), 20: (8, 6, 4, 2), 27: (11, 8, 5, 3)}
    for count, numbers in expected.items():
        found = Counter(work.entry for work in load(count, kinds).work)
        assert tuple(found[entry] for entry in range(4)) == numbers


@given(
    st.lists(st.integers(1, 100), min_size=1, max_size=6),
    st.integers(1, 60),
    st.integers(1, 5),
)
def test_kinds_follow_their_shares(shares, count, seed):
    mix = [kind(f"k{index}", share) for index, share in enumerate(shares)]
    scenario = load(count, mix, seed=seed)
    numbers = Counter(work.entry for work in scenario.work)
    assert sum(numbers.values()) == count
    for index, share in enumerate(shares):
        assert abs(numbers[index] - Fraction(share * count, sum(shares))) < 1
    assert [job.name.rpartition("_")[2] for job in jobs_of(scenario)] == list(
        map(str, range(count))
    )


def test_arrivals_are_drawn():
    assert set(arrivals(load(9))) == {0}
    found = arrivals(load(1000, interval="1ms"))
    assert found[0] == 0
    assert found == sorted(found)
    assert found[-1] / 999 == pytest.approx(1e9, rel=0.1)
    few = arrivals(load(9, interval="1ms"))
    assert arrivals(load(9, interval="1ms", seed=3)) != few
    late = [kind(arrival="5ms")]
    assert arrivals(load(9, late, interval="1ms")) == [time + 5 * 10**9 for time in few]


def test_a_mix_is_the_jobs_that_it_names():
    """The same jobs, each with its arrival as an entry of its own, have the same plan."""
    mix = [kind("a", 2), kind("b", workload=WORK | {"batch_per_gpu": 2})]
    whole = load(7, mix, interval="1us")
    single = [
        mix[work.entry] | {"name": work.job.name, "share": 1, "arrival": f"{work.job.arrival}ps"}
        for work in whole.work
    ]
    listed = load_scenario(whole, {"mix": None, "jobs": single})
    assert resolve(whole).turns == resolve(listed).turns
    tables = [resolve(one).plan.tables for one in (whole, listed)]
    for (ranks, own), (others, other) in zip(*tables, strict=True):
        assert ranks == others
        assert list(own.names) == list(other.names)
        for column in ("type", "duration_ps", "dep_begin", "dep", "tag", "route", "job", "peer"):
            np.testing.assert_array_equal(getattr(own, column), getattr(other, column))
    assert load_scenario(whole.resolved()) == whole


def test_jobs_take_each_others_ranks_in_turn():
    found = resolve(load(5, topology=TOPOOPT | {"n": 8})).turns
    assert [turn.members for turn in found[:3]] == [(0, 1, 2), (3, 4, 5), (0, 1, 2)]
    assert [turn.after for turn in found] == [None, None, 0, 1, 2]


@given(
    st.lists(st.integers(0, 50), min_size=1, max_size=12),
    st.sampled_from(["packed", "spread", "random"]),
    st.integers(2, 20),
    st.integers(1, 9),
)
def test_parts_are_fixed_and_turns_go_by_arrival(times, placement, ranks, seed):
    """n = ranks // 2 jobs have ranks of their own, and job i by arrival has those of job i - n."""
    jobs = [
        kind(f"k{index}", ranks=2, placement=placement, arrival=f"{time}us")
        for index, time in enumerate(times)
    ]
    flat = {"family": "flat", "ranks": ranks}
    found = resolve(load(1, jobs, flat, seed=seed, mix=None)).turns
    assert sorted(turn.job for turn in found) == list(range(len(times)))
    assert all(times[one.job] <= times[other.job] for one, other in pairwise(found))
    parts = ranks // 2
    assert len({rank for turn in found[:parts] for rank in turn.members}) == 2 * len(found[:parts])
    for place, turn in enumerate(found):
        before = found[place - parts] if place >= parts else None
        assert turn.after == (None if before is None else before.job)
        if before is not None:
            assert sorted(turn.members) == sorted(before.members)


def rank_0(scenario):
    """The plan, and of rank 0 the timers with their durations and what they wait for: timers, or
    the jobs of other nodes."""
    plan = resolve(scenario).plan
    table = next(nodes for ranks, nodes in plan.tables if 0 in ranks)
    waits = [
        {
            name.removeprefix("jobs.") if name.startswith("jobs.") else name.partition(".")[0]
            for name in (table.names[index] for index in some.tolist())
        }
        for some in np.split(table.dep, table.dep_begin[1:-1])
    ]
    return plan, {
        name.removeprefix("jobs."): (int(table.duration_ps[index]), waits[index])
        for index, name in enumerate(table.names)
        if table.type[index] == NodeType.TIMER
    }


def test_with_look_ahead_links_are_set_while_the_job_before_runs():
    plan, timers = rank_0(load(topology=TOPOOPT | {"provisioning": PANEL, "n": 6}))
    assert plan.jobs == ("a_0", "a_1", "a_2", "a_3")
    assert timers == {
        "a_0_arrival": (0, set()),
        "a_0_look_ahead": (10**12, set()),
        "a_0_start": (10**9, {"a_0_arrival", "a_0_look_ahead"}),
        "a_0_end": (0, {"a_0"}),
        "a_2_arrival": (0, set()),
        "a_2_look_ahead": (10**12, {"a_0_start"}),
        "a_2_start": (10**9, {"a_0_end", "a_2_arrival", "a_2_look_ahead"}),
        "a_2_end": (0, {"a_2"}),
    }


def test_without_look_ahead_links_are_set_after_the_job_before():
    panel = PANEL | {"look_ahead": False}
    _, timers = rank_0(load(topology=TOPOOPT | {"provisioning": panel, "n": 6}))
    assert timers["a_0_start"] == (10**12, {"a_0_arrival"})
    assert timers["a_2_start"] == (10**12, {"a_0_end", "a_2_arrival"})
    assert not any("look_ahead" in name for name in timers)


def test_all_ranks_of_a_job_start_together():
    plan = resolve(load(topology=TOPOOPT | {"provisioning": PANEL})).plan
    shared: dict[int, set[int]] = {}
    for ranks, nodes in plan.tables:
        for tag in nodes.tag[(nodes.type == NodeType.TIMER) & (nodes.tag > 0)].tolist():
            shared.setdefault(tag, set()).update(ranks)
    # A start and an end of each of four jobs, the last one of which follows the first one.
    assert Counter(map(frozenset, shared.values())) == {
        frozenset({0, 1, 2}): 4, frozenset({3, 4, 5}): 2, frozenset({6, 7, 8}): 2,
    }  # fmt: skip


def test_each_job_has_its_shard_and_its_rings():
    mix = [kind("a", ranks=4), kind("b", ranks=4)]
    scenario = load(4, mix, topology=TOPOOPT | {"n": 8})
    resolved = resolve(scenario)
    assert [(shard.members, shard.turn) for shard in resolved.layout.shards] == [
        ((0, 1, 2, 3), 0), ((4, 5, 6, 7), 0), ((0, 1, 2, 3), 1), ((4, 5, 6, 7), 1),
    ]  # fmt: skip
    issues = resolved.plan.issues
    assert {issue.ranks for issue in issues} == {(0, 1, 2, 3), (4, 5, 6, 7)}
    for issue in issues:
        assert issue.rings is not None
        assert {frozenset(order) for order in issue.rings.orders} == {frozenset(issue.ranks or ())}
    assert load_scenario(scenario.resolved()) == scenario


FLAT = {"family": "flat", "ranks": 9}
FOR_TWO = {"format": "cosim.strategy.v1", "servers": 2}


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"jobs": [kind(arrivals={"count": 2, "interval": "1us"})]},
            "jobs.0.arrivals: value {'count': 2, 'interval': '1us'}: expected no value, because "
            "mix has the arrivals",
        ),
        (
            {"jobs": [kind(share=2)], "mix": None},
            "jobs.0.share: value 2: expected no value, because the scenario has no mix",
        ),
        ({"jobs": [kind(share=0)]}, "jobs.0.share: value 0: expected more than 0"),
        (
            {"jobs": [kind(), kind()]},
            "jobs.1.name: value a: expected a different name for each job, not a",
        ),
        ({"mix": {"count": 0}}, "mix.count: value 0: expected at least 1"),
        (
            {"jobs": None, "workload": WORK},
            "mix: value {'count': 4, 'interval': '0s'}: expected null, because only jobs can be "
            "mixed",
        ),
        (
            {"jobs": [kind(), kind("b", ranks=4)]},
            "jobs.1.ranks: value 4: expected 3, as job a has, because jobs take turns",
        ),
        (
            {"jobs": [kind(ranks=10)]},
            "jobs.0.ranks: value 10: expected at most 9: the topology has 9 ranks",
        ),
        (
            {"jobs": [kind(ranks=None)]},
            "jobs.0.ranks: value null: expected a number of ranks, because placement is packed",
        ),
        (
            {"jobs": [kind(placement=[0, 1, 2])]},
            "jobs.0.placement: value [0, 1, 2]: expected a name, because jobs take turns on ranks "
            "that are free",
        ),
        (
            {"topology": LINKS | FLAT | {"provisioning": PANEL}},
            "topology.provisioning: unknown key here, it belongs to family topoopt",
        ),
        (
            {"topology": LINKS | {"family": "topoopt", "d": 2, "n": 9, "provisioning": PANEL}},
            "topology.provisioning: value {'latency': '1s', 'switch': '1ms'}: expected null, "
            "because only jobs with demand: workload are linked one after another",
        ),
        (
            {"jobs": [kind(), kind("b", route=5)]},
            "jobs.1.route: value 5: expected 0, because this topology is made for the workloads",
        ),
        (
            {"queueing": "fifo"},
            "queueing: value fifo: expected none or in_turn, because the links of this topology "
            "are made for the jobs",
        ),
        (
            {"routing": {"policy": "ecmp"}},
            "routing.policy: value ecmp: expected family, because jobs take turns on ranks, each "
            "with links of its own",
        ),
        (
            {"jobs": [kind(workload=WORK | {"strategy": FOR_TWO})]},
            f"jobs.0.workload.strategy: value {FOR_TWO}: servers: 2: expected 3, the number of "
            "ranks of the topology",
        ),
    ],
)
def test_wrong_input(changes, sentence):
    content = {
        "topology": LINKS | TOPOOPT,
        "jobs": [kind(), kind("b")],
        "mix": {"count": 4, "interval": "0s"},
        "queueing": "in_turn",
    } | changes
    if content["jobs"] is None:
        del content["jobs"], content["queueing"]
    with pytest.raises(ScenarioError) as caught:
        load_scenario(content)
    assert str(caught.value) == sentence
