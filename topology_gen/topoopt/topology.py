"""A TopoOpt topology: superposed rings of all-reduce groups, matchings, and the routes on them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from topology_gen.arrays import ids
from topology_gen.errors import PathError
from topology_gen.graphs.digraph import Digraph
from topology_gen.graphs.totient_perms import ring
from topology_gen.topoopt.coin_change import CoinChange, Numbers
from topology_gen.topoopt.degree_split import ring_ports
from topology_gen.topoopt.k_shortest_paths import KShortestPaths, Path


class Rings(NamedTuple):
    """Rings through the same servers: place i is linked to place i+p, for each of the strides p.

    `group` is the all-reduce's index, or None for rings that only keep all servers connected.
    """

    group: int | None
    members: tuple[int, ...]
    strides: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class TopoOptTopology:
    """Who is linked to whom, and over which links the transfers go.

    Attributes
    ----------
    nodes, degree : int
        Servers, and ports of each.
    duplex : bool
        Every link carries both ways, so that a ring of more than two takes two ports.
    rings : tuple of Rings
        By group, those with most traffic first. Their links come first: those of stride p, then,
        if duplex, the same ones the other way.
    matchings : tuple of int64 arrays, shape (pairs, 2)
        Each takes a port of the servers in it, for a link both ways.
    """

    nodes: int
    degree: int
    duplex: bool
    rings: tuple[Rings, ...]
    matchings: tuple[Numbers, ...]

    @cached_property
    def graph(self) -> Digraph:
        """The directed links."""
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
            # Each ring's links are then all of Z_n's translations of one.
            vertex_transitive=matched == 0
            and all(rings.members == tuple(range(self.nodes)) for rings in self.rings),
        )

    @property
    def coins(self) -> list[int]:
        """The strides of all rings, in their order."""
        return [stride for rings in self.rings for stride in rings.strides]

    @property
    def ports(self) -> Numbers:
        """Ports of each server that are in use."""
        used = np.zeros(self.nodes, np.int64)
        for _, members, strides in self.rings:
            used[list(members)] += len(strides) * ring_ports(len(members), self.duplex)
        for pairs in self.matchings:
            used[pairs] += 1
        return used

    def orders(self, group: int | None) -> list[list[int]]:
        """Return the servers of a group's rings, each in the order in which it comes to them."""
        return [
            ring(rings.members, stride)
            for rings in self.rings
            if rings.group == group
            for stride in rings.strides
        ]

    @property
    def spanning_orders(self) -> list[list[int]]:
        """The rings through all servers, as in `orders`."""
        groups = [rings.group for rings in self.rings if len(rings.members) == self.nodes]
        return [order for group in groups for order in self.orders(group)]

    def all_reduce_path(self, source: int, target: int, group: int | None) -> Path:
        """Return the links of a route along the rings of a group: the fewest coins.

        Raises
        ------
        PathError
            A group without rings, or a server that is not in it, or twice the same.
        """
        for begin, rings in zip(self._begin, self.rings, strict=True):
            if rings.group != group:
                continue
            place = {member: index for index, member in enumerate(rings.members)}
            if source == target or source not in place or target not in place:
                break
            size = len(rings.members)
            change = CoinChange(size, rings.strides, len(self._coins(size, 1)) == 2)
            at = place[source]
            path = []
            for coin in change.routes(at, place[target])[0].tolist():
                path.append(begin + coin * size + at)
                at = (at + int(change.coins[coin])) % size
            return tuple(path)
        raise PathError(f"no rings of group {group} from server {source} to {target}")

    @cached_property
    def shortest_paths(self) -> KShortestPaths:
        """The shortest paths on all links, for model-parallel transfers."""
        return KShortestPaths(self.graph)

    @property
    def _begin(self) -> list[int]:
        """The first link of each of `rings`."""
        sizes = [
            len(members) * sum(len(self._coins(len(members), stride)) for stride in strides)
            for _, members, strides in self.rings
        ]
        return [sum(sizes[:index]) for index in range(len(sizes))]

    def _coins(self, size: int, stride: int) -> list[int]:
        return [stride, size - stride] if ring_ports(size, self.duplex) == 2 else [stride]
