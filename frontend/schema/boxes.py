"""`topology: {family: boxes}`: boxes of ranks with fast links, and rails between the boxes."""

from typing import Literal

from frontend.schema.base import Model, Ranks
from frontend.schema.direct_connect import Failures
from frontend.schema.quantities import Buffer, Delay, Rate


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
