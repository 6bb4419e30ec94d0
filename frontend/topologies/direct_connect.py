"""Base classes of the direct-connect families, where links join ranks without switches."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from frontend.errors import RefusedError
from frontend.schema.direct_connect import DirectTopology
from frontend.topologies.layout import GRAPH, RANK_LINKS, Layout, WorkloadDemand
from frontend.topologies.registry import Buffer, TopologyFamily
from topology_gen import Network, TopologyError, direct_connect
from topology_gen.graphs.digraph import Digraph

GREATEST_RANKS = 65536

AnyDirect = TypeVar("AnyDirect", bound=DirectTopology)


def link_keywords(topology: DirectTopology, ecn_threshold_bytes: int) -> dict[str, Any]:
    """Return the link parameters as keywords for `topology_gen.direct_connect` and its variants."""
    return {
        "bandwidth_bps": topology.bandwidth,
        "latency_ps": topology.latency,
        "buffer_bytes": topology.buffer,
        "ecn_threshold_bytes": ecn_threshold_bytes,
        "forwarding_delay_ps": topology.forwarding_delay,
    }


class DirectLayout(Layout):
    """The layout of a network whose links join ranks directly.

    Parameters
    ----------
    topology : DirectTopology
        Link parameters.
    ranks : int
        Number of ranks.
    make : callable
        Function without arguments that returns the digraph. It is called once, on first use.
    """

    features = frozenset({RANK_LINKS, GRAPH})

    def __init__(self, topology: DirectTopology, ranks: int, make: Callable[[], Digraph]) -> None:
        self.topology = topology
        self.ranks = ranks
        self._make = make

    @cached_property
    def graph(self) -> Digraph:
        """The links between ranks, including self-loops."""
        return self._make()

    def network(self, ecn_threshold_bytes: int) -> Network:
        """Return the nodes, links and paths."""
        return direct_connect(self.graph, **link_keywords(self.topology, ecn_threshold_bytes))


class LinkedFamily(TopologyFamily[AnyDirect]):
    """A family of topologies whose links join ranks directly."""

    @property
    def label(self) -> str:
        """The name of such a topology in error messages."""
        return "direct-connect"

    @abstractmethod
    def blame(self, topology: AnyDirect, problem: str) -> str:
        """Return the key path of the parameter that causes a problem."""

    def buffers(self, topology: AnyDirect) -> Sequence[Buffer]:
        """Return the buffer of a port; ports do not share buffers."""
        return [Buffer("topology.buffer", topology.buffer, 1)]


class DirectFamily(LinkedFamily[AnyDirect]):
    """A family whose parameters determine its links; `graph` computes them."""

    @abstractmethod
    def graph(self, topology: AnyDirect) -> Digraph:
        """Return the digraph; raise TopologyError if none exists."""

    def layout(self, topology: AnyDirect, demand: WorkloadDemand | None) -> Layout:
        """Return the layout; raise RefusedError if the digraph does not connect all ranks."""
        try:
            graph = self.graph(topology)
            check_ranks(graph.nodes)
            _check_connected(graph)
        except TopologyError as error:
            raise RefusedError(self.blame(topology, str(error)), str(error)) from None
        return DirectLayout(topology, graph.nodes, lambda: graph)


def check_ranks(ranks: int) -> None:
    """Raise TopologyError if the number of ranks cannot be simulated."""
    if not 2 <= ranks <= GREATEST_RANKS:
        raise TopologyError(f"{ranks} nodes: expected 2 … {GREATEST_RANKS} ranks")


def _check_connected(graph: Digraph) -> None:
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    ends = (graph.source, graph.target)
    links = csr_array((np.ones(graph.links), ends), shape=(graph.nodes, graph.nodes))
    pieces, _ = connected_components(links, connection="strong")
    if pieces > 1:
        raise TopologyError(
            f"expected a path from every rank to every other, not {pieces} separate parts"
        )
