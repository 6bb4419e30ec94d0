"""Topology family `boxes`: boxes of ranks, joined by rails."""

from collections.abc import Sequence
from typing import Literal

from frontend.schema.base import Model, Problems, Ranks
from frontend.schema.direct_connect import Failures
from frontend.schema.quantities import Buffer, Delay, Rate
from frontend.topologies.direct_connect import WiredLayout, refusing
from frontend.topologies.registry import Buffer as PortBuffer
from frontend.topologies.registry import Layout, TopologyFamily, WorkloadDemand
from topology_gen.networks.boxes import boxes


class BoxLinks(Model):
    """The links inside a box."""

    bandwidth: Rate
    """Total rate of one rank in each direction, divided evenly among its links in the box."""
    latency: Delay
    """Propagation latency of each link, one way."""


class RailLinks(Model):
    """The rails: links between ranks at the same place in different boxes."""

    bandwidth: Rate
    """Rate of each rail in each direction."""
    latency: Delay
    """Propagation latency of each rail, one way."""


class BoxesTopology(Model):
    """Boxes of ranks with fast links inside, and rails between ranks at the same place."""

    family: Literal["boxes"]
    """Boxes with a mesh or a switch inside, and rails between equal places of the boxes."""
    ranks: Ranks
    """Number of ranks, a multiple of `ranks_per_box`; consecutive ranks form a box."""
    ranks_per_box: Ranks = 8
    """Number of ranks of a box."""
    inside: Literal["mesh", "switch"] = "mesh"
    """mesh: a link pair between every two ranks of a box. switch: one switch in each box."""
    rails: Literal["ring", "mesh"] = "ring"
    """ring: each box has rails to the next and the previous. mesh: to every other box."""
    scale_up: BoxLinks
    """Links inside a box."""
    rail: RailLinks
    """Links between boxes."""
    buffer: Buffer
    """Packet memory of each port of a rank or a switch; or `unlimited`."""
    forwarding_delay: Delay = Delay.parse("0ns")
    """Per-hop forwarding delay at a rank."""
    without: Failures = ()
    """What has failed: `3-7` (the links between nodes 3 and 7 in both directions), `3>7` (those
    from 3 to 7) or `3` (node 3 with its links). Switches are the last nodes."""


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

    def buffers(self, topology: BoxesTopology) -> Sequence[PortBuffer]:
        return [PortBuffer("topology.buffer", topology.buffer, 1)]

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
