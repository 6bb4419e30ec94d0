"""The programs of nccl-tests: their operations, sizes and bus bandwidths.

Sizes, counts and bus bandwidths are those of nccl-tests: the data of an all-gather, a
reduce-scatter, an all-to-all, a gather or a scatter are the blocks of all ranks together, each a
multiple of 16 bytes, and a size is what a rank holds at most before or after the operation.

Source: NVIDIA/nccl-tests (`src/*.cu`, and `doc/PERFORMANCE.md` for the bus bandwidth).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

BLOCK_ALIGNMENT = 16
"""Bytes of which a block is a multiple."""

DATA_TYPES = {
    "int8": 1, "uint8": 1, "int32": 4, "uint32": 4, "int64": 8, "uint64": 8,
    "half": 2, "float": 4, "double": 8, "bfloat16": 2, "fp8_e4m3": 1, "fp8_e5m2": 1,
}  # fmt: skip
"""Bytes of an element of each type."""

LAUNCH_US = 4.21
"""Time of a thread to launch an operation on one GPU. A thread that drives several GPUs launches
them one after the other, and nccl-tests launches the next operation before the last one ends: so
an operation takes at least this time for each GPU of a thread.

Source: NVIDIA/nccl-tests, issue 123: 4 to 8 GPUs of a DGX A100 with `-g` take 4.16 to 4.22 µs each
for 8 to 128 bytes, with one channel, where NCCL's tuner has 10 to 15 µs for all steps.
"""


def launch_us(gpus: int) -> float:
    """Return the time of a thread to launch an operation on its GPUs, if it has several."""
    return gpus * LAUNCH_US if gpus > 1 else 0.0


Bus = Literal["all_reduce", "others", "whole"]


@dataclass(frozen=True)
class Program:
    """A program of nccl-tests.

    Attributes
    ----------
    operation : str
        The operation of a collective in cosim.
    in_blocks : bool
        Whether the data are blocks of equal size, one for each rank.
    reduces : bool
        Whether it adds data.
    rooted : bool
        Whether it has a root.
    bus : {"all_reduce", "others", "whole"}
        What a rank sends in the best case, in sizes: twice the part of the other ranks, that part,
        or all.
    """

    operation: str
    in_blocks: bool = False
    reduces: bool = False
    rooted: bool = False
    bus: Bus = "others"

    def bus_factor(self, ranks: int) -> float:
        """Return the bus bandwidth over the bandwidth of the algorithm."""
        if self.bus == "whole":
            return 1.0
        return (2 if self.bus == "all_reduce" else 1) * (ranks - 1) / ranks

    def all_data(self, size: int, ranks: int, by_block: bool) -> int:
        """Return the bytes of all data, of which a size may be that of a rank's block."""
        return size * ranks if by_block and self.in_blocks else size

    def elements(self, size: int, ranks: int, element: int) -> tuple[int, int]:
        """Return the count and the size in bytes that the program makes of a size.

        Examples
        --------
        >>> PROGRAMS["all_gather_perf"].elements(1000, 8, 4)  # blocks of 112 bytes
        (28, 896)
        """
        if not self.in_blocks:
            return size // element, size // element * element
        block = size // element // ranks * element // BLOCK_ALIGNMENT * BLOCK_ALIGNMENT
        return block // element, block * ranks


PROGRAMS = {
    "all_reduce_perf": Program("all_reduce", reduces=True, bus="all_reduce"),
    "all_gather_perf": Program("all_gather", in_blocks=True),
    "reduce_scatter_perf": Program("reduce_scatter", in_blocks=True, reduces=True),
    "alltoall_perf": Program("all_to_all", in_blocks=True),
    "broadcast_perf": Program("broadcast", rooted=True, bus="whole"),
    "reduce_perf": Program("reduce", reduces=True, rooted=True, bus="whole"),
    "gather_perf": Program("gather", in_blocks=True, rooted=True),
    "scatter_perf": Program("scatter", in_blocks=True, rooted=True),
    "sendrecv_perf": Program("all_to_all", bus="whole"),
}
"""The programs by name. In `sendrecv_perf`, each rank sends to the next one."""
