"""Topology family `graph`: a network that is given node by node and link by link."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, TypeAdapter, ValidationInfo, model_validator
from pydantic.json_schema import JsonSchemaValue

from frontend.errors import RefusedError
from frontend.schema.base import Count, Model, Probability, ShortForm, cross_check_error, listed
from frontend.schema.files import read_bytes, read_yaml
from frontend.schema.quantities import Buffer, Delay, PositiveSize, Quantity, Rate
from frontend.topologies.direct_connect import check_ranks
from frontend.topologies.registry import (
    GRAPH,
    IN_NETWORK,
    RANK_LINKS,
    SUPER_NODES,
    WIRING,
    Layout,
    TopologyFamily,
    WorkloadDemand,
)
from frontend.topologies.registry import Buffer as PortBuffer
from topology_gen import Network, TopologyError
from topology_gen.errors import RankCountError
from topology_gen.formats.graphs import registry
from topology_gen.formats.graphs.document import (
    GraphDocument,
    LinkEntry,
    NodeEntry,
    looks_like_rank,
)
from topology_gen.graphs.digraph import Digraph
from topology_gen.graphs.wiring import Wiring
from topology_gen.networks import graph as graphs
from topology_gen.networks.graph import NetworkGraph


def _name(value: Any) -> str:
    """Return the name of a node; YAML makes a whole number of a name that is one."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str) or not value.isprintable() or " ".join(value.split()) != value:
        raise ValueError("expected a name: text without spaces around it, or a whole number")
    if not value:
        raise ValueError("expected a name, not an empty text")
    return value


NodeName = Annotated[str, BeforeValidator(_name, json_schema_input_type=str | int)]
"""The name of a node."""


class GraphNode(ShortForm):
    """A rank or a switch. A plain name stands for `{name: …}`."""

    name: NodeName
    """The name, which links refer to."""
    type: Literal["rank", "switch"] = Field(
        default_factory=lambda data: "rank" if looks_like_rank(data.get("name", "")) else "switch"
    )
    """Whether the node is a rank or a switch. Default: a rank if the name is a number or begins
    with rank, gpu, xpu, npu, host or server and has no other letters."""
    memory: Buffer | None = None
    """Packet memory of this switch; null: `topology.buffer`."""
    in_network: bool = False
    """Whether this switch adds up and multicasts what ranks send: algorithms `nvls`, `sharp`."""

    @classmethod
    def whole(cls, value: Any) -> Any:
        """Let a name or a number stand for the node of this name."""
        return {"name": value} if isinstance(value, str | int) else value

    @classmethod
    def short_schema(cls) -> JsonSchemaValue:
        """Return the JSON Schema of the short form."""
        return TypeAdapter(NodeName).json_schema()


class GraphLink(ShortForm):
    """A link between two nodes, in each direction. `[a, b]`, `[a, b, 100Gbps]` and `[a, b, 100Gbps,
    1us]` are short forms."""

    ends: Annotated[tuple[NodeName, NodeName], BeforeValidator(listed)]
    """The names of the two nodes."""
    bandwidth: Rate | None = None
    """Rate in each direction; null: `topology.bandwidth`."""
    latency: Delay | None = None
    """Propagation latency; null: `topology.latency`."""
    buffer: Buffer | None = None
    """Size of the egress queue at a switch; null: a share of the memory of the switch."""
    ecn_threshold: PositiveSize | None = None
    """Queue length from which a switch marks packets; null: `switches.ecn_threshold`, or with
    `transport.protocol: roce`, `transport.ecn.kmin`."""
    loss: Probability = 0.0
    """Probability that the link loses a packet."""
    dimension: Literal["scale_up", "scale_out"] = "scale_out"
    """scale_up: inside a server; scale_out: between servers."""
    one_way: bool = False
    """Whether the link leads only from the first to the second node."""
    count: Annotated[Count, Field(le=1024)] = 1
    """Number of parallel links like this one."""

    @classmethod
    def whole(cls, value: Any) -> Any:
        """Let a list be the ends, the rate and the latency."""
        if not isinstance(value, list | tuple):
            return value
        if not 2 <= len(value) <= 4:
            raise ValueError("expected [from, to], [from, to, rate] or [from, to, rate, latency]")
        return dict(zip(("bandwidth", "latency"), value[2:], strict=False)) | {"ends": value[:2]}

    @classmethod
    def short_schema(cls) -> JsonSchemaValue:
        """Return the JSON Schema of the short form."""
        parts = (NodeName, NodeName, Rate, Delay)
        items = [TypeAdapter(kind).json_schema() for kind in parts]
        return {"type": "array", "prefixItems": items, "minItems": 2, "maxItems": 4}


