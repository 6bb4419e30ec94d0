"""What transfers and all-reduces ask of the links of a network: a time each, and a latency.

A link carries one byte after the other, whoever they are from, so that bytes over given paths
occupy each link for a time that is known in advance: bytes on the wire / rate. The last one arrives
a latency later: propagation, what ranks take to pass packets on, and the transmission of a packet
at every hop but the first.
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from frontend.collectives.algorithms.multi_ring import logical_rings
from frontend.collectives.group_rings import GroupRings
from frontend.parallelization.path_blocks import TARGETS, Block, PathBlocks, path_lengths
from frontend.parallelization.transfers import Transfer
from topology_gen import Network
from topology_gen.arrays import Numbers, ids
from topology_gen.kernels import path_loads
from topology_gen.networks.direct_connect import parallel_index

Seconds = NDArray[np.float64]
Bytes = NDArray[np.float64]


class Wire(NamedTuple):
    """How messages are packed: the payload of a full packet, and the headers of each, in bytes."""

    segment_bytes: int = 8960
    header_bytes: int = 42

    def size(self, message: Bytes) -> Bytes:
        """Return what messages of so many bytes are on the wire."""
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
    """Links that are occupied, each for how long, and the latency behind; all in seconds."""

    links: NDArray[np.int64]
    seconds: Seconds
    latency: float


class Fabric:
    """The paths of a network between all of its ranks.

    Parameters
    ----------
    network : Network
        With a rank for each server.
    wire : Wire, optional
        How bytes are packed.
    routes : Routes, optional
        The routes that bytes take.
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

    def transfer(self, moved: Transfer) -> LinkLoad | None:
        """Return the load of a transfer over the paths of each pair; None if nothing moves."""
        rows, columns = np.nonzero(moved.bytes)
        if not rows.size:
            return None
        sources, targets = moved.sources[rows], moved.targets[columns]
        whole = moved.bytes[rows, columns]
        blocks = targets // TARGETS
        # Whole bytes, so that the sum is the same in any order.
        total = np.zeros(self.network.links)
        latency = 0.0
        first, last = int(blocks.min()), int(blocks.max())
        count = self.routes.paths
        for number, route in product(range(first, last + 1), range(count)):
            here = np.flatnonzero(blocks == number) if first < last else np.arange(whole.size)
            sent = whole[here] * (route + 1) // count - whole[here] * route // count
            if not sent.all():
                here, sent = here[sent > 0], sent[sent > 0]
            if here.size:
                pairs = (targets[here] - number * TARGETS) * self.servers + sources[here]
                found = self._paths.block(number, route)
                size = self.wire.size(sent.astype(np.float64))
                total += path_loads(found.begin, found.links, ids(pairs), size, total.size)
                latency = max(latency, self._latency(found, pairs, sent.astype(np.float64)))
        return self._load(total, latency)

    def _latency(self, block: Block, pairs: Numbers, sent: Bytes) -> float:
        """Return the latest arrival of a message's first packet, if all leave at once."""
        stored = block.stored[pairs]
        small = np.flatnonzero(sent < self.wire.segment_bytes)
        if small.size:
            packets = self.wire.first_packet(sent[small])
            stored[small] = self._paths.stored(*self._paths.some(block, pairs[small]), packets)
        return float((block.propagation[pairs] + stored).max())

    def all_reduce(self, rings: GroupRings, vector_bytes: float) -> LinkLoad:
        """Return the load of a ring all-reduce, divided evenly among some rings.

        Each goes 2(k-1) rounds, in each of which every link of it carries 1/k of its part; a round
        begins when the one before has arrived.

        Parameters
        ----------
        rings : GroupRings
            Of at least two servers.
        vector_bytes : float
            Of each server's vector.
        """
        members = np.array(sorted(rings.orders[0]), dtype=np.int64)
        places = {int(member): place for place, member in enumerate(members)}
        orders = [[places[member] for member in order] for order in rings.orders]
        size = members.size
        graph = logical_rings(size, orders, rings.duplex)
        paths = self.network.paths(
            members[graph.source],
            members[graph.target],
            parallel_index(graph).astype(np.int64) + self.routes.relay,
        )
        lengths = path_lengths(paths)
        links = paths.links
        rings_used = graph.links // size
        part = np.full(graph.links, vector_bytes / (rings_used * size))
        latency = self._paths.propagation(links, lengths)
        latency += self._paths.stored(links, lengths, self.wire.first_packet(part))
        rounds = 2 * (size - 1)
        on_wire = np.repeat(rounds * self.wire.size(part), lengths)
        total = np.bincount(links, on_wire, minlength=self.network.links).astype(np.float64)
        return self._load(total, rounds * float(latency.max()))

    def _load(self, total: Bytes, latency: float) -> LinkLoad:
        used = np.flatnonzero(total)
        return LinkLoad(used, total[used] / self._rate[used], latency)
