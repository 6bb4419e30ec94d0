"""Host links: what a rank sends and receives over all its ports shares one connection."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from topology_gen.arrays import Ids, Numbers, ids
from topology_gen.errors import LinkError
from topology_gen.networks.network import Network

DIMENSION = "scale_up"
"""The dimension of host links: they are inside a host."""


def with_host_links(network: Network, host_bps: int) -> Network:
    """Return a network in which every rank reaches its ports over a host link, such as PCIe.

    Each rank gets a node of its own for its ports, its NIC. All present links join NICs and
    switches. A host link in each direction joins a rank and its NIC; it has no latency and an
    unlimited buffer. What a rank forwards for others passes its NIC but not the rank.

    Parameters
    ----------
    network : Network
        The network. The first links of the result are its links.
    host_bps : int
        Rate of the host links in each direction (bit/s).

    Raises
    ------
    LinkError
        The rate is 0, or ranks delay what they forward.

    Examples
    --------
    >>> from topology_gen.graphs import ring
    >>> from topology_gen.networks.direct_connect import direct_connect
    >>> network = with_host_links(direct_connect(ring(4), 25 * 10**9, 500_000), 30 * 10**9)
    >>> network.ranks, network.nodes, network.links
    (4, 8, 16)
    >>> network.paths([0], [1]).links.tolist()
    [8, 0, 13]
    """
    if host_bps < 1:
        raise LinkError(f"{host_bps} bit/s: expected host links of at least 1 bit/s")
    if network.forwarding_delay_ps:
        raise LinkError("expected no forwarding delay, as a NIC forwards and not its rank")
    ranks, links = network.ranks, network.links
    rank = np.arange(ranks)
    nic = network.nodes + rank

    def moved(ends: Ids) -> NDArray[np.int64]:
        return np.where(ends < ranks, ends.astype(np.int64) + network.nodes, ends)

    def more(values: NDArray[np.uint64], value: int) -> NDArray[np.uint64]:
        return np.concatenate([values, np.full(2 * ranks, value, np.uint64)])

    def router(
        source: Numbers, target: Numbers, route: Numbers
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        begin, between = network.router(source, target, route)
        # Two more links a path: one before its first link, one after its last.
        ends = np.column_stack([links + source, links + ranks + target]).ravel()
        at = np.column_stack([begin[:-1], begin[1:]]).ravel()
        return begin + 2 * np.arange(begin.size), np.insert(between, at, ends)

    return replace(
        network,
        node_names=(*network.node_names, *(f"nic{i}" for i in range(ranks))),
        dimensions=(*network.dimensions, DIMENSION),
        source=ids(np.concatenate([moved(network.source), rank, nic])),
        target=ids(np.concatenate([moved(network.target), nic, rank])),
        rate_bps=more(network.rate_bps, host_bps),
        latency_ps=more(network.latency_ps, 0),
        buffer_bytes=more(network.buffer_bytes, 0),
        ecn_threshold_bytes=more(network.ecn_threshold_bytes, 0),
        dimension=ids(
            np.concatenate([network.dimension, np.full(2 * ranks, len(network.dimensions))])
        ),
        router=router,
    )
