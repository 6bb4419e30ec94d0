"""`transport: {protocol: tcp}`: ns-3's TCP, every attribute that matters in a training fabric."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from frontend.fabrics import Fabric
from frontend.schema.base import Count, Model, Problems
from frontend.schema.ports import Links, Switches
from frontend.schema.quantities import PositiveDelay, SegmentSize, Window
from frontend.schema.transport import Transport
from frontend.transports.registry import Protocol, Thresholds

HEADER_BYTES = 40  # IPv4 and TCP without options
TIMESTAMP_OPTION_BYTES = 12  # ten bytes, padded to whole words

_CLOCK_GRANULARITY_PS = 1_000_000
_UNSCALED_WINDOW = 65535  # the window field of TCP has 16 bits
_LARGEST_WINDOW = 65535 << 14  # RFC 7323's largest scale
_MOST_WINDOW = 2**30
"""Largest number of bytes for which the stream has a place. Without a limit, it does not matter."""

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

_MARKS_AT_10G, _LEAST_MARKS = 65 * 1500, 20 * 1500
"""Queue length from which packets are marked at 10 Gb/s and at 1 Gb/s, in bytes. Source: M.
Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010, section 4: 65 and 20 packets."""

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


class TcpTransport(Transport):
    """The TCP of every connection. Each ordered pair of ranks that communicates has
    `flows_per_pair` connections."""

    protocol: Literal["tcp"] = "tcp"
    """ns-3's TCP with any of its congestion controls."""
    ecn: bool | None = None
    """Explicit congestion notification: ports mark packets from `switches.ecn_threshold` on,
    receivers echo the marks, and senders slow down; null: true if `variant` is dctcp, otherwise
    false."""
    variant: Variant = "new_reno"
    """Congestion control algorithm."""
    timestamps: bool = False
    """TCP timestamp option. Its millisecond clock is too coarse for these networks."""
    sack: bool = True
    """Selective acknowledgements."""
    window_scaling: bool = True
    """Window scale option. Without it, a window is at most 64 KiB."""
    mss: SegmentSize | None = None
    """Payload of a full segment (maximum segment size), at least 16 bytes; null: `links.mtu` less
    the headers."""
    window: Window = Window.parse("0.5MB")
    """Send and receive buffer of a connection, which limits its bytes in flight. unlimited: no
    message waits for an acknowledgement, not even the first one; only on `flow` and
    `analytical`."""
    initial_cwnd: Count = 10
    """Congestion window of a new connection, in segments. The first flight is at most 65535 bytes,
    whatever this value, because the window in a SYN is not scaled: 7 segments at an MTU of 9000."""
    min_rto: PositiveDelay = PositiveDelay.parse("50ms")
    """Smallest retransmission timeout (RTO), and the one before the first RTT sample. Its clock
    ticks each microsecond."""
    delayed_ack: DelayedAck = DelayedAck()
    """When a receiver sends an ACK."""
    recovery: Literal["prr", "classic"] = "prr"
    """How a sender continues after a loss. prr: at a rate proportional to that of the ACKs (RFC
    6937); classic: one segment for each duplicate ACK (RFC 6582)."""

    @property
    def uses_ecn(self) -> bool:
        """Whether packets can be marked."""
        return self.variant == "dctcp" if self.ecn is None else self.ecn


class _Tcp(Protocol[TcpTransport]):
    model = TcpTransport
    of_network: ClassVar = {
        "mss": "packets of all jobs have the same size",
        "timestamps": "packets of all jobs have the same headers",
        "flows_per_pair": "messages of all jobs are divided in the same way",
    }

    def header_bytes(self, transport: TcpTransport) -> int:
        return HEADER_BYTES + TIMESTAMP_OPTION_BYTES * transport.timestamps

    def payload_bytes(self, transport: TcpTransport, links: Links) -> int:
        if transport.mss is not None:
            return transport.mss
        return links.mtu - self.header_bytes(transport)

    def window_bytes(self, transport: TcpTransport) -> int:
        return transport.window

    def thresholds(
        self, transport: TcpTransport, switches: Switches, rates: NDArray[np.uint64]
    ) -> Thresholds | None:
        if not transport.uses_ecn:
            return None
        given = switches.ecn_threshold
        threshold = (
            np.maximum(rates / 1e10 * _MARKS_AT_10G, _LEAST_MARKS).astype(np.uint64)
            if given is None
            else np.full(len(rates), given, dtype=np.uint64)
        )
        return Thresholds(threshold, threshold, at_dequeue=switches.ecn_marking == "dequeue")

    def problems(self, transport: TcpTransport, links: Links, fabric: Fabric) -> Problems:
        headers, window = self.header_bytes(transport), transport.window
        ack = transport.delayed_ack
        mss = self.payload_bytes(transport, links)
        if mss > links.mtu - headers:
            yield (
                "transport.mss",
                f"expected at most links.mtu minus {headers} bytes of headers "
                f"({links.mtu - headers})",
            )
        if window.is_unlimited and not fabric.is_estimator:
            expected = f"expected a size such as 8MiB, because the fabric {fabric.name} has TCP"
            yield "transport.window", expected
        if links.mtu.is_unlimited and fabric.is_estimator and not window.is_unlimited:
            yield "transport.window", "expected unlimited, because links.mtu is unlimited"
        if window < mss and not links.mtu.is_unlimited:
            yield "transport.window", f"expected at least one segment (transport.mss, {mss})"
        if window > _UNSCALED_WINDOW and not transport.window_scaling and not window.is_unlimited:
            yield (
                "transport.window",
                f"expected at most {_UNSCALED_WINDOW} bytes while transport.window_scaling is "
                "false",
            )
        if window > _LARGEST_WINDOW and not window.is_unlimited:
            yield (
                "transport.window",
                f"expected at most {_LARGEST_WINDOW} bytes (TCP's largest window)",
            )
        if ack.segments > 1 and ack.timeout >= transport.min_rto:
            yield (
                "transport.delayed_ack.timeout",
                f"expected less than transport.min_rto ({transport.min_rto.written()}), or a "
                "delayed ACK ends in a retransmission timeout",
            )
        if transport.variant == "dctcp" and not transport.uses_ecn:
            yield "transport.ecn", "expected true or null, because transport.variant is dctcp"

    def fields(
        self, transport: TcpTransport, links: Links, switches: Switches
    ) -> Mapping[str, Any]:
        return {
            "congestion_control": CONGESTION_CONTROLS[transport.variant],
            "mtu_bytes": links.mtu,
            "segment_bytes": self.payload_bytes(transport, links),
            "send_buffer_bytes": min(transport.window, _MOST_WINDOW),
            "receive_buffer_bytes": min(transport.window, _MOST_WINDOW),
            "unlimited_window": transport.window.is_unlimited,
            "initial_cwnd_segments": transport.initial_cwnd,
            "min_rto_ps": transport.min_rto,
            "initial_rto_ps": transport.min_rto,
            "clock_granularity_ps": _CLOCK_GRANULARITY_PS,
            "delayed_ack_timeout_ps": transport.delayed_ack.timeout,
            "delayed_ack_segments": transport.delayed_ack.segments,
            "sack": transport.sack,
            "timestamps": transport.timestamps,
            "window_scaling": transport.window_scaling,
            "ecn": transport.uses_ecn,
            "link_header_bytes": links.header,
            "recovery": "PRR" if transport.recovery == "prr" else "CLASSIC",
            "buffers_count_packets": switches.buffer_unit == "packets",
        }


PROTOCOL = _Tcp()
