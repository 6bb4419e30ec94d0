"""Layouts: topologies of a scenario that are ready for a run.

An optimiser runs when its result is first used.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import NamedTuple

from topology_gen import Network
from topology_gen.graphs.digraph import Digraph
from topology_gen.graphs.wiring import Wiring
from topology_gen.networks.shards import Shard
from topology_gen.topoopt import Demand
from topology_gen.topoopt import TopoOptTopology as Found

SUPER_NODES = "super-nodes"
"""Feature: ranks are grouped into super-nodes, each with its own network."""

RANK_LINKS = "links between ranks"
"""Feature: links join ranks directly, and ranks forward packets."""

GRAPH = "a graph of all ranks"
"""Feature: the links between ranks connect all ranks, and `Layout.graph` gives these links."""


WIRING = "links and switches with known rates"
"""Feature: `Layout.wiring` gives all links with their rates, and the switches between them."""


class Part(NamedTuple):
    """The ranks of one job in a shared cluster."""

    members: tuple[int, ...]
    """Ranks of the job."""
    turn: int
    """Position among the jobs that use these ranks one after the other, from 0."""
    demand: int
    """Index of the job's demand in `WorkloadDemand.demands`."""


class WorkloadDemand(NamedTuple):
    """The transfers of a workload in one iteration.

    Without parts, there is one demand for all ranks. With parts, several jobs share the cluster,
    and each job has one of the demands.
    """

    demands: Sequence[Demand]
    parts: Sequence[Part] = ()


class LinkChanges(NamedTuple):
    """Settings for links that change during a run; see `Reconfiguration` in network_api.proto."""

    interval_ps: int
    latency_ps: int
    degree: int
    discount: str
    forwarding: bool
    circuit_rate_bps: int
    circuit_latency_ps: int
    circuit_buffer_bytes: int
    control_network: bool


class Layout(ABC):
    """A topology that is ready for a run.

    The defaults of the base class describe a network of switches without super-nodes.

    Attributes
    ----------
    ranks : int
        Number of ranks.
    features : frozenset of str
        Features that collective algorithms may need: a subset of `SUPER_NODES`, `RANK_LINKS`,
        `GRAPH` and `WIRING`.
    """

    ranks: int
    features: frozenset[str] = frozenset()

    @abstractmethod
    def network(self, ecn_threshold_bytes: int) -> Network:
        """Return the nodes, links and paths. An ECN threshold of 0 bytes turns marking off."""

    @property
    def super_node(self) -> int | None:
        """Ranks of a super-node, where the network has these."""
        return None

    @property
    def graph(self) -> Digraph | None:
        """The links between ranks, including self-loops; None for a network of switches."""
        return None

    @property
    def wiring(self) -> Wiring | None:
        """The links and switches with their rates; None for networks with rules of their own."""
        return None

    @property
    def found(self) -> Found | None:
        """The rings and matchings that TopoOpt found for all ranks; None for other topologies."""
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
        """The rings and matchings of each demand, if each job in a shared cluster has its links."""
        return ()

    @property
    def shards(self) -> Sequence[Shard]:
        """The links of each part, if each job in a shared cluster has its own links."""
        return ()

    @property
    def changes(self) -> LinkChanges | None:
        """Settings for links that change during the run; None if links are fixed."""
        return None


class SwitchedLayout(Layout):
    """The layout of a network of switches.

    Parameters
    ----------
    ranks : int
        Number of ranks.
    make : callable
        Function that takes the keyword `ecn_threshold_bytes` and returns the network.
    super_node : int, optional
        Number of ranks in a super-node.
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
