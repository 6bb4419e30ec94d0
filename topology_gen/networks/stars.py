"""Stars, of which the networks with switches consist: ranks with a link pair to one switch each."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topology_gen.arrays import ids
from topology_gen.errors import LinkError
from topology_gen.networks.network import Network, Router


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
