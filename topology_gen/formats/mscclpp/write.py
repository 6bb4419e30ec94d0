"""Writes a schedule as an MSCCL++ execution plan.

A rank has as many thread blocks as links in one direction. In each step, block i puts the chunks of
the rank's i-th outgoing link directly into the peer's memory, signals the peer, and waits for the
i-th incoming link. Then all blocks of the rank meet at a barrier. Chunks to be added arrive in
scratch memory that is used once; the blocks add them before a second barrier.
"""

from __future__ import annotations

import json
from collections import defaultdict
from itertools import zip_longest
from typing import Any

from topology_gen.errors import AlgorithmError
from topology_gen.formats.mscclpp.read import COLLECTIVES
from topology_gen.lowering.algorithm import Buffer, Place
from topology_gen.lowering.layout import Layout, Move, common_chunks
from topology_gen.schedules.all_reduce import AllReduce
from topology_gen.schedules.schedule import Schedule

MOST_OPERATIONS = 64
"""Greatest number of operations of a thread block (the executor's MAX_OPERATION)."""

_SPELLING = {operation: name for name, operation in COLLECTIVES.items()}


def write_plan(schedule: Schedule | AllReduce) -> str:
    """Return the execution plan of a schedule, out of place, with the Simple protocol.

    Parameters
    ----------
    schedule : Schedule or AllReduce
        A schedule that `topology_gen.schedules.replay.replay` accepts.

    Raises
    ------
    AlgorithmError
        A thread block exceeds the executor's limit of operations, or there are more chunks on links
        than fit into memory.

    See Also
    --------
    topology_gen.formats.mscclpp.read_plan
    """
    if schedule.operation not in _SPELLING:
        raise AlgorithmError(
            f"MSCCL++: expected one of {', '.join(_SPELLING)}, not {schedule.operation}"
        )
    layout = Layout(schedule, common_chunks(schedule))
    steps = list(layout.steps())
    ends = schedule.graph.edges()
    ranks = [_Rank(rank, layout, ends) for rank in range(layout.ranks)]
    used = sorted({link for step in steps for link, _ in step})
    for link in used:
        source, target = ends[link]
        ranks[source].out.append(link)
        ranks[target].into.append(link)
    # The k-th channel of a rank to a peer is connected to the peer's k-th channel to this rank.
    for link in used:
        for here, there in (ends[link], ends[link][::-1]):
            ranks[here].channel[link] = len(ranks[here].peers)
            ranks[here].peers.append(there)
    for rank in ranks:
        rank.begin()
    for step in steps:
        _step(step, ranks, ends)
    plan = {
        "name": f"{schedule.operation}_{schedule.graph.name}",
        "collective": _SPELLING[layout.operation],
        "protocol": "Simple",
        "inplace": False,
        "reuse_resources": False,
        "gpus": [rank.gpu() for rank in ranks],
        "num_threads_per_block": 1024,
        "use_double_scratch_buffer": False,
        "buffer_alignment": 16,
        "min_message_size": 0,
        "max_message_size": 2**64 - 1,
    }
    return json.dumps(plan, indent=2) + "\n"


def _step(step: list[tuple[int, Move]], ranks: list[_Rank], ends: list[tuple[int, int]]) -> None:
    by_link: dict[int, list[Move]] = defaultdict(list)
    for link, move in step:
        by_link[link].append(move)
    reducing = any(move.operand is not None for _, move in step)
    landed: list[list[tuple[Move, Place]]] = [[] for _ in ranks]
    for link, moves in by_link.items():
        source, target = ends[link]
        places = []
        for move in moves:
            place = move.target
            if move.operand is not None:
                place = ranks[target].stage(move.chunks)
                landed[target].append((move, place))
            places.append(place)
        ranks[source].put(link, moves, places)
    for link in by_link:
        ranks[ends[link][1]].wait(link)
    for rank, arrived in zip(ranks, landed, strict=True):
        rank.meet()
        if reducing:
            rank.reduce(arrived)
            rank.meet()


