"""Direct all-to-all with blocks of unequal sizes, as the routing of experts makes them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from frontend.collectives.program.blocks import Blocks, block_places, block_units
from frontend.collectives.program.errors import CollectiveError
from frontend.collectives.program.program import Ints, Op, Program, assemble


def all_to_all(group_size: int, blocks: Blocks, order: Ints, dimension: str) -> Program:
    """Return the program in which member i sends ``blocks[i][j]`` units to member j.

    A member holds the blocks that it sends, and the blocks that it receives, in the order of the
    other members. Empty blocks are not sent.

    Parameters
    ----------
    group_size : int
        Number of members N.
    blocks : Blocks
        N rows of N numbers.
    order : array, shape (N, N-1)
        The order in which each member sends to the others.
    dimension : str
        Network dimension of the program.

    Raises
    ------
    CollectiveError
        If there are not N rows of N numbers.
    """
    table = np.array(blocks, np.int64)
    if table.shape != (group_size, group_size):
        raise CollectiveError(
            f"a matrix of {' × '.join(map(str, table.shape))} blocks: expected {group_size} rows "
            f"of {group_size}, one for each member of the group"
        )
    units = block_units(blocks)
    sent, received = block_places(table)
    received += units
    own = np.flatnonzero(table.diagonal())
    source = np.repeat(np.arange(group_size), group_size - 1)
    target = order.reshape(-1)
    kept = table[source, target] > 0
    source, target = source[kept], target[kept]
    # Receives in the order in which rotated sends arrive.
    arriving = np.lexsort(((target - source) % group_size, target))
    copies, messages = own.size, source.size
    sends = copies + np.arange(messages)
    receives = np.empty(messages, np.int64)
    receives[arriving] = copies + messages + np.arange(messages)
    count = table[source, target]

    def rows(member: Ints, op: Op, peer: Ints, offset: Ints, count: Ints, target: Ints) -> Ints:
        columns = np.broadcast_arrays(member, 0, op, peer, offset, count, target)
        return np.column_stack(columns).astype(np.int64)

    steps = np.vstack((
        rows(own, Op.COPY, own, sent[own, own], table[own, own], received[own, own]),
        rows(source, Op.SEND, target, sent[source, target], count, receives),
        rows(target, Op.RECV, source, received[source, target], count, sends)[arriving],
    ))  # fmt: skip
    program = assemble(
        "direct",
        "all_to_all",
        group_size,
        units,
        2 * units,
        False,
        (dimension,),
        steps,
        np.zeros((0, 2), np.int64),
    )
    return replace(program, blocks=table.astype(np.uint32))
