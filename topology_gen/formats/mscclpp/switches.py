"""Switch channels of MSCCL++ plans: a switch reads or writes buffers of several ranks at once."""

from __future__ import annotations

from typing import NamedTuple

from topology_gen.formats.json_fields import Fields
from topology_gen.lowering.algorithm import Buffer


class Switch(NamedTuple):
    """A switch channel of a rank: the buffer, and the other ranks of its group."""

    buffer: Buffer
    others: tuple[int, ...]


def switches_of(gpu: Fields, rank: int) -> list[Switch]:
    """Return the switch channels of a rank.

    Raises
    ------
    FileFormatError
        A group does not contain the rank, or names one that the plan does not have.
    """
    found: list[Switch] = []
    for channel in gpu.parts("channels"):
        if channel.text("channel_type") != "switch":
            continue
        name = "buffer_type" if channel.has("buffer_type") else "buff"  # the older name
        buffer = Buffer(channel.word(name, tuple(Buffer)))
        for group in channel.parts("rank_groups"):
            ranks = group.array("ranks")
            if rank not in ranks or any(type(other) is not int for other in ranks):
                raise group.error("ranks", f"expected a list of ranks with rank {rank}")
            found.append(Switch(buffer, tuple(other for other in ranks if other != rank)))
    return found
