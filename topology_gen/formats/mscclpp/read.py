"""Reads an MSCCL++ execution plan as an algorithm of thread blocks, so that it can be checked.

A put is asynchronous. It is modelled as a send and a receive in two blocks of their own. The send
runs after the earlier operations of the put's block. The receive may run at any later time, and
only a wait is ordered after it. So a plan that depends on lucky timing of a put is found wrong.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from topology_gen.formats.json_fields import Fields, parse
from topology_gen.formats.mscclpp import packets
from topology_gen.formats.mscclpp.packets import Packets
from topology_gen.formats.mscclpp.slices import Slice, scale_of, slice_of
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

_OPERATIONS = (
    "nop", "barrier", "put", "pws", "pwsf", "copy", "signal", "wait", "rlxsignal", "rlxwait",
    "flush", "re", *packets.OPERATIONS,
)  # fmt: skip
_TYPES = ("port", "memory")
_NOWHERE = Place(Buffer.INPUT, -1), Place(Buffer.OUTPUT, -1)


def read_plan(content: bytes) -> Algorithm:
    """Return the algorithm of an execution plan.

    Plans of the Simple protocol may contain puts, signals, waits, copies, reductions and barriers;
    those of the LL protocol also operations on packets. Groups of thread blocks that divide an
    operation divide every chunk. Semaphores, remote reads, pipelines and switch channels are not
    supported.

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
    shared, scale = Packets(), scale_of(document)
    gpus = [_Gpu(fields, rank, shared, scale) for rank, fields in enumerate(document.parts("gpus"))]
    for gpu in gpus:
        gpu.connect(gpus)
    for gpu in gpus:
        gpu.land(gpus)
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

    def __init__(self, fields: Fields, rank: int, packets: Packets, scale: int) -> None:
        self._packets, self._scale = packets, scale
        if fields.number("id") != rank:
            raise fields.error("id", f"expected {rank}, the rank's place in the list")
        self.rank = rank
        self.input = fields.number("input_chunks") * scale
        self.output = fields.number("output_chunks") * scale
        self.scratch = fields.number("scratch_chunks") * scale
        self._fields = fields
        self.peers: list[tuple[str, int, int]] = []
        """For each channel: its type, its peer, and its number among those with the same two."""
        self._of_type: dict[str, list[int]] = {kind: [] for kind in _TYPES}
        count: dict[tuple[str, int], int] = defaultdict(int)
        for part in fields.parts("channels"):
            kind = part.word("channel_type", _TYPES)
            for peer in part.array("connected_to"):
                if type(peer) is not int:
                    raise part.error("connected_to", "expected a list of ranks")
                self._of_type[kind].append(len(self.peers))
                self.peers.append((kind, peer, count[kind, peer]))
                count[kind, peer] += 1
        self._remote = [
            (part.number("rank"), part.word("type", tuple(Buffer)))
            for part in fields.parts("remote_buffers")
        ]
        self._blocks: list[list[Instruction]] = []
        self._sends: dict[int, list[Instruction]] = defaultdict(list)
        self._targets: dict[int, list[Place]] = defaultdict(list)
        self._signals: dict[int, list[int]] = defaultdict(list)
        """For each channel and each signal, the number of puts before the signal."""
        self._waits: list[tuple[int, int, int]] = []  # (block, index, channel), in order
        self._reserved: dict[tuple[int, int], set[int]] = defaultdict(set)
        self._ends: list[int] = [0] * len(self.peers)
        self._landings: list[tuple[int, list[Place]]] = []
        self._barriers: dict[int, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
        for number, part in enumerate(fields.parts("threadblocks")):
            if part.number("id") != number:
                raise part.error("id", f"expected {number}, the block's place in the list")
            self._blocks.append([])
            self._block(number, part)
        self._meet()

    def _block(self, number: int, fields: Fields) -> None:
        channels: dict[str, list[int]] = {kind: [] for kind in _TYPES}
        for part in fields.parts("channels"):
            kind = part.word("channel_type", _TYPES)
            channels[kind] += [
                self._pick(part, "channel_ids", i, self._of_type[kind])
                for i in part.array("channel_ids")
            ]
        buffers: dict[str, list[tuple[int, str]]] = {kind: [] for kind in _TYPES}
        for part in fields.parts("remote_buffer_refs"):
            kind = part.word("access_channel_type", _TYPES)
            buffers[kind] += [
                self._pick(part, "remote_buffer_ids", i, self._remote)
                for i in part.array("remote_buffer_ids")
            ]
        for part in fields.parts("ops"):
            name = part.word("name", _OPERATIONS)
            if name == "barrier":
                self._barriers[part.number("barrier_id")][number].append(len(self._blocks[number]))
                blocks = part.number("num_threadblocks", 1)
                self._reserved[part.number("barrier_id"), number].add(blocks)
                for _ in range(blocks):  # `_meet` fills them in
                    self._add(number, Kind.NOP, *_NOWHERE, 0)
            elif name in ("copy", "re"):
                self._local(number, name, part)
            elif name in packets.OPERATIONS:
                self._packet(number, part, buffers["memory"])
            elif name != "nop":
                kind = part.word("channel_type", _TYPES)
                ids = part.array("channel_ids")
                for channel in [self._pick(part, "channel_ids", i, channels[kind]) for i in ids]:
                    self._channel(number, name.removeprefix("rlx"), part, channel, buffers[kind])

    def _channel(
        self, number: int, name: str, fields: Fields, channel: int, buffers: list[tuple[int, str]]
    ) -> None:
        """Read an operation on one channel."""
        if name in ("put", "pws", "pwsf"):
            share = slice_of(fields, self._scale)
            taken = fields.parts("src_buff", 1)[0]
            source, count = self._place(taken, share)
            target = fields.parts("dst_buff", 1)[0]
            _, buffer = self._pick(target, "buffer_id", target.number("buffer_id"), buffers)
            index, size = share.chunks(target.number("index"), target.number("size"))
            if size != count:
                raise target.error("size", f"expected {taken.number('size')}, the size of src_buff")
            place = Place(Buffer(buffer), index)
            after = self._last(number)
            self._sends[channel].append(Instruction(Kind.SEND, source, place, count, after))
            self._targets[channel].append(place)
        if name in ("signal", "pws", "pwsf"):
            self._signals[channel].append(len(self._sends[channel]))
        if name == "wait":
            self._waits.append((number, len(self._blocks[number]), channel))
            self._add(number, Kind.NOP, *_NOWHERE, 0)

    def _local(self, number: int, name: str, fields: Fields) -> None:
        """Read a copy, or a reduction of several places into one."""
        share = slice_of(fields, self._scale)
        sources = [self._place(part, share) for part in fields.parts("src_buff")]
        target, count = self._place(fields.parts("dst_buff", 1)[0], share)
        if not sources or any(size != count for _, size in sources):
            raise fields.error("src_buff", "expected places of the size of dst_buff")
        places = [place for place, _ in sources]
        if target in places:
            places.remove(target)
        else:
            self._add(number, Kind.COPY, places.pop(0), target, count)
        for place in places:
            if name == "copy":
                raise fields.error("src_buff", "expected one place for a copy")
            self._add(number, Kind.REDUCE, place, target, count)

    def _packet(self, number: int, fields: Fields, buffers: list[tuple[int, str]]) -> None:
        """Read an operation on packets."""
        share = slice_of(fields, self._scale)
        sources = [self._place(part, share) for part in fields.parts("src_buff")]
        local: list[Place] = []
        remote: list[tuple[int, Place]] = []
        for part in fields.parts("dst_buff"):
            index, count = share.chunks(part.number("index"), part.number("size"))
            if part.has("buffer_id"):
                rank, buffer = self._pick(part, "buffer_id", part.number("buffer_id"), buffers)
                remote.append((rank, Place(Buffer(buffer), index)))
            else:
                local.append(self._place(part, share)[0])
            if not sources or any(count != size for _, size in sources):
                raise part.error("size", "expected the size of every src_buff")
        self._packets.operate(self._blocks[number], (self.rank, number), sources, local, remote)

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
            waits = [(block, index) for block, index, waited in self._waits if waited == channel]
            if len(waits) > len(signals):
                raise self._fields.error(
                    "threadblocks",
                    f"{len(waits)} waits on {kind} channel {number} of rank {peer}, but "
                    f"{len(signals)} signals",
                )
            landing = len(self._blocks) + len(self._landings)
            self._landings.append((channel, places))
            for (block, index), before in zip(waits, signals, strict=False):
                if before:
                    nop = self._blocks[block][index]
                    self._blocks[block][index] = nop._replace(after=Step(landing, before - 1))

        self._packets.wait(self.rank, self._blocks, len(self._blocks) + len(self._landings))

    def done(self, gpus: list[_Gpu]) -> Gpu:
        """Return the rank with all its blocks."""
        blocks = [Block(None, None, 0, tuple(block)) for block in self._blocks]
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
        blocks += self._packets.landings(self.rank)
        for channel, sends in sorted(self._sends.items()):
            peer = self.peers[channel][1]
            blocks.append(Block(peer, None, self._name(channel), tuple(sends)))
        blocks += self._packets.sends(self.rank)
        return Gpu(self.input, self.output, self.scratch, tuple(blocks))

    def _name(self, channel: int) -> int:
        kind, _, number = self.peers[channel]
        return len(_TYPES) * number + _TYPES.index(kind)

    def _meet(self) -> None:
        """Make the nops of a barrier wait for all other blocks at the barrier."""
        for barrier, blocks in self._barriers.items():
            times = {len(indices) for indices in blocks.values()}
            if len(times) > 1:
                raise self._fields.error(
                    "threadblocks",
                    f"barrier {barrier}: expected all blocks to use it the same number of times",
                )
            for number, indices in blocks.items():
                if self._reserved[barrier, number] != {len(blocks)}:
                    raise self._fields.error(
                        "threadblocks",
                        f"barrier {barrier}: expected num_threadblocks to be {len(blocks)}, the "
                        "number of blocks that use it",
                    )
                others = [other for other in blocks if other != number]
                for turn, index in enumerate(indices):
                    for place, other in enumerate(others, index + 1):
                        nop = self._blocks[number][place]
                        after = Step(other, blocks[other][turn])
                        self._blocks[number][place] = nop._replace(after=after)

    def _add(self, number: int, kind: Kind, source: Place, target: Place, count: int) -> None:
        self._blocks[number].append(Instruction(kind, source, target, count, None, True))

    def _last(self, number: int) -> Step | None:
        return Step(number, len(self._blocks[number]) - 1) if self._blocks[number] else None

    def _place(self, fields: Fields, share: Slice) -> tuple[Place, int]:
        buffer = Buffer(fields.word("type", tuple(Buffer)))
        index, size = share.chunks(fields.number("index"), fields.number("size", 1))
        return Place(buffer, index), size

    @staticmethod
    def _pick(fields: Fields, name: str, number: Any, values: list[Any]) -> Any:
        if type(number) is not int or not 0 <= number < len(values):
            raise fields.error(name, f"{number!r:.40}: expected 0 … {len(values) - 1}")
        return values[number]
