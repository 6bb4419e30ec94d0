"""The limits of the MSCCL runtime.

Source: microsoft/msccl, src/include/msccl.h (256 steps in a thread block, 216 thread blocks). Some
builds of the later Azure/msccl-executor-nccl allow only 64 steps; see its msccl_struct.h. It also
allows only 4096 XML elements in a rank's memory: those of the rank itself and the outermost
elements of the other ranks.
"""

from __future__ import annotations

from topology_gen.lowering.algorithm import Algorithm, Kind

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


def refusals(algorithm: Algorithm) -> list[str]:
    """Return the reasons why the runtime would reject an algorithm, often none.

    Returns
    -------
    list of str
        A phrase for each reason.
    """
    found = []
    name = algorithm.name
    if len(name) > MOST_NAME or not name.isprintable() or any(c in "\"'<>&" for c in name):
        found.append(
            f"the name {name[:80]!r}: expected at most {MOST_NAME} characters, without quotes or "
            f"<>&"
        )
    for rank, gpu in enumerate(algorithm.gpus):
        elements = 1 + algorithm.ranks + sum(1 + len(block.instructions) for block in gpu.blocks)
        if elements > MOST_ELEMENTS:
            found.append(
                f"gpu {rank} has {elements} elements, including those of all ranks: "
                f"expected at most {MOST_ELEMENTS}"
            )
        if len(gpu.blocks) > MOST_BLOCKS:
            found.append(
                f"gpu {rank} has {len(gpu.blocks)} thread blocks: expected at most {MOST_BLOCKS}"
            )
        for end in ("send", "receive"):
            peers: dict[int, int] = {}
            for block in gpu.blocks:
                if getattr(block, end) is not None:
                    peers[block.channel] = peers.get(block.channel, 0) + 1
            if max(peers.values(), default=0) > MOST_BLOCKS_OF_A_CHANNEL:
                found.append(
                    f"gpu {rank} has {max(peers.values())} thread blocks that {end} over a "
                    f"channel: expected at most {MOST_BLOCKS_OF_A_CHANNEL}"
                )
        for number, block in enumerate(gpu.blocks):
            where = f"gpu {rank} tb {number}"
            if block.channel >= MOST_CHANNELS:
                found.append(
                    f"{where} has channel {block.channel}: expected 0 … {MOST_CHANNELS - 1}"
                )
            if len(block.instructions) > MOST_STEPS:
                found.append(
                    f"{where} has {len(block.instructions)} steps: expected at most {MOST_STEPS}"
                )
            for index, step in enumerate(block.instructions):
                if step.kind is not Kind.NOP and step.chunks > MOST_COUNT:
                    found.append(
                        f"{where} step {index} has {step.chunks} chunks: "
                        f"expected at most {MOST_COUNT}"
                    )
                if max(step.source.offset, step.target.offset) > MOST_OFFSET:
                    found.append(
                        f"{where} step {index} is at chunk "
                        f"{max(step.source.offset, step.target.offset)}: "
                        f"expected at most {MOST_OFFSET}"
                    )
    return found
