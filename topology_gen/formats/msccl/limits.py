"""What the MSCCL runtime has room for.

Source: microsoft/msccl, src/include/msccl.h (256 steps of a thread block, 216 thread blocks); the
later Azure/msccl-executor-nccl has room for 64 steps in some builds, see its msccl_struct.h, and
for 4096 elements of the file, of which it keeps its own rank's and the other ranks' outermost.
"""

from __future__ import annotations

from topology_gen.lowering.algorithm import Algorithm, Kind

MOST_CHANNELS = 32
MOST_BLOCKS = 128
"""Thread blocks of a rank: a dependency names one with a signed byte."""
MOST_BLOCKS_OF_A_CHANNEL = 32
MOST_STEPS = 256
"""Steps of a thread block, with nops."""
MOST_COUNT = 71
"""Chunks of a step."""
MOST_OFFSET = 2**15 - 1
MOST_ELEMENTS = 4095
"""Elements that a rank keeps: the algo, every gpu, and its own tbs and steps."""
MOST_NAME = 63


def refusals(algorithm: Algorithm) -> list[str]:
    """Return why the runtime would refuse an algorithm, one sentence a reason; often none."""
    found = []
    name = algorithm.name
    if len(name) > MOST_NAME or not name.isprintable() or any(c in "\"'<>&" for c in name):
        found.append(
            f"the name {name[:80]!r}: expected at most {MOST_NAME} letters, without quotes or <>&"
        )
    for rank, gpu in enumerate(algorithm.gpus):
        elements = 1 + algorithm.ranks + sum(1 + len(block.instructions) for block in gpu.blocks)
        if elements > MOST_ELEMENTS:
            found.append(
                f"gpu {rank} makes for {elements} elements, with those of all ranks: "
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
