"""Direct-connect networks: the nodes of a digraph are ranks, linked without switches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from topology_gen.arrays import Ids, Numbers, ids
from topology_gen.errors import LinkError, RankCountError
from topology_gen.graphs.digraph import Digraph
from topology_gen.graphs.wiring import Wiring, wired
from topology_gen.networks.network import Network
from topology_gen.networks.shortest_paths import ShortestPaths
from topology_gen.networks.stars import link_class

_DIMENSION = "scale_up"
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
        dimensions=(*network.dimensions, _DIMENSION),
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


DIMENSION = "scale_out"

MOST_ROUTES = 64
"""Number of routes of a pair among which `route_numbers` looks for a path."""


def direct_connect(
    graph: Digraph,
    bandwidth_bps: int,
    latency_ps: int,
    buffer_bytes: int = 0,
    ecn_threshold_bytes: int = 0,
    forwarding_delay_ps: int = 0,
) -> Network:
    """Return the network in which every node of a digraph is a rank.

    Parallel links are kept. A self-loop uses a port and carries nothing, so it is left out. Pairs
    of ranks that are not neighbours use paths through other ranks; see `ShortestPaths`.

    Parameters
    ----------
    graph : Digraph
        The digraph, with at least 2 nodes.
    bandwidth_bps, latency_ps : int
        Bandwidth (bit/s) and propagation latency (ps) of each link. A node of degree d has d times
        the bandwidth in each direction.
    buffer_bytes : int
        Size of each port's egress queue, for packets that its rank sends or forwards; 0 means
        unlimited.
    ecn_threshold_bytes : int
        Queue length from which a port marks packets; 0 means never.
    forwarding_delay_ps : int
        The delay of a packet in each rank that forwards it.

    Raises
    ------
    RankCountError
        The digraph has a single node.
    LinkError
        A bandwidth, latency, delay or buffer is out of range.

    See Also
    --------
    parallel_index, topology_gen.networks.stars

    Examples
    --------
    >>> from topology_gen.graphs import circulant
    >>> network = direct_connect(circulant(12, [2, 3]), 25 * 10**9, 500_000)
    >>> network.nodes, network.links
    (12, 48)
    >>> [network.paths([0], [t]).links.size for t in (3, 4, 6)]
    [1, 2, 2]
    """
    wiring = wired(graph, bandwidth_bps, latency_ps)
    return wired_network(wiring, buffer_bytes, ecn_threshold_bytes, forwarding_delay_ps)


def wired_network(
    wiring: Wiring,
    buffer_bytes: int = 0,
    ecn_threshold_bytes: int = 0,
    forwarding_delay_ps: int = 0,
) -> Network:
    """Return the network of ranks and switches whose links may all differ.

    Self-loops are left out. Messages between ranks take the paths with the fewest links, which may
    lead over switches and through other ranks; see `ShortestPaths`.

    Parameters
    ----------
    wiring : Wiring
        The links, with at least 2 ranks.
    buffer_bytes, ecn_threshold_bytes, forwarding_delay_ps : int
        As for `direct_connect`; switches have such ports, too, but forward without delay.

    Raises
    ------
    RankCountError
        There is a single rank.
    LinkError
        A delay, a buffer or the threshold is out of range.
    """
    if wiring.ranks < 2:
        raise RankCountError(f"{wiring.ranks} ranks: expected at least 2")
    # The delay has the same valid range as a latency.
    link_class(1, forwarding_delay_ps, buffer_bytes, 1, ecn_threshold_bytes)
    used = wiring.without_loops()

    def amount(value: int) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
        return np.full(used.graph.links, value, dtype=np.uint64)

    return Network(
        ranks=used.ranks,
        node_names=(
            *(f"rank{i}" for i in range(used.ranks)),
            *(f"switch{i}" for i in range(used.switches)),
        ),
        dimensions=(DIMENSION,),
        source=used.graph.source,
        target=used.graph.target,
        rate_bps=used.rate_bps,
        latency_ps=used.latency_ps,
        buffer_bytes=amount(buffer_bytes),
        ecn_threshold_bytes=amount(ecn_threshold_bytes),
        dimension=amount(0).astype(np.uint32),
        router=ShortestPaths(used.graph),
        forwarding_delay_ps=forwarding_delay_ps,
        ranks_forward=True,
    )


def without_loops(graph: Digraph) -> Digraph:
    """Return the digraph without its self-loops; the other links keep their order."""
    kept = graph.source != graph.target
    if kept.all():
        return graph
    return Digraph(graph.name, graph.nodes, graph.source[kept], graph.target[kept])


def parallel_index(graph: Digraph) -> Ids:
    """Return, for every link, how many links before it have the same source and target.

    Use this number as the route of a message to send it over exactly this link.

    Examples
    --------
    >>> from topology_gen.graphs import ring
    >>> parallel_index(ring(4, 4)).tolist()
    [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1]
    """
    pair = graph.source.astype(np.int64) * graph.nodes + graph.target
    order = np.argsort(pair, kind="stable")
    first = np.searchsorted(pair[order], pair[order], side="left")
    result = np.empty(graph.links, np.int64)
    result[order] = np.arange(graph.links) - first
    return ids(result)


def route_numbers(wiring: Wiring, channels: Digraph, paths: Sequence[Sequence[int]]) -> Ids:
    """Return, for every channel, the route of its two ranks that follows its path.

    Parameters
    ----------
    wiring : Wiring
        Ranks and switches, without self-loops.
    channels : Digraph
        The two ranks of each channel.
    paths : sequence of sequences of int
        The links of each channel. A path for which no route is found, because there are shorter
        ones, gets route 0.

    Examples
    --------
    Two ranks with links to two switches: a path over each of them.

    >>> from topology_gen.graphs.digraph import from_edges, from_pairs
    >>> two = wired(from_pairs("two", 4, [[0, 2], [1, 2], [0, 3], [1, 3]]), 1, 0, switches=2)
    >>> channels = from_edges([[0, 1], [0, 1]])
    >>> len(set(route_numbers(two, channels, [[0, 3], [4, 7]]).tolist()))
    2
    """
    if not wiring.switches:
        return parallel_index(channels)
    router = ShortestPaths(wiring.graph)
    source, target = channels.source.astype(np.int64), channels.target.astype(np.int64)
    result = np.zeros(channels.links, np.int64)
    left = np.arange(channels.links)
    for route in range(MOST_ROUTES):
        begin, links = router(source[left], target[left], np.full(left.size, route))
        found = np.split(links, begin[1:-1])
        right = np.array(
            [
                np.array_equal(path, paths[channel])
                for path, channel in zip(found, left.tolist(), strict=True)
            ],
            np.bool_,
        )
        result[left[right]] = route
        left = left[~right]
        if not left.size:
            break
    return ids(result)
