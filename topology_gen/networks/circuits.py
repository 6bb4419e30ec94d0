"""The network of an optical circuit switch, whose circuits can change during a run."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from topology_gen.arrays import Numbers
from topology_gen.graphs.digraph import Digraph
from topology_gen.networks.direct_connect import direct_connect
from topology_gen.networks.network import Network


def circuits(
    graph: Digraph,
    bandwidth_bps: int,
    latency_ps: int,
    buffer_bytes: int = 0,
    ecn_threshold_bytes: int = 0,
    forwarding_delay_ps: int = 0,
    *,
    forwarding: bool = True,
) -> Network:
    """Return a network whose links are circuits; parallel circuits form one link.

    A link has the sum of the rates and of the buffers of its circuits.

    Parameters
    ----------
    graph : Digraph
        A link for each circuit, without self-loops; see `topology_gen.topoopt.reconfiguration`.
    bandwidth_bps, latency_ps, buffer_bytes, ecn_threshold_bytes, forwarding_delay_ps : int
        The attributes of a circuit, as for `topology_gen.networks.direct_connect`.
    forwarding : bool
        Whether ranks forward packets. If not, a pair without a circuit has a path without links.

    Raises
    ------
    RankCountError, LinkError
        As for `topology_gen.networks.direct_connect`.

    Examples
    --------
    >>> from topology_gen.graphs.digraph import from_edges
    >>> network = circuits(from_edges([[0, 1], [1, 0], [0, 1]]), 10**9, 0)
    >>> network.links, network.rate_bps.tolist()
    (2, [2000000000, 1000000000])
    """
    pairs = np.stack([graph.source, graph.target], axis=1)
    _, first, counts = np.unique(pairs, axis=0, return_index=True, return_counts=True)
    order = np.argsort(first)  # the order in which the pairs appear in the digraph
    kept, count = first[order], counts[order].astype(np.uint64)
    simple = Digraph(graph.name, graph.nodes, graph.source[kept], graph.target[kept])
    network = direct_connect(
        simple,
        bandwidth_bps,
        latency_ps,
        buffer_bytes,
        ecn_threshold_bytes,
        forwarding_delay_ps,
    )
    return replace(
        network,
        rate_bps=network.rate_bps * count,
        buffer_bytes=network.buffer_bytes * count,
        ecn_threshold_bytes=network.ecn_threshold_bytes * count,
        router=network.router if forwarding else _Neighbours(simple),
    )


class _Neighbours:
    """Routes over one link, or none: a `topology_gen.networks.network.Router`."""

    def __init__(self, graph: Digraph) -> None:
        self._nodes = graph.nodes
        pair = graph.source.astype(np.int64) * graph.nodes + graph.target
        self._links = np.argsort(pair)
        self._pairs = pair[self._links]

    def __call__(self, source: Numbers, target: Numbers, route: Numbers) -> tuple[Numbers, Numbers]:
        """Return (begin, links) of the paths, as in `Paths`."""
        pair = source * self._nodes + target
        place = np.searchsorted(self._pairs, pair)
        linked = np.isin(pair, self._pairs)
        begin = np.concatenate(([0], np.cumsum(linked)))
        return begin, self._links[place[linked]]
