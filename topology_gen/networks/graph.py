"""A network given as a graph: named ranks and switches, and links that may all differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from topology_gen.arrays import Numbers, ids
from topology_gen.errors import ConnectivityError, EdgeListError, LinkError, RankCountError
from topology_gen.graphs.digraph import Digraph
from topology_gen.graphs.wiring import Wiring, wired
from topology_gen.networks.network import HOP_COST, Network
from topology_gen.networks.shortest_paths import ShortestPaths

DIMENSIONS = ("scale_up", "scale_out")
"""The dimensions of links: inside a server, and between servers."""


@dataclass(frozen=True)
class GraphLink:
    """A link from one node to another.

    Attributes
    ----------
    source, target : str
        The names of the nodes.
    rate_bps, latency_ps : int
        Bandwidth in bit/s and propagation latency in picoseconds.
    scale_up : bool
        Whether the link is inside a server.
    buffer_bytes : int, optional
        Size of the egress queue at a switch; None: a share of the memory of the switch.
    ecn_threshold_bytes : int, optional
        Queue length from which the switch marks packets; None: the one for the whole network.
    loss : float
        The probability that the link loses a packet.
    """

    source: str
    target: str
    rate_bps: int
    latency_ps: int
    scale_up: bool = False
    buffer_bytes: int | None = None
    ecn_threshold_bytes: int | None = None
    loss: float = 0.0

    @property
    def reverse(self) -> GraphLink:
        """The link in the other direction."""
        return GraphLink(
            self.target,
            self.source,
            self.rate_bps,
            self.latency_ps,
            self.scale_up,
            self.buffer_bytes,
            self.ecn_threshold_bytes,
            self.loss,
        )


@dataclass(frozen=True)
class NetworkGraph:
    """Named ranks and switches, and the directed links between them.

    Attributes
    ----------
    name : str
        The name of the network.
    ranks, switches : sequence of str
        The names of the nodes. The ranks are numbered in this order.
    links : sequence of GraphLink
        The links; parallel links are allowed.
    memory_bytes : mapping of str to int
        The packet memory of switches that differ from the others.

    Raises
    ------
    EdgeListError
        A name occurs twice, or a link names a node that does not exist.
    RankCountError
        There are fewer than 2 ranks.
    LinkError
        A link joins a node with itself.
    """

    name: str
    ranks: Sequence[str]
    switches: Sequence[str]
    links: Sequence[GraphLink]
    memory_bytes: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if len(self.ranks) < 2:
            raise RankCountError(f"{len(self.ranks)} ranks: expected at least 2")
        number = self.numbers
        if len(number) < len(self.ranks) + len(self.switches):
            twice = next(name for name, times in Counter(self.nodes).items() if times > 1)
            raise EdgeListError(f"node {twice} is there twice: expected one node of each name")
        for link in self.links:
            for end in (link.source, link.target):
                if end not in number:
                    raise EdgeListError(
                        f"link {link.source} → {link.target}: there is no node {end}"
                    )
            if link.source == link.target:
                raise LinkError(f"a link joins {link.source} with itself: expected two nodes")

    @property
    def nodes(self) -> tuple[str, ...]:
        """The names of all nodes: the ranks, then the switches."""
        return (*self.ranks, *self.switches)

    @property
    def numbers(self) -> dict[str, int]:
        """The number of each node."""
        return {name: number for number, name in enumerate(self.nodes)}

    def ends(self) -> tuple[Numbers, Numbers]:
        """Return the numbers of the nodes that the links leave and enter."""
        number = self.numbers
        source = np.array([number[link.source] for link in self.links], dtype=np.int64)
        target = np.array([number[link.target] for link in self.links], dtype=np.int64)
        return source, target

    def wiring(self) -> Wiring:
        """Return the links with their rates, as the schedules use them."""
        source, target = self.ends()
        return wired(
            Digraph(self.name, len(self.nodes), ids(source), ids(target)),
            np.array([link.rate_bps for link in self.links], dtype=np.uint64),
            np.array([link.latency_ps for link in self.links], dtype=np.uint64),
            len(self.switches),
        )

    @cached_property
    def super_node(self) -> int | None:
        """Ranks of a super-node, if scale-up links join groups of equally many consecutive ranks.

        None if they do not, or if they join all ranks or none.
        """
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        source, target = self.ends()
        inside = np.array([link.scale_up for link in self.links], dtype=np.bool_)
        count = len(self.nodes)
        joined = coo_array((np.ones(inside.sum()), (source[inside], target[inside])), (count,) * 2)
        group = connected_components(joined.tocsr(), directed=False)[1][: len(self.ranks)]
        size = int(np.sum(group == group[0]))
        if size in (1, len(self.ranks)) or len(self.ranks) % size:
            return None
        blocks = group.reshape(-1, size)
        even = np.all(blocks == blocks[:, :1]) and np.unique(blocks[:, 0]).size == len(blocks)
        return size if even else None

    def check_connected(self, ranks_forward: bool) -> None:
        """Raise ConnectivityError if there is no path from some rank to another.

        The error names the first two such ranks.
        """
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import breadth_first_order

        source, target = self.ends()
        count, ranks = len(self.nodes), len(self.ranks)
        # A rank that does not forward is entered at another node than the one that it sends from.
        entered = target if ranks_forward else np.where(target < ranks, target + count, target)
        shape = (count + ranks, count + ranks)
        links = coo_array((np.ones(source.size), (source, entered)), shape).tocsr()
        arrival = np.arange(ranks) + (0 if ranks_forward else count)
        for rank in range(ranks):
            reached = np.zeros(count + ranks, np.bool_)
            reached[breadth_first_order(links, rank, return_predecessors=False)] = True
            reached[arrival[rank]] = True
            if not reached[arrival].all():
                lost = int(np.argmin(reached[arrival]))
                raise ConnectivityError(
                    f"there is no path from {self.ranks[rank]} to {self.ranks[lost]}"
                )

    def network(
        self,
        memory_bytes: int,
        ecn_threshold_bytes: int = 0,
        forwarding_delay_ps: int = 0,
        ranks_forward: bool | None = None,
    ) -> Network:
        """Return the network, in which a hash of each flow selects one of its shortest paths.

        Parameters
        ----------
        memory_bytes : int
            Packet memory of each switch, divided evenly among its ports; 0 means unlimited. Ranks
            that forward have such a memory, too.
        ecn_threshold_bytes : int
            Queue length from which a port marks packets; 0 means never.
        forwarding_delay_ps : int
            The delay of a packet in each rank that forwards it.
        ranks_forward : bool, optional
            Whether paths may lead through ranks; by default, they may if there are no switches.

        Raises
        ------
        LinkError
            A switch has less than 1 byte of memory for each of its ports.
        """
        forward = not self.switches if ranks_forward is None else ranks_forward
        source, target = self.ends()
        up = np.array([link.scale_up for link in self.links], dtype=np.bool_)
        dimensions = DIMENSIONS if up.any() and not up.all() else ("scale_out",)
        queued = np.full(source.size, True) if forward else source >= len(self.ranks)
        buffers = np.where(queued, self._buffers(source, memory_bytes), 0)
        thresholds = [
            ecn_threshold_bytes if link.ecn_threshold_bytes is None else link.ecn_threshold_bytes
            for link in self.links
        ]
        loss = np.array([link.loss for link in self.links])
        dimension = ids(~up if len(dimensions) > 1 else np.zeros(up.size))
        graph = Digraph(self.name, len(self.nodes), ids(source), ids(target))
        hosts = 0 if forward else len(self.ranks)
        return Network(
            ranks=len(self.ranks),
            node_names=self.nodes,
            dimensions=dimensions,
            source=ids(source),
            target=ids(target),
            rate_bps=np.array([link.rate_bps for link in self.links], dtype=np.uint64),
            latency_ps=np.array([link.latency_ps for link in self.links], dtype=np.uint64),
            buffer_bytes=buffers.astype(np.uint64),
            ecn_threshold_bytes=np.where(queued, thresholds, 0).astype(np.uint64),
            dimension=dimension,
            router=ShortestPaths(graph, HOP_COST + dimension, hosts),
            forwarding_delay_ps=forwarding_delay_ps,
            ranks_forward=forward,
            loss=loss if loss.any() else None,
        )

    def _buffers(self, source: Numbers, memory_bytes: int) -> NDArray[np.int64]:
        """Return the size of each link's egress queue."""
        own = np.array([-1 if b is None else b for b in (link.buffer_bytes for link in self.links)])
        ports = np.bincount(source[own < 0], minlength=len(self.nodes))
        memory = np.array([self.memory_bytes.get(name, memory_bytes) for name in self.nodes])
        small = (memory > 0) & (memory < ports)
        if small.any():
            node = int(np.argmax(small))
            raise LinkError(
                f"{memory[node]} bytes of memory at {self.nodes[node]}: expected at least 1 byte "
                f"for each of {ports[node]} ports"
            )
        return np.where(own < 0, memory[source] // np.maximum(ports[source], 1), own)


def both_ways(links: Sequence[GraphLink]) -> list[GraphLink]:
    """Return links and their reverses: each link is followed by its reverse."""
    return [one for link in links for one in (link, link.reverse)]
