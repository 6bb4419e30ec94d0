"""The registry of topology families, the base class of its entries, and layouts.

A layout is the topology of a scenario, ready for a run. An optimiser runs when its result is first
used.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Generic, NamedTuple, TypeVar, get_args

from frontend.schema.base import Model, Problems, description
from frontend.schema.quantities import Time
from topology_gen import Network
from topology_gen.graphs.digraph import Digraph
from topology_gen.graphs.wiring import Wiring
from topology_gen.networks.shards import Shard
from topology_gen.registry import Registry
from topology_gen.topoopt import Demand
from topology_gen.topoopt import TopoOptTopology as Found

SUPER_NODES = "super-nodes"
"""Feature: ranks are grouped into super-nodes, each with its own network."""

RANK_LINKS = "links between ranks"
"""Feature: links join ranks directly, and ranks forward packets."""

GRAPH = "a graph of all ranks"
"""Feature: the links between ranks connect all ranks, and `Layout.graph` gives these links."""


IN_NETWORK = "switches that reduce"
"""Feature: some switches add up and multicast what ranks send; see `Layout.reduces`."""

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


class Provisioning(Model):
    """Time to link the servers of a job with optical switches (TopoOpt, Appendix C)."""

    latency: Time = Time.parse("120s")
    """Time to set the patch panel or optical switch before a job starts."""
    look_ahead: bool = True
    """Set the next job's links while the present job runs: every interface has a second port for
    them, and a 1×2 switch changes over when the present job is done."""
    switch: Time = Time.parse("5ms")
    """Time for which the 1×2 switches change over."""


class Layout(ABC):
    """A topology that is ready for a run.

    The defaults of the base class describe a network of switches without super-nodes.

    Attributes
    ----------
    ranks : int
        Number of ranks.
    features : frozenset of str
        Features that collective algorithms may need: a subset of `SUPER_NODES`, `RANK_LINKS`,
        `GRAPH`, `WIRING` and `IN_NETWORK`.
    nccl_plugin : str
        How NCCL uses the network (`frontend.collectives.nccl_plugins`).
    cpu : str
        Vendor of the processors of servers.
    """

    ranks: int
    features: frozenset[str] = frozenset()
    nccl_plugin: str = "verbs"
    cpu: str = "intel"

    @abstractmethod
    def network(self, ecn_threshold_bytes: int) -> Network:
        """Return the nodes, links and paths.

        Parameters
        ----------
        ecn_threshold_bytes : int
            The threshold of the queues that have none of their own: a mark that stands for what the
            transport says later, so pass it on as it is. 0 turns marking off.
        """

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

    def reduces(self, switch: str) -> bool:
        """Return whether a switch with a name adds up and multicasts what ranks send."""
        return False

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
        """The rings and matchings of each job, if each in a shared cluster has links of its own."""
        return ()

    @property
    def shards(self) -> Sequence[Shard]:
        """The links of each part, if each job in a shared cluster has its own links."""
        return ()

    @property
    def provisioning(self) -> Provisioning | None:
        """The time to link the servers of a job before it starts; None: it takes none."""
        return None

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
    reducing : tuple of str
        Beginnings of the names of the switches that reduce.
    """

    def __init__(
        self,
        ranks: int,
        make: Callable[..., Network],
        super_node: int | None = None,
        reducing: tuple[str, ...] = (),
    ) -> None:
        self.ranks = ranks
        self._reducing = reducing
        self.features = frozenset() if super_node is None else frozenset({SUPER_NODES})
        self.features |= {IN_NETWORK} if reducing else set()
        self._make = make
        self._super_node = super_node

    def network(self, ecn_threshold_bytes: int) -> Network:
        """Return the nodes, links and paths."""
        return self._make(ecn_threshold_bytes=ecn_threshold_bytes)

    def reduces(self, switch: str) -> bool:
        """Return whether a switch with a name reduces."""
        return switch.startswith(self._reducing)

    @property
    def super_node(self) -> int | None:
        """Ranks of a super-node, where the network has these."""
        return self._super_node


AnyTopology = TypeVar("AnyTopology", bound=Model)


class Buffer(NamedTuple):
    """A packet buffer: its key path, its size in bytes (0: unlimited), and the ports sharing it."""

    path: str
    bytes: int
    ports: int


class TopologyFamily(ABC, Generic[AnyTopology]):
    """A topology family: its model, its checks, and a method that builds the layout.

    Attributes
    ----------
    model : type
        Model of the scenario's `topology` part. Its first key is ``family: Literal["name"]``, whose
        docstring describes the family in one line.
    optimised : bool
        Whether `Layout.graph` runs an optimiser. Optimisers do not run while a scenario is loaded.
    links_jobs : bool
        Whether each job in a shared cluster gets links of its own.
    joins_gpus : bool
        Whether the topology has the links between the GPUs of a server, so that a rank is a GPU.
    lists_shared_links : bool
        Whether results list the links between switches that several flows share.
    """

    model: type[AnyTopology]
    optimised: bool = False
    links_jobs: bool = False
    joins_gpus: bool = False
    lists_shared_links: bool = False

    @property
    def name(self) -> str:
        """The value of `family`."""
        name: str = get_args(self.model.model_fields["family"].annotation)[0]
        return name

    @property
    def description(self) -> str:
        """The family in one line."""
        return description(self.model, "family")

    @property
    def label(self) -> str:
        """The name of such a topology in error messages."""
        return self.name

    @abstractmethod
    def layout(self, topology: AnyTopology, demand: WorkloadDemand | None) -> Layout:
        """Return the layout of a topology.

        Parameters
        ----------
        topology : Model
            The topology, an instance of `model`.
        demand : WorkloadDemand, optional
            The workload's transfers, given if `asked_ranks` returns a number.

        Raises
        ------
        RefusedError
            If a value cannot work; the error has its key path.
        """

    @abstractmethod
    def buffers(self, topology: AnyTopology) -> Sequence[Buffer]:
        """Return the packet buffers. Each must hold at least one packet per port."""

    def problems(self, topology: AnyTopology, window_bytes: int) -> Problems:
        """Yield problems that the model itself cannot detect.

        Parameters
        ----------
        topology : Model
            The topology, an instance of `model`.
        window_bytes : int
            The most bytes that a connection has on the wire, headers included.
        """
        yield from ()

    def asked_ranks(self, topology: AnyTopology) -> int | None:
        """Return the number of ranks if the workload's transfers determine the links."""
        return None

    def loses_packets(self, topology: AnyTopology) -> bool:
        """Return whether some link loses packets."""
        return False

    def changes_links(self, topology: AnyTopology) -> bool:
        """Return whether links change during the run."""
        return False


TOPOLOGIES = Registry[TopologyFamily[Any]]("topology family", "cosim.topologies", TopologyFamily)
"""Every topology family by name."""
