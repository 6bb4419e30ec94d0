"""Topology family `edges`: a digraph given as a list of links."""

from frontend.schema.edges import EdgesTopology, wiring
from frontend.topologies.direct_connect import WiredFamily
from topology_gen import TopologyError
from topology_gen.graphs.wiring import Wiring


class _Edges(WiredFamily[EdgesTopology]):
    model = EdgesTopology

    def wiring(self, topology: EdgesTopology) -> Wiring:
        return wiring(topology.edges, topology.bandwidth, topology.latency, topology.switches)

    def blame(self, topology: EdgesTopology, problem: TopologyError) -> str:
        return "topology.switches" if "switches: expected" in str(problem) else "topology.edges"


FAMILY = _Edges()
