"""Fat tree: three tiers of equal switches; a hash of each flow selects its path (ECMP)."""

from __future__ import annotations

import numpy as np

from topology_gen.arrays import Numbers, ids
from topology_gen.errors import ParameterError, RankCountError
from topology_gen.networks.network import Network, Router
from topology_gen.networks.shortest_paths import flow_hash
from topology_gen.networks.stars import link_class


def arity(ranks: int) -> int:
    """Return the least even k for which a k-ary fat tree has enough ports: k³/4 ranks.

    Examples
    --------
    >>> arity(16), arity(17), arity(128)
    (4, 6, 8)
    """
    ports = 2
    while ports**3 // 4 < ranks:
        ports += 2
    return ports


def fat_tree(
    ranks: int,
    bandwidth_bps: int,
    latency_ps: int,
    buffer_bytes: int = 0,
    ecn_threshold_bytes: int = 0,
    oversubscription: int = 1,
    seed: int = 1,
) -> Network:
    """Return a k-ary fat tree with the least k that has a port for every rank.

    Each pod has k/2 edge switches with k/2 ranks each, and k/2 aggregation switches. Each
    aggregation switch is linked to k/2 core switches. Ranks fill one pod after the other, and
    switches that no rank needs are left out. The hash of a flow selects the aggregation switch and,
    between pods, the core switch, so flows between the same pair can take different paths.

    Parameters
    ----------
    ranks : int
        Number of ranks, at least 2.
    bandwidth_bps, latency_ps : int
        Bandwidth (bit/s) and propagation latency (ps) of every link, in each direction.
    buffer_bytes : int
        Packet memory of each switch, divided evenly among its k ports; 0 means unlimited.
    ecn_threshold_bytes : int
        Queue length from which a port marks packets; 0 means never.
    oversubscription : int
        The factor by which there are fewer aggregation switches than full bisection bandwidth
        needs; 2 leaves out half the links above the edge switches.
    seed : int
        Seed of the hash.

    Raises
    ------
    RankCountError
        There are fewer than 2 ranks.
    ParameterError
        The oversubscription leaves no aggregation switch, or the seed is negative.
    LinkError
        A bandwidth, latency or buffer is out of range.

    See Also
    --------
    arity, topology_gen.networks.stars

    References
    ----------
    M. Al-Fares, A. Loukissas, A. Vahdat, "A scalable, commodity data center network architecture",
    SIGCOMM 2008.

    Examples
    --------
    >>> network = fat_tree(128, 100 * 10**9, 1_000_000)
    >>> network.nodes - 128, network.links
    (80, 768)
    >>> [network.paths([0], [target]).links.size for target in (1, 4, 127)]
    [2, 4, 6]
    """
    if ranks < 2:
        raise RankCountError(f"{ranks} ranks: expected at least 2")
    half = arity(ranks) // 2
    if not 1 <= oversubscription <= half or seed < 0:
        raise ParameterError(
            f"oversubscription {oversubscription} and seed {seed}: expected an oversubscription of "
            f"1 … {half} for {ranks} ranks, and a seed of at least 0"
        )
    tree = _Tree(ranks, half, -(-half // oversubscription), seed)
    links = link_class(bandwidth_bps, latency_ps, buffer_bytes, 2 * half, ecn_threshold_bytes)
    source, target = tree.ends()
    from_switch = source >= ranks

    return Network(
        ranks=ranks,
        node_names=tree.names(),
        dimensions=("scale_out",),
        source=ids(source),
        target=ids(target),
        rate_bps=np.full(source.size, links.rate_bps, np.uint64),
        latency_ps=np.full(source.size, links.latency_ps, np.uint64),
        buffer_bytes=from_switch * np.uint64(links.port_buffer_bytes),
        ecn_threshold_bytes=from_switch * np.uint64(links.ecn_threshold_bytes),
        dimension=ids(np.zeros(source.size)),
        router=tree.router(),
    )


class _Tree:
    """The numbers of a fat tree's switches and links.

    Links are numbered in six blocks: up and down between ranks and edge switches, between edge and
    aggregation switches, and between aggregation and core switches.
    """

    def __init__(self, ranks: int, half: int, aggregation: int, seed: int) -> None:
        self.ranks, self.half, self.aggregation, self.seed = ranks, half, aggregation, seed
        self.edges = -(-ranks // half)
        self.pods = -(-self.edges // half)
        self.first_aggregation = ranks + self.edges
        self.first_core = self.first_aggregation + self.pods * aggregation
        self.cores = aggregation * half if self.pods > 1 else 0
        sizes = [ranks, self.edges * aggregation, self.pods * self.cores]
        self.up = [0, 2 * sizes[0], 2 * (sizes[0] + sizes[1])]
        self.down = [start + size for start, size in zip(self.up, sizes, strict=True)]

    def names(self) -> tuple[str, ...]:
        """Return the names of all nodes."""
        edges = [f"edge{e // self.half}.{e % self.half}" for e in range(self.edges)]
        aggregation = [f"agg{p}.{a}" for p in range(self.pods) for a in range(self.aggregation)]
        cores = [f"core{core}" for core in range(self.cores)]
        return (*(f"rank{r}" for r in range(self.ranks)), *edges, *aggregation, *cores)

    def ends(self) -> tuple[Numbers, Numbers]:
        """Return the sources and the targets of all links."""
        rank = np.arange(self.ranks)
        edge, chosen = np.divmod(np.arange(self.edges * self.aggregation), self.aggregation)
        above = self.first_aggregation + edge // self.half * self.aggregation + chosen
        pod, core = np.divmod(np.arange(self.pods * self.cores), max(self.cores, 1))
        below = self.first_aggregation + pod * self.aggregation + core // self.half
        pairs = [
            (rank, self.ranks + rank // self.half),
            (self.ranks + edge, above),
            (below, self.first_core + core),
        ]
        both = [ends for low, high in pairs for ends in ((low, high), (high, low))]
        source, target = zip(*both, strict=True)
        return np.concatenate(source), np.concatenate(target)

    def router(self) -> Router:
        """Return the rule for paths: up as far as needed, selected by the flow's hash, and down."""
        aggregation, half, cores = self.aggregation, self.half, self.cores

        def route(source: Numbers, target: Numbers, index: Numbers) -> tuple[Numbers, Numbers]:
            chance = flow_hash(source, target, index, self.seed)
            agg = chance % aggregation
            core = agg * half + chance // aggregation % half
            edge, last = source // half, target // half
            pod, end = edge // half, last // half
            stations = np.stack(
                [
                    self.up[0] + source,
                    self.up[1] + edge * aggregation + agg,
                    self.up[2] + pod * cores + core,
                    self.down[2] + end * cores + core,
                    self.down[1] + last * aggregation + agg,
                    self.down[0] + target,
                ],
                axis=1,
            )
            between_edges, between_pods = edge != last, pod != end
            always = np.ones_like(between_pods)
            tiers = [always, between_edges, between_pods]
            used = np.stack([*tiers, *reversed(tiers)], axis=1)
            begin = np.concatenate(([0], np.cumsum(used.sum(axis=1))))
            return begin, stations[used]

        return route
