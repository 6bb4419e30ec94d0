"""Topology families of servers: on rails, on leaves and spines, or linked directly."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, get_args

from pydantic import Field, ValidationInfo, model_validator
from pydantic.json_schema import JsonSchemaValue

from frontend.errors import RefusedError
from frontend.schema.base import Count, ShortForm, Whole, cross_check_error
from frontend.schema.files import read_bytes
from frontend.schema.quantities import Delay, Rate
from frontend.topologies.demand import WORKLOAD, DemandChoice, Discount
from frontend.topologies.direct_connect import check_ranks
from frontend.topologies.graph import ClusterTopology, GraphLayout
from frontend.topologies.registry import (
    IN_NETWORK,
    RANK_LINKS,
    SUPER_NODES,
    WIRING,
    Buffer,
    Layout,
    TopologyFamily,
    WorkloadDemand,
)
from topology_gen import Network, TopologyError, specs
from topology_gen.errors import ParameterError
from topology_gen.graphs.wiring import Wiring
from topology_gen.networks.graph import NetworkGraph
from topology_gen.networks.servers import (
    SERVERS,
    Server,
    Tier,
    direct_servers,
    host,
    leaf_spine,
    rail_only,
    rail_optimized,
)
from topology_gen.topoopt import Demand, data_parallel, from_json, split_degree, topology_finder
from topology_gen.topoopt.demand import between_servers

if TYPE_CHECKING:
    from topology_gen.formats.nccl_topology import ServerFile

OUTSIDE = ("leaf", "spine", "agg", "core")
"""Beginnings of the names of the switches outside servers."""

ServerName = Literal[
    "dgx_a100",
    "dgx_h100",
    "hgx_h100",
    "hgx_h200",
    "hgx_b200",
    "gb200_nvl72",
    "p4d",
    "p5",
    "p5en",
    "a3_mega",
    "dgx_spark",
    "mi300x",
]

Ratio = Annotated[float, Field(gt=0, le=1000)]
"""A positive ratio."""


NUMBERS = {
    "gpus": "gpus",
    "scale_up_switches": "scale_up_switches",
    "scale_up_bps": "scale_up_bandwidth",
    "scale_up_latency_ps": "scale_up_latency",
    "nics": "nics",
    "nic_bps": "nic_bandwidth",
    "pcie_bps": "pcie_bandwidth",
    "in_network": "in_network",
    "cpu": "cpu",
}
"""The key of each number of a server."""


class ServerModel(ShortForm):
    """A server: one of the known ones, or one with other numbers. A plain name stands for
    `{model: …}`."""

    file: str | None = None
    """A topology file of NCCL (`NCCL_TOPO_DUMP_FILE`): its numbers hold where you give none, and
    those of `model` where it does not tell them. The path is relative to the scenario's folder. The
    result stores the numbers."""

    model: ServerName = "dgx_h100"
    """The server whose numbers hold where you give none."""
    gpus: Count | None = None
    """Number of GPUs; every GPU is a rank."""
    scale_up_switches: Whole | None = None
    """Number of scale-up switches, of which a message passes one; 0: every GPU is linked to every
    other. The NVSwitches of the known servers are one switch, because NVLink spreads each transfer
    over all of them."""
    scale_up_bandwidth: Rate | None = None
    """Total scale-up rate of a GPU in each direction."""
    scale_up_latency: Delay | None = None
    """Propagation latency of each scale-up link."""
    nics: Count | None = None
    """Number of NICs, a multiple or a divisor of the GPUs. NIC k is in rail k."""
    nic_bandwidth: Rate | None = None
    """Rate of each NIC in each direction."""
    pcie_bandwidth: Rate | None = None
    """Rate between a GPU and its NICs in each direction."""
    in_network: bool | None = None
    """Whether the scale-up switches add up and multicast what GPUs send (NVLink SHARP): algorithm
    `nvls`."""
    cpu: Literal["intel", "amd", "arm"] | None = None
    """Vendor of the processors, which post the messages of NCCL."""

    @classmethod
    def whole(cls, value: Any) -> Any:
        """Let a name stand for the server of this name."""
        return {"model": value} if isinstance(value, str) else value

    @classmethod
    def short_schema(cls) -> JsonSchemaValue:
        """Return the JSON Schema of the short form."""
        return {"enum": list(get_args(ServerName)), "type": "string"}

    @model_validator(mode="before")
    @classmethod
    def _read_file(cls, value: Any, info: ValidationInfo) -> Any:
        if not isinstance(value, dict) or not isinstance(value.get("file"), str):
            return value
        from topology_gen.formats.nccl_topology import read_server  # few scenarios name a file

        given = {key: item for key, item in value.items() if key != "file"}
        try:
            return with_file(given, read_server(read_bytes(value["file"], info)))
        except ValueError as error:
            raise cross_check_error(".file", str(error)) from None


def with_file(given: Mapping[str, Any], found: ServerFile) -> dict[str, Any]:
    """Return the keys of a server, and those that a topology file of NCCL adds.

    Raises
    ------
    ValueError
        The file does not tell a number, and neither is it given, nor a model that has it.
    """
    if "model" not in given:
        given = {"in_network": False} | dict(given) if "in_network" in found.unknown else given
        for number, why in found.unknown.items():
            if NUMBERS[number] not in given:
                raise ValueError(f"{why}: expected the key {NUMBERS[number]!r}, or a model")
    told = {
        NUMBERS[number]: f"{value / 1e9:.12g}Gbps" if number.endswith("_bps") else value
        for number, value in found.numbers.items()
    }
    return told | dict(given)


assert set(get_args(ServerName)) == set(SERVERS)


class ServersTopology(ClusterTopology):
    """Servers of GPUs with scale-up networks inside, and a scale-out network between their NICs.
    Ranks are numbered server by server."""

    servers: Count
    """Number of servers."""
    latency: Delay = Delay.parse("0.5us")
    """Propagation latency of each link outside the servers, one way."""
    in_network: bool = False
    """Whether the switches outside the servers add up and multicast what ranks send: algorithm
    `sharp`."""


class RailOptimizedTopology(ServersTopology):
    """NIC k of all servers of a pod is on leaf k, and spines join all leaves."""

    family: Literal["rail_optimized"]
    """Servers on rails: a leaf for each NIC of a pod's servers, and spines between the leaves."""
    server: ServerModel = ServerModel()
    """The server."""
    pod: Count | None = None
    """Servers of a pod (scalable unit); null: all servers."""
    uplink: Rate | None = None
    """Rate of each link between a leaf and a spine; null: that of a NIC."""
    oversubscription: Ratio = 1.0
    """Rate of a leaf to its servers over its rate to the spines."""
    spines: Count | None = None
    """Number of spines; null: each leaf has one link to each spine."""
    pxn: bool = False
    """Whether packets may pass a GPU: those to another rail go over the scale-up network to the GPU
    of that rail, and not over the spines (as NCCL's PXN)."""


