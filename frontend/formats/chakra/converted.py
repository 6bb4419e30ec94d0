"""What the traces of PyTorch's converter leave out.

They lack nodes of the host, types of collectives, and counterparts of sends and receives.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from frontend.formats.chakra.decode import ChakraTrace
from frontend.formats.chakra.schema import ChakraType
from frontend.nodes import Wide

Where = NDArray[np.bool_]

_NO_RANK = 2**32 - 1


def check_dependencies(trace: ChakraTrace) -> None:
    """Check that every node that another one depends on is in the file.

    Raises
    ------
    ScenarioError
        For the first node that depends on another one.
    """
    for node, missing in trace.dangling:
        raise trace.fail(node, f"depends on node {missing}, which the file does not have")


def dangling(trace: ChakraTrace) -> Where:
    """Return which nodes depend on nodes that the file does not have."""
    where = np.zeros(trace.size, np.bool_)
    where[[node for node, _ in trace.dangling]] = True
    return where


def launches(trace: ChakraTrace) -> Where:
    """Return which collectives are only their start on the CPU.

    The converter marks the operator of PyTorch on the CPU as a collective too, without a type. The
    collective itself is another node, on the accelerator.
    """
    where = trace.type == ChakraType.COMM_COLL
    on_cpu: Where = where & (trace.number("is_cpu_op", where, 0) != 0) & ~trace.has("comm_type")
    return on_cpu


def peers(trace: ChakraTrace) -> Wide:
    """Return the other rank of each send and receive, where the trace names it."""
    return np.where(
        trace.type == ChakraType.COMM_SEND,
        trace.numbers["comm_dst"][0],
        trace.numbers["comm_src"][0],
    )


def check_ends(rank: int, trace: ChakraTrace) -> None:
    """Check that every send and receive has a peer and a size, and belongs to its rank.

    Raises
    ------
    ScenarioError
        For the first node that does not.
    """
    for kind, peer, own in (
        (ChakraType.COMM_SEND, "comm_dst", "comm_src"),
        (ChakraType.COMM_RECV, "comm_src", "comm_dst"),
    ):
        where = trace.type == kind
        trace.number(peer, where)
        trace.number("comm_size", where)
        trace.number("comm_tag", where, 0)
        _check_own(rank, trace, where, own)


def _check_own(rank: int, trace: ChakraTrace, where: Where, own: str) -> None:
    foreign = where & (trace.number(own, where, rank) != rank)
    if foreign.any():
        node = int(np.argmax(foreign))
        raise trace.fail(
            node, f"{own} {trace.numbers[own][0][node]}: expected {rank}, the rank of the file"
        )


def unmatched(traces: Sequence[ChakraTrace]) -> list[Where]:
    """Return which sends and receives of each rank have no peer, no size or no counterpart.

    If a pair of ranks has more sends than receives with the same tag and size, or the other way
    round, the last ones have none.
    """
    rows, places = [], []
    lacking = [np.zeros(trace.size, np.bool_) for trace in traces]
    for rank, trace in enumerate(traces):
        send = trace.type == ChakraType.COMM_SEND
        message = send | (trace.type == ChakraType.COMM_RECV)
        peer = np.where(send, trace.has("comm_dst"), trace.has("comm_src"))
        usable = message & peer & trace.has("comm_size")
        lacking[rank] = message & ~usable
        node = np.flatnonzero(usable)
        other = np.minimum(peers(trace), _NO_RANK)[node].astype(np.int64)
        sends = send[node]
        size = trace.numbers["comm_size"][0][node].astype(np.int64)
        tag = trace.number("comm_tag", usable, 0)[node].astype(np.int64)
        source, target = np.where(sends, rank, other), np.where(sends, other, rank)
        rows.append(np.stack([source, target, tag, size], axis=1))
        places.append(np.stack([np.full(node.size, rank), node, sends], axis=1))
    key = np.unique(np.concatenate(rows), axis=0, return_inverse=True)[1].reshape(-1)
    place = np.concatenate(places)
    _, turn = np.unique(np.stack([key, place[:, 2]], axis=1), axis=0, return_inverse=True)
    order = np.argsort(turn.reshape(-1), kind="stable")
    number = np.empty(key.size, np.int64)
    sorted_turn = turn.reshape(-1)[order]
    begin = np.searchsorted(sorted_turn, sorted_turn)
    number[order] = np.arange(key.size) - begin
    keys = int(key.max(initial=-1)) + 1
    sends = np.bincount(key[place[:, 2] == 1], minlength=keys)
    receives = np.bincount(key[place[:, 2] == 0], minlength=keys)
    alone = number >= np.minimum(sends, receives)[key]
    alone |= np.concatenate(rows)[:, 0] == np.concatenate(rows)[:, 1]
    for rank, node, _ in place[alone].tolist():
        lacking[rank][node] = True
    return lacking
