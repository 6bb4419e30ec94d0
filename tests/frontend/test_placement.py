"""The ranks of jobs: every policy gives each job its own, and keeps what it promises."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frontend import load_scenario
from frontend.errors import ScenarioError
from frontend.placements import PLACEMENTS, PlacementPolicy, pods_of
from frontend.resolve import resolve
from frontend.resolve.placement import placements

SUM = {"kind": "collective", "operation": "all_reduce", "algorithm": "ring", "bytes": "1MB"}
CLOS = {"family": "leaf_spine", "servers": 32, "radix": 12, "oversubscription": 2}
CLOS |= {"buffer": "1MB"}
RAILS = {"family": "rail_optimized", "servers": 8, "server": "dgx_h100", "pod": 4}
RAILS |= {"buffer": "16MB"}


def placed(topology, jobs, seed=1):
    listed = [{"name": f"j{number}", "workload": SUM, **job} for number, job in enumerate(jobs)]
    scenario = load_scenario({"topology": topology, "jobs": listed, "seed": seed})
    resolved = resolve(scenario)
    return placements(scenario, resolved.ranks, resolved.layout)


@settings(deadline=None)  # the first example imports scipy
@given(
    st.lists(
        st.tuples(st.sampled_from(["packed", "spread", "by_pod", "random"]), st.integers(1, 8)),
        min_size=1,
        max_size=4,
    ),
    st.integers(1, 5),
)
def test_every_job_has_its_own_ranks(jobs, seed):
    found = placed(CLOS, [{"placement": how, "ranks": count} for how, count in jobs], seed)
    assert [len(members) for members in found] == [count for _, count in jobs]
    ranks = [rank for members in found for rank in members]
    assert len(set(ranks)) == len(ranks)
    assert set(ranks) <= set(range(32))


def test_lists_come_first_and_keep_their_order():
    found = placed(CLOS, [{"ranks": 3}, {"placement": [1, 0, 5]}, {"ranks": 2}])
    assert found == [(2, 3, 4), (1, 0, 5), (6, 7)]


def test_spread_ranks_are_at_equal_distances():
    assert placed(CLOS, [{"ranks": 4, "placement": "spread"}]) == [(0, 8, 16, 24)]
    assert placed(CLOS, [{"ranks": 4}, {"ranks": 4, "placement": "spread"}])[1] == (4, 11, 18, 25)


@given(st.lists(st.integers(1, 8), min_size=1, max_size=4))
def test_a_job_stays_in_one_pod_if_one_has_enough_ranks(sizes):
    """Leaf k has the ranks 8 k … 8 k + 7. Best fit, in order, is the oracle."""
    free = [8] * 4
    found = placed(CLOS, [{"placement": "by_pod", "ranks": size} for size in sizes])
    for size, members in zip(sizes, found, strict=True):
        enough = [left for left in free if left >= size]
        if enough:
            assert len({rank // 8 for rank in members}) == 1
            assert free[members[0] // 8] == min(enough)
        for rank in members:
            free[rank // 8] -= 1


def test_a_job_that_no_pod_holds_takes_as_few_as_possible():
    found = placed(
        CLOS, [{"ranks": 3, "placement": [0, 8, 9]}, {"ranks": 18, "placement": "by_pod"}]
    )
    assert Counter(rank // 8 for rank in found[1]) == {2: 8, 3: 8, 1: 2}


def test_rails_are_filled_one_after_another():
    found = placed(
        RAILS, [{"ranks": 8, "placement": "by_rail"}, {"ranks": 10, "placement": "by_rail"}]
    )
    assert [rank % 8 for rank in found[0]] == [0] * 8
    assert [rank % 8 for rank in found[1]] == [1] * 8 + [2] * 2
    assert [rank // 8 for rank in found[1]] == [*range(8), 0, 1]


@pytest.mark.parametrize(
    ("topology", "size"),
    [
        (CLOS, 8),
        (RAILS, 32),  # 4 servers with 8 GPUs
        ({"family": "fat_tree", "ranks": 16, "bandwidth": "1Gbps", "latency": "0s"}, 4),
        (CLOS | {"tiers": 3, "servers": 64, "radix": 8, "oversubscription": 1}, 16),
    ],
)
def test_pods_are_what_the_top_switches_join(topology, size):
    """Pods of k-ary Fat-trees have k²/4 ranks: k = 4, and k = 8 with half of the ports down."""
    resolved = resolve(load_scenario({"topology": {"buffer": "1MB"} | topology, "workload": SUM}))
    assert pods_of(resolved.network) == [rank // size for rank in range(resolved.ranks)]


@pytest.mark.parametrize(
    "topology",
    [
        {"family": "flat", "ranks": 8, "bandwidth": "1Gbps"},
        {"family": "direct_connect", "graph": "hypercube:n=8", "bandwidth": "1Gbps"},
    ],
)
def test_networks_of_one_tier_have_no_pods(topology):
    given = {"latency": "1us", "buffer": "1MB"} | topology
    assert pods_of(resolve(load_scenario({"topology": given, "workload": SUM})).network) is None


@pytest.mark.parametrize(
    "ranks", [[0, 1], [0, 1, 1], [0, 1, 32], [0, 1, 5, 6], [0, 1, 4], [0, 1, 2.0], None]
)
def test_a_policy_returns_free_ranks(ranks, monkeypatch):
    """As many as asked for, different, and not those of the first job."""
    policy = PlacementPolicy("mine", "", lambda request: ranks)
    monkeypatch.setitem(PLACEMENTS._entries, "mine", policy)
    jobs = [{"placement": [4]}, {"ranks": 3, "placement": "mine"}]
    shown = re.escape(f"{ranks}")
    with pytest.raises(
        ScenarioError, match=rf"jobs\.1\.placement: value mine: .* returns {shown}, and not 3"
    ):
        placed(CLOS, jobs)


def test_a_policy_knows_the_cluster(monkeypatch):
    """Its order is that of the ranks of the job, and a seed gives the same again."""

    def by_number(request):
        assert request.cluster.network.ranks == 32
        return list(reversed(request.free))[: request.count]

    monkeypatch.setitem(PLACEMENTS._entries, "mine", PlacementPolicy("mine", "", by_number))
    found = placed(CLOS, [{"ranks": 3, "placement": "mine"}, {"ranks": 2, "placement": "mine"}])
    assert found == [(31, 30, 29), (28, 27)]


def test_random_ranks_follow_the_seed():
    jobs = [{"ranks": 8, "placement": "random"}] * 2
    assert placed(CLOS, jobs) == placed(CLOS, jobs)
    assert placed(CLOS, jobs)[0] != placed(CLOS, jobs, seed=2)[0]
