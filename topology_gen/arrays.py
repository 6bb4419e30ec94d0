"""The array types that all modules share: ids, amounts and signed numbers."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

Ids = NDArray[np.uint32]
"""Ids of nodes, links or paths: dense integers from 0."""

Amounts = NDArray[np.uint64]
"""Rates, sizes and latencies in bit/s, bytes and picoseconds."""

Numbers = NDArray[np.int64]
"""Signed integers for arithmetic with ids, which may go below zero."""


def ids(values: ArrayLike) -> Ids:
    """Return ids of nodes, links or paths as an array."""
    return np.asarray(values, dtype=np.uint32)
