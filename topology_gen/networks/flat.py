"""Flat network: every rank is linked to one switch (the paper's flat system, Section III.B)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from topology_gen.errors import RankCountError
from topology_gen.networks.network import Network, two_hops
from topology_gen.networks.stars import Star, join, link_class


def flat(
    ranks: int,
    bandwidth_bps: int,
    latency_ps: int,
    buffer_bytes: int = 0,
    ecn_threshold_bytes: int = 0,
) -> Network:
    """Return a network in which every rank has a link pair to one switch.

    Parameters
    ----------
    ranks : int
        Number of ranks, at least 2.
    bandwidth_bps, latency_ps : int
        Bandwidth (bit/s) and propagation latency (ps) of each link, in each direction.
    buffer_bytes : int
        Packet memory of the switch, divided evenly among its ports; 0 means unlimited.
    ecn_threshold_bytes : int
        Queue length from which a port marks packets; 0 means never.

    Raises
    ------
    RankCountError
        There are fewer than 2 ranks.
    LinkError
        A bandwidth, latency or buffer is out of range.

    See Also
    --------
    hierarchical

    Examples
    --------
    >>> network = flat(4, bandwidth_bps=100_000_000_000, latency_ps=500_000)
    >>> network.nodes, network.links
    (5, 8)
    >>> network.paths([0], [3]).links.tolist()
    [0, 7]
    """
    if ranks < 2:
        raise RankCountError(f"{ranks} ranks: expected at least 2")
    links = link_class(bandwidth_bps, latency_ps, buffer_bytes, ranks, ecn_threshold_bytes)

    def route(
        source: NDArray[Any], target: NDArray[Any], _: NDArray[Any]
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        return two_hops(source, ranks + target)

    star = Star(np.arange(ranks), np.full(ranks, ranks), links, dimension=0)
    return join(ranks, ["switch"], ("scale_out",), [star], route)
