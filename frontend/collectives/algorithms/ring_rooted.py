"""Broadcast and reduce along a chain of all members, pipelined in segments.

With N members and S segments, the last segment passes N-1 hops after S-1 others. Every member but
one sends the D bytes once, so a long chain costs latency and no bandwidth.

Source: NCCL's broadcast and reduce by the ring algorithm.
"""

from __future__ import annotations

from itertools import pairwise

from frontend.collectives.program.program import Program, ProgramBuilder, known_root


def _chain(operation: str, group_size: int, root: int, segments: int, dimension: str) -> Program:
    known_root(root, group_size)
    reduces = operation == "reduce"
    first = root + 1 if reduces else root  # a reduce ends at the root
    chain = [(first + hop) % group_size for hop in range(group_size)]
    builder = ProgramBuilder(
        "ring", operation, group_size, units=segments, dimensions=(dimension,), root=root
    )
    for segment in range(segments):
        received: list[int] = []
        for source, target in pairwise(chain):
            _, receive = builder.message(source, target, segment, 1, reduce=reduces, after=received)
            received = [receive]
    return builder.build()


def broadcast(
    group_size: int, *, root: int = 0, segments: int = 16, dimension: str = "scale_out"
) -> Program:
    """Return the chain that starts at the root; each member passes on what it has received."""
    return _chain("broadcast", group_size, root, segments, dimension)


def reduce(
    group_size: int, *, root: int = 0, segments: int = 16, dimension: str = "scale_out"
) -> Program:
    """Return the chain that ends at the root; each member adds its data to what it passes on."""
    return _chain("reduce", group_size, root, segments, dimension)
