"""Base classes of the direct-connect families, where links join ranks without switches."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from typing import Any, TypeVar

from frontend.errors import RefusedError
from frontend.schema.base import Problems
from frontend.schema.direct_connect import (
    DirectConnectTopology,
    DirectTopology,
    LinkedTopology,
    reason,
    wiring,
)
from frontend.topologies.registry import (
    GRAPH,
    RANK_LINKS,
    WIRING,
    Buffer,
    Layout,
    TopologyFamily,
    WorkloadDemand,
)
from topology_gen import Network, TopologyError, direct_connect, specs
from topology_gen.errors import ParameterError, SpecError
from topology_gen.graphs.digraph import Digraph
from topology_gen.graphs.wiring import Wiring, wired
from topology_gen.networks.direct_connect import wired_network, with_host_links

GREATEST_RANKS = 65536

AnyLinked = TypeVar("AnyLinked", bound=LinkedTopology)
AnyDirect = TypeVar("AnyDirect", bound=DirectTopology)


def link_keywords(topology: LinkedTopology, ecn_threshold_bytes: int) -> dict[str, Any]:
    """Return the link parameters as keywords for `topology_gen.direct_connect` and its variants."""
    return {
        "bandwidth_bps": topology.bandwidth,
        "latency_ps": topology.latency,
        "buffer_bytes": topology.buffer,
        "ecn_threshold_bytes": ecn_threshold_bytes,
        "forwarding_delay_ps": topology.forwarding_delay,
    }


class DirectLayout(Layout):
    """The layout of a network whose links are all equal and join ranks directly.

    Parameters
    ----------
    topology : LinkedTopology
        Link parameters.
    ranks : int
        Number of ranks.
    make : callable
        Function without arguments that returns the digraph. It is called once, on first use.
    """

    features = frozenset({RANK_LINKS, GRAPH})

    def __init__(self, topology: LinkedTopology, ranks: int, make: Callable[[], Digraph]) -> None:
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


class WiredLayout(Layout):
    """The layout of a network whose links may differ, and which may have switches.

    Parameters
    ----------
    ranks : int
        Number of ranks.
    make : callable
        Function without arguments that returns the wiring. It is called once, on first use.
    buffer_bytes : int
        Packet memory of each port; 0 means unlimited.
    forwarding_delay_ps : int
        The delay of a packet in each rank that forwards it.
    host_bps : int, optional
        Rate of a rank over all its links together (bit/s); None: no limit.
    """

    def __init__(
        self,
        ranks: int,
        make: Callable[[], Wiring],
        buffer_bytes: int,
        forwarding_delay_ps: int,
        host_bps: int | None = None,
    ) -> None:
        self.ranks = ranks
        self._make = make
        self._buffer_bytes = buffer_bytes
        self._forwarding_delay_ps = forwarding_delay_ps
        self._host_bps = host_bps

    @cached_property
    def wiring(self) -> Wiring:
        """The links and switches."""
        return self._make()

    @property
    def features(self) -> frozenset[str]:  # type: ignore[override]
        """`GRAPH` is missing if there are switches."""
        links = {RANK_LINKS, WIRING}
        return frozenset(links if self.wiring.switches else links | {GRAPH})

    @property
    def graph(self) -> Digraph | None:
        """The links between ranks, including self-loops; None if there are switches."""
        return None if self.wiring.switches else self.wiring.graph

    def network(self, ecn_threshold_bytes: int) -> Network:
        """Return the nodes, links and paths."""
        network = wired_network(
            self.wiring, self._buffer_bytes, ecn_threshold_bytes, self._forwarding_delay_ps
        )
        return network if self._host_bps is None else with_host_links(network, self._host_bps)


class LinkedFamily(TopologyFamily[AnyLinked]):
    """A family of topologies whose links join ranks directly."""

    @property
    def label(self) -> str:
        """The name of such a topology in error messages."""
        return "direct-connect"

    @abstractmethod
    def blame(self, topology: AnyLinked, problem: TopologyError) -> str:
        """Return the key path of the parameter that causes a problem."""

    def buffers(self, topology: AnyLinked) -> Sequence[Buffer]:
        """Return the buffer of a port; ports do not share buffers."""
        return [Buffer("topology.buffer", topology.buffer, 1)]


class WiredFamily(LinkedFamily[AnyDirect]):
    """A family whose parameters determine its links; `wiring` computes them."""

    @abstractmethod
    def wiring(self, topology: AnyDirect) -> Wiring:
        """Return the links before any failures; raise TopologyError if none exist."""

    def layout(self, topology: AnyDirect, demand: WorkloadDemand | None) -> Layout:
        """Return the layout; raise RefusedError if the links do not connect all ranks."""
        with refusing(lambda problem: self.blame(topology, problem)):
            wiring = self.wiring(topology)
            check_ranks(wiring.ranks)
            wiring.check_connected()
        for number, setting in enumerate(topology.links):
            with refusing(partial(_always, f"topology.links.{number}.link")):
                wiring = wiring.changed(setting.link, setting.bandwidth, setting.latency)
        if topology.without:
            with refusing(lambda _: "topology.without"):
                wiring = wiring.without(topology.without)
                check_ranks(wiring.ranks)
                wiring.check_connected()
        return WiredLayout(
            wiring.ranks,
            lambda: wiring,
            topology.buffer,
            topology.forwarding_delay,
            topology.host_bandwidth,
        )

    def problems(self, topology: AnyDirect, window_bytes: int) -> Problems:
        """Refuse a forwarding delay behind host links: the NIC forwards, not the rank."""
        if topology.host_bandwidth is not None and topology.forwarding_delay:
            yield "topology.forwarding_delay", "expected 0ns beside topology.host_bandwidth"


class DirectFamily(WiredFamily[AnyDirect]):
    """A family of equal links between ranks; `graph` computes them."""

    @abstractmethod
    def graph(self, topology: AnyDirect) -> Digraph:
        """Return the digraph; raise TopologyError if none exists."""

    def wiring(self, topology: AnyDirect) -> Wiring:
        """Return the links, which all have the topology's rate and latency."""
        return wired(self.graph(topology), topology.bandwidth, topology.latency)


class _DirectConnect(WiredFamily[DirectConnectTopology]):
    model = DirectConnectTopology

    def wiring(self, topology: DirectConnectTopology) -> Wiring:
        """Return the links; those without a rate and a latency have the topology's."""
        graph = topology.graph
        if not isinstance(graph, str):
            return wiring(graph, topology.bandwidth, topology.latency, topology.switches)
        try:
            found = specs.parse(graph)
        except TopologyError as error:
            text = reason(error, graph)
            key = error.parameter if isinstance(error, ParameterError) else ""
            raise SpecError(f"{key}: {text}" if key else text) from None
        return wired(found, topology.bandwidth, topology.latency, topology.switches)

    def blame(self, topology: DirectConnectTopology, problem: TopologyError) -> str:
        return "topology.switches" if "switches: expected" in str(problem) else "topology.graph"


@contextmanager
def refusing(blame: Callable[[TopologyError], str]) -> Iterator[None]:
    """Turn a TopologyError into a RefusedError with the key path that `blame` returns for it."""
    try:
        yield
    except TopologyError as error:
        raise RefusedError(blame(error), str(error)) from None


def _always(path: str, _: TopologyError) -> str:
    return path


def check_ranks(ranks: int) -> None:
    """Raise TopologyError if the number of ranks cannot be simulated."""
    if not 2 <= ranks <= GREATEST_RANKS:
        raise TopologyError(f"{ranks} nodes: expected 2 … {GREATEST_RANKS} ranks")


FAMILY = _DirectConnect()
