"""Shards: groups of ranks that have direct links to each other, one group after the other.

The optical switches of a TopoOpt cluster link the servers of a job only to each other. When a job
ends, the switches link its servers anew for the next job. In the network here, these are additional
links, and the route of a message selects the links of one turn.

Source: W. Wang et al., "TopoOpt", NSDI 2023, section 5.6 and Appendix C.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from topology_gen.arrays import Numbers
from topology_gen.errors import ParameterError, PathError
from topology_gen.graphs.digraph import Digraph
from topology_gen.networks.direct_connect import direct_connect, parallel_index, without_loops
from topology_gen.networks.network import Network, Router
from topology_gen.networks.shortest_paths import ShortestPaths


class Shard(NamedTuple):
    """The links of some ranks in a turn, counted from 0; node i of the digraph is members[i].

    `router` chooses the paths between nodes of the digraph, `ShortestPaths` by default. It has
    `routes` routes more than the greatest number of parallel links.
    """

    members: tuple[int, ...]
    graph: Digraph
    turn: int
    router: Router | None = None
    routes: int = 0


def routes_of_turn(shards: Sequence[Shard]) -> int:
    """Return how many routes each turn has: those of the shard with the most.

    The routes of turn t start at t times this number.
    """
    routes = (shard.routes + int(parallel_index(shard.graph).max(initial=0)) for shard in shards)
    return 1 + max(routes, default=0)


def sharded(
    ranks: int,
    shards: Sequence[Shard],
    bandwidth_bps: int,
    latency_ps: int,
    buffer_bytes: int = 0,
    ecn_threshold_bytes: int = 0,
    forwarding_delay_ps: int = 0,
) -> Network:
    """Return the network of the links of all shards.

    Parameters
    ----------
    ranks : int
        Number of ranks, at least 2. Ranks in no shard have no links.
    shards : sequence of Shard
        The shards; those of the same turn must not share members.
    bandwidth_bps, latency_ps, buffer_bytes, ecn_threshold_bytes, forwarding_delay_ps : int
        As for `direct_connect`.

    Raises
    ------
    ParameterError
        A member is not a rank, is in two shards of a turn, or the number of members is not that of
        the digraph's nodes.
    LinkError
        As for `direct_connect`.

    Examples
    --------
    >>> from topology_gen.graphs import ring
    >>> network = sharded(6, [Shard((1, 2, 3), ring(3), 0), Shard((1, 2, 3), ring(3), 1)], 10**9, 0)
    >>> network.links, network.paths([1, 1], [2, 2], [0, 1]).links.tolist()
    (12, [0, 6])
    """
    graphs = [without_loops(shard.graph) for shard in shards]
    for shard, graph in zip(shards, graphs, strict=True):
        members = set(shard.members)
        different = len(members) == len(shard.members) == graph.nodes
        if not different or not members <= set(range(ranks)):
            raise ParameterError(
                f"shard of {len(shard.members)} members: expected {graph.nodes} different ranks "
                f"below {ranks}"
            )
    ends = [
        (np.array(shard.members)[graph.source], np.array(shard.members)[graph.target])
        for shard, graph in zip(shards, graphs, strict=True)
    ]
    none = np.zeros(0, np.int64)
    every = Digraph(
        "shards",
        ranks,
        np.concatenate([none, *(source for source, _ in ends)]).astype(np.uint32),
        np.concatenate([none, *(target for _, target in ends)]).astype(np.uint32),
    )
    network = direct_connect(
        every, bandwidth_bps, latency_ps, buffer_bytes, ecn_threshold_bytes, forwarding_delay_ps
    )
    return replace(network, router=_ShardPaths(ranks, shards, graphs))


class _ShardPaths:
    """Routes inside shards: a `topology_gen.networks.network.Router`."""

    def __init__(self, ranks: int, shards: Sequence[Shard], graphs: Sequence[Digraph]) -> None:
        self._routes = routes_of_turn(shards)
        turns = 1 + max((shard.turn for shard in shards), default=0)
        self._shard = np.full((turns, ranks), -1)
        self._place = np.zeros((turns, ranks), np.int64)
        for number, shard in enumerate(shards):
            members = np.array(shard.members)
            if (self._shard[shard.turn, members] >= 0).any():
                raise ParameterError(f"turn {shard.turn}: expected shards without common members")
            self._shard[shard.turn, members] = number
            self._place[shard.turn, members] = np.arange(members.size)
        self._paths = [
            shard.router or ShortestPaths(graph)
            for shard, graph in zip(shards, graphs, strict=True)
        ]
        self._first = np.cumsum([0, *(graph.links for graph in graphs)])

    def __call__(self, source: Numbers, target: Numbers, route: Numbers) -> tuple[Numbers, Numbers]:
        """Return (begin, links) of the paths; PathError for a pair that shares no shard."""
        turn = route // self._routes
        inside = turn < len(self._shard)
        shard = np.where(inside, self._shard[turn * inside, source], -1)
        lost = (shard < 0) | (shard != self._shard[turn * inside, target])
        if lost.any():
            pair = int(np.argmax(lost))
            raise PathError(
                f"ranks {source[pair]} and {target[pair]} share no shard in turn {turn[pair]}"
            )
        links: list[Numbers] = [np.zeros(0, np.int64)] * source.size
        for number in np.unique(shard).tolist():
            here = np.flatnonzero(shard == number)
            place = self._place[turn[here]]
            rows = np.arange(here.size)
            begin, found = self._paths[number](
                place[rows, source[here]], place[rows, target[here]], route[here] % self._routes
            )
            for row, pair in enumerate(here.tolist()):
                links[pair] = found[begin[row] : begin[row + 1]] + self._first[number]
        lengths = [path.size for path in links]
        return np.cumsum([0, *lengths]), np.concatenate([np.zeros(0, np.int64), *links])
