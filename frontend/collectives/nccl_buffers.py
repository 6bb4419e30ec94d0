"""The buffers of NCCL's connections: their chunks, and how fast channels between servers are.

A connection of a channel has a buffer of eight slots on each side. A GPU fills a slot, a processor
posts it to the NIC, the network carries it, the GPU at the other end empties it, and tells the
sender that it is free again. The channel moves other slots meanwhile, but at most all of them in
the time in which one comes back: that of the data, of the step, of a step without data back (that
of LL), and of the messages that processors post.

LL, LL128 and trees have a chunk in a slot. Rings with Simple have chunks of four slots, which they
move in two slices.

Source: NVIDIA/nccl 5067397, `src/include/device.h` (NCCL_STEPS), `src/include/collectives.h`
(chunks and slices of rings), `src/enqueue.cc` (calcCollChunking), `src/device/prims_simple.h`,
`src/transport/net.cc` (what the processors of both sides post).
"""

from __future__ import annotations

from math import log2

from frontend.collectives.nccl_tuner import (
    LIMITS,
    WIRE,
    Kind,
    Machine,
    ProtocolName,
    post_us,
    round_us,
    step_us,
    tree_channels,
)

SLOTS = 8
"""Slots of the buffer of a connection (`NCCL_STEPS`)."""
_CHUNK_SLOTS, _SLICES = 4, 2
"""Slots of a chunk of a ring with Simple, and the slices that it moves in."""
_LL128_BYTES = 640 * 120 * 8 * 15 // 16
"""A chunk with LL128: 120 numbers of 8 bytes of each of 640 threads, without the flags."""
_LL_BYTES = 512 * 8 * 8
"""A chunk with LL: 8 lines of 8 bytes of each of 512 threads."""


def tree_chunk(machine: Machine, protocol: ProtocolName, size: int) -> int:
    """Return the bytes that a tree between servers passes on at once (`calcCollChunking`).

    Examples
    --------
    With Simple, 8 MiB on 8 NICs are one chunk for each of 16 channels.

    >>> h100 = Machine(16, 2, 3600 * 10**9, 8, 400 * 10**9, 0, 0)
    >>> [tree_chunk(h100, one, 2**23) // 2**10 for one in ("LL", "LL128", "Simple")]
    [32, 70, 512]
    """
    if protocol == "LL":
        return _LL_BYTES
    if protocol == "Simple":
        return machine.plugin.buffer_bytes // SLOTS
    chunk, channels, local = _LL128_BYTES, tree_channels(machine), machine.local
    hops = 1 + int(log2(machine.servers)) + 0.1 * local
    for loops, least in ((64, 2**17), (16, 2**15)):
        while size // (channels * chunk) < hops * loops / local and chunk > least:
            chunk //= 2
    return chunk


def ring_chunk(machine: Machine, protocol: ProtocolName) -> int:
    """Return the bytes that a ring between servers passes on at once, at most."""
    if protocol == "Simple":
        return machine.plugin.buffer_bytes // SLOTS * _CHUNK_SLOTS
    return _LL_BYTES if protocol == "LL" else _LL128_BYTES


def buffer_wire(
    machine: Machine, kind: Kind, protocol: ProtocolName, size: int, pace: float = 1.0
) -> float:
    """Return what a byte of a ring or a tree costs a NIC at least, as if it were so many bytes.

    Parameters
    ----------
    machine : Machine
        The machine, of several servers.
    kind : str
        Ring or tree.
    protocol : str
        The protocol.
    size : int
        Bytes of the data of a rank, of all blocks together.
    pace : float
        Factor on the times of steps and of posting messages.

    Examples
    --------
    On two p5, rings move 256 MiB in slices of 512 KiB, for which NICs could be 1.6 times as fast.

    >>> from frontend.collectives.nccl_plugins import PLUGINS
    >>> p5 = Machine(16, 2, 3600 * 10**9, 8, 400 * 10**9, 0, 0, PLUGINS["efa_p5"], cpu="amd")
    >>> round(buffer_wire(p5, "ring", "Simple", 2**28), 2)
    1.63
    """
    channels, flying = tree_channels(machine), SLOTS  # rings have as many channels
    part = size / channels
    if kind == "ring":
        chunk = min(ring_chunk(machine, protocol), part / machine.ranks)
        part -= part / machine.ranks
    else:
        chunk = min(tree_chunk(machine, protocol, size), part)
    if kind == "ring" and protocol == "Simple":
        chunk, flying = chunk / _SLICES, SLOTS // _CHUNK_SLOTS * _SLICES
    again = max(0, 1 - flying * chunk / part)  # part of the data that waits for a slot
    carried = chunk / (machine.nics * machine.nic_bps / channels / 8e6)
    inside = machine.scale_up_bps * LIMITS[machine.generation].nvlink / channels / 8e6
    copied = chunk / inside if inside else carried
    waits = step_us(machine, kind, protocol)[1] + step_us(machine, kind, "LL")[1]
    waits = pace * (waits + round_us(machine, protocol))
    held = (2 * copied + carried + waits) / flying / carried
    return WIRE[protocol] + again * max(0, held - WIRE[protocol])


def message_bytes(machine: Machine, block: float) -> float:
    """Return the bytes of a message of an all-to-all between servers (`addP2pToPlan`).

    Examples
    --------
    >>> infiniband = Machine(16, 2, 3600 * 10**9, 8, 400 * 10**9, 0, 0)
    >>> [message_bytes(infiniband, block * 2**10) / 2**10 for block in (16, 64, 512, 2048)]
    [16.0, 32.0, 64.0, 128.0]
    """
    chunk = machine.plugin.message_bytes
    if machine.cpu == "arm" and machine.generation == "blackwell":
        chunk *= 2
    parts = 4 if block < chunk else 2 if block < SLOTS * chunk else 1
    return min(chunk / parts, block)


def posting_wire(machine: Machine, block: float, pace: float = 1.0) -> float:
    """Return what a byte of an all-to-all costs a NIC at least, as if it were so many bytes.

    The processor of each GPU posts a send and a receive for each message, one after the other.

    Parameters
    ----------
    machine : Machine
        The machine, of several servers.
    block : float
        Bytes for each rank.
    pace : float
        Factor on the time to post a message.
    """
    rate = machine.nic_bps / 8e6 * machine.nics / machine.local  # bytes in a µs
    return pace * 2 * post_us(machine, "LL") * rate / message_bytes(machine, block)
