"""Shards of a network: links and paths inside each shard and in each turn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topology_gen import PathError
from topology_gen.errors import ParameterError
from topology_gen.graphs import ring
from topology_gen.networks.direct_connect import direct_connect
from topology_gen.networks.shards import Shard, routes_of_turn, sharded
from topology_gen.topoopt import data_parallel, topology_finder

RATE, LATENCY = 10**10, 1000


def graph(servers, degree=4):
    return topology_finder(data_parallel(servers), degree).graph


@st.composite
def divided(draw):
    """Ranks in up to three turns, in each of which some are in shards."""
    ranks = draw(st.integers(4, 14))
    shards = []
    for turn in range(draw(st.integers(1, 3))):
        order = draw(st.permutations(range(ranks)))
        size = draw(st.integers(2, ranks))
        for first in range(0, ranks - size + 1, size):
            shards.append(Shard(tuple(order[first : first + size]), graph(size), turn))
    return ranks, shards


@given(divided(), st.integers(0, 1000))
def test_a_shard_is_the_same_network_as_alone(case, route):
    ranks, shards = case
    network = sharded(ranks, shards, RATE, LATENCY)
    assert network.links == sum(shard.graph.links for shard in shards)
    routes = routes_of_turn(shards)
    for shard in shards:
        alone = direct_connect(shard.graph, RATE, LATENCY)
        source, target = np.nonzero(~np.eye(alone.ranks, dtype=bool))
        members = np.array(shard.members)
        within = route % routes
        mine = network.paths(members[source], members[target], shard.turn * routes + within)
        its = alone.paths(source, target, within)
        assert (mine.begin == its.begin).all()
        assert (network.source[mine.links] == members[alone.source[its.links]]).all()
        assert (network.target[mine.links] == members[alone.target[its.links]]).all()


@given(divided())
def test_shards_share_no_links(case):
    ranks, shards = case
    network = sharded(ranks, shards, RATE, LATENCY)
    used: list[set[int]] = []
    for shard in shards:
        members = np.array(shard.members)
        source, target = np.nonzero(~np.eye(members.size, dtype=bool))
        first = shard.turn * routes_of_turn(shards)
        paths = network.paths(members[source], members[target], first)
        used.append(set(paths.links.tolist()))
    assert sum(map(len, used)) == len(set().union(*used))


def test_who_shares_no_shard_has_no_path():
    shards = [Shard((0, 1, 2), ring(3), 0), Shard((3, 4, 5), ring(3), 0)]
    shards.append(Shard((0, 3, 4), ring(3), 1))
    network = sharded(7, shards, RATE, LATENCY)
    assert network.paths([0], [3], 1).links.size == 1
    for source, target, route in ((0, 3, 0), (0, 6, 0), (1, 2, 1), (0, 1, 2)):
        sentence = f"ranks {source} and {target} share no shard in turn {route}"
        with pytest.raises(PathError, match=sentence):
            network.paths([source], [target], route)


@pytest.mark.parametrize(
    ("shards", "sentence"),
    [
        ([Shard((0, 1), ring(3), 0)], "shard of 2 members: expected 3 different ranks below 6"),
        ([Shard((0, 1, 6), ring(3), 0)], "shard of 3 members: expected 3 different ranks below 6"),
        ([Shard((0, 1, 1), ring(3), 0)], "shard of 3 members: expected 3 different ranks below 6"),
        (
            [Shard((0, 1, 2), ring(3), 0), Shard((2, 3, 4), ring(3), 0)],
            "turn 0: expected shards without common members",
        ),
    ],
)
def test_wrong_shards(shards, sentence):
    with pytest.raises(ParameterError) as caught:
        sharded(6, shards, RATE, LATENCY)
    assert str(caught.value) == sentence
