"""What an operator's output moves between servers: from those that have it to those that need it.

The output of an operator is samples × bytes of one sample. A placement divides it among its servers
so that each element is on one of them:

data
    some samples, with all their bytes;
model
    everything;
attribute
    all samples, with some of their bytes.

A reader with data parallelism needs its samples with all their bytes, any other reader everything,
on each of its servers. What a server has itself is not sent. Backward the gradients take the same
way back, as an element's gradient is summed where the element is: the transpose.

Samples are cut at `bounds(batch, servers)`, and columns at the bytes of `bounds(parts, servers)`,
rounded down, so that all bytes are sent as whole bytes, each once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from frontend.parallelization.operators import Operator
from frontend.parallelization.strategy import Placement, bounds

Numbers = NDArray[np.int64]


class Transfer(NamedTuple):
    """Bytes from some servers (rows) to others (columns); none from one to itself."""

    sources: Numbers
    targets: Numbers
    bytes: Numbers

    def matrix(self, servers: int) -> Numbers:
        """Return the bytes between all servers, row to column."""
        result = np.zeros((servers, servers), np.int64)
        result[np.ix_(self.sources, self.targets)] = self.bytes
        return result

    @property
    def reversed(self) -> Transfer:
        """The transfer of the gradients."""
        return Transfer(self.targets, self.sources, self.bytes.T)


def samples(placement: Placement, batch: int) -> tuple[Numbers, Numbers]:
    """Return the first sample of each server's, and the one after its last."""
    count = len(placement.servers)
    if placement.kind == "data":
        cuts = np.array(bounds(batch, count), dtype=np.int64)
        return cuts[:-1], cuts[1:]
    return np.zeros(count, np.int64), np.full(count, batch, np.int64)


def part_bounds(placement: Placement, operator: Operator, amount: int) -> Numbers:
    """Return where an amount (bytes of output or weights) is cut among an attribute's servers."""
    cuts = np.array(bounds(operator.parts, len(placement.servers)), dtype=np.int64)
    # Python's integers: a table's bytes times its parts may be beyond 63 bits.
    return np.array([amount * int(cut) // operator.parts for cut in cuts], dtype=np.int64)


def transfer(operator: Operator, batch: int, source: Placement, target: Placement) -> Transfer:
    """Return what an operator's output moves from where it runs to where its reader runs.

    Parameters
    ----------
    operator : Operator
        Whose output it is.
    batch : int
        Samples.
    source, target : Placement
        Of the operator, and of the one that reads it.

    Returns
    -------
    Transfer

    Examples
    --------
    >>> from frontend.roofline import Cost
    >>> table = Operator("table", (), Cost(0, 0), Cost(0, 0), output_bytes=10, table=True)
    >>> one, both = Placement("model", (1,)), Placement("data", (0, 1))
    >>> transfer(table, 8, one, both).matrix(2).tolist()
    [[0, 0], [40, 0]]
    """
    has_from, has_to = samples(source, batch)
    needs_from, needs_to = samples(target, batch)
    common = np.minimum(has_to[:, None], needs_to) - np.maximum(has_from[:, None], needs_from)
    if source.kind == "attribute":
        columns = np.diff(part_bounds(source, operator, operator.output_bytes))
    else:
        columns = np.full(len(source.servers), operator.output_bytes, np.int64)
    sources = np.array(source.servers, dtype=np.int64)
    targets = np.array(target.servers, dtype=np.int64)
    moved = np.maximum(common, 0) * columns[:, None] * (sources[:, None] != targets)
    return Transfer(sources, targets, moved)
