"""Topology families with one tier of switches: `flat`, with all ranks on one switch, and
`hierarchical`, super-nodes with NV switches, joined by one more switch.
"""

from collections.abc import Sequence
from functools import partial
from typing import Literal

from frontend.schema.base import Model, Problems, Ranks, Switches
from frontend.schema.quantities import Buffer, Delay, Rate
from frontend.topologies.registry import Buffer as PortBuffer
from frontend.topologies.registry import SwitchedLayout, TopologyFamily, WorkloadDemand
from topology_gen import flat, hierarchical


class FlatTopology(Model):
    """All ranks are on one switch."""

    family: Literal["flat"]
    """One switch that connects all ranks."""
    ranks: Ranks
    """Number of ranks."""
    bandwidth: Rate
    """Rate of each rank's link to the switch, in each direction."""
    latency: Delay
    """Propagation latency of each link, one way."""
    buffer: Buffer
    """Packet memory of the switch, divided evenly among its ports; or `unlimited`."""
    in_network: bool = False
    """Whether the switch adds up and multicasts what ranks send: algorithms `nvls`, `sharp`."""


class ScaleUp(Model):
    """The network inside a super-node: every rank has a link to each NV switch of the
    super-node."""

    ranks: Ranks = 8
    """Number of ranks of a super-node."""
    switches: Switches = 7
    """Number of NV switches of a super-node. Ranks s and d use switch (s + d) mod switches."""
    bandwidth: Rate
    """Total rate of one rank in each direction, divided evenly among its links to the switches."""
    latency: Delay
    """Propagation latency of each link, one way."""
    buffer: Buffer
    """Packet memory of each NV switch, divided evenly among its ports; or `unlimited`."""
    in_network: bool = False
    """Whether the NV switches add up and multicast what ranks send: algorithm `nvls`."""


class ScaleOut(Model):
    """The network between super-nodes: every rank has a link to one switch."""

    bandwidth: Rate
    """Rate of each rank's link to the switch, in each direction."""
    latency: Delay
    """Propagation latency of each link, one way."""
    buffer: Buffer
    """Packet memory of the switch, divided evenly among its ports; or `unlimited`."""
    in_network: bool = False
    """Whether the switch adds up and multicasts what ranks send: algorithm `sharp`."""


class HierarchicalTopology(Model):
    """Super-nodes: groups of ranks behind NV switches. Every rank is also on one scale-out
    switch."""

    family: Literal["hierarchical"]
    """Super-nodes with NV switches (scale-up), and one switch between them (scale-out)."""
    ranks: Ranks
    """Number of ranks, a multiple of `scale_up.ranks`; consecutive ranks form a super-node."""
    scale_up: ScaleUp
    """Links inside a super-node."""
    scale_out: ScaleOut
    """Links between super-nodes."""


class _Flat(TopologyFamily[FlatTopology]):
    model = FlatTopology

    def layout(self, topology: FlatTopology, demand: WorkloadDemand | None) -> SwitchedLayout:
        make = partial(
            flat,
            topology.ranks,
            bandwidth_bps=topology.bandwidth,
            latency_ps=topology.latency,
            buffer_bytes=topology.buffer,
        )
        reducing = ("switch",) if topology.in_network else ()
        return SwitchedLayout(topology.ranks, make, reducing=reducing)

    def buffers(self, topology: FlatTopology) -> Sequence[PortBuffer]:
        return [PortBuffer("topology.buffer", topology.buffer, topology.ranks)]


FLAT = _Flat()


class _Hierarchical(TopologyFamily[HierarchicalTopology]):
    model = HierarchicalTopology
    joins_gpus = True

    def layout(
        self, topology: HierarchicalTopology, demand: WorkloadDemand | None
    ) -> SwitchedLayout:
        up, out = topology.scale_up, topology.scale_out
        make = partial(
            hierarchical,
            topology.ranks,
            up.ranks,
            up.switches,
            scale_up_bandwidth_bps=up.bandwidth,
            scale_up_latency_ps=up.latency,
            scale_out_bandwidth_bps=out.bandwidth,
            scale_out_latency_ps=out.latency,
            scale_up_buffer_bytes=up.buffer,
            scale_out_buffer_bytes=out.buffer,
        )
        reducing = (("nv",) if up.in_network else ()) + (("switch",) if out.in_network else ())
        return SwitchedLayout(topology.ranks, make, up.ranks, reducing)

    def buffers(self, topology: HierarchicalTopology) -> Sequence[PortBuffer]:
        up, out = topology.scale_up, topology.scale_out
        return [
            PortBuffer("topology.scale_up.buffer", up.buffer, up.ranks),
            PortBuffer("topology.scale_out.buffer", out.buffer, topology.ranks),
        ]

    def problems(self, topology: HierarchicalTopology, window_bytes: int) -> Problems:
        up = topology.scale_up
        if topology.ranks % up.ranks:
            yield "topology.ranks", f"expected a multiple of topology.scale_up.ranks ({up.ranks})"
        if up.bandwidth < up.switches:
            yield "topology.scale_up.bandwidth", "expected at least 1 bit/s for each switch"
        yield from _scale_up_without_loss(topology, window_bytes)


def _scale_up_without_loss(topology: HierarchicalTopology, window_bytes: int) -> Problems:
    """Check that scale-up links never drop a packet (paper, Section III.C.2), for any workload.

    Messages use switch (src + dst) mod switches, so ceil(ranks / switches) senders share the port
    of an NV switch to a receiver. Each sender has at most one window in flight.
    """
    up = topology.scale_up
    senders = min(-(-up.ranks // up.switches), up.ranks - 1)
    in_flight = senders * window_bytes
    if up.buffer and up.buffer // up.ranks < in_flight:
        yield (
            "topology.scale_up.buffer",
            f"expected at least {in_flight * up.ranks} bytes or unlimited: scale-up links must not "
            f"drop, and {senders} windows of {window_bytes} bytes on the wire meet at each of "
            f"{up.ranks} ports",
        )


HIERARCHICAL = _Hierarchical()
