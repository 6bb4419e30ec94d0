"""Networks with one tier of switches, which are stars: ranks with a link pair to one switch each.

`flat` has one star; `hierarchical` has a star in each super-node, and one of all ranks.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topology_gen.arrays import ids
from topology_gen.errors import LinkError, RankCountError
from topology_gen.networks.network import Network, Router, two_hops


class LinkClass(NamedTuple):
    """The attributes that the links of one dimension share, in bit/s, picoseconds and bytes.

    `port_buffer_bytes` and `ecn_threshold_bytes` apply to a switch's egress ports; 0 means
    unlimited and never.
    """

    rate_bps: int
    latency_ps: int
    port_buffer_bytes: int
    ecn_threshold_bytes: int


def link_class(
    rate_bps: int, latency_ps: int, buffer_bytes: int, ports: int, ecn_threshold_bytes: int
) -> LinkClass:
    """Return the attributes of a switch's links, with its buffer divided evenly among its ports.

    Raises
    ------
    LinkError
        The rate is below 1 bit/s, an amount is negative, or the buffer has less than 1 byte for
        each port.
    """
    if rate_bps < 1:
        raise LinkError(f"rate {rate_bps} bit/s: expected at least 1 bit/s for each link")
    if min(latency_ps, buffer_bytes, ecn_threshold_bytes) < 0:
        raise LinkError("expected a latency, a buffer and an ECN threshold of at least 0")
    if 0 < buffer_bytes < ports:
        raise LinkError(
            f"buffer {buffer_bytes} bytes: expected at least 1 byte for each of {ports} ports"
        )
    return LinkClass(rate_bps, latency_ps, buffer_bytes // ports, ecn_threshold_bytes)


class Star(NamedTuple):
    """Link pairs rank[i] ↔ switch[i] with the same attributes: all links up, then all down."""

    rank: ArrayLike
    switch: ArrayLike
    links: LinkClass
    dimension: int


def join(
    ranks: int,
    switch_names: list[str],
    dimensions: tuple[str, ...],
    stars: list[Star],
    router: Router,
) -> Network:
    """Return the network of the stars' links, in their order; a rank's egress is unlimited."""
    source: list[NDArray[np.uint32]] = []
    target: list[NDArray[np.uint32]] = []
    for star in stars:
        source += [ids(star.rank), ids(star.switch)]
        target += [ids(star.switch), ids(star.rank)]
    pairs = [np.size(star.rank) for star in stars]

    def amounts(up: list[int], down: list[int]) -> NDArray[np.uint64]:
        both = [value for pair in zip(up, down, strict=True) for value in pair]
        return np.repeat(np.array(both, dtype=np.uint64), np.repeat(pairs, 2))

    none = [0] * len(stars)
    rates = [star.links.rate_bps for star in stars]
    latencies = [star.links.latency_ps for star in stars]
    dimension = [star.dimension for star in stars]
    return Network(
        ranks=ranks,
        node_names=(*(f"rank{i}" for i in range(ranks)), *switch_names),
        dimensions=dimensions,
        source=np.concatenate(source),
        target=np.concatenate(target),
        rate_bps=amounts(rates, rates),
        latency_ps=amounts(latencies, latencies),
        buffer_bytes=amounts(none, [star.links.port_buffer_bytes for star in stars]),
        ecn_threshold_bytes=amounts(none, [star.links.ecn_threshold_bytes for star in stars]),
        dimension=amounts(dimension, dimension).astype(np.uint32),
        router=router,
    )


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