class RailOnlyTopology(ServersTopology):
    """NIC k of all servers is on switch k, and nothing joins the rails but the servers. Packets to
    another rail pass a GPU of that rail."""

    family: Literal["rail_only"]
    """Servers on rails that only the scale-up networks join."""
    server: ServerModel = ServerModel()
    """The server."""
    rail: str | None = None
    """Links inside a rail without a switch: a direct-connect topology of all servers, written as
    `family:key=value,…`; null: each rail has a switch."""


class LeafSpineTopology(ServersTopology):
    """All NICs of a server are on the same leaf, and spines join all leaves (folded Clos). Without
    `server`, every server is a rank with one NIC."""

    family: Literal["leaf_spine"]
    """Leaf–spine or three-tier Clos network of switches with any radix and oversubscription."""
    server: ServerModel | None = None
    """The server; null: a single rank with one NIC."""
    bandwidth: Rate = Rate.parse("100Gbps")
    """Rate of the NIC of a single rank. With `server`, NICs have the rate of the server."""
    radix: Count = 64
    """Ports of a switch."""
    uplink: Rate | None = None
    """Rate of each link between switches; null: that of a NIC."""
    oversubscription: Ratio = 1.0
    """Rate of a leaf to its NICs over its rate upwards."""
    tiers: Literal[2, 3] = 2
    """2: leaves and spines; 3: leaves, aggregation switches and cores."""
    spines: Count | None = None
    """Number of spines with two tiers; null: each leaf has one link to each spine."""


