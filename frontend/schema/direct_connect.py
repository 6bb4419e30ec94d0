"""What all direct-connect topologies have in common: ranks linked to ranks."""

from frontend.schema.base import Model
from frontend.schema.quantities import Buffer, Rate, Time


class DirectTopology(Model):
    """Ranks linked to ranks, without switches: packets for others are passed on by the ranks."""

    family: str
    bandwidth: Rate
    """Rate of each link, each way: a rank with d links has d times this in all."""
    latency: Time
    """Propagation latency of each link, one way."""
    buffer: Buffer
    """Packet memory of each port of a rank, for what it sends and what it passes on; or
    `unlimited`."""
    forwarding_delay: Time = Time.parse("0ns")
    """What it takes a rank to pass on a packet that is for another one."""
