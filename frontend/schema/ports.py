"""`links` and `switches`: the ports of every topology, beside their rates and sizes."""

from typing import Annotated, Literal

from pydantic import Field

from frontend.schema.base import Model
from frontend.schema.quantities import (
    FrameSize,
    HeaderSize,
    Headroom,
    PacketSize,
    PositiveSize,
    Size,
)

PPP_HEADER_BYTES = 2  # what ns-3's PointToPointNetDevice adds to an IP packet


class Links(Model):
    """What all links have in common."""

    mtu: PacketSize = PacketSize.parse("9000B")
    """Largest IP packet. unlimited: each message is one packet, which a switch forwards as a whole;
    only on `flow` and `analytical`, with `transport.window: unlimited`."""
    header: HeaderSize = HeaderSize.parse(f"{PPP_HEADER_BYTES}B")
    """Bytes that a link adds to each IP packet; 2 is ns-3's point-to-point header. Ethernet adds
    38: header, checksum, preamble and the gap between frames."""

    @property
    def packet_bytes(self) -> int:
        """The largest packet on the wire."""
        return self.mtu + self.header


class Pfc(Model):
    """Priority flow control (IEEE 802.1Qbb): what a lossless switch keeps for each link into it."""

    alpha: Annotated[float, Field(ge=1e-6, le=1024)] = 0.125
    """Shared bytes of a link over the free memory from which it is paused; twice as much for each
    doubling of its rate over that of the slowest link of a rank."""
    reserve: Size = Size.parse("4KiB")
    """Memory of each link that no other link uses."""
    headroom: Headroom = Headroom.parse("cable")
    """Memory of each link for what still comes after a pause. cable: both ways of the link at its
    rate, three full packets and two pause frames, which is enough; three_latencies: rate times
    latency times 3, as in the public simulator of the HPCC paper."""
    resume_offset: Size = Size.parse("3KiB")
    """A link resumes so far below its threshold."""
    frame: FrameSize = FrameSize.parse("84B")
    """A pause or resume frame on the wire; 84 is an Ethernet frame of 64 bytes with its preamble
    and gap."""


class Switches(Model):
    """The egress queues of switches, and of ranks that are linked to ranks. `topology` has the
    sizes of their buffers."""

    buffer_unit: Literal["bytes", "packets"] = "bytes"
    """What fills the buffer of an egress queue. bytes: the bytes of the packets; packets: their
    number, as many as full packets (`links.mtu` and `links.header`) fit into the buffer, so an ACK
    takes as much room as a full packet."""
    buffer_sharing: Literal["per_port", "dynamic", "pfc"] = "per_port"
    """How the ports of a switch share its packet memory. per_port: each port has an equal part.
    dynamic: a queue may be as long as `buffer_alpha` times the memory that is free (Choudhury and
    Hahne 1998; α in Broadcom's switches). pfc: lossless, a switch pauses the links that fill its
    memory (see `pfc`)."""
    pfc: Pfc = Pfc()
    """With `buffer_sharing: pfc`: how memory is divided."""
    buffer_alpha: Annotated[float, Field(gt=0, le=1024)] = 1.0
    """With `buffer_sharing: dynamic`: longest queue of a port over the free memory."""
    ecn_threshold: PositiveSize | None = None
    """Length of an egress queue from which packets are marked, if `transport.ecn` is true."""
    ecn_marking: Literal["enqueue", "dequeue"] = "enqueue"
    """When a queue is compared with the threshold. enqueue: when a packet arrives, which is marked.
    dequeue: when a packet leaves, which is marked if the rest of the queue has this length; so a
    sender hears of a queue earlier, by the time that packets wait in it (Wu et al. 2012)."""
