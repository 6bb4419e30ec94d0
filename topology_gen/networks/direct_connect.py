"""Direct-connect networks: the nodes of a digraph are ranks, linked without switches."""

from __future__ import annotations

import numpy as np

from topology_gen.arrays import Ids, ids
from topology_gen.errors import RankCountError
from topology_gen.graphs.digraph import Digraph
from topology_gen.networks.network import Network
from topology_gen.networks.shortest_paths import ShortestPaths
from topology_gen.networks.stars import link_class

DIMENSION = "scale_out"


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
    parallel_index, topology_gen.networks.flat

    Examples
    --------
    >>> from topology_gen.graphs import circulant
    >>> network = direct_connect(circulant(12, [2, 3]), 25 * 10**9, 500_000)
    >>> network.nodes, network.links
    (12, 48)
    >>> [network.paths([0], [t]).links.size for t in (3, 4, 6)]
    [1, 2, 2]
    """
    if graph.nodes < 2:
        raise RankCountError(f"{graph.nodes} ranks: expected at least 2")
    # The delay has the same valid range as a latency.
    links = link_class(bandwidth_bps, latency_ps, buffer_bytes, 1, ecn_threshold_bytes)
    link_class(bandwidth_bps, forwarding_delay_ps, 0, 1, 0)
    used = without_loops(graph)

    def amount(value: int) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
        return np.full(used.links, value, dtype=np.uint64)

    return Network(
        ranks=used.nodes,
        node_names=tuple(f"rank{i}" for i in range(used.nodes)),
        dimensions=(DIMENSION,),
        source=used.source,
        target=used.target,
        rate_bps=amount(links.rate_bps),
        latency_ps=amount(links.latency_ps),
        buffer_bytes=amount(links.port_buffer_bytes),
        ecn_threshold_bytes=amount(links.ecn_threshold_bytes),
        dimension=amount(0).astype(np.uint32),
        router=ShortestPaths(used),
        forwarding_delay_ps=forwarding_delay_ps,
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
