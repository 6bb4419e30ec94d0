"""Operations of MSCCL++ plans on data: copies, sums, packets, and the memory of other ranks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from topology_gen.formats.json_fields import Fields
from topology_gen.formats.mscclpp import packets
from topology_gen.formats.mscclpp.messages import Messages, Where
from topology_gen.formats.mscclpp.packets import Packets
from topology_gen.formats.mscclpp.remote import Read, Remote
from topology_gen.formats.mscclpp.slices import Slice, slice_of
from topology_gen.formats.mscclpp.switches import Switch
from topology_gen.lowering.algorithm import Buffer, Instruction, Kind, Place

LOCAL = ("copy", "re")
REMOTE = ("get", "res", "rre", "rres")
SWITCH = ("glres", "gstore", "gstorepkt")
OPERATIONS = (*LOCAL, *REMOTE, *SWITCH, *packets.OPERATIONS)

Buffers = list[tuple[int, str]]
"""Buffers of other ranks: their ranks and types."""


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
    at : (int, int)
        The rank, and the number of the block.
    block : list of Instruction
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
        at: Where,
        block: list[Instruction],
        shared: Shared,
        buffers: dict[str, Buffers],
        switches: list[Switch],
    ) -> None:
        self._at, self._block, self._shared = at, block, shared
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
            self._shared.remote.write(self._block, self._at, place, there, chunks)

    def confirm(self) -> None:
        """Let the block wait for what it has written."""
        self._shared.remote.confirm(self._block, self._at)

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
            self._add(Kind.COPY, places.pop(0), target, chunks)
        for place in places:
            self._add(Kind.REDUCE, place, target, chunks)

    def _get(self, fields: Fields, share: Slice) -> None:
        reads: list[Read] = []
        for source, part in pairs(fields):
            target, chunks = local(part, share)
            reads.append(Read(*self._there(source, share, chunks), target, chunks))
        self._shared.remote.read(self._block, self._at, reads)

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
        self._shared.remote.read(self._block, self._at, reads, adds=True)
        writes = [self._there(part, share, chunks) for part in targets[1:]]
        self._shared.remote.write(self._block, self._at, target, writes, chunks)

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
                self._block, self._at, [(taken, chunks)], [place], writes, waits=True
            )
            return
        if taken != place:
            self._add(Kind.COPY, taken, place, chunks)
        self._shared.remote.read(self._block, self._at, reads, adds=True)
        self._shared.remote.write(self._block, self._at, place, writes, chunks)

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
        self._shared.packets.operate(self._block, self._at, sources, here, there, waits=waits)

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

    def _add(self, kind: Kind, source: Place, target: Place, chunks: int) -> None:
        self._block.append(Instruction(kind, source, target, chunks, None, True))


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
