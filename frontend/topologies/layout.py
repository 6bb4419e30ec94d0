"""Layouts: what a topology of a scenario becomes. Optimisers run when their result is needed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import NamedTuple

from topology_gen import Network
from topology_gen.graphs.digraph import Digraph
from topology_gen.networks.shards import Shard
from topology_gen.topoopt import Demand
from topology_gen.topoopt import TopoOptTopology as Found

SUPER_NODES = "super-nodes"
"""Feature: ranks are grouped into super-nodes with a network of their own."""

RANK_LINKS = "links between ranks"
"""Feature: ranks are linked to ranks, and pass packets on."""

GRAPH = "a graph of all ranks"
"""Feature: the links between ranks connect all of them, and `Layout.graph` has these links."""


class Part(NamedTuple):
    """The ranks of one job in their turn, from 0, and the index of what it transfers."""

    members: tuple[int, ...]
    turn: int
    demand: int


class WorkloadDemand(NamedTuple):
    """What a workload transfers in an iteration.

    Without parts there is one demand, of all ranks. With parts, several jobs share the ranks, and
    each has one of the demands.
    """

    demands: Sequence[Demand]
    parts: Sequence[Part] = ()


class LinkChanges(NamedTuple):
    """How links change during a run: as `Reconfiguration` of network_api.proto."""

    interval_ps: int
    latency_ps: int
    degree: int
    discount: str
    forwarding: bool
    circuit_rate_bps: int
    circuit_latency_ps: int
    circuit_buffer_bytes: int


class Layout(ABC):
    """A topology that is ready for a run.

    The base class describes a network behind switches. What is not overridden is not there.

    Attributes
    ----------
    ranks : int
        Number of ranks.
    features : frozenset of str
        What collective algorithms may need: some of `SUPER_NODES`, `RANK_LINKS` and `GRAPH`.
    """

    ranks: int
    features: frozenset[str] = frozenset()

    @abstractmethod
    def network(self, ecn_threshold_bytes: int) -> Network:
        """Return the nodes, links and paths; a threshold of 0 marks no packets."""

    @property
    def super_node(self) -> int | None:
        """Ranks of a super-node, where the network has these."""
        return None

    @property
    def graph(self) -> Digraph | None:
        """The links between ranks, self-loops included, where ranks are linked to ranks."""
        return None

    @property
    def found(self) -> Found | None:
        """The rings and matchings that TopoOpt found for all ranks."""
        return None

    @property
    def paths(self) -> int:
        """Routes over which the messages between two ranks are spread: 0 and the following."""
        return 1

    @property
    def relay_route(self) -> int:
        """The first route of collectives other than all-to-all."""
        return 0

    @property
    def job_topologies(self) -> Sequence[Found]:
        """The rings and matchings for each demand of a shared cluster that is linked by job."""
        return ()

    @property
    def shards(self) -> Sequence[Shard]:
        """The links of each part of a shared cluster that is linked by job."""
        return ()

    @property
    def changes(self) -> LinkChanges | None:
        """How links change during the run, if they do."""
        return None


class SwitchedLayout(Layout):
    """A network of switches.

    Parameters
    ----------
    ranks : int
        Number of ranks.
    make : callable
        Returns the network; takes the keyword `ecn_threshold_bytes`.
    super_node : int, optional
        Ranks of a super-node.
    """

    def __init__(
        self, ranks: int, make: Callable[..., Network], super_node: int | None = None
    ) -> None:
        self.ranks = ranks
        self.features = frozenset() if super_node is None else frozenset({SUPER_NODES})
        self._make = make
        self._super_node = super_node

    def network(self, ecn_threshold_bytes: int) -> Network:
        """Return the nodes, links and paths."""
        return self._make(ecn_threshold_bytes=ecn_threshold_bytes)

    @property
    def super_node(self) -> int | None:
        """Ranks of a super-node, where the network has these."""
        return self._super_node
