"""Servers whose NICs are linked to each other directly, without switches between servers."""

from __future__ import annotations

from collections import Counter

from topology_gen.errors import ParameterError
from topology_gen.graphs.digraph import Digraph
from topology_gen.networks.graph import GraphLink, NetworkGraph
from topology_gen.networks.servers import Server, joined


def direct_servers(
    graph: Digraph, server: Server, latency_ps: int, ports: int | None = None
) -> NetworkGraph:
    """Return servers whose NICs a direct-connect topology joins.

    The NICs of a server are its ports. With more NICs than ports, each link of the topology is a
    bundle of links, one of each NIC of a port. With more ports than NICs, each NIC is divided
    evenly among its links. The two directions between two servers use the same NICs as far as
    there are both; other links take the next free ones. Packets to another server pass the GPU
    with the NIC to it, and those between servers that are not neighbours pass other servers.

    Parameters
    ----------
    graph : Digraph
        The links between servers, which are its nodes.
    server : Server
        The server.
    latency_ps : int
        Propagation latency of the links between servers.
    ports : int, optional
        Ports of a server, at least as many as its links; by default, as many as the most links.

    Raises
    ------
    ParameterError
        The NICs are neither a multiple nor a divisor of the ports.

    Examples
    --------
    >>> from topology_gen.graphs import ring
    >>> from topology_gen.networks.servers import SERVERS
    >>> network = direct_servers(ring(4), SERVERS["dgx_h100"], 500_000)
    >>> [link.target for link in network.links if link.source == "gpu0.0" and not link.scale_up]
    ['gpu1.0']
    """
    ports, nics = ports or graph.ports, server.nics
    if nics % ports and ports % nics:
        raise ParameterError(
            f"{ports} ports of a server: expected a multiple or a divisor of its {nics} NICs",
            "scale_out",
        )
    copies, shared = max(1, nics // ports), max(1, ports // nics)
    links = [
        GraphLink(
            server.nic(source, (out * copies + copy) // shared),
            server.nic(target, (into * copies + copy) // shared),
            server.endpoint_bps // shared,
            latency_ps,
        )
        for source, target, out, into in _port_numbers(graph)
        for copy in range(copies)
    ]
    return joined("direct_servers", graph.nodes, server, [], links)


def _port_numbers(graph: Digraph) -> list[tuple[int, int, int, int]]:
    """Return source, target, and the ports at both for each link; self-loops are left out."""
    left = Counter((source, target) for source, target in graph.edges() if source != target)
    both = {pair: min(count, left[pair[::-1]]) for pair, count in left.items()}
    sent, taken = Counter[int](), Counter[int]()
    found = []
    for source, target in sorted(left):
        for _ in range(both[source, target] if source < target else 0):
            one, other = sent[source], sent[target]
            found += [(source, target, one, other), (target, source, other, one)]
            sent.update((source, target))
    taken.update(sent)
    for source, target in sorted(left):
        for _ in range(left[source, target] - both[source, target]):
            found.append((source, target, sent[source], taken[target]))
            sent[source] += 1
            taken[target] += 1
    return found