class _Rank:
    """A rank's entry in the plan, to which operations are added."""

    def __init__(self, rank: int, layout: Layout, ends: list[tuple[int, int]]) -> None:
        self.out: list[int] = []
        self.into: list[int] = []
        self.peers: list[int] = []
        self.channel: dict[int, int] = {}
        self._rank = rank
        self._layout = layout
        self._ends = ends
        self._scratch = int(layout.scratch[rank])
        self._remote: dict[tuple[int, str], int] = {}
        self._operations: list[list[dict[str, Any]]] = []
        self._channels: list[list[int]] = []
        self._buffers: list[list[int]] = []

    def begin(self) -> None:
        """Signal the senders that this rank is ready, and wait for the receivers to be ready."""
        for out, into in zip_longest(self.out, self.into):
            links = [link for link in (out, into) if link is not None]
            operations = []
            if into is not None:
                operations.append(_sync("signal", links.index(into)))
            if out is not None:
                operations.append(_sync("wait", 0))
            self._operations.append(operations)
            self._channels.append([self.channel[link] for link in links])
            self._buffers.append([])
        own = self._layout.own(self._rank)
        if own is not None:
            source, target, count = own
            self._operations[0].append(
                {
                    "name": "copy",
                    "src_buff": [_chunks(source, count)],
                    "dst_buff": [_chunks(target, count)],
                }
            )

    def stage(self, count: int) -> Place:
        """Return a place in scratch memory that nothing else uses."""
        self._scratch += count
        return Place(Buffer.SCRATCH, self._scratch - count)

    def put(self, link: int, moves: list[Move], places: list[Place]) -> None:
        """Write into the memory of a link's target, and signal the target after the last put."""
        block, peer = self.out.index(link), self._ends[link][1]
        for number, (move, place) in enumerate(zip(moves, places, strict=True), 1):
            remote = self._remote.setdefault((peer, place.buffer.value), len(self._remote))
            buffers = self._buffers[block]
            if remote not in buffers:
                buffers.append(remote)
            self._operations[block].append(
                {
                    "name": "pws" if number == len(moves) else "put",
                    "src_buff": [_chunks(move.source, move.chunks)],
                    "dst_buff": [
                        {
                            "buffer_id": buffers.index(remote),
                            "index": place.offset,
                            "size": move.chunks,
                        }
                    ],
                    "channel_ids": [0],
                    "channel_type": "port",
                }
            )

    def wait(self, link: int) -> None:
        """Wait until the chunks that a link carries in this step have arrived."""
        block = self.into.index(link)
        self._operations[block].append(_sync("wait", len(self._channels[block]) - 1))

    def meet(self) -> None:
        """Add a barrier at which all blocks wait for each other."""
        blocks = len(self._operations)
        for operations in self._operations:
            operations.append(
                {"name": "barrier", "barrier_id": 0, "num_threadblocks": blocks}
                if blocks > 1
                else {"name": "nop"}
            )

    def reduce(self, arrived: list[tuple[Move, Place]]) -> None:
        """Add what arrived; one block adds everything for the same chunks, in the given order."""
        order = sorted(range(len(arrived)), key=lambda i: (arrived[i][0].target, i))
        cluster, end, last = -1, 0, Buffer.INPUT
        of = [0] * len(arrived)
        for i in order:
            target, count = arrived[i][0].target, arrived[i][0].chunks
            if target.buffer is not last or target.offset >= end:
                cluster, end, last = cluster + 1, 0, target.buffer
            of[i] = cluster
            end = max(end, target.offset + count)
        begun: set[int] = set()
        for (move, place), number in zip(arrived, of, strict=True):
            assert move.operand is not None
            operations = self._operations[number % len(self._operations)]
            if number in begun:
                operations.append({"name": "nop"})
            begun.add(number)
            operations.append(
                {
                    "name": "re",
                    "src_buff": [_chunks(move.operand, move.chunks), _chunks(place, move.chunks)],
                    "dst_buff": [_chunks(move.target, move.chunks)],
                    "reduce_op": "sum",
                }
            )

    def gpu(self) -> dict[str, Any]:
        """Return the entry of the plan."""
        for block, _ in enumerate(self.out):
            flush = {"name": "flush", "channel_ids": [0], "channel_type": "port"}
            self._operations[block].append(flush)
        for block, operations in enumerate(self._operations):
            if len(operations) > MOST_OPERATIONS:
                raise AlgorithmError(
                    f"MSCCL++: gpu {self._rank} thread block {block} has {len(operations)} "
                    f"operations: expected at most {MOST_OPERATIONS}"
                )
        layout = self._layout
        whole, shard = layout.ranks * layout.chunks, layout.chunks
        return {
            "id": self._rank,
            "input_chunks": shard if layout.operation == "all_gather" else whole,
            "output_chunks": shard if layout.operation == "reduce_scatter" else whole,
            "scratch_chunks": self._scratch,
            "threadblocks": [
                {
                    "id": block,
                    "ops": operations,
                    "channels": [{"channel_type": "port", "channel_ids": self._channels[block]}],
                    "remote_buffer_refs": [
                        {"access_channel_type": "port", "remote_buffer_ids": self._buffers[block]}
                    ]
                    if self._buffers[block]
                    else [],
                }
                for block, operations in enumerate(self._operations)
            ],
            "channels": [{"channel_type": "port", "connected_to": self.peers}],
            "remote_buffers": [
                {"rank": peer, "type": buffer, "access_channel_types": ["port"]}
                for peer, buffer in self._remote
            ],
            "semaphores": [],
        }


def _sync(name: str, channel: int) -> dict[str, Any]:
    return {"name": name, "channel_ids": [channel], "channel_type": "port"}


def _chunks(place: Place, count: int) -> dict[str, Any]:
    return {"type": place.buffer.value, "index": place.offset, "size": count}
