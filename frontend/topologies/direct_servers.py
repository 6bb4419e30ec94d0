"""Topology families of servers that are linked directly: by a digraph, or by TopoOpt."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

from frontend.errors import RefusedError
from frontend.schema.servers import DirectServersTopology, TopoOptServersTopology
from frontend.schema.topoopt import WORKLOAD
from frontend.topologies.direct_connect import check_ranks
from frontend.topologies.graph import GraphLayout
from frontend.topologies.layout import RANK_LINKS, SUPER_NODES, WIRING, Layout, WorkloadDemand
from frontend.topologies.registry import Buffer
from frontend.topologies.servers import ServersFamily, refusing, server
from topology_gen import Network, TopologyError, specs
from topology_gen.errors import ParameterError
from topology_gen.graphs.wiring import Wiring
from topology_gen.networks.direct_servers import direct_servers
from topology_gen.networks.graph import NetworkGraph
from topology_gen.topoopt import Demand, data_parallel, from_json, split_degree, topology_finder
from topology_gen.topoopt.server_demand import between_servers


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

    def __init__(self, ranks: int, gpus: int, find: Callable[[], GraphLayout]) -> None:
        self.ranks = ranks
        self._gpus = gpus
        self._find = find
        self.features = frozenset({RANK_LINKS, WIRING, *([SUPER_NODES] if gpus > 1 else [])})

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
        return _Found(
            ranks, one.gpus, lambda: self.layout_of(self._linked(topology, wanted), topology)
        )

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
