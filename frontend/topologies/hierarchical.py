"""Topology family `hierarchical`: super-nodes with NV switches, joined by one scale-out switch."""

from collections.abc import Sequence
from functools import partial

from frontend.schema.base import Problems
from frontend.schema.topology import HierarchicalTopology
from frontend.topologies.layout import SwitchedLayout, WorkloadDemand
from frontend.topologies.registry import Buffer, TopologyFamily
from topology_gen import hierarchical


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
        return SwitchedLayout(topology.ranks, make, up.ranks)

    def buffers(self, topology: HierarchicalTopology) -> Sequence[Buffer]:
        up, out = topology.scale_up, topology.scale_out
        return [
            Buffer("topology.scale_up.buffer", up.buffer, up.ranks),
            Buffer("topology.scale_out.buffer", out.buffer, topology.ranks),
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


FAMILY = _Hierarchical()
