"""The types of arrays that every room uses: ids, amounts, and signed numbers."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

Ids = NDArray[np.uint32]
"""Ids of nodes, links or paths: dense integers from 0."""

Amounts = NDArray[np.uint64]
"""Rates, sizes and latencies in bit/s, bytes and picoseconds."""

Numbers = NDArray[np.int64]
"""Ids on the way through arithmetic that may become negative."""


def ids(values: ArrayLike) -> Ids:
    """Return node, link or path ids as an array."""
    return np.asarray(values, dtype=np.uint32)
