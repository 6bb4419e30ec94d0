"""Writes an algorithm as MSCCL XML."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from topology_gen.errors import AlgorithmError
from topology_gen.formats.msccl.limits import refusals
from topology_gen.formats.msccl.names import SPELLING
from topology_gen.lowering.algorithm import Algorithm, Kind
from topology_gen.lowering.table import BUFFERS, KINDS, Table, table_of


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
    gpus = ("\n".join(_gpu(table, rank)) for rank in range(table.ranks))
    return "\n".join([_tag("algo", head, ">"), *gpus, "</algo>", ""])


def _gpu(table: Table, rank: int) -> Iterator[str]:
    """Yield the lines of a rank."""
    first, last = table.block_begin[rank : rank + 2].tolist()
    rows = table.steps[table.step_begin[first] : table.step_begin[last]]
    waited = {(block, step) for block, step in rows[:, 6:8].tolist() if block >= 0}
    i, o, s = table.sizes[rank].tolist()
    yield "  " + _tag("gpu", {"id": rank, "i_chunks": i, "o_chunks": o, "s_chunks": s}, ">")
    for number, block in enumerate(range(first, last)):
        send, receive, channel = table.blocks[block].tolist()
        yield "    " + _tag(
            "tb", {"id": number, "send": send, "recv": receive, "chan": channel}, ">"
        )
        begin, end = table.step_begin[block : block + 2].tolist()
        for index, row in enumerate(table.steps[begin:end].tolist()):
            kind, source, at, target, to, count, wait, step, awaited = row
            signals = int(awaited or (number, index) in waited)
            if KINDS[kind] is Kind.NOP:
                source, at, target, to, count = 0, -1, 1, -1, 0
            yield (
                f'      <step s="{index}" type="{KINDS[kind].value}" '
                f'srcbuf="{BUFFERS[source].value}" srcoff="{at}" '
                f'dstbuf="{BUFFERS[target].value}" dstoff="{to}" cnt="{count}" '
                f'depid="{wait}" deps="{step}" hasdep="{signals}"/>'
            )
        yield "    </tb>"
    yield "  </gpu>"


def _tag(name: str, attributes: Mapping[str, object], end: str) -> str:
    # No value contains a character that XML escapes; `refusals` checks the name.
    written = " ".join([f'{key}="{value}"' for key, value in attributes.items()])
    return f"<{name} {written}{end}"
