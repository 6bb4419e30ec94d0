"""Topology family `flat`: all ranks on one switch."""

from collections.abc import Sequence
from functools import partial

from frontend.schema.topology import FlatTopology
from frontend.topologies.layout import SwitchedLayout, WorkloadDemand
from frontend.topologies.registry import Buffer, TopologyFamily
from topology_gen import flat


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
        return SwitchedLayout(topology.ranks, make)

    def buffers(self, topology: FlatTopology) -> Sequence[Buffer]:
        return [Buffer("topology.buffer", topology.buffer, topology.ranks)]


FAMILY = _Flat()
