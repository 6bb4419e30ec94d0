"""Topology family `edges`: a digraph given as a list of links."""

from frontend.schema.edges import EdgesTopology
from frontend.topologies.direct_connect import DirectFamily
from topology_gen.graphs.digraph import Digraph, from_edges


class _Edges(DirectFamily[EdgesTopology]):
    model = EdgesTopology

    def graph(self, topology: EdgesTopology) -> Digraph:
        return from_edges(topology.edges)

    def blame(self, topology: EdgesTopology, problem: str) -> str:
        return "topology.edges"


FAMILY = _Edges()
