"""Places of the blocks of an all-to-all whose sizes differ."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from frontend.collectives.program.program import Ints

Blocks = tuple[tuple[int, ...], ...]
"""Row i has the units that member i sends to each member, itself included."""


def block_units(blocks: Sequence[Sequence[int]]) -> int:
    """Return the units of a buffer that holds the data of any member, sent or received."""
    table = np.array(blocks, np.int64)
    return max(1, int(table.sum(axis=0).max()), int(table.sum(axis=1).max()))


def block_places(blocks: Ints) -> tuple[Ints, Ints]:
    """Return where each block begins in the data of its sender, and in that of its receiver.

    Both arrays have the shape (N, N) of `blocks`: senders in rows.
    """
    return np.cumsum(blocks, axis=1) - blocks, np.cumsum(blocks, axis=0) - blocks
