"""Dissemination barrier: ceil(log2 N) rounds, in which each member tells what it has heard.

In round k, member i sends to member i - 2^k that the members i … i + 2^k - 1 have arrived.

Source: D. Hensgen, R. Finkel, U. Manber, "Two algorithms for barrier synchronization",
International Journal of Parallel Programming 17 (1988).
"""

from __future__ import annotations

from frontend.collectives.program.program import Program, ProgramBuilder
from frontend.collectives.registry import Algorithm, always_works


def barrier(group_size: int, *, dimension: str = "scale_out") -> Program:
    """Return the rounds; unit `size + k` of member i is the token of member i + k."""
    size = group_size
    builder = ProgramBuilder(
        "dissemination",
        "barrier",
        size,
        units=size,
        space=2 * size,
        equal_units=True,
        dimensions=(dimension,),
    )
    # Of each member: where tokens that it has heard begin, and the step after which they are there.
    heard = [[(0, builder.copy(member, member, size, 1))] for member in range(size)]

    def steps(member: int, first: int, last: int) -> list[int]:
        """Return the steps that bring the tokens `first` … `last` - 1."""
        begins = [begin for begin, _ in heard[member][1:]] + [size]
        return [
            step
            for (begin, step), end in zip(heard[member], begins, strict=True)
            if begin < last and end > first
        ]

    known = 1
    while known < size:
        count = min(known, size - known)
        received = []
        for member in range(size):
            source = (member + known) % size
            _, receive = builder.message(
                source, member, size, count, into=size + known, after=steps(source, 0, count)
            )
            received.append(receive)
        for member, receive in enumerate(received):
            heard[member].append((known, receive))
        known += count
    for member in range(size):
        ahead = size - member  # tokens of this member and of those with higher numbers
        if ahead > 1:
            builder.copy(member, size + 1, member + 1, ahead - 1, after=steps(member, 1, ahead))
        if member:
            builder.copy(member, size + ahead, 0, member, after=steps(member, ahead, size))
    return builder.build()


ALGORITHM = Algorithm(
    "dissemination",
    "a barrier in as many rounds as the size of the group has binary digits",
    {"barrier": barrier},
    check=always_works,
)
