"""Topologies with one tier of switches: all ranks on one switch, or super-nodes."""

from typing import Literal

from frontend.schema.base import Model, Ranks, Switches
from frontend.schema.quantities import Buffer, Delay, Rate


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


class ScaleOut(Model):
    """The network between super-nodes: every rank has a link to one switch."""

    bandwidth: Rate
    """Rate of each rank's link to the switch, in each direction."""
    latency: Delay
    """Propagation latency of each link, one way."""
    buffer: Buffer
    """Packet memory of the switch, divided evenly among its ports; or `unlimited`."""


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
