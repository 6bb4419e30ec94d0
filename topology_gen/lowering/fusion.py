"""Fuses a receive with the send that forwards what it has received.

A fused instruction belongs to a thread block that both receives and sends. Until the next rank
receives, the data lies in the connection, so a connection must be able to hold it: if ranks fuse
around a cycle, nobody receives before it has sent. All blocks therefore first send the messages of
a step and then receive those of the step. A fused receive sends a message of the next step. If a
connection can hold all messages of a step and the fused ones of the next, then of all blocks that
wait, the one whose next message is first in this order can continue.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from topology_gen.arrays import Numbers
from topology_gen.lowering.layout import SCRATCH, WIDTH, Moves

BUFFERED = {"Simple": (2, 2**21), "LL": (8, 2**15), "LL128": (8, 576_000)}
"""For each protocol, the messages that a connection holds and the greatest size of one [bytes].

They follow from NCCL's default buffers and eight steps: MSCCL uses four steps for a message with
Simple and one with the others (Azure/msccl-executor-nccl, mscclSetupCount and MSCCL_CHUNKSTEPS).
"""


class Fusion(NamedTuple):
    """What is fused.

    Attributes
    ----------
    partner : int64 array
        For each port that sends, the port of the same rank whose block receives and sends for both,
        or -1.
    before : int64 array
        For each move, the move whose receive also sends it, or -1.
    number : int64 array
        For each move, its number among those of its port and step; 0 if nothing is fused, so that
        moves keep their order.
    """

    partner: Numbers
    before: Numbers
    number: Numbers


def pieces(count: Numbers, chunks: int, protocol: str, most_bytes: int) -> Numbers:
    """Return the number of messages that the runtime makes of instructions.

    Parameters
    ----------
    count : array
        Number of chunks of each instruction.
    chunks : int
        Number of chunks of the whole data.
    protocol : str
        "Simple", "LL" or "LL128".
    most_bytes : int
        The greatest size of the data [bytes]; 0 means no limit, and each chunk may need a message.
    """
    whole = BUFFERED[protocol][1] // -(-most_bytes // chunks) if most_bytes else 0
    return -(-count // max(whole, 1))


def fuse(
    moves: Moves, port: Numbers, ends: Numbers, channel: Numbers, size: Numbers, held: int
) -> Fusion:
    """Return what can be fused if connections hold a number of messages.

    Parameters
    ----------
    moves : Moves
        The moves of a schedule.
    port : array, shape (moves,)
        The port of each move: a link and one of its channels.
    ends : array, shape (ports, 2)
        The source and the target of each port.
    channel : array, shape (ports,)
        The number of each port's channel. Both ports of a block must have the same.
    size : array, shape (moves,)
        Number of messages of each move; see `pieces`.
    held : int
        Number of messages that a connection holds.
    """
    group = moves.step * len(ends) + port
    largest, most = np.zeros(len(ends), np.int64), np.zeros(len(ends), np.int64)
    np.maximum.at(largest, port, size)
    groups, number = np.unique(group, return_counts=True)
    np.maximum.at(most, groups % len(ends), number)
    holds = held // np.maximum(largest, 1)
    # What a connection can hold beside the messages of the step before.
    last = np.minimum(np.searchsorted(groups, group - len(ends)), groups.size - 1)
    room = holds[port] - np.where(groups[last] == group - len(ends), number[last], 0)
    first = _forwarded(moves, ends[port])
    pairs = np.flatnonzero((first >= 0) & (room > 0))
    one, other = port[first[pairs]], port[pairs]
    enough = (holds[one] >= most[one]) & (holds[other] >= most[other])
    pairs = pairs[enough & (channel[one] == channel[other])]
    partner = _matched(port[first[pairs]], port[pairs], len(ends))
    pairs = pairs[partner[port[pairs]] == port[first[pairs]]]
    order = np.argsort(group[pairs], kind="stable")
    place = np.empty(pairs.size, np.int64)
    place[order] = np.arange(pairs.size) - np.searchsorted(group[pairs[order]], group[pairs[order]])
    pairs = pairs[place < room[pairs]]
    before = np.full(port.size, -1)
    before[pairs] = first[pairs]
    number = _numbers(moves, port, before) if pairs.size else np.zeros_like(before)
    return Fusion(partner, before, number)


def _forwarded(moves: Moves, ends: Numbers) -> Numbers:
    """Return, for each move, the one of the step before that brings the same chunks, or -1.

    Where several receives of a step add to a place, none of them counts.
    """
    step, steps = moves.step, len(moves.step_begin)
    places = np.concatenate([moves.source, moves.target])
    width = int((places % WIDTH).max(initial=0) + moves.count.max(initial=0)) + 1

    def key(rank: Numbers, step: Numbers, place: Numbers) -> Numbers:
        """Return a number for a place of a rank in a step."""
        buffer, offset = np.divmod(place, WIDTH)
        return ((rank * steps + step) * (SCRATCH + 1) + buffer) * width + offset

    begin = key(ends[:, 1], step, moves.target)
    order = np.argsort(begin, kind="stable")
    begin = begin[order]
    end = begin + moves.count[order]
    alone = np.ones(order.size, np.bool_)
    alone[1:] &= np.maximum.accumulate(end)[:-1] <= begin[1:]
    alone[:-1] &= end[:-1] <= begin[1:]
    wanted = np.where(step > 0, key(ends[:, 0], step - 1, moves.source), -1)
    found = np.minimum(np.searchsorted(begin, wanted), max(order.size - 1, 0))
    same = (begin[found] == wanted) & (moves.count[order[found]] == moves.count) & alone[found]
    return np.where(same, order[found], -1)


def _matched(receiving: Numbers, sending: Numbers, ports: int) -> Numbers:
    """Return the partners of ports that send, those with the most common messages first."""
    pairs, number = np.unique(receiving * ports + sending, return_counts=True)
    partner, taken = [-1] * ports, [False] * ports
    for pair in pairs[np.argsort(-number, kind="stable")].tolist():
        one, other = divmod(pair, ports)
        if not taken[one] and partner[other] < 0:
            taken[one], partner[other] = True, one
    return np.array(partner, np.int64)


def _numbers(moves: Moves, port: Numbers, before: Numbers) -> Numbers:
    """Return the number of each move among those of its port and step.

    Fused moves come first, in the order in which their data was received.
    """
    number = np.zeros(port.size, np.int64)
    for begin, end in zip(moves.step_begin[:-1], moves.step_begin[1:], strict=True):
        now = slice(int(begin), int(end))
        earlier = before[now]
        turn = np.where(earlier >= 0, number[earlier], np.iinfo(np.int64).max)
        order = np.lexsort((turn, port[now]))
        by_port = port[now][order]
        number[begin + order] = np.arange(by_port.size) - np.searchsorted(by_port, by_port)
    return number
