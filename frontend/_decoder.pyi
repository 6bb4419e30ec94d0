"""The compiled module: reads execution traces (private; see `frontend.formats.chakra.decode`)."""

from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

class Trace(TypedDict):
    version: str
    id: NDArray[np.uint64]
    type: NDArray[np.uint32]
    name: list[str]
    duration_micros: NDArray[np.uint64]
    dep_begin: NDArray[np.uint64]
    dep: NDArray[np.uint64]  # ids
    numbers: dict[str, tuple[NDArray[np.uint64], NDArray[np.uint8]]]  # values, presence
    texts: dict[str, NDArray[np.int32]]  # indices in the table, or -1
    table: list[str]
    inputs: list[tuple[int, str]]  # METADATA nodes: index and input values

# ValueError says at which byte the data is no trace.
def decode_chakra(data: bytes, numbers: list[str], texts: list[str], control: bool) -> Trace: ...
