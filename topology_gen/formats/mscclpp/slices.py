"""Groups of thread blocks that divide an operation evenly among them."""

from __future__ import annotations

from math import lcm
from typing import NamedTuple

from topology_gen.formats.json_fields import Fields

GREATEST_GROUP = 64
"""Greatest number of thread blocks in a group."""


class Slice(NamedTuple):
    """The part of an operation that a thread block executes.

    Attributes
    ----------
    scale : int
        Number of parts in which the algorithm divides each chunk of the plan.
    place, blocks : int
        The block's place in its group, and the number of blocks in it.
    """

    scale: int
    place: int = 0
    blocks: int = 1

    def chunks(self, index: int, size: int) -> tuple[int, int]:
        """Return the first of the parts, and their number, for chunks of the plan.

        Examples
        --------
        >>> Slice(scale=2, place=1, blocks=2).chunks(index=3, size=1)
        (7, 1)
        """
        part = size * self.scale // self.blocks
        return index * self.scale + self.place * part, part


def slice_of(operation: Fields, scale: int) -> Slice:
    """Return the part of an operation that its thread block executes.

    Raises
    ------
    FileFormatError
        The place in the group is not among its blocks.
    """
    if not operation.has("tbg_info"):
        return Slice(scale)
    blocks, place = _group(operation)
    return Slice(scale, place, blocks)


def scale_of(document: Fields) -> int:
    """Return the least number of parts of a chunk that all groups of a plan can share.

    Raises
    ------
    FileFormatError
        A group has no or too many blocks.
    """
    result = 1
    for gpu in document.parts("gpus"):
        for block in gpu.parts("threadblocks"):
            for operation in block.parts("ops"):
                if operation.has("tbg_info"):
                    result = lcm(result, _group(operation)[0])
                    if result > GREATEST_GROUP:
                        raise operation.error(
                            "tbg_info",
                            f"expected groups that divide a chunk into at most "
                            f"{GREATEST_GROUP} parts",
                        )
    return result


def _group(operation: Fields) -> tuple[int, int]:
    """Return the number of blocks of an operation's group, and the block's place in it."""
    group = operation.part("tbg_info")
    blocks = group.number("tbg_size", 1)
    place = group.number("tb_id")
    if place >= blocks:
        raise group.error("tb_id", f"{place}: expected 0 … {blocks - 1}")
    return blocks, place
