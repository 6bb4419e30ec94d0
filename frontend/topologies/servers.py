"""Topology families of servers: rails, rails alone, and leaf–spine networks."""

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from typing import TypeVar

from frontend.errors import RefusedError
from frontend.schema.servers import (
    LeafSpineTopology,
    RailOnlyTopology,
    RailOptimizedTopology,
    ServerModel,
    ServersTopology,
)
from frontend.topologies.direct_connect import check_ranks
from frontend.topologies.graph import GraphLayout
from frontend.topologies.layout import Layout, WorkloadDemand
from frontend.topologies.registry import Buffer, TopologyFamily
from topology_gen import Network, TopologyError, specs
from topology_gen.errors import ParameterError
from topology_gen.networks.clos import Tier, leaf_spine, rail_only, rail_optimized
from topology_gen.networks.graph import NetworkGraph
from topology_gen.networks.servers import SERVERS, Server, host

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

        return GraphLayout(graph, make, forward)

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
    given = {
        "gpus": model.gpus,
        "scale_up_switches": model.scale_up_switches,
        "scale_up_bps": model.scale_up_bandwidth,
        "scale_up_latency_ps": model.scale_up_latency,
        "nics": model.nics,
        "nic_bps": model.nic_bandwidth,
        "pcie_bps": model.pcie_bandwidth,
    }
    return replace(
        SERVERS[model.model],
        **{key: int(value) for key, value in given.items() if value is not None},
    )


RAIL_OPTIMIZED = _RailOptimized()
RAIL_ONLY = _RailOnly()
LEAF_SPINE = _LeafSpine()
