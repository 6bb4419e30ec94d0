"""A TopoOpt topology: rings of all-reduce groups, matchings, and the routes over them.

CoinChangeMod: routes over rings of several strides, found as the fewest coins of a sum. The ring of
stride p leads from server i to i+p. A route from i to j is therefore a way to pay j-i, modulo the
number of servers, in coins whose values are the strides. The shortest route uses the fewest coins.
Coins can be paid in any order; each sum has its own order, which spreads the load over the rings.
All pairs with the same sum have the same route, so each link of a ring has the same load in an all-
to-all.

Source: W. Wang et al., "TopoOpt", NSDI 2023, Algorithm 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topology_gen.arrays import ids
from topology_gen.errors import ParameterError, PathError
from topology_gen.graphs.digraph import Digraph
from topology_gen.graphs.totient_perms import ring
from topology_gen.topoopt.degree_split import ring_ports

Numbers = NDArray[np.int64]


class CoinChange:
    """The fewest coins for every sum modulo n.

    Parameters
    ----------
    size : int
        Number n of servers on each ring.
    strides : sequence of int
        The stride of each ring, from 1 to n-1; equal strides are parallel links. Their greatest
        common divisor with n must be 1.
    duplex : bool
        Whether a ring leads in both directions: every stride p is a coin p and a coin n-p.

    Attributes
    ----------
    coins : int64 array
        The strides, each followed by n-p if duplex.
    distance : int64 array, shape (size,)
        The least number of coins for each sum.

    Raises
    ------
    ParameterError
        There are no servers, a stride is not in 1 … n-1, or the coins cannot pay every sum.

    Examples
    --------
    >>> change = CoinChange(12, [1, 5], duplex=True)
    >>> change.coins.tolist(), change.distance.tolist()
    ([1, 11, 5, 7], [0, 1, 2, 3, 2, 1, 2, 1, 2, 3, 2, 1])
    """

    def __init__(self, size: int, strides: Sequence[int], duplex: bool = False) -> None:
        if size < 1:
            raise ParameterError(f"{size} servers: expected at least 1")
        for stride in strides:
            if not 1 <= stride < size:
                raise ParameterError(f"stride {stride}: expected 1 … {size - 1}")
        self.size = size
        values = [[stride, size - stride] if duplex else [stride] for stride in strides]
        self.coins = np.array([coin for both in values for coin in both], dtype=np.int64)
        self.distance = np.full(size, -1, dtype=np.int64)
        self.distance[0] = 0
        reached = np.zeros(1, np.int64)
        while reached.size:
            sums = np.unique((reached[:, None] + self.coins) % size)
            fewest = self.distance[reached[0]] + 1
            reached = sums[self.distance[sums] < 0]
            self.distance[reached] = fewest
        if np.any(self.distance < 0):
            raise ParameterError(
                f"strides {', '.join(map(str, strides))} do not lead to all {size} servers"
            )
        # For each sum, the coins that can be the last one of a shortest payment.
        before = self.distance[(np.arange(size)[:, None] - self.coins) % size]
        last = before == self.distance[:, None] - 1
        self._count = last.sum(axis=1)
        self._last = np.argsort(~last, axis=1, kind="stable")

    @property
    def diameter(self) -> int:
        """The greatest number of coins that a sum needs."""
        return int(self.distance.max())

    @property
    def mean_path_length(self) -> float:
        """The mean number of coins over all sums except 0, which is the mean number of hops."""
        return float(self.distance.sum() / max(self.size - 1, 1))

    def routes(self, source: ArrayLike, target: ArrayLike, turn: ArrayLike = 0) -> Numbers:
        """Return the coins of the routes between some pairs of servers.

        Parameters
        ----------
        source, target : array_like of int
            Places on the ring of stride 1.
        turn : array_like of int
            The number of the route, for pairs with several shortest routes.

        Returns
        -------
        int64 array, shape (pairs, longest route)
            For each pair, indices of `coins`, padded with -1.

        Examples
        --------
        >>> CoinChange(12, [1, 5], duplex=True).routes([0, 1], [6, 7]).tolist()
        [[2, 0], [2, 0]]
        """
        sources = np.atleast_1d(np.asarray(source, dtype=np.int64))
        left = (np.atleast_1d(np.asarray(target, dtype=np.int64)) - sources) % self.size
        turns = left + np.asarray(turn, dtype=np.int64)
        result = np.full((left.size, int(self.distance[left].max(initial=0))), -1)
        for hop in range(result.shape[1]):
            going = np.flatnonzero(left)
            sums = left[going]
            coin = self._last[sums, (turns[going] + hop) % self._count[sums]]
            result[going, hop] = coin
            left[going] = (sums - self.coins[coin]) % self.size
        return result


class Rings(NamedTuple):
    """Rings through the same servers: for each stride p, place i is linked to place i+p.

    `group` is the all-reduce's index, or None for rings that only keep all servers connected.
    """

    group: int | None
    members: tuple[int, ...]
    strides: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class TopoOptTopology:
    """The links of a TopoOpt topology, and the links that transfers use.

    Attributes
    ----------
    nodes, degree : int
        Number of servers, and number of ports of each.
    duplex : bool
        Whether every link carries both directions, so that a ring of more than two servers uses two
        ports.
    rings : tuple of Rings
        The rings by group, in descending order of traffic. Their links come first: those of stride
        p and then, if duplex, those of the opposite direction.
    matchings : tuple of int64 arrays, shape (pairs, 2)
        Each matching uses one port of its servers, for a link in both directions.
    """

    nodes: int
    degree: int
    duplex: bool
    rings: tuple[Rings, ...]
    matchings: tuple[Numbers, ...]

    @cached_property
    def graph(self) -> Digraph:
        """The digraph of all links."""
        source: list[Numbers] = []
        target: list[Numbers] = []
        for _, members, strides in self.rings:
            order = np.array(members, dtype=np.int64)
            for stride in strides:
                for coin in self._coins(len(members), stride):
                    source.append(order)
                    target.append(np.roll(order, -coin))
        for pairs in self.matchings:
            source += [pairs[:, 0], pairs[:, 1]]
            target += [pairs[:, 1], pairs[:, 0]]
        coins = ",".join(str(stride) for rings in self.rings for stride in rings.strides)
        matched = sum(len(pairs) for pairs in self.matchings)
        return Digraph(
            f"TopoOpt({self.nodes},{{{coins}}}" + (f",{matched} matched)" if matched else ")"),
            self.nodes,
            ids(np.concatenate([*source, np.zeros(0, np.int64)])),
            ids(np.concatenate([*target, np.zeros(0, np.int64)])),
            # The links of each ring are then all translations of one link by Z_n.
            vertex_transitive=matched == 0
            and all(rings.members == tuple(range(self.nodes)) for rings in self.rings),
        )

    @property
    def coins(self) -> list[int]:
        """The strides of all rings, in their order."""
        return [stride for rings in self.rings for stride in rings.strides]

    @property
    def ports(self) -> Numbers:
        """Number of ports in use at each server."""
        used = np.zeros(self.nodes, np.int64)
        for _, members, strides in self.rings:
            used[list(members)] += len(strides) * ring_ports(len(members), self.duplex)
        for pairs in self.matchings:
            used[pairs] += 1
        return used

    def orders(self, group: int | None) -> list[list[int]]:
        """Return the servers of each ring of a group, in the order of the ring."""
        return [
            ring(rings.members, stride)
            for rings in self.rings
            if rings.group == group
            for stride in rings.strides
        ]

    @cached_property
    def groups(self) -> dict[frozenset[int], list[int | None]]:
        """The groups that have rings through exactly these servers, by their servers."""
        found: dict[frozenset[int], list[int | None]] = {}
        for rings in self.rings:
            found.setdefault(frozenset(rings.members), []).append(rings.group)
        return found

    @cached_property
    def spanning_orders(self) -> list[list[int]]:
        """The rings through all servers, as `orders` returns them.

        If the rings of groups connect all servers, there may be none. Then the servers' numbers are
        the only order, and its hops have to be relayed.
        """
        groups = [rings.group for rings in self.rings if len(rings.members) == self.nodes]
        orders = [order for group in groups for order in self.orders(group)]
        return orders or [list(range(self.nodes))]

    def share_rings(self, source: Numbers, target: Numbers) -> NDArray[np.bool_]:
        """Return for some pairs whether a group has rings through both servers."""
        found = np.zeros(source.size, bool)
        for rings in self.rings:
            member = np.zeros(self.nodes, bool)
            member[list(rings.members)] = True
            found |= member[source] & member[target]
        return found

    def all_reduce_paths(
        self, source: Numbers, target: Numbers, turn: Numbers
    ) -> tuple[Numbers, Numbers]:
        """Return the paths of some pairs along rings: the fewest coins.

        A pair takes the rings of the group with most traffic that has rings through both servers,
        or those through all servers. There must be one; see `share_rings`.

        Parameters
        ----------
        source, target : int64 array
            The pairs.
        turn : int64 array
            Which of its routes, for a pair that has several.

        Returns
        -------
        begin, links : int64 array
            The links of pair i are `links[begin[i]:begin[i + 1]]`.

        Raises
        ------
        PathError
            Both servers of a pair are the same, or no group has rings through both.
        """
        if np.any(source == target):
            server = source[source == target][0]
            raise PathError(f"no way along rings from server {server} to itself")
        if not self.share_rings(source, target).all():
            raise PathError("no group has rings through both servers of a pair")
        walks = np.full((source.size, 0), -1)
        left = np.ones(source.size, bool)
        for first, rings in zip(self._begin, self.rings, strict=True):
            place = np.full(self.nodes, -1)
            place[list(rings.members)] = np.arange(len(rings.members))
            here = np.flatnonzero(left & (place[source] >= 0) & (place[target] >= 0))
            left[here] = False
            found = self._along(rings, place[source[here]], place[target[here]], turn[here])
            longer = max(0, found.shape[1] - walks.shape[1])
            walks = np.pad(walks, ((0, 0), (0, longer)), constant_values=-1)
            walks[here, : found.shape[1]] = np.where(found >= 0, found + first, -1)
        taken = walks >= 0
        return np.concatenate(([0], np.cumsum(taken.sum(axis=1)))), walks[taken]

    def _along(self, rings: Rings, at: Numbers, target: Numbers, turn: Numbers) -> Numbers:
        """Return the links from place to place, counted from the rings' first, filled up by -1."""
        size = len(rings.members)
        change = _coin_change(size, tuple(rings.strides), len(self._coins(size, 1)) == 2)
        coins = change.routes(at, target, turn)
        before = np.cumsum(np.where(coins >= 0, change.coins[coins], 0), axis=1)
        before = np.roll(before, 1, axis=1)
        before[:, :1] = 0
        return np.where(coins >= 0, coins * size + (at[:, None] + before) % size, -1)

    @property
    def _begin(self) -> list[int]:
        """The index of the first link of each of `rings`."""
        sizes = [
            len(members) * sum(len(self._coins(len(members), stride)) for stride in strides)
            for _, members, strides in self.rings
        ]
        return [sum(sizes[:index]) for index in range(len(sizes))]

    def _coins(self, size: int, stride: int) -> list[int]:
        return [stride, size - stride] if ring_ports(size, self.duplex) == 2 else [stride]


@lru_cache(64)  # one for each size of a group; the strategy search asks for thousands of paths
def _coin_change(size: int, strides: tuple[int, ...], duplex: bool) -> CoinChange:
    return CoinChange(size, strides, duplex)
