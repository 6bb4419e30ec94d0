"""Compute the load of transfers and all-reduces on links: the time on each link, and a latency.

A link carries one byte after another. Bytes over given paths therefore occupy each link for a known
time: bytes on the wire / rate. The last byte arrives after an additional latency: propagation, the
forwarding delay of ranks, and the transmission of a packet at every hop except the first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from frontend.collectives.algorithms.multi_ring import logical_rings
from frontend.collectives.group_rings import GroupRings
from frontend.parallelization.transfers import Transfer
from topology_gen import Network
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
    """

    def __init__(self, network: Network, wire: Wire | None = None) -> None:
        self.network = network
        self.wire = wire or Wire()
        self.servers = network.ranks
        source, target = np.nonzero(~np.eye(network.ranks, dtype=bool))
        paths = network.paths(source, target)
        # The pair (i, j) has the index i·ranks + j. The pairs (i, i) have no links.
        pair = source * network.ranks + target
        self._lengths = np.zeros(network.ranks**2, np.int64)
        self._lengths[pair] = _lengths(paths)
        self._begin = np.cumsum(self._lengths) - self._lengths
        self._links = paths.links.astype(np.int64)
        self._rate = network.rate_bps.astype(np.float64) / 8
        self._propagation = self._sums(self._links, self._lengths)

    def transfer(self, moved: Transfer) -> LinkLoad | None:
        """Return the load of a transfer over the first path of each pair; None if it is empty."""
        rows, columns = np.nonzero(moved.bytes)
        if not rows.size:
            return None
        pairs = moved.sources[rows] * self.servers + moved.targets[columns]
        sent = moved.bytes[rows, columns].astype(np.float64)
        lengths = self._lengths[pairs]
        links = self._links[_ranges(self._begin[pairs], lengths)]
        latency = self._propagation[pairs] + self._store(links, lengths, sent)
        on_wire = np.repeat(self.wire.size(sent), lengths)
        return self._load(links, on_wire, float(latency.max()))

    def all_reduce(self, rings: GroupRings, vector_bytes: float) -> LinkLoad:
        """Return the load of an all-reduce that is divided evenly among rings.

        With k servers, each ring runs 2(k-1) rounds. In each round, every link of the ring carries
        1/k of the ring's part. A round starts when the data of the previous round has arrived.

        Parameters
        ----------
        rings : GroupRings
            Rings of at least two servers.
        vector_bytes : float
            Size of the vector of each server in bytes.
        """
        members = np.array(sorted(rings.orders[0]), dtype=np.int64)
        places = {int(member): place for place, member in enumerate(members)}
        orders = [[places[member] for member in order] for order in rings.orders]
        size = members.size
        graph = logical_rings(size, orders, rings.duplex)
        paths = self.network.paths(
            members[graph.source], members[graph.target], parallel_index(graph)
        )
        lengths = _lengths(paths)
        links = paths.links.astype(np.int64)
        rings_used = graph.links // size
        part = np.full(graph.links, vector_bytes / (rings_used * size))
        latency = self._sums(links, lengths) + self._store(links, lengths, part)
        rounds = 2 * (size - 1)
        on_wire = np.repeat(rounds * self.wire.size(part), lengths)
        return self._load(links, on_wire, rounds * float(latency.max()))

    def _load(self, links: NDArray[np.int64], on_wire: Bytes, latency: float) -> LinkLoad:
        total = np.bincount(links, on_wire, minlength=self.network.links)
        used = np.flatnonzero(total)
        return LinkLoad(used, total[used] / self._rate[used], latency)

    def _sums(self, links: NDArray[np.int64], lengths: NDArray[np.int64]) -> Seconds:
        """Return the propagation delay plus the forwarding delay of each path, in seconds."""
        delay = self.network.latency_ps[links].astype(np.float64)
        first = np.zeros(links.size, bool)
        first[(np.cumsum(lengths) - lengths)[lengths > 0]] = True
        passed_on = ~first & (self.network.source[links] < self.servers)
        delay += passed_on * float(self.network.forwarding_delay_ps)
        path = np.repeat(np.arange(lengths.size), lengths)
        return np.bincount(path, delay * 1e-12, minlength=lengths.size).astype(np.float64)

    def _store(
        self, links: NDArray[np.int64], lengths: NDArray[np.int64], message: Bytes
    ) -> Seconds:
        """Return the time of the first packet on all links of each path except the first link."""
        path = np.repeat(np.arange(lengths.size), lengths)
        each = self.wire.first_packet(message)[path] / self._rate[links]
        each[np.cumsum(lengths) - lengths] = 0
        return np.bincount(path, each, minlength=lengths.size).astype(np.float64)


def _lengths(paths: Paths) -> NDArray[np.int64]:
    begin = paths.begin.astype(np.int64)
    return begin[1:] - begin[:-1]


def _ranges(begin: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the concatenation of the ranges begin … begin+length-1, one for each row."""
    first = np.cumsum(lengths) - lengths
    every = np.arange(int(lengths.sum()), dtype=np.int64)
    every += np.repeat(begin - first, lengths)
    return every
