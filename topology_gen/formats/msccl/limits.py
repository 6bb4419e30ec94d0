"""The limits of the MSCCL runtime.

Source: microsoft/msccl, src/include/msccl.h (256 steps in a thread block, 216 thread blocks). Some
builds of the later Azure/msccl-executor-nccl allow only 64 steps; see its msccl_struct.h. It also
allows only 4096 XML elements in a rank's memory: those of the rank itself and the outermost
elements of the other ranks.
"""

from __future__ import annotations

import numpy as np

from topology_gen.lowering.algorithm import Algorithm, Kind
from topology_gen.lowering.table import KINDS, Table, table_of

MOST_CHANNELS = 32
MOST_BLOCKS = 128
"""Greatest number of thread blocks of a rank; a dependency names a block with a signed byte."""
MOST_BLOCKS_OF_A_CHANNEL = 32
MOST_STEPS = 256
"""Greatest number of steps of a thread block, including nops."""
MOST_COUNT = 71
"""Greatest number of chunks in a step."""
MOST_OFFSET = 2**15 - 1
MOST_ELEMENTS = 4095
"""Greatest number of elements that a rank keeps: the algo, every gpu, and its own tbs and steps."""
MOST_NAME = 63


def refusals(algorithm: Algorithm | Table) -> list[str]:
    """Return the reasons why the runtime would reject an algorithm, often none.

    Returns
    -------
    list of str
        A phrase for each reason, or for each kind of reason with its first place.
    """
    table = algorithm if isinstance(algorithm, Table) else table_of(algorithm)
    found = []
    name = table.name
    if len(name) > MOST_NAME or not name.isprintable() or any(c in "\"'<>&" for c in name):
        found.append(
            f"the name {name[:80]!r}: expected at most {MOST_NAME} characters, without quotes or "
            f"<>&"
        )
    blocks = np.diff(table.block_begin)
    elements = 1 + table.ranks + blocks + np.diff(table.step_begin[table.block_begin])
    for rank in np.flatnonzero(elements > MOST_ELEMENTS)[:1].tolist():
        found.append(
            f"gpu {rank} has {elements[rank]} elements, including those of all ranks: "
            f"expected at most {MOST_ELEMENTS}"
        )
    for rank in np.flatnonzero(blocks > MOST_BLOCKS)[:1].tolist():
        found.append(f"gpu {rank} has {blocks[rank]} thread blocks: expected at most {MOST_BLOCKS}")
    ranks = np.repeat(np.arange(table.ranks), blocks)
    number = np.arange(ranks.size) - table.block_begin[ranks]
    for column, end in enumerate(("send", "receive")):
        used = table.blocks[:, column] >= 0
        pairs, counts = np.unique(
            np.stack([ranks[used], table.blocks[used, 2]], 1), axis=0, return_counts=True
        )
        for place in np.flatnonzero(counts > MOST_BLOCKS_OF_A_CHANNEL)[:1].tolist():
            found.append(
                f"gpu {pairs[place, 0]} has {counts[place]} thread blocks that {end} over a "
                f"channel: expected at most {MOST_BLOCKS_OF_A_CHANNEL}"
            )

    def where(block: int) -> str:
        return f"gpu {ranks[block]} tb {number[block]}"

    channel = table.blocks[:, 2]
    for block in np.flatnonzero(channel >= MOST_CHANNELS)[:1].tolist():
        found.append(
            f"{where(block)} has channel {channel[block]}: expected 0 … {MOST_CHANNELS - 1}"
        )
    sizes = np.diff(table.step_begin)
    for block in np.flatnonzero(sizes > MOST_STEPS)[:1].tolist():
        found.append(f"{where(block)} has {sizes[block]} steps: expected at most {MOST_STEPS}")
    count = np.where(table.steps[:, 0] == KINDS.index(Kind.NOP), 0, table.steps[:, 5])
    offset = table.steps[:, [2, 4]].max(axis=1, initial=-1)
    for values, most, verb in (
        (count, MOST_COUNT, "has {} chunks"),
        (offset, MOST_OFFSET, "is at chunk {}"),
    ):
        for step in np.flatnonzero(values > most)[:1].tolist():
            block = int(np.searchsorted(table.step_begin, step, side="right")) - 1
            found.append(
                f"{where(block)} step {step - table.step_begin[block]} "
                f"{verb.format(values[step])}: expected at most {most}"
            )
    return found