class DirectServersTopology(ServersTopology):
    """The NICs of servers are linked to each other directly. Packets pass a GPU with a NIC to the
    other server, and other servers between servers that are not neighbours."""

    family: Literal["direct_servers"]
    """Servers whose NICs a direct-connect topology joins."""
    server: ServerModel = ServerModel()
    """The server."""
    scale_out: str
    """Links between servers: a direct-connect topology of all servers, written as
    `family:key=value,…`. The NICs of a server are its ports: they are a multiple of the degree,
    and then links are bundles, or a divisor of it, and then links share a NIC."""


class TopoOptServersTopology(ServersTopology):
    """The NICs of servers are linked by TopoOpt for the transfers between servers: rings for
    all-reduces, and matchings for the others. Packets take shortest paths over links and GPUs."""

    family: Literal["topoopt_servers"]
    """Servers whose NICs TopoOpt links for the job's transfers."""
    server: ServerModel = ServerModel()
    """The server."""
    d: Count | None = None
    """Degree: number of ports of each server, a multiple or a divisor of its NICs; null: the
    NICs."""
    demand: DemandChoice | None = None
    """The transfers between servers: a mapping as of the family `topoopt`; `workload`: what the
    servers transfer in an iteration of `workload.kind: training`; null: one all-reduce."""
    duplex: bool = True
    """true: rings go both ways and take two ports of each server; false: one way and one port."""
    discount: Discount = "exponential"
    """Value of the x-th link between the same two servers, as of the family `topoopt`."""


AnyServers = TypeVar("AnyServers", bound=ServersTopology)


class ServersFamily(TopologyFamily[AnyServers]):
    """A family of servers; `make` builds its graph."""

    joins_gpus = True
    lists_shared_links = True

    @abstractmethod
    def make(self, topology: AnyServers) -> NetworkGraph:
        """Return the ranks, switches and links; raise TopologyError if there are none."""

    def forwards(self, topology: AnyServers) -> bool:
        """Return whether packets may pass ranks."""
        return False

    def layout(self, topology: AnyServers, demand: WorkloadDemand | None) -> Layout:
        """Return the layout; raise RefusedError if the numbers do not fit."""
        return self.layout_of(self._graph(topology), topology)

    def layout_of(self, graph: NetworkGraph, topology: AnyServers) -> GraphLayout:
        """Return the layout of a graph."""
        memory, forward = int(topology.buffer), self.forwards(topology)

        def make(ecn_threshold_bytes: int) -> Network:
            return graph.network(memory, ecn_threshold_bytes, ranks_forward=forward)

        reducing = reducing_switches(topology)
        layout = GraphLayout(
            graph, make, forward, [one for one in graph.switches if one.startswith(reducing)]
        )
        if model := getattr(topology, "server", None):
            layout.nccl_plugin, layout.cpu = server(model).nccl_plugin, server(model).cpu
        return layout

    def _graph(self, topology: AnyServers) -> NetworkGraph:
        with refusing():
            graph = _cached(self, topology)
            check_ranks(len(graph.ranks))
        return graph

    def buffers(self, topology: AnyServers) -> Sequence[Buffer]:
        """Return the memory of a switch, with the ports of the largest one."""
        graph = self._graph(topology)
        ranks = set(graph.ranks)
        ports = Counter(link.source for link in graph.links if link.source not in ranks)
        return [Buffer("topology.buffer", topology.buffer, max(ports.values(), default=1))]


