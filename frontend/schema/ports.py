"""`links`, `switches` and `routing`: the ports of every topology, and the paths of packets."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from frontend.schema.base import Count, Model, Whole, listed
from frontend.schema.quantities import (
    Delay,
    FrameSize,
    HeaderSize,
    Headroom,
    PacketSize,
    PositiveDelay,
    PositiveSize,
    Size,
)

PPP_HEADER_BYTES = 2  # what ns-3's PointToPointNetDevice adds to an IP packet


TRAFFIC_CLASSES = range(6)
"""The priorities of data on the wire, the lowest first. 6 and 7 are for ACKs and notifications,
which switches never pause."""

TrafficClass = Annotated[int, Field(strict=True, ge=TRAFFIC_CLASSES[0], le=TRAFFIC_CLASSES[-1])]


PausedClasses = Annotated[tuple[TrafficClass, ...], BeforeValidator(listed), Field(min_length=1)]


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

    classes: PausedClasses | None = None
    """Traffic classes that are paused. The others are lossy: a port drops packets that would make
    the queue longer than `buffer_alpha` times the free memory. null: those of RoCE if jobs have tcp
    and roce, otherwise all."""
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
    takes as much room as a full packet (TCP alone)."""
    buffer_sharing: Literal["per_port", "dynamic", "pfc"] = "per_port"
    """How the ports of a switch share its packet memory. per_port: each port has an equal part.
    dynamic: a queue may be as long as `buffer_alpha` times the memory that is free (Choudhury and
    Hahne 1998; α in Broadcom's switches). pfc: lossless, a switch pauses the links that fill its
    memory (see `pfc`)."""
    pfc: Pfc = Pfc()
    """With `buffer_sharing: pfc`: how memory is divided."""
    buffer_alpha: Annotated[float, Field(gt=0, le=1024)] = 1.0
    """With `buffer_sharing: dynamic`, and for lossy classes beside paused ones: longest queue of a
    port over the free memory."""
    ecn_threshold: PositiveSize | None = None
    """Length of an egress queue from which packets are marked, if `transport.ecn` is true. null:
    with `transport.variant: dctcp`, by the rate of the link, 97.5 kB (65 packets of 1500 B) at 10
    Gb/s and 975 kB at 100 Gb/s, at least 30 kB (20 packets) (Alizadeh et al. 2010), and at most
    half of the port's buffer; other variants need a value."""
    ecn_marking: Literal["enqueue", "dequeue"] = "enqueue"
    """When a queue is compared with the threshold. enqueue: when a packet arrives, which is marked.
    dequeue: when a packet leaves, which is marked if the rest of the queue has this length; so a
    sender hears of a queue earlier, by the time that packets wait in it (Wu et al. 2012)."""


class Routing(Model):
    """Which paths packets take, and how fast paths follow a failure."""

    policy: Literal["family", "ecmp", "paths", "spray", "flowlet"] = "family"
    """family: the rule of the topology. ecmp: a hash of each connection selects one of the shortest
    paths. paths: the connections of a pair take shortest paths that differ, in turn. spray: the
    packets of a connection take the shortest paths in turn. flowlet: a connection takes the next
    shortest path after a gap. spray and flowlet need packets (`express`); they reorder packets,
    which TCP takes for losses."""
    seed: Whole = 1
    """Seed of the hash."""
    weights: Annotated[tuple[Count, ...], BeforeValidator(listed), Field(max_length=64)] = ()
    """With `paths`: number of connections on each path of a pair, `transport.flows_per_pair` in
    all. Each connection carries the same part of a message, so `[2, 1]` are two thirds on the first
    path. Default: 1 on each path."""
    flowlet_gap: PositiveDelay = PositiveDelay.parse("50us")
    """With `flowlet`: time without a packet after which the next one takes another path."""
    detection: Delay | None = Delay.parse("1ms")
    """Time from a failure or a repair until paths follow it; null: paths stay, and connections
    recover when the link is up again."""
    shared_links: Annotated[int, Field(ge=0, le=1000)] | None = None
    """Number of links between switches that the result lists with the flows that share them; null:
    5 on a topology of the family `graph` and the families of servers, and 0 on others."""
