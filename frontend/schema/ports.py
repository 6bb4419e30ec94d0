"""`links` and `switches`: the ports of every topology, beside their rates and sizes."""

from typing import Annotated, Literal

from pydantic import Field

from frontend.schema.base import Model
from frontend.schema.quantities import HeaderSize, PacketSize, PositiveSize

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


class Switches(Model):
    """The egress queues of switches, and of ranks that are linked to ranks. `topology` has the
    sizes of their buffers."""

    buffer_unit: Literal["bytes", "packets"] = "bytes"
    """What fills the buffer of an egress queue. bytes: the bytes of the packets; packets: their
    number, as many as full packets (`links.mtu` and `links.header`) fit into the buffer, so an ACK
    takes as much room as a full packet."""
    buffer_sharing: Literal["per_port", "dynamic"] = "per_port"
    """How the ports of a switch share its packet memory. per_port: each port has an equal part.
    dynamic: a queue may be as long as `buffer_alpha` times the memory that is free (Choudhury and
    Hahne 1998; α in Broadcom's switches)."""
    buffer_alpha: Annotated[float, Field(gt=0, le=1024)] = 1.0
    """With `buffer_sharing: dynamic`: longest queue of a port over the free memory."""
    ecn_threshold: PositiveSize | None = None
    """Length of an egress queue from which packets are marked, if `transport.ecn` is true."""
    ecn_marking: Literal["enqueue", "dequeue"] = "enqueue"
    """When a queue is compared with the threshold. enqueue: when a packet arrives, which is marked.
    dequeue: when a packet leaves, which is marked if the rest of the queue has this length; so a
    sender hears of a queue earlier, by the time that packets wait in it (Wu et al. 2012)."""
