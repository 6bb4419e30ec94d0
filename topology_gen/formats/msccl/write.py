"""Writes an algorithm as MSCCL XML, within the limits of the MSCCL runtime.

Source of the limits: microsoft/msccl, src/include/msccl.h (256 steps in a thread block, 216 thread
blocks). Some builds of the later Azure/msccl-executor-nccl allow only 64 steps; see its
msccl_struct.h. It also allows only 4096 XML elements in a rank's memory: those of the rank itself
and the outermost elements of the other ranks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from topology_gen import kernels
from topology_gen.arrays import Numbers
from topology_gen.errors import AlgorithmError
from topology_gen.formats.msccl.read import COLLECTIVES
from topology_gen.lowering.algorithm import Algorithm, Kind, Operation
from topology_gen.lowering.table import BUFFERS, KINDS, Table, table_of

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

_NAMES = [kind.value for kind in KINDS], [buffer.value for buffer in BUFFERS]
_SPELLING: Mapping[Operation, str] = {
    operation: name for name, operation in reversed(list(COLLECTIVES.items()))
}


def write_xml(algorithm: Algorithm | Table) -> str:
    """Return the MSCCL XML of an algorithm.

    The runtime uses its own simple parser. The file must therefore start with `algo`, have one
    space between attributes, and contain all attributes.

    Parameters
    ----------
    algorithm : Algorithm or Table
        The algorithm to write.

    Raises
    ------
    AlgorithmError
        The algorithm exceeds a limit of the runtime.

    See Also
    --------
    topology_gen.formats.msccl.read_xml, topology_gen.formats.msccl.refusals
    """
    table = algorithm if isinstance(algorithm, Table) else table_of(algorithm)
    refused = refusals(table)
    if refused:
        raise AlgorithmError(f"the MSCCL runtime would reject the algorithm: {refused[0]}")
    head = {
        "name": table.name or "algorithm",
        "proto": table.protocol,
        "nchannels": int(table.blocks[:, 2].max(initial=0)) + 1,
        "nchunksperloop": table.chunks,
        "ngpus": table.ranks,
        "coll": _SPELLING[table.operation],
        "inplace": int(table.in_place),
        "outofplace": int(table.out_of_place),
        "minBytes": table.least_bytes,
        "maxBytes": table.most_bytes,
    }
    parts = [_tag("algo", head, ">\n")]
    steps = _written_steps(table)
    for rank in range(table.ranks):
        parts += _gpu(table, steps, rank)
    return "".join([*parts, "</algo>\n"])


def _written_steps(table: Table) -> Numbers:
    """Return the steps with what the file says of nops and of steps that others wait for."""
    steps = table.steps.copy()
    steps[steps[:, 0] == KINDS.index(Kind.NOP), 1:6] = 0, -1, 1, -1, 0
    waiting = np.flatnonzero(steps[:, 6] >= 0)
    block = np.searchsorted(table.step_begin, waiting, side="right") - 1
    first = table.block_begin[np.searchsorted(table.block_begin, block, side="right") - 1]
    steps[table.step_begin[first + steps[waiting, 6]] + steps[waiting, 7], 8] = 1
    return steps


def _gpu(table: Table, steps: Numbers, rank: int) -> Iterator[str]:
    """Yield the lines of a rank."""
    first, last = table.block_begin[rank : rank + 2].tolist()
    i, o, s = table.sizes[rank].tolist()
    yield "  " + _tag("gpu", {"id": rank, "i_chunks": i, "o_chunks": o, "s_chunks": s}, ">\n")
    for number, block in enumerate(range(first, last)):
        send, receive, channel = table.blocks[block].tolist()
        yield "    " + _tag(
            "tb", {"id": number, "send": send, "recv": receive, "chan": channel}, ">\n"
        )
        begin, end = table.step_begin[block : block + 2].tolist()
        yield kernels.step_lines(steps[begin:end], *_NAMES)
        yield "    </tb>\n"
    yield "  </gpu>\n"


def _tag(name: str, attributes: Mapping[str, object], end: str) -> str:
    # No value contains a character that XML escapes; `refusals` checks the name.
    written = " ".join([f'{key}="{value}"' for key, value in attributes.items()])
    return f"<{name} {written}{end}"


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
