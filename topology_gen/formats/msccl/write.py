"""Writes an algorithm as MSCCL XML."""

from __future__ import annotations

from collections.abc import Mapping

from topology_gen.errors import AlgorithmError
from topology_gen.formats.msccl.limits import refusals
from topology_gen.formats.msccl.names import SPELLING
from topology_gen.lowering.algorithm import Algorithm, Instruction, Kind, Step


def write_xml(algorithm: Algorithm) -> str:
    """Return the MSCCL XML of an algorithm.

    The runtime uses its own simple parser. The file must therefore start with `algo`, have one
    space between attributes, and contain all attributes.

    Parameters
    ----------
    algorithm : Algorithm
        The algorithm to write.

    Raises
    ------
    AlgorithmError
        The algorithm exceeds a limit of the runtime.

    See Also
    --------
    topology_gen.formats.msccl.read_xml, topology_gen.formats.msccl.refusals
    """
    refused = refusals(algorithm)
    if refused:
        raise AlgorithmError(f"the MSCCL runtime would reject the algorithm: {refused[0]}")
    channels = [block.channel for gpu in algorithm.gpus for block in gpu.blocks]
    head = {
        "name": algorithm.name or "algorithm",
        "proto": algorithm.protocol,
        "nchannels": max(channels, default=0) + 1,
        "nchunksperloop": algorithm.chunks,
        "ngpus": algorithm.ranks,
        "coll": SPELLING[algorithm.operation],
        "inplace": int(algorithm.in_place),
        "outofplace": int(algorithm.out_of_place),
        "minBytes": algorithm.least_bytes,
        "maxBytes": algorithm.most_bytes,
    }
    lines = [_tag("algo", head, ">")]
    for rank, gpu in enumerate(algorithm.gpus):
        waited = {step.after for block in gpu.blocks for step in block.instructions}
        sizes = {"i_chunks": gpu.input, "o_chunks": gpu.output, "s_chunks": gpu.scratch}
        lines.append("  " + _tag("gpu", {"id": rank, **sizes}, ">"))
        for number, block in enumerate(gpu.blocks):
            peers = {
                "send": -1 if block.send is None else block.send,
                "recv": -1 if block.receive is None else block.receive,
            }
            lines.append("    " + _tag("tb", {"id": number, **peers, "chan": block.channel}, ">"))
            for index, step in enumerate(block.instructions):
                signals = step.awaited or Step(number, index) in waited
                lines.append(_step(index, step, signals))
            lines.append("    </tb>")
        lines.append("  </gpu>")
    return "\n".join([*lines, "</algo>", ""])


def _step(index: int, instruction: Instruction, signals: bool) -> str:
    idle = instruction.kind is Kind.NOP
    block, step = instruction.after or (-1, -1)
    attributes = {
        "s": index,
        "type": str(instruction.kind),
        "srcbuf": "i" if idle else str(instruction.source.buffer),
        "srcoff": -1 if idle else instruction.source.offset,
        "dstbuf": "o" if idle else str(instruction.target.buffer),
        "dstoff": -1 if idle else instruction.target.offset,
        "cnt": 0 if idle else instruction.chunks,
        "depid": block,
        "deps": step,
        "hasdep": int(signals),
    }
    return "      " + _tag("step", attributes, "/>")


def _tag(name: str, attributes: Mapping[str, object], end: str) -> str:
    # No value contains a character that XML escapes; `refusals` checks the name.
    written = " ".join([f'{key}="{value}"' for key, value in attributes.items()])
    return f"<{name} {written}{end}"
