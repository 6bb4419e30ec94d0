"""Topology family `graph`: a network that is given node by node and link by link."""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cached_property

from frontend.errors import RefusedError
from frontend.schema.graph import GraphLink, GraphTopology
from frontend.topologies.direct_connect import check_ranks
from frontend.topologies.layout import (
    GRAPH,
    RANK_LINKS,
    SUPER_NODES,
    WIRING,
    Layout,
    WorkloadDemand,
)
from frontend.topologies.registry import Buffer, TopologyFamily
from topology_gen import Network, TopologyError
from topology_gen.errors import RankCountError
from topology_gen.formats.graphs.document import looks_like_rank
from topology_gen.graphs.digraph import Digraph
from topology_gen.graphs.wiring import Wiring
from topology_gen.networks import graph as graphs
from topology_gen.networks.graph import NetworkGraph

_FORWARDING = {"auto": None, "ranks": True, "switches": False}


class GraphLayout(Layout):
    """The layout of a network of named ranks and switches.

    Parameters
    ----------
    graph : NetworkGraph
        The nodes and links.
    make : callable
        Function that takes the keyword `ecn_threshold_bytes` and returns the network.
    ranks_forward : bool
        Whether paths may lead through ranks.
    """

    def __init__(
        self, graph: NetworkGraph, make: Callable[..., Network], ranks_forward: bool
    ) -> None:
        self._graph = graph
        self._make = make
        self.ranks = len(graph.ranks)
        features = {WIRING}
        if ranks_forward:
            features |= {RANK_LINKS} if graph.switches else {RANK_LINKS, GRAPH}
        if graph.super_node is not None:
            features |= {SUPER_NODES}
        self.features = frozenset(features)

    def network(self, ecn_threshold_bytes: int) -> Network:
        """Return the nodes, links and paths."""
        return self._make(ecn_threshold_bytes=ecn_threshold_bytes)

    @property
    def super_node(self) -> int | None:
        """Ranks that scale-up links join, if these are consecutive and equally many everywhere."""
        return self._graph.super_node

    @cached_property
    def wiring(self) -> Wiring:
        """The links and switches."""
        return self._graph.wiring()

    @property
    def graph(self) -> Digraph | None:
        """The links between ranks; None if there are switches."""
        return self.wiring.graph if GRAPH in self.features else None


class _Graph(TopologyFamily[GraphTopology]):
    model = GraphTopology
    joins_gpus = True
    lists_shared_links = True

    def layout(self, topology: GraphTopology, demand: WorkloadDemand | None) -> Layout:
        """Return the layout; raise RefusedError if the links do not connect all ranks."""
        try:
            graph = network_graph(topology)
            forward = _FORWARDING[topology.forwarding]
            forward = not graph.switches if forward is None else forward
            check_ranks(len(graph.ranks))
            graph.check_connected(forward)
        except RankCountError as error:
            hint = "nodes with the type rank, or with names such as gpu0"
            raise RefusedError("topology.links", f"{error}, {hint}") from None
        except TopologyError as error:
            raise RefusedError("topology.links", str(error)) from None

        def make(ecn_threshold_bytes: int) -> Network:
            return graph.network(
                topology.buffer, ecn_threshold_bytes, topology.forwarding_delay, forward
            )

        return GraphLayout(graph, make, forward)

    def loses_packets(self, topology: GraphTopology) -> bool:
        """Return whether some link has a loss."""
        return any(link.loss for link in topology.links)

    def buffers(self, topology: GraphTopology) -> Sequence[Buffer]:
        """Return the memories of the switches, and the buffers of single links."""
        found = [
            Buffer(f"topology.links.{number}.buffer", link.buffer, 1)
            for number, link in enumerate(topology.links)
            if link.buffer is not None
        ]
        ports: Counter[str] = Counter()
        for link in topology.links:
            if link.buffer is None:
                for end in link.ends[: 1 if link.one_way else 2]:
                    ports[end] += link.count
        for name, kind in node_types(topology).items():
            if kind == "rank":
                del ports[name]
        for number, node in enumerate(topology.nodes):
            if node.memory is not None:
                path = f"topology.nodes.{number}.memory"
                found.append(Buffer(path, node.memory, max(ports.pop(node.name, 1), 1)))
        return [*found, Buffer("topology.buffer", topology.buffer, max(ports.values(), default=1))]


def node_types(topology: GraphTopology) -> dict[str, str]:
    """Return the type of every node: those that are listed, then those that only links name."""
    types: dict[str, str] = {node.name: node.type for node in topology.nodes}
    for link in topology.links:
        for end in link.ends:
            types.setdefault(end, "rank" if looks_like_rank(end) else "switch")
    return types


def network_graph(topology: GraphTopology) -> NetworkGraph:
    """Return the ranks, switches and links of a topology.

    Raises
    ------
    RefusedError
        A link has no rate or latency, and the topology has none for it.
    TopologyError
        The nodes and links are not valid.
    """
    links: list[graphs.GraphLink] = []
    for number, link in enumerate(topology.links):
        one = _link(topology, link, f"topology.links.{number}")
        each = [one] if link.one_way else [one, one.reverse]
        links += each * link.count
    types = node_types(topology)
    memory = {node.name: int(node.memory) for node in topology.nodes if node.memory is not None}
    names = Counter(node.name for node in topology.nodes)
    for number, node in enumerate(topology.nodes):
        if names[node.name] > 1:
            raise RefusedError(f"topology.nodes.{number}.name", "expected one node of each name")
    return NetworkGraph(
        "graph",
        [name for name, kind in types.items() if kind == "rank"],
        [name for name, kind in types.items() if kind == "switch"],
        links,
        memory,
    )


def _link(topology: GraphTopology, link: GraphLink, path: str) -> graphs.GraphLink:
    quantities = {}
    for key in ("bandwidth", "latency"):
        value = getattr(link, key)
        value = getattr(topology, key) if value is None else value
        if value is None:
            example = "100Gbps" if key == "bandwidth" else "1us"
            raise RefusedError(
                f"{path}.{key}",
                f"expected a {key} such as {example} for the link {' – '.join(link.ends)}, or "
                f"topology.{key} for all links without their own",
            )
        quantities[key] = int(value)
    source, target = link.ends
    return graphs.GraphLink(
        source,
        target,
        quantities["bandwidth"],
        quantities["latency"],
        link.dimension == "scale_up",
        None if link.buffer is None else int(link.buffer),
        None if link.ecn_threshold is None else int(link.ecn_threshold),
        link.loss,
    )


FAMILY = _Graph()
