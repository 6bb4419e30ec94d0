"""A network: nodes, directed links as arrays, and a path for each pair of ranks."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topology_gen.arrays import Amounts, Ids, Numbers, ids
from topology_gen.errors import LinkError, PathError

if TYPE_CHECKING:
    import networkx as nx


class Paths(NamedTuple):
    """The paths of some (source, target) pairs, in the order of the pairs.

    `links[begin[i]:begin[i + 1]]` are the ids of the links of pair i, from source to target.
    """

    source: Ids
    target: Ids
    begin: Ids
    links: Ids


Router = Callable[[Numbers, Numbers, Numbers], tuple[NDArray[Any], NDArray[Any]]]
"""Maps arrays of sources, targets and routes to the paths' (begin, links), as in `Paths`."""


HOP_COST = 2**20
"""The cost of a link of the first dimension. A link of the next dimension costs 1 more, so fewer
links count first, and then more links of an earlier dimension."""


@dataclass(frozen=True, eq=False)
class Network:
    """A network; nodes 0 … ranks-1 are ranks, the others are switches; links are numbered from 0.

    Attributes
    ----------
    ranks : int
        Number of ranks.
    node_names : tuple of str
        The names of the nodes: "rank0" …, then the switches.
    dimensions : tuple of str
        The names that `dimension` indexes: "scale_up", "scale_out".
    source, target : uint32 array, shape (links,)
        The nodes that each link leaves and enters.
    rate_bps, latency_ps : uint64 array, shape (links,)
        Bandwidth in bit/s, and propagation latency in picoseconds.
    buffer_bytes : uint64 array, shape (links,)
        Size of the egress queue at the source; 0 means unlimited.
    ecn_threshold_bytes : uint64 array, shape (links,)
        Queue length from which packets are marked; 0 means never.
    dimension : uint32 array, shape (links,)
        The index of the link's dimension in `dimensions`.
    router : callable
        The family's rule for paths; use `paths` instead.
    forwarding_delay_ps : int
        The delay of a packet in each rank that forwards it.
    ranks_forward : bool
        Whether paths may lead through ranks. If not, ranks only send and receive.
    loss : float64 array, shape (links,), optional
        The probability that a link loses a packet; None: no link loses packets.
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
    ranks_forward: bool = False
    loss: NDArray[np.float64] | None = None

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

    def shortest_paths(self, seed: int = 0, count: int | None = None) -> Router:
        """Return the rule that spreads flows over all shortest paths, whatever the family's rule.

        Of paths with equally many links, those with more links of an earlier dimension are shorter.

        Parameters
        ----------
        seed : int
            Seed of the hash that selects paths.
        count : int, optional
            Routes of a pair that differ, as far as it has so many shortest paths. By default, the
            hash selects the path of each route.
        """
        from topology_gen.graphs.digraph import Digraph
        from topology_gen.networks.shortest_paths import KShortestPaths, ShortestPaths

        graph = Digraph("network", self.nodes, self.source, self.target)
        hosts = 0 if self.ranks_forward else self.ranks
        costs = HOP_COST + self.dimension
        if count is None:
            return ShortestPaths(graph, costs, hosts, seed)
        return KShortestPaths(graph, count, costs, hosts, seed)

    def paths(self, source: ArrayLike, target: ArrayLike, route: ArrayLike = 0) -> Paths:
        """Return the paths of ordered pairs of different ranks.

        Parameters
        ----------
        source, target : array_like of int
            The pairs.
        route : array_like of int
            For each pair, which of its parallel links or equal paths to use.

        Raises
        ------
        PathError
            A pair consists of the same rank twice, or a number is not a rank.
        """
        return self._paths(self.ranks, "rank", self.router, source, target, route)

    def node_paths(self, source: ArrayLike, target: ArrayLike, route: ArrayLike = 0) -> Paths:
        """Return the paths of pairs of different nodes: the shortest of those with a switch.

        The parameters and errors are those of `paths`, with nodes for ranks.
        """
        return self._paths(self.nodes, "node", self._route_nodes, source, target, route)

    def _paths(
        self,
        nodes: int,
        noun: str,
        router: Router,
        source: ArrayLike,
        target: ArrayLike,
        route: ArrayLike,
    ) -> Paths:
        sources = np.asarray(source, dtype=np.int64).ravel()
        targets = np.asarray(target, dtype=np.int64).ravel()
        if sources.shape != targets.shape:
            raise PathError(
                f"expected pairs, but there are {sources.size} sources and {targets.size} targets"
            )
        for ends in (sources, targets):
            outside = ends[(ends < 0) | (ends >= nodes)]
            if outside.size:
                raise PathError(f"no path: {outside[0]} is not a {noun} (0 … {nodes - 1})")
        if np.any(sources == targets):
            raise PathError(f"no path from {noun} {sources[sources == targets][0]} to itself")
        routes = np.broadcast_to(np.asarray(route, dtype=np.int64), sources.shape)
        begin, links = router(sources, targets, routes)
        return Paths(ids(sources), ids(targets), ids(begin), ids(links))

    def _route_nodes(
        self, source: Numbers, target: Numbers, route: Numbers
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the paths of ranks by the family's rule, and the shortest ones of switches."""
        at_switch = np.maximum(source, target) >= self.ranks
        if not at_switch.any():
            return self.router(source, target, route)
        hops, found = np.zeros(source.size, np.int64), []
        for chosen, router in ((~at_switch, self.router), (at_switch, self.shortest_paths())):
            begin, links = router(source[chosen], target[chosen], route[chosen])
            hops[chosen] = np.diff(begin.astype(np.int64))
            found.append(links)
        path = np.repeat(np.arange(source.size), hops)
        joined = np.empty(path.size, np.int64)
        joined[~at_switch[path]], joined[at_switch[path]] = found
        return np.concatenate(([0], np.cumsum(hops))), joined

    def graph(self) -> "nx.MultiDiGraph[int]":
        """Return the network as a networkx graph, with link ids as edge keys."""

        import networkx as nx

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
    """Return (begin, links) of paths that go up one link to a switch and down one link from it."""
    return ids(2 * np.arange(up.size + 1)), ids(np.stack([up, down], axis=1).ravel())
