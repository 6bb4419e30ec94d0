"""Topology family `ocs`: circuits of an optical circuit switch, set for a demand.

The switch sets its circuits once, or again at regular intervals during the run.
"""

from __future__ import annotations

import numpy as np

from frontend.schema.quantities import Buffer
from frontend.schema.topoopt import OcsTopology, Reconfiguration
from frontend.topologies.demand import DemandFamily
from frontend.topologies.direct_connect import DirectLayout, link_keywords
from frontend.topologies.layout import Layout, LinkChanges
from topology_gen import Network, circuits
from topology_gen.errors import DemandError
from topology_gen.graphs.digraph import Digraph
from topology_gen.topoopt import Demand, ocs_reconfig, traffic_matrix

MOST_CIRCUIT_RANKS = 4096
"""Largest number of ranks with circuits that change; the run stores distances between all pairs."""


class _Changing(DirectLayout):
    """The layout of circuits that change during the run."""

    def __init__(self, topology: OcsTopology, setting: Reconfiguration, demand: Demand) -> None:
        super().__init__(topology, demand.nodes, lambda: _circuits(topology, demand))
        self._circuits = topology
        self._setting = setting

    def network(self, ecn_threshold_bytes: int) -> Network:
        """Return the nodes, links and paths."""
        forwarding = self._setting.forwarding
        links = link_keywords(self.topology, ecn_threshold_bytes)
        links |= {"buffer_bytes": self._circuit_buffer}
        return circuits(self.graph, forwarding=forwarding, **links)

    @property
    def _circuit_buffer(self) -> int:
        """The buffer of a circuit [bytes]; a link adds up those of at most `d` circuits."""
        return min(self._circuits.buffer, Buffer.unlimited // self._circuits.d)

    @property
    def changes(self) -> LinkChanges:
        """Settings for the circuits that change during the run."""
        topology, setting = self._circuits, self._setting
        return LinkChanges(
            interval_ps=setting.interval,
            latency_ps=setting.latency,
            degree=topology.d,
            discount=topology.discount.upper(),
            forwarding=setting.forwarding,
            circuit_rate_bps=topology.bandwidth,
            circuit_latency_ps=topology.latency,
            circuit_buffer_bytes=self._circuit_buffer,
            control_network=setting.acknowledgements == "control",
        )


class _Ocs(DemandFamily[OcsTopology]):
    model = OcsTopology

    def for_demand(self, topology: OcsTopology, demand: Demand) -> Layout:
        setting = topology.reconfiguration
        if setting is None:
            return DirectLayout(topology, demand.nodes, lambda: _circuits(topology, demand))
        if demand.nodes > MOST_CIRCUIT_RANKS:
            raise DemandError(
                f"{demand.nodes} ranks whose circuits change: expected at most {MOST_CIRCUIT_RANKS}"
            )
        return _Changing(topology, setting, demand)

    def changes_links(self, topology: OcsTopology) -> bool:
        return topology.reconfiguration is not None


def _circuits(topology: OcsTopology, demand: Demand) -> Digraph:
    setting = topology.reconfiguration
    known = setting is None or setting.initial == "demand"
    return ocs_reconfig(
        traffic_matrix(demand) if known else np.zeros((demand.nodes, demand.nodes)),
        topology.d,
        discount=topology.discount,
        forwarding=setting is None or setting.forwarding,
    )


FAMILY = _Ocs()
