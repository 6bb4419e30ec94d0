"""What all direct-connect topologies have in common: ranks linked to ranks."""

from frontend.schema.base import Model
from frontend.schema.quantities import Buffer, Rate, Time


class DirectTopology(Model):
    """Ranks linked to ranks, without switches. Ranks forward packets for other ranks."""

    family: str
    bandwidth: Rate
    """Rate of each link in each direction; a rank with d links has d times this in total."""
    latency: Time
    """Propagation latency of each link, one way."""
    buffer: Buffer
    """Packet memory of each port of a rank, for packets that it sends or forwards; or
    `unlimited`."""
    forwarding_delay: Time = Time.parse("0ns")
    """Per-hop forwarding delay at a rank."""