def reducing_switches(topology: ServersTopology) -> tuple[str, ...]:
    """Return the beginnings of the names of the switches that reduce."""
    model = getattr(topology, "server", None)
    inside = model is not None and server(model).in_network
    return (("nv",) if inside else ()) + (OUTSIDE if topology.in_network else ())


@contextmanager
def refusing() -> Iterator[None]:
    """Turn a TopologyError into a RefusedError with the key path of its parameter."""
    try:
        yield
    except ParameterError as error:
        where = f".{error.parameter}" if error.parameter else ""
        key = "server" if error.parameter in ServerModel.model_fields else ""
        path = ".".join(["topology", *([key] if key else [])])
        raise RefusedError(path + where, str(error)) from None
    except TopologyError as error:
        raise RefusedError("topology.servers", str(error)) from None


@lru_cache(maxsize=4)
def _cached(family: ServersFamily[AnyServers], topology: AnyServers) -> NetworkGraph:
    return family.make(topology)


class _RailOptimized(ServersFamily[RailOptimizedTopology]):
    model = RailOptimizedTopology

    def make(self, topology: RailOptimizedTopology) -> NetworkGraph:
        one = server(topology.server)
        return rail_optimized(
            topology.servers,
            one,
            Tier(int(topology.uplink or one.nic_bps), topology.latency),
            topology.pod,
            topology.oversubscription,
            topology.spines,
        )

    def forwards(self, topology: RailOptimizedTopology) -> bool:
        return topology.pxn


class _RailOnly(ServersFamily[RailOnlyTopology]):
    model = RailOnlyTopology

    def make(self, topology: RailOnlyTopology) -> NetworkGraph:
        try:
            rail = None if topology.rail is None else specs.parse(topology.rail)
        except TopologyError as error:
            raise ParameterError(str(error), "rail") from None
        return rail_only(topology.servers, server(topology.server), topology.latency, rail)

    def forwards(self, topology: RailOnlyTopology) -> bool:
        return True


class _LeafSpine(ServersFamily[LeafSpineTopology]):
    model = LeafSpineTopology

    def make(self, topology: LeafSpineTopology) -> NetworkGraph:
        one = host(topology.bandwidth) if topology.server is None else server(topology.server)
        if topology.tiers == 3 and topology.spines is not None:
            raise ParameterError("expected no value with 3 tiers", "spines")
        return leaf_spine(
            topology.servers,
            one,
            Tier(int(topology.uplink or one.nic_bps), topology.latency),
            topology.radix,
            topology.oversubscription,
            topology.tiers,
            topology.spines,
        )


def server(model: ServerModel) -> Server:
    """Return the server with the numbers of a model, and those of its preset for the others."""
    given = {number: getattr(model, key) for number, key in NUMBERS.items()}
    one = SERVERS[model.model]
    return replace(one, **{key: type(getattr(one, key))(value) for key, value in given.items()
                           if value is not None})  # fmt: skip


RAIL_OPTIMIZED = _RailOptimized()
RAIL_ONLY = _RailOnly()
LEAF_SPINE = _LeafSpine()


class _DirectServers(ServersFamily[DirectServersTopology]):
    model = DirectServersTopology

    def make(self, topology: DirectServersTopology) -> NetworkGraph:
        try:
            graph = specs.parse(topology.scale_out)
        except TopologyError as error:
            raise ParameterError(str(error), "scale_out") from None
        if graph.nodes != topology.servers:
            raise ParameterError(
                f"{graph.nodes} nodes: expected the {topology.servers} servers", "scale_out"
            )
        return direct_servers(graph, server(topology.server), topology.latency)

    def forwards(self, topology: DirectServersTopology) -> bool:
        return True


