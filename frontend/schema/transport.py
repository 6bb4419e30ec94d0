"""`transport`: ns-3's TCP, every attribute that matters in a training fabric."""

from typing import Any, Literal

from pydantic import Field

from frontend.schema.base import Count, Model
from frontend.schema.quantities import (
    HeaderSize,
    PacketSize,
    PositiveDelay,
    PositiveSize,
    SegmentSize,
    Window,
)

HEADER_BYTES = 40  # IPv4 and TCP without options
TIMESTAMP_OPTION_BYTES = 12  # ten bytes, padded to whole words
PPP_HEADER_BYTES = 2  # what ns-3's PointToPointNetDevice adds to an IP packet

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
    """When a receiver sends an ACK."""

    segments: Count = 1
    """Number of segments after which the receiver sends an ACK; 1: an ACK for each."""
    timeout: PositiveDelay = PositiveDelay.parse("200ms")
    """Longest wait for this number of segments."""


class Ecn(Model):
    """Explicit congestion notification."""

    enabled: bool = False
    """Switches mark packets, receivers echo the marks, and senders slow down."""
    threshold: PositiveSize | None = None
    """Length of an egress queue from which a switch marks packets."""


def _default_mss(data: dict[str, Any]) -> Any:
    option = TIMESTAMP_OPTION_BYTES if data.get("timestamps") else 0
    return f"{data.get('mtu', 9000) - HEADER_BYTES - option}B"


def _default_initial_rto(data: dict[str, Any]) -> Any:
    return data.get("min_rto", "50ms")


class Transport(Model):
    """The TCP of every connection. Each ordered pair of ranks that communicates has
    `flows_per_pair` connections."""

    variant: Variant = "new_reno"
    """Congestion control algorithm."""
    timestamps: bool = False
    """TCP timestamp option. Its millisecond clock is too coarse for these networks."""
    sack: bool = True
    """Selective acknowledgements."""
    window_scaling: bool = True
    """Window scale option. Without it, a window is at most 64 KiB."""
    mtu: PacketSize = PacketSize.parse("9000B")
    """Largest IP packet. unlimited: each message is one packet, which a switch forwards as a whole;
    only on `flow` and `analytical`, with `window: unlimited`."""
    mss: SegmentSize = Field(default_factory=_default_mss)
    """Payload of a full segment (maximum segment size), at least 16 bytes. Default: the MTU less
    the headers."""
    link_header: HeaderSize = HeaderSize.parse(f"{PPP_HEADER_BYTES}B")
    """Bytes that the link adds to each IP packet; 2 is ns-3's point-to-point header. Ethernet adds
    38: header, checksum, preamble and the gap between frames."""
    window: Window = Window.parse("0.5MB")
    """Send and receive buffer of a connection, which limits its bytes in flight. unlimited: no
    message waits for an acknowledgement, not even the first one; only on `flow` and
    `analytical`."""
    initial_cwnd: Count = 10
    """Congestion window of a new connection, in segments. The first flight is at most 65535 bytes,
    whatever this value, because the window in a SYN is not scaled: 7 segments at an MTU of 9000."""
    min_rto: PositiveDelay = PositiveDelay.parse("50ms")
    """Smallest retransmission timeout (RTO)."""
    initial_rto: PositiveDelay = Field(default_factory=_default_initial_rto)
    """Retransmission timeout before the first RTT sample. Default: `min_rto`."""
    clock_granularity: PositiveDelay = PositiveDelay.parse("1us")
    """Tick of the clock for retransmission timeouts."""
    delayed_ack: DelayedAck = DelayedAck()
    """When a receiver sends an ACK."""
    recovery: Literal["prr", "classic"] = "prr"
    """How a sender continues after a loss. prr: at a rate proportional to that of the ACKs (RFC
    6937); classic: one segment for each duplicate ACK (RFC 6582)."""
    buffer_unit: Literal["bytes", "packets"] = "bytes"
    """What fills the buffer of an egress queue. bytes: the bytes of the packets; packets: their
    number, as many as full packets (`mtu` and `link_header`) fit into the buffer, so an ACK takes
    as much room as a full packet."""
    flows_per_pair: Count = 1
    """Number of connections of an ordered pair of ranks, which take the same path. Each message is
    divided evenly among them. If there are several, a run has at most 4194304 connections."""
    data_retries: Count = 15
    """Number of consecutive retransmission timeouts after which a connection fails and ends the
    run."""
    ecn: Ecn = Ecn()
    """Explicit congestion notification."""

    @property
    def packet_overhead(self) -> int:
        """Bytes of a packet on the wire beside its payload."""
        return HEADER_BYTES + TIMESTAMP_OPTION_BYTES * self.timestamps + self.link_header
