"""Reads an MSCCL++ execution plan as an algorithm of thread blocks, so that it can be checked.

A put is asynchronous. It is modelled as a send and a receive in two blocks of their own. The send
runs after the earlier operations of the put's block. The receive may run at any later time, and
only a wait is ordered after it. So a plan that depends on lucky timing of a put is found wrong. A
signal after other operations than a put is an empty message.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from topology_gen.formats.json_fields import Fields, parse
from topology_gen.formats.mscclpp import data
from topology_gen.formats.mscclpp.data import (
    Buffers,
    DataOperations,
    Shared,
    Switch,
    local,
    pairs,
    pick,
    scale_of,
    slice_of,
    switches_of,
)
from topology_gen.formats.mscclpp.messages import (
    NOWHERE,
    Meetings,
    Messages,
    Packets,
    Remote,
    ThreadBlock,
    operations,
)
from topology_gen.lowering.algorithm import (
    Algorithm,
    Block,
    Buffer,
    Gpu,
    Instruction,
    Kind,
    Operation,
    Place,
    Step,
)

COLLECTIVES: Mapping[str, Operation] = {
    "allreduce": "all_reduce",
    "reducescatter": "reduce_scatter",
    "allgather": "all_gather",
    "alltoall": "all_to_all",
}

_CHANNEL = ("put", "pws", "pwsf", "signal", "wait", "rlxsignal", "rlxwait", "flush")
_MEETING = ("barrier", "sem_acquire", "sem_release")
_OPERATIONS = ("nop", *_MEETING, *_CHANNEL, *data.OPERATIONS)
_TYPES = ("port", "memory")


def read_plan(content: bytes) -> Algorithm:
    """Return the algorithm of an execution plan.

    Plans of the Simple protocol may contain puts, signals, waits, reads from and writes to other
    ranks, copies, reductions, barriers, semaphores, and operations on switch channels; those of the
    LL protocol also operations on packets. Groups of thread blocks that divide an operation divide
    every chunk. A pipeline is one pass over all its data.

    Raises
    ------
    FileFormatError
        The content is not such a plan; the message names the field.
    AlgorithmError
        The numbers of ranks and chunks do not fit together.

    See Also
    --------
    topology_gen.formats.mscclpp.write_plan
    """
    document = parse(content)
    operation = COLLECTIVES[document.word("collective", tuple(COLLECTIVES))]
    messages = Messages()
    shared = Shared(messages, Packets(messages), Remote(messages), scale_of(document))
    gpus = [_Gpu(fields, rank, shared) for rank, fields in enumerate(document.parts("gpus"))]
    for gpu in gpus:
        gpu.connect(gpus)
    for gpu in gpus:
        gpu.land(gpus)
    shared.packets.settle()
    messages.settle()
    in_place = document.flag("inplace")
    outputs = max((gpu.output for gpu in gpus), default=0)
    inputs = max((gpu.input for gpu in gpus), default=0)
    chunks = max(inputs, outputs)
    return Algorithm(
        name=document.text("name"),
        operation=operation,
        chunks=chunks,
        in_place=in_place,
        out_of_place=not in_place,
        protocol=document.word("protocol", ("Simple", "LL")),
        gpus=tuple(gpu.done(gpus) for gpu in gpus),
    )


class _Gpu:
    """A rank: the blocks of its plan, then one block for each channel's receives and sends."""

    def __init__(self, fields: Fields, rank: int, shared: Shared) -> None:
        self._shared = shared
        if fields.number("id") != rank:
            raise fields.error("id", f"expected {rank}, the rank's place in the list")
        self.rank = rank
        self.input = fields.number("input_chunks") * shared.scale
        self.output = fields.number("output_chunks") * shared.scale
        self.scratch = fields.number("scratch_chunks") * shared.scale
        self._fields = fields
        self.peers: list[tuple[str, int, int]] = []
        """For each channel: its type, its peer, and its number among those with the same two."""
        self._of_type: dict[str, list[int]] = {kind: [] for kind in _TYPES}
        count: dict[tuple[str, int], int] = defaultdict(int)
        for part in fields.parts("channels"):
            kind = part.word("channel_type", (*_TYPES, "switch"))
            for peer in part.array("connected_to") if kind in _TYPES else ():
                if type(peer) is not int:
                    raise part.error("connected_to", "expected a list of ranks")
                self._of_type[kind].append(len(self.peers))
                self.peers.append((kind, peer, count[kind, peer]))
                count[kind, peer] += 1
        self._switches = switches_of(fields, rank)
        self._remote = [
            (part.number("rank"), part.word("type", tuple(Buffer)))
            for part in fields.parts("remote_buffers")
        ]
        self._blocks: list[ThreadBlock] = []
        self._meetings = Meetings(fields, self._blocks)
        self._sends: list[list[Instruction]] = [[] for _ in self.peers]
        self._targets: dict[int, list[Place]] = defaultdict(list)
        self._signals: dict[int, list[int]] = defaultdict(list)
        """For each channel and each signal, the number of messages up to the signal."""
        self._sender: dict[int, int] = {}
        """For each channel, the block that has put last."""
        self._waits: list[tuple[ThreadBlock, int, int]] = []  # (block, place, channel), in order
        self._ends: list[int] = [0] * len(self.peers)
        self._landings: list[tuple[int, list[Place]]] = []
        for number, part in enumerate(fields.parts("threadblocks")):
            if part.number("id") != number:
                raise part.error("id", f"expected {number}, the block's place in the list")
            self._blocks.append(ThreadBlock(rank, number))
            self._block(self._blocks[-1], part)
        self._meetings.settle()

    def _block(self, block: ThreadBlock, fields: Fields) -> None:
        channels, buffers, switches = self._access(fields)
        number = block.number
        operation = DataOperations(block, self._shared, buffers, switches)
        for part in operations(fields):
            name = part.word("name", _OPERATIONS).removeprefix("rlx")
            if name in ("signal", "pws", "pwsf", "barrier", "sem_release"):
                operation.confirm()
            if name == "barrier":
                self._meetings.barrier(number, part)
            elif name == "sem_acquire":
                self._meetings.acquire(number, part)
            elif name == "sem_release":
                self._meetings.release(number, part)
            elif name in data.OPERATIONS:
                operation.read(name, part)
            elif name != "nop":
                kind = part.word("channel_type", _TYPES)
                if name == "put" and kind == "memory":
                    operation.put(part)
                    continue
                ids = part.array("channel_ids")
                over = [pick(part, "channel_ids", i, channels[kind]) for i in ids]
                if name in ("put", "pws", "pwsf"):
                    self._put(block, part, over, buffers[kind])
                for channel in over:
                    if name in ("signal", "pws", "pwsf"):
                        self._signal(block, channel)
                    elif name == "wait":
                        self._waits.append((block, block.add_waits(), channel))

    def _access(
        self, fields: Fields
    ) -> tuple[dict[str, list[int]], dict[str, Buffers], list[Switch]]:
        """Return the channels and remote buffers that a block can use, by type, and switches."""
        channels: dict[str, list[int]] = {kind: [] for kind in _TYPES}
        buffers: dict[str, Buffers] = {kind: [] for kind in _TYPES}
        switches: list[Switch] = []
        for part in fields.parts("channels"):
            kind = part.word("channel_type", (*_TYPES, "switch"))
            for number in part.array("channel_ids"):
                if kind == "switch":
                    switches.append(pick(part, "channel_ids", number, self._switches))
                else:
                    own = self._of_type[kind]
                    channels[kind].append(pick(part, "channel_ids", number, own))
        for part in fields.parts("remote_buffer_refs") if fields.has("remote_buffer_refs") else ():
            kind = part.word("access_channel_type", _TYPES)
            buffers[kind] += [
                pick(part, "remote_buffer_ids", i, self._remote)
                for i in part.array("remote_buffer_ids")
            ]
        return channels, buffers, switches

    def _put(
        self, block: ThreadBlock, fields: Fields, channels: list[int], buffers: Buffers
    ) -> None:
        """Read a put of one place over each channel."""
        share = slice_of(fields, self._shared.scale)
        both = pairs(fields)
        if len(both) != len(channels):
            raise fields.error("src_buff", f"expected {len(channels)} of them, not {len(both)}")
        for channel, (source, target) in zip(channels, both, strict=True):
            taken, count = local(source, share)
            _, buffer = pick(target, "buffer_id", target.number("buffer_id"), buffers)
            index, size = share.chunks(target.number("index"), target.number("size"))
            if size != count:
                raise target.error(
                    "size", f"expected {source.number('size')}, the size of src_buff"
                )
            place = Place(Buffer(buffer), index)
            send = Instruction(Kind.SEND, taken, place, count, block.last)
            self._sends[channel].append(send)
            self._targets[channel].append(place)
            self._sender[channel] = block.number

    def _signal(self, block: ThreadBlock, channel: int) -> None:
        """Let the last put be the signal, or send an empty message after all earlier operations."""
        sends, after = self._sends[channel], block.last
        if not sends or self._sender[channel] != block.number or sends[-1].after != after:
            sends.append(Instruction(Kind.SEND, NOWHERE, NOWHERE, 0, after))
            self._targets[channel].append(NOWHERE)
            self._sender[channel] = block.number
        self._signals[channel].append(len(sends))

    def connect(self, gpus: list[_Gpu]) -> None:
        """Find the other end of every channel.

        Parameters
        ----------
        gpus : list of _Gpu
            All ranks of the plan.
        """
        for channel, (kind, peer, number) in enumerate(self.peers):
            if not 0 <= peer < len(gpus) or peer == self.rank:
                raise self._fields.error("channels", f"rank {peer}: expected another rank's number")
            other = (kind, self.rank, number)
            if other not in gpus[peer].peers:
                raise self._fields.error(
                    "channels", f"{kind} channel {number} to rank {peer} has no counterpart there"
                )
            self._ends[channel] = gpus[peer].peers.index(other)

    def land(self, gpus: list[_Gpu]) -> None:
        """Receive what the peers put, and order every wait after the puts before its signal."""
        for channel, (kind, peer, number) in enumerate(self.peers):
            there = self._ends[channel]
            places, signals = gpus[peer]._targets[there], gpus[peer]._signals[there]
            waits = [(block, place) for block, place, waited in self._waits if waited == channel]
            if len(waits) > len(signals):
                raise self._fields.error(
                    "threadblocks",
                    f"{len(waits)} waits on {kind} channel {number} of rank {peer}, but "
                    f"{len(signals)} signals",
                )
            landing = len(self._blocks) + len(self._landings)
            self._landings.append((channel, places))
            for (block, place), before in zip(waits, signals, strict=False):
                block.wait(place, Step(landing, before - 1))
        first = len(self._blocks) + len(self._landings)
        self._shared.messages.place(self.rank, first, len(self._sends))

    def done(self, gpus: list[_Gpu]) -> Gpu:
        """Return the rank with all its blocks."""
        blocks = [Block(None, None, 0, tuple(block.instructions)) for block in self._blocks]
        for channel, places in self._landings:
            sent = gpus[self.peers[channel][1]]._sends[self._ends[channel]]
            blocks.append(
                Block(
                    None,
                    self.peers[channel][1],
                    self._name(channel),
                    tuple(
                        Instruction(Kind.RECEIVE, place, place, send.chunks, None, True)
                        for send, place in zip(sent, places, strict=True)
                    ),
                )
            )
        blocks += self._shared.messages.landings(self.rank)
        for channel, sends in enumerate(self._sends):
            peer = self.peers[channel][1]
            blocks.append(Block(peer, None, self._name(channel), tuple(sends)))
        blocks += self._shared.messages.sends(self.rank)
        return Gpu(self.input, self.output, self.scratch, tuple(blocks))

    def _name(self, channel: int) -> int:
        kind, _, number = self.peers[channel]
        return len(_TYPES) * number + _TYPES.index(kind)
