"""A network: nodes, directed links as arrays, and a path for every pair of ranks."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import networkx as nx
import numpy as np
from numpy.typing import ArrayLike, NDArray

from topology_gen.arrays import Amounts, Ids, Numbers, ids
from topology_gen.errors import LinkError, PathError


class Paths(NamedTuple):
    """Paths of some (source, target) pairs, in the order of the pairs.

    `links[begin[i]:begin[i + 1]]` are the link ids of pair i from its source to its target.
    """

    source: Ids
    target: Ids
    begin: Ids
    links: Ids


Router = Callable[[Numbers, Numbers, Numbers], tuple[NDArray[Any], NDArray[Any]]]
"""From arrays of sources, targets and routes to the paths' (begin, links)."""


@dataclass(frozen=True, eq=False)
class Network:
    """Nodes 0 … ranks-1 are the ranks, the rest switches; links are directed, one an index.

    Attributes
    ----------
    ranks : int
    node_names : tuple of str
        "rank0" …, then the switches.
    dimensions : tuple of str
        Names that `dimension` indexes: "scale_up", "scale_out".
    source, target : uint32 array, shape (links,)
        Nodes.
    rate_bps, latency_ps : uint64 array, shape (links,)
        Bits per second; propagation latency in picoseconds.
    buffer_bytes : uint64 array, shape (links,)
        Egress queue at the source; 0: unlimited.
    ecn_threshold_bytes : uint64 array, shape (links,)
        Queue length from which packets are marked; 0: never.
    dimension : uint32 array, shape (links,)
    router : callable
        The family's rule for paths; use `paths`.
    forwarding_delay_ps : int
        What it takes a rank to pass on a packet that is for another one.
    """

    ranks: int
    node_names: tuple[str, ...]
    dimensions: tuple[str, ...]
    source: Ids
    target: Ids
    rate_bps: Amounts
    latency_ps: Amounts
    buffer_bytes: Amounts
    ecn_threshold_bytes: Amounts
    dimension: Ids
    router: Router = field(repr=False)
    forwarding_delay_ps: int = 0

    def __post_init__(self) -> None:
        if not np.all(self.rate_bps > 0):
            raise LinkError("expected every link to have a rate of at least 1 bit/s")

    @property
    def nodes(self) -> int:
        """Number of ranks and switches."""
        return len(self.node_names)

    @property
    def links(self) -> int:
        """Number of directed links."""
        return len(self.source)

    def paths(self, source: ArrayLike, target: ArrayLike, route: ArrayLike = 0) -> Paths:
        """Return the paths of the given ordered pairs of different ranks.

        Parameters
        ----------
        source, target : array_like of int
            The pairs.
        route : array_like of int
            Which of its paths, for a pair that has several: parallel links to choose among.

        Raises
        ------
        PathError
            A pair of a rank with itself, or a number that is not a rank.
        """
        sources = np.asarray(source, dtype=np.int64).ravel()
        targets = np.asarray(target, dtype=np.int64).ravel()
        if sources.shape != targets.shape:
            raise PathError(
                f"expected pairs, not {sources.size} sources and {targets.size} targets"
            )
        for ends in (sources, targets):
            outside = ends[(ends < 0) | (ends >= self.ranks)]
            if outside.size:
                raise PathError(f"no path: {outside[0]} is not a rank (0 … {self.ranks - 1})")
        if np.any(sources == targets):
            raise PathError(f"no path from rank {sources[sources == targets][0]} to itself")
        routes = np.broadcast_to(np.asarray(route, dtype=np.int64), sources.shape)
        begin, links = self.router(sources, targets, routes)
        return Paths(ids(sources), ids(targets), ids(begin), ids(links))

    def graph(self) -> "nx.MultiDiGraph[int]":
        """Return the network as a networkx graph; edge keys are link ids, attributes as here."""
        result: nx.MultiDiGraph[int] = nx.MultiDiGraph(ranks=self.ranks)
        for node, name in enumerate(self.node_names):
            result.add_node(node, name=name)
        for link in range(self.links):
            result.add_edge(
                int(self.source[link]),
                int(self.target[link]),
                key=link,
                rate_bps=int(self.rate_bps[link]),
                latency_ps=int(self.latency_ps[link]),
                buffer_bytes=int(self.buffer_bytes[link]),
                ecn_threshold_bytes=int(self.ecn_threshold_bytes[link]),
                dimension=self.dimensions[self.dimension[link]],
            )
        return result


def two_hops(up: NDArray[np.int64], down: NDArray[np.int64]) -> tuple[Ids, Ids]:
    """Return (begin, links) of paths of one link up to a switch and one down from it."""
    return ids(2 * np.arange(up.size + 1)), ids(np.stack([up, down], axis=1).ravel())
