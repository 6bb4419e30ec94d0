"""Algorithms with log2(N) rounds: recursive halving and doubling, and Bruck's all-to-all.

In each round, a reduce-scatter exchanges half of the remaining data ("vector halving"), and an
all-gather doubles the data of each rank. Let P be the largest power of two that is at most N. The
r = N-P extra ranks 0, 2, … 2r-2 fold their data into their odd neighbours before the rounds, and
get their result from them afterwards.

With a buffer of D bytes, the traffic of each member is:

- all-reduce: 2(P-1)/P·D. An extra rank sends and receives D, and its neighbour D more.
- reduce-scatter: every member sends (N-1)/N·D. This includes extra ranks and their neighbours: an
  extra rank keeps its own shard, and its neighbour returns that shard instead of sending its own.
- all-gather: every member receives (N-1)/N·D.
- all-to-all: the sum over j = 1 … N-1 of the set bits of j, in blocks of D/N. For a power of two,
  this is N/2·log2(N) blocks.

Source: R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of collective communication operations
in MPICH", IJHPCA 19 (2005); J. Bruck et al., "Efficient algorithms for all-to-all communications in
multiport message-passing systems", IEEE TPDS 8 (1997).

Dissemination barrier: ceil(log2 N) rounds, in which each member tells what it has heard. In round
k, member i sends to member i - 2^k that the members i … i + 2^k - 1 have arrived.

Source: D. Hensgen, R. Finkel, U. Manber, "Two algorithms for barrier synchronization",
International Journal of Parallel Programming 17 (1988).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from frontend.collectives.program.program import Op, Program, ProgramBuilder
from frontend.collectives.program.rotation import Rotation, edge_list, rotation
from frontend.collectives.registry import (
    MOST_BUILT_STEPS,
    Algorithm,
    always_works,
    require_numbers,
    require_written,
)
from frontend.collectives.setting import Setting


class _Participants:
    """The P ranks that take part in the rounds, and the receives of each one so far."""

    def __init__(self, group_size: int, builder: ProgramBuilder, starts: Sequence[int]) -> None:
        self.size = 1 << (group_size.bit_length() - 1)
        self.extras = group_size - self.size
        self.ranks = [2 * v + 1 if v < self.extras else v + self.extras for v in range(self.size)]
        self._builder = builder
        self._starts = starts  # first unit of each of the P parts, and the end of the last one
        self._received: list[list[tuple[range, int]]] = [[] for _ in range(self.size)]
        self._range = [(0, self.size)] * self.size

    def _needed(self, v: int, units: range) -> list[int]:
        """Return the receives of participant v that wrote any of these units."""
        return [
            handle
            for received, handle in self._received[v]
            if max(received.start, units.start) < min(received.stop, units.stop)
        ]

    def _send(self, v: int, peer: int, begin: int, end: int, reduce: bool) -> tuple[range, int]:
        """Send parts begin … end-1; return their units and the handle of the receive."""
        units = range(self._starts[begin], self._starts[end])
        after = self._needed(v, units)
        return units, self._move(self.ranks[v], self.ranks[peer], units, reduce, after)

    def _move(
        self, source: int, target: int, units: range, reduce: bool, after: Sequence[int] = ()
    ) -> int:
        """Send units from rank to rank, and return the handle of the receive."""
        _, received = self._builder.message(
            source, target, units.start, len(units), reduce=reduce, after=after
        )
        return received

    def halve(self, bits: Sequence[int]) -> None:
        """Add a reduce-scatter: in each round, keep one half and send the other to the partner."""
        for bit in bits:
            arrived = []
            for v, (begin, end) in enumerate(self._range):
                middle = (begin + end) // 2
                keeps_low = not v & bit
                sent = (middle, end) if keeps_low else (begin, middle)
                arrived.append((v ^ bit, self._send(v, v ^ bit, *sent, reduce=True)))
                self._range[v] = (begin, middle) if keeps_low else (middle, end)
            self._note(arrived)

    def double(self, bits: Sequence[int]) -> None:
        """Add an all-gather: in each round, exchange all available parts with the partner."""
        for bit in bits:
            ranges = list(self._range)
            arrived = []
            for v, (begin, end) in enumerate(ranges):
                other = ranges[v ^ bit]
                arrived.append((v ^ bit, self._send(v, v ^ bit, begin, end, reduce=False)))
                self._range[v] = (min(begin, other[0]), max(end, other[1]))
            self._note(arrived)

    def own_parts(self) -> None:
        """Start an all-gather in which participant v has only part v."""
        self._range = [(v, v + 1) for v in range(self.size)]

    def _note(self, arrived: list[tuple[int, tuple[range, int]]]) -> None:
        for v, received in arrived:
            self._received[v].append(received)

    def fold(self, v: int, units: range, *, reduce: bool) -> None:
        """Send units to participant v from its extra rank."""
        if units:
            rank = self.ranks[v]
            self._received[v].append((units, self._move(rank - 1, rank, units, reduce)))

    def unfold(self, v: int, units: range, *, reduce: bool) -> None:
        """Send units from participant v to its extra rank."""
        if units:
            rank = self.ranks[v]
            self._move(rank, rank - 1, units, reduce, self._needed(v, units))


def all_reduce(group_size: int, *, dimension: str = "scale_out") -> Program:
    """Return vector halving with distance doubling, followed by the reverse.

    Large messages go to near ranks.
    """
    size = 1 << (group_size.bit_length() - 1)
    builder = ProgramBuilder(
        "halving_doubling", "all_reduce", group_size, units=size, dimensions=(dimension,)
    )
    ranks = _Participants(group_size, builder, range(size + 1))
    bits = [1 << i for i in range(size.bit_length() - 1)]
    for v in range(ranks.extras):
        ranks.fold(v, range(size), reduce=True)
    ranks.halve(bits)
    ranks.double(bits[::-1])
    for v in range(ranks.extras):
        ranks.unfold(v, range(size), reduce=False)
    return builder.build()


def _sharded(
    operation: str, group_size: int, dimension: str
) -> tuple[_Participants, ProgramBuilder]:
    """Return participants and builder for N shards; part v has the shards of v and its extra."""
    builder = ProgramBuilder(
        "halving_doubling", operation, group_size, units=group_size, dimensions=(dimension,)
    )
    size = 1 << (group_size.bit_length() - 1)
    extras = group_size - size
    starts = [2 * v if v < extras else v + extras for v in range(size + 1)]
    return _Participants(group_size, builder, starts), builder


def reduce_scatter(group_size: int, *, dimension: str = "scale_out") -> Program:
    """Return vector halving with distance halving, which leaves part v at participant v."""
    ranks, builder = _sharded("reduce_scatter", group_size, dimension)
    for v in range(ranks.extras):
        shard = 2 * v  # the extra rank's own shard, whose contribution stays there
        ranks.fold(v, range(shard), reduce=True)
        ranks.fold(v, range(shard + 1, group_size), reduce=True)
    ranks.halve([1 << i for i in reversed(range(ranks.size.bit_length() - 1))])
    for v in range(ranks.extras):
        ranks.unfold(v, range(2 * v, 2 * v + 1), reduce=True)
    return builder.build()


def all_gather(group_size: int, *, dimension: str = "scale_out") -> Program:
    """Return vector doubling with distance doubling."""
    ranks, builder = _sharded("all_gather", group_size, dimension)
    for v in range(ranks.extras):
        ranks.fold(v, range(2 * v, 2 * v + 1), reduce=False)
    ranks.own_parts()
    ranks.double([1 << i for i in range(ranks.size.bit_length() - 1)])
    for v in range(ranks.extras):
        shard = 2 * v
        ranks.unfold(v, range(shard), reduce=False)
        ranks.unfold(v, range(shard + 1, group_size), reduce=False)
    return builder.build()


def all_to_all(group_size: int, *, dimension: str = "scale_out") -> Rotation:
    """Return Bruck's algorithm, which stores and forwards blocks in log2(N) rounds.

    Let a block be for the member that is j members ahead. If j has bit k, the block moves 2^k
    members ahead in round k. COPY steps pack the blocks of a round from the input or from earlier
    messages, and write the received blocks to the output at the end.
    """
    size = group_size
    ops: list[Op] = []
    peers: list[int] = []
    counts: list[int] = []
    edges: list[tuple[int, int]] = []
    offsets: list[int] = []
    targets: list[int] = []

    def add(op: Op, peer: int, offset: int, count: int, target: int) -> int:
        ops.append(op)
        peers.append(peer)
        counts.append(count)
        offsets.append(offset)
        targets.append(target)
        return len(ops) - 1

    def copy(offset: int, count: int, target: int, after: int | None = None) -> int:
        step = add(Op.COPY, 0, offset, count, target)
        if after is not None:
            edges.append((step, after))
        return step

    copy(0, 1, size)
    scratch = 2 * size
    arrival: dict[int, tuple[int, int]] = {}  # block j -> its address and RECV, once it has moved
    for bit in (1 << k for k in range((size - 1).bit_length())):
        moving = [j for j in range(1, size) if j & bit]
        packed, received = scratch, scratch + len(moving)
        packs: list[int] = []
        begin = 0
        while begin < len(moving):  # one COPY for each run of blocks that arrived contiguously
            j, end = moving[begin], begin + 1
            if j not in arrival:
                packs.append(copy(j, 1, packed + begin))
            else:
                address, step = arrival[j]
                while end < len(moving) and arrival.get(moving[end]) == (
                    address + end - begin,
                    step,
                ):
                    end += 1
                packs.append(copy(address, end - begin, packed + begin, step))
            begin = end
        send = add(Op.SEND, bit, packed, len(moving), len(ops) + 1)
        step = add(Op.RECV, size - bit, received, len(moving), send)
        edges.extend((send, pack) for pack in packs)
        arrival.update((j, (received + i, step)) for i, j in enumerate(moving))
        scratch = received + len(moving)
    for j, (address, step) in arrival.items():
        copy(address, 1, 2 * size - j, step)
    return rotation(
        "halving_doubling",
        "all_to_all",
        size,
        units=size,
        space=scratch,
        equal_units=True,
        dimension=dimension,
        op=ops,
        peer=peers,
        offset=offsets,
        count=counts,
        target=targets,
        edges=edge_list(edges),
        # The data and the output of a member begin at its own block; scratch is alike.
        offset_turn=np.array(offsets) < size,
        target_turn=np.array(targets) < 2 * size,
    )


def _check(setting: Setting) -> None:
    """Accept groups in which the steps can be numbered, or written."""
    size = len(setting.ranks)
    if setting.operation == "all_to_all":
        require_numbers(size, size)  # a COPY of each block to the output, and others
        require_numbers(size, all_to_all(size).op.size)
        return
    members = 1 << (size.bit_length() - 1)
    rounds = (members.bit_length() - 1) * (2 if setting.operation == "all_reduce" else 1)
    require_written(2 * members * rounds, MOST_BUILT_STEPS)


HALVING_DOUBLING = Algorithm(
    "halving_doubling",
    "recursive halving and doubling in log2(N) rounds; Bruck's algorithm for all-to-all",
    {
        "all_reduce": all_reduce,
        "reduce_scatter": reduce_scatter,
        "all_gather": all_gather,
        "all_to_all": all_to_all,
    },
    check=_check,
)


def barrier(group_size: int, *, dimension: str = "scale_out") -> Program:
    """Return the rounds; unit `size + k` of member i is the token of member i + k."""
    size = group_size
    builder = ProgramBuilder(
        "dissemination",
        "barrier",
        size,
        units=size,
        space=2 * size,
        equal_units=True,
        dimensions=(dimension,),
    )
    # Of each member: where tokens that it has heard begin, and the step after which they are there.
    heard = [[(0, builder.copy(member, member, size, 1))] for member in range(size)]

    def steps(member: int, first: int, last: int) -> list[int]:
        """Return the steps that bring the tokens `first` … `last` - 1."""
        begins = [begin for begin, _ in heard[member][1:]] + [size]
        return [
            step
            for (begin, step), end in zip(heard[member], begins, strict=True)
            if begin < last and end > first
        ]

    known = 1
    while known < size:
        count = min(known, size - known)
        received = []
        for member in range(size):
            source = (member + known) % size
            _, receive = builder.message(
                source, member, size, count, into=size + known, after=steps(source, 0, count)
            )
            received.append(receive)
        for member, receive in enumerate(received):
            heard[member].append((known, receive))
        known += count
    for member in range(size):
        ahead = size - member  # tokens of this member and of those with higher numbers
        if ahead > 1:
            builder.copy(member, size + 1, member + 1, ahead - 1, after=steps(member, 1, ahead))
        if member:
            builder.copy(member, size + ahead, 0, member, after=steps(member, ahead, size))
    return builder.build()


DISSEMINATION = Algorithm(
    "dissemination",
    "a barrier in as many rounds as the size of the group has binary digits",
    {"barrier": barrier},
    check=always_works,
)
