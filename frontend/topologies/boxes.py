"""Topology family `boxes`: boxes of ranks, joined by rails."""

from collections.abc import Sequence

from frontend.schema.base import Problems
from frontend.schema.boxes import BoxesTopology
from frontend.topologies.direct_connect import WiredLayout, refusing
from frontend.topologies.layout import Layout, WorkloadDemand
from frontend.topologies.registry import Buffer, TopologyFamily
from topology_gen.networks.boxes import boxes


class _Boxes(TopologyFamily[BoxesTopology]):
    model = BoxesTopology

    def layout(self, topology: BoxesTopology, demand: WorkloadDemand | None) -> Layout:
        inside, rail = topology.scale_up, topology.rail
        with refusing(lambda _: "topology.ranks"):
            wiring = boxes(
                max(topology.ranks // topology.ranks_per_box, 1),
                topology.ranks_per_box,
                inside=topology.inside,
                rails=topology.rails,
                scale_up_bps=inside.bandwidth,
                scale_up_ps=inside.latency,
                rail_bps=rail.bandwidth,
                rail_ps=rail.latency,
            )
        with refusing(lambda _: "topology.without"):
            wiring = wiring.without(topology.without)
            wiring.check_connected()
        return WiredLayout(wiring.ranks, lambda: wiring, topology.buffer, topology.forwarding_delay)

    def buffers(self, topology: BoxesTopology) -> Sequence[Buffer]:
        return [Buffer("topology.buffer", topology.buffer, 1)]

    def problems(self, topology: BoxesTopology, window_bytes: int) -> Problems:
        if topology.ranks % topology.ranks_per_box:
            yield (
                "topology.ranks",
                f"expected a multiple of topology.ranks_per_box ({topology.ranks_per_box})",
            )
        links = 1 if topology.inside == "switch" else topology.ranks_per_box - 1
        if topology.scale_up.bandwidth < links:
            yield "topology.scale_up.bandwidth", f"expected at least 1 bit/s for {links} links"


FAMILY = _Boxes()
