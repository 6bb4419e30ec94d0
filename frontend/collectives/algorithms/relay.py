"""An all-to-all that relays each block on its own around a ring.

In a group of N, blocks for the member k places away take k hops. First all blocks of distance 1
move, then those of distance 2, and so on. A member sends a block when it has received the one
before, so it sends N(N-1)/2 messages of one block, one after the other, where the all-to-all of
`ring` sends N-1 bundles.

Source: ASTRA-sim, whose `ring` does an all-to-all so.
"""

from __future__ import annotations

import numpy as np

from frontend.collectives.program.program import Op
from frontend.collectives.program.rotation import Rotation, edge_list, rotation
from frontend.collectives.registry import Algorithm, require_numbers
from frontend.collectives.setting import Setting


def all_to_all(group_size: int, *, dimension: str = "scale_out") -> Rotation:
    """Return N(N-1)/2 rounds, in each of which every member sends one block to the next one."""
    size = group_size
    distance = np.repeat(np.arange(1, size), np.arange(1, size))
    hop = np.concatenate([np.arange(k) for k in range(1, size)])
    rounds = distance.size
    steps = 1 + 2 * rounds  # the copy of the own block, then a SEND and a RECV for each round
    last = hop == distance - 1
    relayed = 2 * size + np.cumsum(~last) - 1  # where a block that goes on waits
    arrived = np.where(last, size + size - distance, relayed)

    op = np.concatenate(([Op.COPY], np.tile([Op.SEND, Op.RECV], rounds)))
    offset, target = np.zeros(steps, np.int64), np.arange(steps)
    target[0] = size
    own = hop == 0
    offset[1::2] = np.where(own, distance, np.concatenate(([0], arrived[:-1])))
    offset[2::2] = arrived
    target[1::2], target[2::2] = np.arange(2, steps, 2), np.arange(1, steps, 2)
    peer = np.ones(steps, np.int64)
    peer[2::2] = size - 1
    turn = np.zeros(steps, bool)  # blocks of the own data, and of the output, by source
    turn[0] = True
    turn[1::2] = own
    turn[2::2] = last
    return rotation(
        "relay",
        "all_to_all",
        size,
        units=size,
        space=int(max(relayed[-1] + 1, 2 * size)),
        equal_units=True,
        dimension=dimension,
        op=op,
        peer=peer,
        offset=offset,
        count=np.ones(steps, np.int64),
        target=target,
        edges=edge_list([(s, s - 1) for s in range(3, steps, 2)]),
        offset_turn=turn,
        target_turn=np.arange(steps) == 0,
    )


def _check(setting: Setting) -> None:
    """Accept groups in which the N(N-1)/2 rounds can be numbered: a SEND and a RECV in each."""
    size = len(setting.ranks)
    require_numbers(size, 1 + size * (size - 1))


ALGORITHM = Algorithm(
    "relay",
    "a ring that relays each block on its own, as ASTRA-sim's ring all-to-all",
    {"all_to_all": all_to_all},
    check=_check,
)
