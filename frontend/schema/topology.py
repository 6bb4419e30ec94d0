"""Topologies with one tier of switches: all ranks on one switch, or super-nodes."""

from typing import Literal

from frontend.schema.base import Model, Ranks, Switches
from frontend.schema.quantities import Buffer, Rate, Time


class FlatTopology(Model):
    """All ranks on one switch."""

    family: Literal["flat"]
    """One switch (the paper's flat system)."""
    ranks: Ranks
    """Number of ranks."""
    bandwidth: Rate
    """Rate of each rank's link to the switch, each way."""
    latency: Time
    """Propagation latency of each link, one way."""
    buffer: Buffer
    """Packet memory of the switch, divided evenly among its ports; or `unlimited`."""


class ScaleUp(Model):
    """The network inside a super-node: every rank has a link to each of its NV switches."""

    ranks: Ranks = 8
    """Ranks of a super-node."""
    switches: Switches = 7
    """NV switches of a super-node; ranks s and d talk over switch (s + d) mod switches."""
    bandwidth: Rate
    """Total rate of one rank, each way, divided evenly over its links to the switches."""
    latency: Time
    """Propagation latency of each link, one way."""
    buffer: Buffer
    """Packet memory of each NV switch, divided evenly among its ports; or `unlimited`."""


class ScaleOut(Model):
    """The network between super-nodes: every rank has a link to one switch."""

    bandwidth: Rate
    """Rate of each rank's link to the switch, each way."""
    latency: Time
    """Propagation latency of each link, one way."""
    buffer: Buffer
    """Packet memory of the switch, divided evenly among its ports; or `unlimited`."""


class HierarchicalTopology(Model):
    """Super-nodes of ranks behind NV switches; every rank also on one scale-out switch."""

    family: Literal["hierarchical"]
    """Super-nodes with NV switches inside and one scale-out switch (the paper's hierarchical)."""
    ranks: Ranks
    """Number of ranks, a multiple of `scale_up.ranks`; super-node k holds the k-th run of them."""
    scale_up: ScaleUp
    """Links inside a super-node."""
    scale_out: ScaleOut
    """Links between super-nodes."""
