"""Hierarchical network: super-nodes with NV switches, and a scale-out switch (paper, Fig. 4)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from topology_gen.errors import RankCountError
from topology_gen.networks.network import Network, two_hops
from topology_gen.networks.stars import Star, join, link_class


def hierarchical(
    ranks: int,
    local_ranks: int,
    switches: int,
    scale_up_bandwidth_bps: int,
    scale_up_latency_ps: int,
    scale_out_bandwidth_bps: int,
    scale_out_latency_ps: int,
    scale_up_buffer_bytes: int = 0,
    scale_out_buffer_bytes: int = 0,
    ecn_threshold_bytes: int = 0,
) -> Network:
    """Return a network of super-nodes, whose ranks are also linked to one scale-out switch.

    Inside a super-node, every rank has a link pair to each of `switches` NV switches. Traffic
    between the local ranks s and d uses switch (s + d) mod `switches` (paper, Section III.C.2).

    Parameters
    ----------
    ranks : int
        Number of all ranks, a multiple of `local_ranks`. Super-node k starts at rank k·local_ranks.
    local_ranks : int
        Number of ranks of a super-node, at least 2.
    switches : int
        Number of NV switches of a super-node, at least 1.
    scale_up_bandwidth_bps : int
        Bandwidth of a rank to its NV switches in each direction, in bit/s. Each of its links has
        this over `switches`, rounded down.
    scale_out_bandwidth_bps : int
        Bandwidth of each rank's link to the scale-out switch in each direction, in bit/s.
    scale_up_latency_ps, scale_out_latency_ps : int
        Propagation latency of each link.
    scale_up_buffer_bytes, scale_out_buffer_bytes : int
        Packet memory of each switch, divided evenly among its ports (`local_ranks` at an NV
        switch, `ranks` at the scale-out switch); 0 means unlimited.
    ecn_threshold_bytes : int
        Queue length from which a port marks packets; 0 means never.

    Raises
    ------
    RankCountError
        There are too few ranks, they do not divide into super-nodes, or there is no NV switch.
    LinkError
        A bandwidth, latency or buffer is out of range.

    See Also
    --------
    flat

    Examples
    --------
    >>> network = hierarchical(16, 8, 7, 1_200_000_000_000, 500_000, 100_000_000_000, 500_000)
    >>> network.nodes, network.links
    (31, 256)
    """
    if local_ranks < 2 or switches < 1:
        raise RankCountError(
            f"{local_ranks} ranks and {switches} switches in a super-node: expected at least 2 "
            f"ranks and 1 switch"
        )
    if ranks < local_ranks or ranks % local_ranks:
        raise RankCountError(f"{ranks} ranks: expected a multiple of {local_ranks}")
    up = link_class(
        scale_up_bandwidth_bps // switches,
        scale_up_latency_ps,
        scale_up_buffer_bytes,
        local_ranks,
        ecn_threshold_bytes,
    )
    out = link_class(
        scale_out_bandwidth_bps,
        scale_out_latency_ps,
        scale_out_buffer_bytes,
        ranks,
        ecn_threshold_bytes,
    )
    super_nodes = ranks // local_ranks
    nv_links = ranks * switches  # in each direction, ordered by rank

    def route(
        source: NDArray[Any], target: NDArray[Any], _: NDArray[Any]
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        local = source // local_ranks == target // local_ranks
        switch = (source % local_ranks + target % local_ranks) % switches
        upward = np.where(local, source * switches + switch, 2 * nv_links + source)
        downward = np.where(
            local, nv_links + target * switches + switch, 2 * nv_links + ranks + target
        )
        return two_hops(upward, downward)

    rank = np.repeat(np.arange(ranks), switches)
    switch = np.tile(np.arange(switches), ranks)
    nv_switch = ranks + rank // local_ranks * switches + switch
    scale_out_switch = ranks + super_nodes * switches
    names = [f"nv{k}.{v}" for k in range(super_nodes) for v in range(switches)]
    return join(
        ranks,
        [*names, "switch"],
        ("scale_up", "scale_out"),
        [
            Star(rank, nv_switch, up, dimension=0),
            Star(np.arange(ranks), np.full(ranks, scale_out_switch), out, dimension=1),
        ],
        route,
    )
