"""What all direct-connect topologies have in common: ranks linked to ranks."""

from typing import Annotated

from pydantic import BeforeValidator, PlainSerializer

from frontend.schema.base import Model
from frontend.schema.quantities import Buffer, Delay, Rate


class LinkedTopology(Model):
    """Ranks linked to ranks, without switches. Ranks forward packets for other ranks."""

    family: str
    bandwidth: Rate
    """Rate of each link in each direction; a rank with d links has d times this in total."""
    latency: Delay
    """Propagation latency of each link, one way."""
    buffer: Buffer
    """Packet memory of each port of a rank, for packets that it sends or forwards; or
    `unlimited`."""
    forwarding_delay: Delay = Delay.parse("0ns")
    """Per-hop forwarding delay at a rank."""


class LinkSetting(Model):
    """The rate and latency of links that differ from the others."""

    link: str
    """`3-7` for the links between ranks 3 and 7 in both directions, `3>7` for those from 3 to 7."""
    bandwidth: Rate | None = None
    """Rate of each of these links; null: that of the topology."""
    latency: Delay | None = None
    """Propagation latency of each of these links; null: that of the topology."""


def _as_tuple(value: object) -> object:
    if isinstance(value, list):
        return tuple(str(item) if type(item) is int else item for item in value)
    return value


Failures = Annotated[
    tuple[str, ...],
    BeforeValidator(_as_tuple),
    PlainSerializer(list, return_type=list[str]),
]


class DirectTopology(LinkedTopology):
    """Ranks linked to ranks, without switches. Ranks forward packets for other ranks."""

    host_bandwidth: Rate | None = None
    """Rate at which a rank sends over all its links together, and receives, such as that of its
    PCIe slot; null: the links are the only limit."""

    links: Annotated[tuple[LinkSetting, ...], BeforeValidator(_as_tuple)] = ()
    """Links with another rate or latency than the rest."""
    without: Failures = ()
    """What has failed: `3-7` (the links between ranks 3 and 7 in both directions), `3>7` (those
    from 3 to 7) or `3` (rank 3 with its links; later ranks move up by one number)."""