class _Found(Layout):
    """The layout of servers whose links an optimiser finds when they are first used."""

    def __init__(self, ranks: int, one: Server, find: Callable[[], GraphLayout]) -> None:
        self.ranks = ranks
        self._gpus = one.gpus
        self._find = find
        self.features = frozenset({RANK_LINKS, WIRING, *([SUPER_NODES] if one.gpus > 1 else [])})
        if one.in_network:
            self.features |= {IN_NETWORK}
        self.nccl_plugin, self.cpu = one.nccl_plugin, one.cpu

    def reduces(self, switch: str) -> bool:
        """Return whether a switch with a name reduces."""
        return self._found.reduces(switch)

    @cached_property
    def _found(self) -> GraphLayout:
        return self._find()

    def network(self, ecn_threshold_bytes: int) -> Network:
        """Return the nodes, links and paths."""
        return self._found.network(ecn_threshold_bytes)

    @property
    def super_node(self) -> int | None:
        """The GPUs of a server."""
        return self._gpus if self._gpus > 1 else None

    @property
    def wiring(self) -> Wiring:
        """The links and switches."""
        return self._found.wiring


class _TopoOptServers(ServersFamily[TopoOptServersTopology]):
    model = TopoOptServersTopology
    optimised = True

    def asked_ranks(self, topology: TopoOptServersTopology) -> int | None:
        if topology.demand != WORKLOAD:
            return None
        return topology.servers * server(topology.server).gpus

    def layout(self, topology: TopoOptServersTopology, demand: WorkloadDemand | None) -> Layout:
        with refusing():
            one = server(topology.server)
            ranks = topology.servers * one.gpus
            check_ranks(ranks)
        if topology.demand == WORKLOAD and (demand is None or demand.parts):
            raise RefusedError(
                "topology.demand", "expected a demand, because workload.kind is not training"
            )
        degree = topology.d or one.nics
        if one.nics % degree and degree % one.nics:
            raise RefusedError(
                "topology.d", f"expected a multiple or a divisor of the {one.nics} NICs"
            )
        try:
            wanted = self._demand(topology, demand)
            split_degree(wanted, degree, topology.duplex)  # raises an error for too few ports
        except TopologyError as error:
            key = "d" if str(error).startswith("degree") else "demand"
            raise RefusedError(f"topology.{key}", str(error)) from None
        return _Found(ranks, one, lambda: self.layout_of(self._linked(topology, wanted), topology))

    def _linked(self, topology: TopoOptServersTopology, demand: Demand) -> NetworkGraph:
        one = server(topology.server)
        found = topology_finder(
            demand, topology.d or one.nics, duplex=topology.duplex, discount=topology.discount
        )
        return direct_servers(found.graph, one, topology.latency, topology.d)

    def make(self, topology: TopoOptServersTopology) -> NetworkGraph:
        """Return the servers with the links for the demand that the scenario gives."""
        return self._linked(topology, self._demand(topology, None))

    def forwards(self, topology: TopoOptServersTopology) -> bool:
        return True

    def buffers(self, topology: TopoOptServersTopology) -> Sequence[Buffer]:
        """Return the memory of a scale-up switch, and of a GPU with its links."""
        one = server(topology.server)
        degree = topology.d or one.nics
        links = one.scale_up_switches + max(1, max(degree, one.nics) // one.gpus)
        return [Buffer("topology.buffer", topology.buffer, max(one.gpus, links))]

    def _demand(self, topology: TopoOptServersTopology, demand: WorkloadDemand | None) -> Demand:
        """Return the transfers between servers."""
        if demand is not None:
            return between_servers(demand.demands[0], server(topology.server).gpus)
        if topology.demand is None:
            return data_parallel(topology.servers)
        wanted = from_json(topology.demand)
        if wanted.nodes != topology.servers:
            raise ParameterError(f"{wanted.nodes} nodes: expected the {topology.servers} servers")
        return wanted


DIRECT_SERVERS = _DirectServers()
TOPOOPT_SERVERS = _TopoOptServers()
