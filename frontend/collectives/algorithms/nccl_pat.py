"""All-gathers and reduce-scatters by NCCL's parallel aggregated trees (PAT), one rank a server.

The block of each rank has a binomial tree, which is the same for all ranks but for its root. In an
all-gather, a rank at a distance s from the owner of a block has it from the rank at the distance s
without its lowest binary digit, so a message goes over a power of two of ranks. In a
reduce-scatter, partial sums go the other way.

A message takes as many blocks as fit into a slot of NCCL's buffer, and a buffer has eight slots.
Blocks whose trees have the same shape, up to those of all slots together, move at the same time.
With small blocks, that is half of all blocks, and an operation takes ceil(log2 N) steps, as in
Bruck's algorithm, but for one more with 2^k + 1 ranks from 5 on. With large ones, ranks go along
the rest of the trees depth first, and blocks larger than a slot go chunk by chunk.

Source: NVIDIA/nccl 5067397, `src/include/collectives.h` (PatAGAlgorithm, PatRSAlgorithm),
`src/device/prims_simple.h` (patCopy, patReduce), `src/enqueue.cc` (size of slots).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from frontend.collectives.nccl_buffers import SLOTS
from frontend.collectives.program.program import Op
from frontend.collectives.program.rotation import Rotation, edge_list, rotation

_LARGEST_SLOT = 2**19  # a buffer of 4 MiB (`NCCL_BUFFSIZE`)
_SMALLEST_SLOT = 2**16
_SLOTS_IN_DATA = {"all_gather": 32, "reduce_scatter": 16}


class Buffers(NamedTuple):
    """How blocks go through the buffers.

    Attributes
    ----------
    chunks : int
        Parts of a block that go one after the other.
    packed : int
        Blocks of a message, a power of two.
    trees : int
        Blocks that move at the same time, a power of two of at least `packed`.
    """

    chunks: int = 1
    packed: int = 1
    trees: int = 1


def buffers_of(operation: str, ranks: int, block: int, channels: int) -> Buffers:
    """Return how the blocks of an operation go through the buffers.

    Parameters
    ----------
    operation : str
        ``all_gather`` or ``reduce_scatter``.
    ranks : int
        Number of ranks.
    block : int
        Bytes of the block of a rank.
    channels : int
        Number of channels, which have an equal part of each block.

    Examples
    --------
    Of 16 ranks, 1 KiB of each moves with half of the others, and 1 MiB in chunks of 512 KiB.

    >>> buffers_of("all_gather", 16, 2**10, 1)
    Buffers(chunks=1, packed=8, trees=8)
    >>> buffers_of("all_gather", 16, 2**20, 1)
    Buffers(chunks=2, packed=1, trees=8)
    """
    slot, data = _LARGEST_SLOT, block * ranks
    while slot > _SMALLEST_SLOT and slot * channels * _SLOTS_IN_DATA[operation] > data:
        slot //= 2
    part = max(1, -(-block // channels))
    packed = 1
    while slot // (part * packed) >= 2 and packed < ranks // 2:
        packed *= 2
    trees = packed
    while trees < min(SLOTS * packed, ranks // 2):
        trees *= 2
    return Buffers(-(-part // slot), packed, trees)


class Message(NamedTuple):
    """A message of every rank.

    Attributes
    ----------
    hop : int
        Ranks between both ends.
    places : tuple of int
        For each block, the distance from its owner at the end that is farther from it. A distance
        that no rank has is an empty place, which NCCL sends, too.
    """

    hop: int
    places: tuple[int, ...]


def stages_of(operation: str, ranks: int, buffers: Buffers) -> list[list[Message]]:
    """Return the messages in order; those of a stage go at the same time.

    Examples
    --------
    >>> [[one.places for one in stage] for stage in stages_of("all_gather", 6, Buffers(1, 4, 4))]
    [[(4,)], [(2,)], [(1, 3, 5)]]
    """
    trees = buffers.trees
    stride = (1 << (ranks - 1).bit_length()) // trees
    scales = [1 << bit for bit in range(trees.bit_length() - 1)]
    joint = [range(scale * stride, trees * stride, 2 * scale * stride) for scale in scales]
    single = [range(place, trees * stride, stride) for place in _depth_first(stride)]
    if operation == "all_gather":
        stages = [list(stage) for stage in joint[::-1] + single]
    else:
        single.sort(key=lambda stage: -stage.start)
        stages = [_mirrored(stage) for stage in single + joint]
    return [list(_messages(stage, ranks, buffers.packed)) for stage in stages]


def _depth_first(size: int) -> Iterator[int]:
    """Yield the numbers from 1 to a power of two, depth first in their tree."""
    while size := size // 2:
        yield size
        yield from (size + below for below in _depth_first(size))


def _mirrored(stage: Sequence[int]) -> list[int]:
    """Return the distances by the mirrored binary digits of their numbers, from the largest on.

    The blocks that a message of a reduce-scatter packs then stay together as long as they can.
    """
    digits = len(stage).bit_length() - 1
    return [stage[int(f"{number:0{digits}b}"[::-1], 2)] for number in reversed(range(len(stage)))]


def _messages(stage: list[int], ranks: int, packed: int) -> Iterator[Message]:
    """Yield the messages of a stage, each up to its last block."""
    for cut in range(0, len(stage), packed):
        places = stage[cut : cut + packed]
        while places and places[-1] >= ranks:
            places.pop()
        if places:
            yield Message(places[0] & -places[0], tuple(places))


class _Steps:
    """The steps of member 0 of an operation, message by message.

    Parameters
    ----------
    operation : str
        ``all_gather`` or ``reduce_scatter``.
    ranks, chunks : int
        Number of ranks, and of the chunks of a block.
    """

    def __init__(self, operation: str, ranks: int, chunks: int) -> None:
        self.reduces = operation == "reduce_scatter"
        self.ranks, self.chunks = ranks, chunks
        self.space = ranks * chunks  # what messages pack comes after the blocks
        self.rows: list[tuple[Op, int, int, int, int]] = []
        self.edges: list[tuple[int, int]] = []
        self._handled: dict[int, int] = {}  # for each hop, the last message that is handled

    def chunk(self, number: int, stages: list[list[Message]]) -> None:
        """Add the steps for a chunk of each block.

        A GPU goes through its messages in order. Before it sends one, it has received those that
        it handles before: in an all-gather, blocks of a leaf; in a reduce-scatter, sums of others.
        """
        carrier = {place: one for stage in stages for one in stage for place in one.places}
        receives: dict[Message, int] = {}
        arrivals: dict[int, list[int]] = {}  # for each distance, after which steps it has the block
        for stage in stages:
            for message in stage:
                for place in message.places:
                    # The last message with a part of what goes to or comes from the place.
                    part = place + 1 if self.reduces else place - message.hop
                    if carrier.get(part) in receives:
                        self._handle(carrier[part], receives)
                receives[message] = self._message(message, number, arrivals)
            for message in stage:
                if (message.hop == 1) != self.reduces:
                    self._handle(message, receives)

    def _handle(self, message: Message, receives: dict[Message, int]) -> None:
        self._handled[message.hop] = max(self._handled.get(message.hop, 0), receives[message])

    def _message(self, message: Message, chunk: int, arrivals: dict[int, list[int]]) -> int:
        """Add the steps of a message, and return that which receives it."""
        hop, count, first = message.hop, len(message.places), self.space
        ends = [(place, place - hop)[:: 1 if self.reduces else -1] for place in message.places]
        # An empty place has the block of a leaf, which nothing is added to.
        sent, received = (
            [(end if end < self.ranks else 1) * self.chunks + chunk for end in side]
            for side in zip(*ends, strict=True)
        )
        before = [arrivals.get(source, []) for source, _ in ends]
        if count > 1:
            self.space += 2 * count
            before = [
                [self._add(Op.COPY, 0, unit, 1, first + place, before[place])]
                for place, unit in enumerate(sent)
            ]
            sent, received = [first, *sent], [first + count, *received]
        up, down = (hop, -hop) if self.reduces else (-hop, hop)
        waits = [*itertools.chain(*before), *self._handled.values()]
        send = self._add(Op.SEND, up, sent[0], count, len(self.rows) + 1, waits)
        op = Op.RECV_REDUCE if self.reduces and count == 1 else Op.RECV
        receive = self._add(op, down, received[0], count, send)
        for place, (source, target) in enumerate(ends):
            arrival = receive
            if max(source, target) >= self.ranks:
                continue
            if count > 1:
                op = Op.REDUCE if self.reduces else Op.COPY
                arrival = self._add(op, 0, received[0] + place, 1, received[1 + place], [receive])
            arrivals.setdefault(target, []).append(arrival)
        return receive

    def _add(
        self, op: Op, peer: int, offset: int, count: int, target: int, after: Iterable[int] = ()
    ) -> int:
        step = len(self.rows)
        self.rows.append((op, peer % self.ranks, offset, count, target))
        self.edges.extend((step, one) for one in sorted(set(after)))
        return step


def parallel_trees(
    operation: str, ranks: int, buffers: Buffers, dimension: str = "scale_out"
) -> Rotation:
    """Return the program of an all-gather or a reduce-scatter by parallel aggregated trees.

    Parameters
    ----------
    operation : str
        ``all_gather`` or ``reduce_scatter``.
    ranks : int
        Number of ranks, at least 2.
    buffers : Buffers
        How blocks go through the buffers.
    dimension : str
        Network dimension of the program.
    """
    steps = _Steps(operation, ranks, buffers.chunks)
    stages = stages_of(operation, ranks, buffers)
    for chunk in range(buffers.chunks):
        steps.chunk(chunk, stages)
    op, peer, offset, count, target = np.array(steps.rows, np.int64).T
    units = ranks * buffers.chunks
    return rotation(
        "nccl",
        operation,
        ranks,
        units=units,
        space=steps.space,
        equal_units=steps.space > units,
        dimension=dimension,
        op=op,
        peer=peer,
        offset=offset,
        count=count,
        target=target,
        edges=edge_list(steps.edges),
        # The blocks of a member begin at its own; what it packs is where it is for all members.
        offset_turn=np.where(offset < units, buffers.chunks, 0),
        target_turn=np.where(target < units, buffers.chunks, 0),
    )
