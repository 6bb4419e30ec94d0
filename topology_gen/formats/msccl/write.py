"""Writes an algorithm as MSCCL XML."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from topology_gen import kernels
from topology_gen.arrays import Numbers
from topology_gen.errors import AlgorithmError
from topology_gen.formats.msccl.limits import refusals
from topology_gen.formats.msccl.names import SPELLING
from topology_gen.lowering.algorithm import Algorithm, Kind
from topology_gen.lowering.table import BUFFERS, KINDS, Table, table_of

NAMES = [kind.value for kind in KINDS], [buffer.value for buffer in BUFFERS]


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
        "coll": SPELLING[table.operation],
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
        yield kernels.step_lines(steps[begin:end], *NAMES)
        yield "    </tb>\n"
    yield "  </gpu>\n"


def _tag(name: str, attributes: Mapping[str, object], end: str) -> str:
    # No value contains a character that XML escapes; `refusals` checks the name.
    written = " ".join([f'{key}="{value}"' for key, value in attributes.items()])
    return f"<{name} {written}{end}"
