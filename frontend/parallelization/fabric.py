"""Compute the load of transfers and all-reduces on links: the time on each link, and a latency.

A link carries one byte after another. Bytes over given paths therefore occupy each link for a known
time: bytes on the wire / rate. The last byte arrives after an additional latency: propagation, the
forwarding delay of ranks, and the transmission of a packet at every hop except the first.

The paths between servers, found when they are first needed: a block of targets at a time. A path is
looked up for every pair of a transfer, so paths stay in memory, as few bytes a hop.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from frontend.collectives.algorithms.ring import logical_rings
from frontend.collectives.group_rings import GroupRings
from frontend.parallelization.transfers import Transfer
from topology_gen import Network
from topology_gen.arrays import Ids, Numbers, ids
from topology_gen.kernels import add_loads
from topology_gen.networks.direct_connect import parallel_index
from topology_gen.networks.network import Paths

Seconds = NDArray[np.float64]
Bytes = NDArray[np.float64]


class Wire(NamedTuple):
    """Packet sizes: the payload of a full packet, and the headers of a packet, in bytes."""

    segment_bytes: int = 8960
    header_bytes: int = 42

    def size(self, message: Bytes) -> Bytes:
        """Return the size of messages on the wire, in bytes."""
        packets: Bytes = np.ceil(message / self.segment_bytes)
        return message + packets * self.header_bytes

    def first_packet(self, message: Bytes) -> Bytes:
        """Return the size on the wire of the first packets of messages."""
        return np.minimum(message, self.segment_bytes) + self.header_bytes


class Routes(NamedTuple):
    """The routes between two servers that messages take in turn, and the first of all-reduces."""

    paths: int = 1
    relay: int = 0


class LinkLoad(NamedTuple):
    """Occupied links, the time on each in seconds, and the additional latency in seconds."""

    links: NDArray[np.int64]
    seconds: Seconds
    latency: float


class Fabric:
    """The paths of a network between all of its ranks.

    Parameters
    ----------
    network : Network
        Network with one rank per server.
    wire : Wire, optional
        Sizes of packets and headers.
    routes : Routes, optional
        The routes that messages take.
    """

    def __init__(
        self, network: Network, wire: Wire | None = None, routes: Routes | None = None
    ) -> None:
        self.network = network
        self.wire = wire or Wire()
        self.routes = routes or Routes()
        self.servers = network.ranks
        full = float(self.wire.segment_bytes + self.wire.header_bytes)
        self._paths = PathBlocks(network, full)
        self._rate = network.rate_bps.astype(np.float64) / 8

    def transfer(self, moved: Transfer) -> LinkLoad:
        """Return the load of a transfer of at least a byte over the paths of each pair."""
        _, moved = moved.between()
        blocks = moved.needs.servers // TARGETS
        # Whole bytes, so that the sum is the same in any order.
        total = np.zeros(self.network.links)
        latency = 0.0
        for number in np.unique(blocks).tolist():
            there = moved.needs.at(np.flatnonzero(blocks == number))
            for route in range(self.routes.paths):
                reached = add_loads(
                    moved.has,
                    there,
                    self._paths.block(number, route),
                    (self.servers, number * TARGETS),
                    (self.wire.segment_bytes, self.wire.header_bytes, route, self.routes.paths),
                    self._rate,
                    total,
                )
                latency = max(latency, reached)
        return self._load(total, latency)

    def all_reduces(self, reduced: Sequence[tuple[GroupRings, float]]) -> LinkLoad | None:
        """Return the load of all-reduces at the same time; None if there are none.

        Each is divided evenly among its rings. With k servers, each ring runs 2(k-1) rounds. In
        each round, every link of the ring carries 1/k of the ring's part. A round starts when the
        data of the previous round has arrived.

        Parameters
        ----------
        reduced : sequence of (GroupRings, float)
            Rings of at least two servers, and the size of the vector of each server in bytes.
        """
        if not reduced:
            return None
        sources, targets, routes, parts, rounds = [], [], [], [], []
        for rings, vector_bytes in reduced:
            members = np.array(sorted(rings.orders[0]), dtype=np.int64)
            places = {int(member): place for place, member in enumerate(members)}
            orders = tuple(tuple(places[member] for member in order) for order in rings.orders)
            source, target, route = _ring_links(orders, rings.duplex)
            sources.append(members[source])
            targets.append(members[target])
            routes.append(route + self.routes.relay)
            # The links of a ring have size parts, and source.size / size rings divide the vector.
            parts.append(np.full(source.size, vector_bytes / source.size))
            rounds.append(np.full(source.size, 2 * (members.size - 1)))
        paths = self.network.paths(*map(np.concatenate, (sources, targets, routes)))
        part, turns = np.concatenate(parts), np.concatenate(rounds)
        lengths = path_lengths(paths)
        links = paths.links
        latency = self._paths.propagation(links, lengths)
        latency += self._paths.stored(links, lengths, self.wire.first_packet(part))
        on_wire = np.repeat(turns * self.wire.size(part), lengths)
        total = np.bincount(links, on_wire, minlength=self.network.links).astype(np.float64)
        return self._load(total, float((turns * latency).max()))

    def _load(self, total: Bytes, latency: float) -> LinkLoad:
        used = np.flatnonzero(total)
        return LinkLoad(used, total[used] / self._rate[used], latency)


@lru_cache(1024)  # groups that differ only in their servers have equal rings
def _ring_links(
    orders: tuple[tuple[int, ...], ...], duplex: bool
) -> tuple[Numbers, Numbers, Numbers]:
    """Return the links of the rings of a group, between places, and which of parallel ones it is.

    Parameters
    ----------
    orders : tuple of tuples of int
        All places 0 … k-1 in the order of each ring.
    duplex : bool
        Whether each ring is used in both directions.
    """
    graph = logical_rings(len(orders[0]), orders, duplex)
    return (
        graph.source.astype(np.int64),
        graph.target.astype(np.int64),
        parallel_index(graph).astype(np.int64),
    )


TARGETS = 128
"""Targets of a block. Few blocks are looked up for a transfer, and few paths found in vain."""


class Block(NamedTuple):
    """The paths to some targets; path t·ranks + s leads from source s to the block's target t.

    The links of path i are `links[begin[i]:begin[i + 1]]`. `propagation` is the latency of a path,
    and `stored` how long a full packet takes on all its links but the first.
    """

    begin: Ids
    links: Ids
    propagation: Seconds
    stored: Seconds


class PathBlocks:
    """The paths of a network between all of its ranks.

    Parameters
    ----------
    network : Network
        The network.
    full_bytes : float
        Size of a full packet on the wire.
    """

    def __init__(self, network: Network, full_bytes: float) -> None:
        self._network = network
        self._full_bytes = full_bytes
        self._rate = network.rate_bps.astype(np.float64) / 8
        self._blocks: dict[tuple[int, int], Block] = {}

    def block(self, number: int, route: int) -> Block:
        """Return the paths of a route to the targets number·TARGETS and the following."""
        if (number, route) not in self._blocks:
            self._blocks[number, route] = self._find(number, route)
        return self._blocks[number, route]

    def _find(self, number: int, route: int) -> Block:
        ranks = self._network.ranks
        targets = np.arange(number * TARGETS, min((number + 1) * TARGETS, ranks))
        target, source = np.repeat(targets, ranks), np.tile(np.arange(ranks), targets.size)
        apart = source != target
        paths = self._network.paths(source[apart], target[apart], route)
        lengths = np.zeros(source.size, np.int64)
        lengths[apart] = path_lengths(paths)
        full = np.full(source.size, self._full_bytes)
        return Block(
            ids(np.concatenate(([0], np.cumsum(lengths)))),
            paths.links,
            self.propagation(paths.links, lengths),
            self.stored(paths.links, lengths, full),
        )

    def propagation(self, links: Ids, lengths: Numbers) -> Seconds:
        """Return the propagation along some paths, and what ranks between take to pass on."""
        delay = self._network.latency_ps[links].astype(np.float64)
        first = np.zeros(links.size, bool)
        first[(np.cumsum(lengths) - lengths)[lengths > 0]] = True
        passed_on = ~first & (self._network.source[links] < self._network.ranks)
        delay += passed_on * float(self._network.forwarding_delay_ps)
        path = np.repeat(np.arange(lengths.size), lengths)
        return np.bincount(path, delay * 1e-12, minlength=lengths.size).astype(np.float64)

    def stored(self, links: Ids, lengths: Numbers, packet: Seconds) -> Seconds:
        """Return how long a packet takes on all links of each path but the first."""
        path = np.repeat(np.arange(lengths.size), lengths)
        each = packet[path] / self._rate[links]
        each[(np.cumsum(lengths) - lengths)[lengths > 0]] = 0
        return np.bincount(path, each, minlength=lengths.size).astype(np.float64)


def path_lengths(paths: Paths) -> Numbers:
    """Return the number of links of each path."""
    begin = paths.begin.astype(np.int64)
    return begin[1:] - begin[:-1]
