"""`transport`: ns-3's TCP, every attribute that matters in a training fabric."""

from typing import Any, Literal

from pydantic import Field

from frontend.schema.base import Count, Model
from frontend.schema.quantities import HeaderSize, PacketSize, PositiveSize, PositiveTime

HEADER_BYTES = 40  # IPv4 and TCP without options
TIMESTAMP_OPTION_BYTES = 12  # ten bytes, padded to whole words

CONGESTION_CONTROLS = {
    "new_reno": "NewReno",
    "linux_reno": "LinuxReno",
    "cubic": "Cubic",
    "dctcp": "Dctcp",
    "bic": "Bic",
    "high_speed": "HighSpeed",
    "htcp": "Htcp",
    "hybla": "Hybla",
    "illinois": "Illinois",
    "ledbat": "Ledbat",
    "lp": "Lp",
    "scalable": "Scalable",
    "vegas": "Vegas",
    "veno": "Veno",
    "westwood_plus": "WestwoodPlus",
    "yeah": "Yeah",
}
"""Name in a scenario: TypeId in ns-3 without `ns3::Tcp`."""

Variant = Literal[
    "new_reno",
    "linux_reno",
    "cubic",
    "dctcp",
    "bic",
    "high_speed",
    "htcp",
    "hybla",
    "illinois",
    "ledbat",
    "lp",
    "scalable",
    "vegas",
    "veno",
    "westwood_plus",
    "yeah",
]


class DelayedAck(Model):
    """When a receiver acknowledges."""

    segments: Count = 1
    """Segments after which an ACK is sent; 1 acknowledges each at once."""
    timeout: PositiveTime = PositiveTime.parse("200ms")
    """Longest wait for that many segments."""


class Ecn(Model):
    """Explicit congestion notification."""

    enabled: bool = False
    """Senders and receivers negotiate and echo ECN, switches mark."""
    threshold: PositiveSize | None = None
    """Length of a switch's egress queue from which packets are marked."""


def _default_mss(data: dict[str, Any]) -> Any:
    option = TIMESTAMP_OPTION_BYTES if data.get("timestamps") else 0
    return max(1, int(data.get("mtu", 9000)) - HEADER_BYTES - option)


def _default_initial_rto(data: dict[str, Any]) -> Any:
    return data.get("min_rto", "50ms")


class Transport(Model):
    """TCP of every connection; one connection an ordered pair of ranks that talk."""

    variant: Variant = "new_reno"
    """Congestion control."""
    timestamps: bool = False
    """TCP timestamp option; its millisecond clock is too coarse for these networks."""
    sack: bool = True
    """Selective acknowledgements."""
    window_scaling: bool = True
    """Window scale option; without it a window ends at 64 KiB."""
    mtu: PacketSize = PacketSize.parse(9000)
    """Largest IP packet, in bytes."""
    mss: PositiveSize = Field(default_factory=_default_mss)
    """Payload of a full segment; by default what the MTU leaves beside the headers."""
    link_header: HeaderSize = HeaderSize.parse("2B")
    """Bytes of a packet on the wire beside IP; 2 is ns-3's point-to-point header."""
    window: PositiveSize = PositiveSize.parse("0.5MB")
    """Send and receive buffer of a connection, and so its most bytes in flight."""
    initial_cwnd: Count = 10
    """Congestion window of a new connection, in segments."""
    min_rto: PositiveTime = PositiveTime.parse("50ms")
    """Smallest retransmission timeout."""
    initial_rto: PositiveTime = Field(default_factory=_default_initial_rto)
    """Retransmission timeout before the first RTT sample; by default `min_rto`."""
    clock_granularity: PositiveTime = PositiveTime.parse("1us")
    """Tick of the retransmission clock."""
    delayed_ack: DelayedAck = DelayedAck()
    """When a receiver acknowledges."""
    data_retries: Count = 15
    """Retransmission timeouts in a row after which a connection fails, which ends the run."""
    ecn: Ecn = Ecn()
    """Explicit congestion notification."""

    @property
    def packet_overhead(self) -> int:
        """Bytes of a packet on the wire beside its payload."""
        return HEADER_BYTES + TIMESTAMP_OPTION_BYTES * self.timestamps + self.link_header