class ClusterTopology(Model):
    """What all networks of switches and ranks have in common."""

    family: str
    buffer: Buffer
    """Packet memory of each switch, which its ports share as `switches.buffer_sharing` says; or
    `unlimited`."""


class GraphTopology(ClusterTopology):
    """Any network: you list the nodes and the links, or name a file."""

    family: Literal["graph"]
    """Any network of ranks and switches, from a file or a list of links."""
    file: str | None = None
    """A file with the network: YAML with `nodes` and `links`, CSV, GraphML, a topology text of
    ASTRA-sim or SimAI, a network of ASTRA-sim's analytical backend, a fat-tree of htsim, or an
    infrastructure of InfraGraph; the content decides. The path is relative to the scenario's
    folder. The result stores nodes and links."""
    nodes: Annotated[tuple[GraphNode, ...], BeforeValidator(listed)] = ()
    """The nodes, instead of a file. Ranks are numbered in this order. Nodes that only links name
    follow."""
    links: Annotated[tuple[GraphLink, ...], BeforeValidator(listed)] = ()
    """The links, instead of a file."""
    bandwidth: Rate | None = None
    """Rate of the links without their own."""
    latency: Delay | None = None
    """Propagation latency of the links without their own."""
    forwarding: Literal["auto", "ranks", "switches"] = "auto"
    """Which nodes forward packets. ranks: ranks and switches; switches: only switches; auto: ranks
    only if there are no switches."""
    forwarding_delay: Delay = Delay.parse("0ns")
    """Per-hop forwarding delay at a rank."""

    @model_validator(mode="before")
    @classmethod
    def _read_file(cls, value: Any, info: ValidationInfo) -> Any:
        """Put the content of the file in its place, so that a stored scenario needs no file."""
        if not isinstance(value, dict) or not isinstance(value.get("file"), str):
            return value
        for key in ("nodes", "links"):
            if key in value:
                raise cross_check_error(
                    "topology.file", f"expected either a file or {key}, not both"
                )
        try:
            document = read_document(read_bytes(value["file"], info), value["file"])
        except ValueError as error:
            raise cross_check_error("topology.file", str(error)) from None
        return document | {key: item for key, item in value.items() if key != "file"}


def read_document(content: bytes, name: str) -> dict[str, Any]:
    """Return what a file says in the form of a scenario's `topology`: nodes, links and settings.

    Raises
    ------
    ValueError
        The content has none of the formats, or is not valid.
    """
    try:
        document = registry.read(content, name, read_yaml)
    except TopologyError as error:
        raise ValueError(str(error)) from None
    if isinstance(document, GraphDocument):
        return inline(document)
    known = [key for key in GraphTopology.model_fields if key not in ("family", "file")]
    if document.get("family", "graph") != "graph":
        raise ValueError(f"family: value {document['family']}: expected graph")
    for key in document.keys() - {"family", "name", *known}:
        raise ValueError(f"unknown key {key!r}: expected {', '.join(known)}")
    return {key: document[key] for key in known if key in document}


