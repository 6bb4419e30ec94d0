"""Operations of MSCCL++ plans on data: copies, sums, packets, and the memory of other ranks.

Groups of thread blocks may divide an operation evenly among them. A switch channel reads or writes
buffers of several ranks at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import lcm
from typing import Any, NamedTuple

from topology_gen.formats.json_fields import Fields
from topology_gen.formats.mscclpp.messages import (
    PACKET_OPERATIONS,
    Messages,
    Packets,
    Read,
    Remote,
    ThreadBlock,
)
from topology_gen.lowering.algorithm import Buffer, Kind, Place

LOCAL = ("copy", "re")
REMOTE = ("get", "res", "rre", "rres")
SWITCH = ("glres", "gstore", "gstorepkt")
OPERATIONS = (*LOCAL, *REMOTE, *SWITCH, *PACKET_OPERATIONS)

Buffers = list[tuple[int, str]]
"""Buffers of other ranks: their ranks and types."""

GREATEST_GROUP = 64
"""Greatest number of thread blocks in a group."""


class Slice(NamedTuple):
    """The part of an operation that a thread block executes.

    Attributes
    ----------
    scale : int
        Number of parts in which the algorithm divides each chunk of the plan.
    place, blocks : int
        The block's place in its group, and the number of blocks in it.
    """

    scale: int
    place: int = 0
    blocks: int = 1

    def chunks(self, index: int, size: int) -> tuple[int, int]:
        """Return the first of the parts, and their number, for chunks of the plan.

        Examples
        --------
        >>> Slice(scale=2, place=1, blocks=2).chunks(index=3, size=1)
        (7, 1)
        """
        part = size * self.scale // self.blocks
        return index * self.scale + self.place * part, part


def slice_of(operation: Fields, scale: int) -> Slice:
    """Return the part of an operation that its thread block executes.

    Raises
    ------
    FileFormatError
        The place in the group is not among its blocks.
    """
    if not operation.has("tbg_info"):
        return Slice(scale)
    blocks, place = _group(operation)
    return Slice(scale, place, blocks)


def scale_of(document: Fields) -> int:
    """Return the least number of parts of a chunk that all groups of a plan can share.

    Raises
    ------
    FileFormatError
        A group has no or too many blocks.
    """
    result = 1
    for gpu in document.parts("gpus"):
        for block in gpu.parts("threadblocks"):
            for operation in block.parts("ops"):
                if operation.has("tbg_info"):
                    result = lcm(result, _group(operation)[0])
                    if result > GREATEST_GROUP:
                        raise operation.error(
                            "tbg_info",
                            f"expected groups that divide a chunk into at most "
                            f"{GREATEST_GROUP} parts",
                        )
    return result


def _group(operation: Fields) -> tuple[int, int]:
    """Return the number of blocks of an operation's group, and the block's place in it."""
    group = operation.part("tbg_info")
    blocks = group.number("tbg_size", 1)
    place = group.number("tb_id")
    if place >= blocks:
        raise group.error("tb_id", f"{place}: expected 0 … {blocks - 1}")
    return blocks, place


class Switch(NamedTuple):
    """A switch channel of a rank: the buffer, and the other ranks of its group."""

    buffer: Buffer
    others: tuple[int, ...]


def switches_of(gpu: Fields, rank: int) -> list[Switch]:
    """Return the switch channels of a rank.

    Raises
    ------
    FileFormatError
        A group does not contain the rank, or names one that the plan does not have.
    """
    found: list[Switch] = []
    for channel in gpu.parts("channels"):
        if channel.text("channel_type") != "switch":
            continue
        name = "buffer_type" if channel.has("buffer_type") else "buff"  # the older name
        buffer = Buffer(channel.word(name, tuple(Buffer)))
        for group in channel.parts("rank_groups"):
            ranks = group.array("ranks")
            if rank not in ranks or any(type(other) is not int for other in ranks):
                raise group.error("ranks", f"expected a list of ranks with rank {rank}")
            found.append(Switch(buffer, tuple(other for other in ranks if other != rank)))
    return found


class Shared(NamedTuple):
    """What the ranks of a plan share."""

    messages: Messages
    packets: Packets
    remote: Remote
    scale: int


class DataOperations:
    """Reads the operations of a thread block on data.

    Parameters
    ----------
    block : ThreadBlock
        The block, to which instructions are added.
    shared : Shared
        Gets what concerns other ranks.
    buffers : dict of str to list
        The buffers of other ranks that the block can use, by type of channel.
    switches : list of Switch
        The switch channels that it can use.
    """

    def __init__(
        self,
        block: ThreadBlock,
        shared: Shared,
        buffers: dict[str, Buffers],
        switches: list[Switch],
    ) -> None:
        self._block, self._shared = block, shared
        self._buffers, self._switches = buffers, switches

    def read(self, name: str, fields: Fields) -> None:
        """Read the operation `name`.

        Raises
        ------
        FileFormatError
            The operation is not as the schema says.
        """
        share = slice_of(fields, self._shared.scale)
        if name in LOCAL:
            self._local(name, fields, share)
        elif name == "get":
            self._get(fields, share)
        elif name in REMOTE:
            self._reduce_send(name, fields, share)
        elif name in SWITCH:
            self._switch(name, fields, share)
        else:
            self._packet(name, fields, share)

    def put(self, fields: Fields) -> None:
        """Read a put into the memory of other ranks."""
        share = slice_of(fields, self._shared.scale)
        for source, target in pairs(fields):
            place, chunks = local(source, share)
            there = [self._there(target, share, chunks)]
            self._shared.remote.write(self._block, place, there, chunks)

    def confirm(self) -> None:
        """Let the block wait for what it has written."""
        self._shared.remote.confirm(self._block)

    def _local(self, name: str, fields: Fields, share: Slice) -> None:
        sources = [local(part, share) for part in fields.parts("src_buff")]
        if name == "copy" and len(sources) > 1:
            raise fields.error("src_buff", "expected one place for a copy")
        self._sum(fields, sources, *local(fields.parts("dst_buff", 1)[0], share))

    def _sum(
        self, fields: Fields, sources: list[tuple[Place, int]], target: Place, chunks: int
    ) -> None:
        """Store the sum of places of the rank; the target may be one of them."""
        if not sources or any(size != chunks for _, size in sources):
            raise fields.error("src_buff", "expected places of the size of dst_buff")
        places = [place for place, _ in sources]
        if target in places:
            places.remove(target)
        else:
            self._block.add(Kind.COPY, places.pop(0), target, chunks)
        for place in places:
            self._block.add(Kind.REDUCE, place, target, chunks)

    def _get(self, fields: Fields, share: Slice) -> None:
        reads: list[Read] = []
        for source, part in pairs(fields):
            target, chunks = local(part, share)
            reads.append(Read(*self._there(source, share, chunks), target, chunks))
        self._shared.remote.read(self._block, reads)

    def _reduce_send(self, name: str, fields: Fields, share: Slice) -> None:
        """Read a sum of places of this rank and of others, which other ranks may get, too."""
        sources, targets = fields.parts("src_buff"), fields.parts("dst_buff")
        if not sources or not targets:
            raise fields.error("src_buff", "expected a place of this rank, and so in dst_buff")
        target, chunks = local(targets[0], share)
        here = sources if name == "res" else sources[:1]
        self._sum(fields, [local(part, share) for part in here], target, chunks)
        reads = [
            Read(*self._there(part, share, chunks), target, chunks) for part in sources[len(here) :]
        ]
        self._shared.remote.read(self._block, reads, adds=True)
        writes = [self._there(part, share, chunks) for part in targets[1:]]
        self._shared.remote.write(self._block, target, writes, chunks)

    def _switch(self, name: str, fields: Fields, share: Slice) -> None:
        """Read a sum over the ranks of a switch channel, or a store to all of them."""
        source, target = fields.parts("src_buff", 1)[0], fields.parts("dst_buff", 1)[0]
        others, place, chunks = self._all(target, share)
        reads: list[Read] = []
        if name == "glres":
            owners, taken, size = self._all(source, share)
            reads = [Read(rank, taken, place, chunks) for rank in owners]
        else:
            taken, size = local(source, share)
        if size != chunks:
            raise target.error("size", "expected the size of src_buff")
        writes = [(rank, place) for rank in others]
        if name == "gstorepkt":
            self._shared.packets.operate(
                self._block, [(taken, chunks)], [place], writes, waits=True
            )
            return
        if taken != place:
            self._block.add(Kind.COPY, taken, place, chunks)
        self._shared.remote.read(self._block, reads, adds=True)
        self._shared.remote.write(self._block, place, writes, chunks)

    def _packet(self, name: str, fields: Fields, share: Slice) -> None:
        if name == "ppkt":
            for source, target in pairs(fields):
                self._packets(fields, [source], [target], share)
        else:
            self._packets(fields, fields.parts("src_buff"), fields.parts("dst_buff"), share)

    def _packets(
        self, fields: Fields, taken: list[Fields], stored: list[Fields], share: Slice
    ) -> None:
        """Add packets, and store the sum here and at other ranks."""
        sources = [local(part, share) for part in taken]
        here: list[Place] = []
        there: list[tuple[int, Place]] = []
        kind = "memory"
        if fields.has("channel_type"):
            kind = fields.word("channel_type", tuple(self._buffers))
        for part in stored:
            chunks = share.chunks(part.number("index"), part.number("size"))[1]
            if not sources or any(chunks != size for _, size in sources):
                raise part.error("size", "expected the size of every src_buff")
            if part.has("buffer_id"):
                there.append(self._there(part, share, chunks, kind))
            else:
                here.append(local(part, share)[0])
        waits = kind == "memory"  # a port channel copies on its own
        self._shared.packets.operate(self._block, sources, here, there, waits=waits)

    def _there(
        self, fields: Fields, share: Slice, chunks: int, kind: str = "memory"
    ) -> tuple[int, Place]:
        """Return another rank and a place of it."""
        number = fields.number("buffer_id")
        rank, buffer = pick(fields, "buffer_id", number, self._buffers[kind])
        index, size = share.chunks(fields.number("index"), fields.number("size"))
        if size != chunks:
            raise fields.error("size", "expected the size of the other places")
        return rank, Place(Buffer(buffer), index)

    def _all(self, fields: Fields, share: Slice) -> tuple[Sequence[int], Place, int]:
        """Return the other ranks of a switch channel, and the place that all use."""
        number = fields.number("switch_channel_id")
        switch = pick(fields, "switch_channel_id", number, self._switches)
        index, size = share.chunks(fields.number("index"), fields.number("size"))
        return switch.others, Place(switch.buffer, index), size


def local(fields: Fields, share: Slice) -> tuple[Place, int]:
    """Return a place of the executing rank, and its number of chunks."""
    buffer = Buffer(fields.word("type", tuple(Buffer)))
    index, size = share.chunks(fields.number("index"), fields.number("size", 1))
    return Place(buffer, index), size


def pairs(fields: Fields) -> list[tuple[Fields, Fields]]:
    """Return the places that an operation reads, each with the one that it writes."""
    targets = fields.parts("dst_buff")
    sources = fields.parts("src_buff", len(targets))
    return list(zip(sources, targets, strict=True))


def pick(fields: Fields, name: str, number: Any, values: list[Any]) -> Any:
    """Return the value with a number that a field has.

    Raises
    ------
    FileFormatError
        There is no such value.
    """
    if type(number) is not int or not 0 <= number < len(values):
        raise fields.error(name, f"{number!r:.40}: expected 0 … {len(values) - 1}")
    return values[number]