def inline(document: GraphDocument) -> dict[str, Any]:
    """Return nodes, links and settings in the form of a scenario."""
    return dict(document.settings) | {
        "nodes": [_node(*node) for node in document.nodes],
        "links": [
            {"ends": [link.source, link.target]}
            | {key: getattr(link, key) for key in _TEXTS if getattr(link, key) is not None}
            | ({"loss": _number(link.loss)} if link.loss is not None else {})
            | ({"dimension": "scale_up"} if link.scale_up else {})
            | ({"one_way": True} if link.one_way else {})
            for link in document.links
        ],
    }


def as_document(name: str, topology: GraphTopology) -> GraphDocument:
    """Return the nodes and links of a topology, with quantities as they were written."""
    nodes = {node.name: NodeEntry(node.name, node.type == "rank", _text(node.memory))
             for node in topology.nodes}  # fmt: skip
    settings: dict[str, str] = {}
    if topology.forwarding != "auto":
        settings["forwarding"] = topology.forwarding
    if topology.forwarding_delay:
        settings["forwarding_delay"] = str(topology.forwarding_delay.written())
    links = []
    for link in topology.links:
        for end in link.ends:
            nodes.setdefault(end, NodeEntry(end, looks_like_rank(end)))
        entry = LinkEntry(
            *link.ends,
            _text(topology.bandwidth if link.bandwidth is None else link.bandwidth),
            _text(topology.latency if link.latency is None else link.latency),
            _text(link.buffer),
            _text(link.ecn_threshold),
            str(link.loss) if link.loss else None,
            link.dimension == "scale_up",
            link.one_way,
        )
        links += [entry] * link.count
    return GraphDocument(name, list(nodes.values()), links, settings=settings)


def _text(quantity: Quantity | None) -> str | None:
    return None if quantity is None else str(quantity.written())


_TEXTS = ("bandwidth", "latency", "buffer", "ecn_threshold")


def _node(name: str, is_rank: bool, memory: str | None) -> dict[str, Any]:
    node = {"name": name, "type": "rank" if is_rank else "switch"}
    return node if memory is None else node | {"memory": memory}


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text  # the model refuses it, and names the link


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
    reducing : iterable of str
        Names of the switches that reduce.
    """

    def __init__(
        self,
        graph: NetworkGraph,
        make: Callable[..., Network],
        ranks_forward: bool,
        reducing: Iterable[str] = (),
    ) -> None:
        self._graph = graph
        self._reducing = frozenset(reducing)
        self._make = make
        self.ranks = len(graph.ranks)
        features = {WIRING}
        if ranks_forward:
            features |= {RANK_LINKS} if graph.switches else {RANK_LINKS, GRAPH}
        if graph.super_node is not None:
            features |= {SUPER_NODES}
        if self._reducing:
            features |= {IN_NETWORK}
        self.features = frozenset(features)

    def network(self, ecn_threshold_bytes: int) -> Network:
        """Return the nodes, links and paths."""
        return self._make(ecn_threshold_bytes=ecn_threshold_bytes)

    def reduces(self, switch: str) -> bool:
        """Return whether a switch with a name reduces."""
        return switch in self._reducing

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

        reducing = [str(node.name) for node in topology.nodes if node.in_network]
        if not set(reducing) <= set(graph.switches):
            raise RefusedError("topology.nodes", "expected in_network of switches only")
        return GraphLayout(graph, make, forward, reducing)

    def loses_packets(self, topology: GraphTopology) -> bool:
        """Return whether some link has a loss."""
        return any(link.loss for link in topology.links)

    def buffers(self, topology: GraphTopology) -> Sequence[PortBuffer]:
        """Return the memories of the switches, and the buffers of single links."""
        found = [
            PortBuffer(f"topology.links.{number}.buffer", link.buffer, 1)
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
                found.append(PortBuffer(path, node.memory, max(ports.pop(node.name, 1), 1)))
        return [
            *found,
            PortBuffer("topology.buffer", topology.buffer, max(ports.values(), default=1)),
        ]


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
