"""Compute the transfers of an operator's output, from the servers that have it to its readers.

The output of an operator has samples × bytes per sample. A placement divides it among its servers,
so that each element is on exactly one server. A server has

data
    a part of the samples, with all their bytes;
model
    everything;
attribute
    all samples, with a part of their bytes.

Each server of a data-parallel reader needs its samples with all their bytes. Each server of any
other reader needs everything. A server does not send data to itself. In the backward phase, the
gradients take the same way back (the transposed matrix), because the gradient of an element is
summed on the server that has the element.

Samples are divided at `bounds(batch, servers)`. Columns are divided at the bytes of
`bounds(parts, servers)`, rounded down, so that every byte is sent as a whole and only once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from frontend.parallelization.operators import Operator
from frontend.parallelization.strategy import Placement, bounds

Numbers = NDArray[np.int64]


class Transfer(NamedTuple):
    """Bytes from source servers (rows) to target servers (columns); 0 from a server to itself."""

    sources: Numbers
    targets: Numbers
    bytes: Numbers

    def matrix(self, servers: int) -> Numbers:
        """Return the matrix of bytes between all servers, from row to column."""
        result = np.zeros((servers, servers), np.int64)
        result[np.ix_(self.sources, self.targets)] = self.bytes
        return result

    @property
    def reversed(self) -> Transfer:
        """The transfer of the gradients."""
        return Transfer(self.targets, self.sources, self.bytes.T)


def samples(placement: Placement, batch: int) -> tuple[Numbers, Numbers]:
    """Return the first sample of each server, and the sample after its last."""
    count = len(placement.servers)
    if placement.kind == "data":
        cuts = np.array(bounds(batch, count), dtype=np.int64)
        return cuts[:-1], cuts[1:]
    return np.zeros(count, np.int64), np.full(count, batch, np.int64)


def part_bounds(placement: Placement, operator: Operator, amount: int) -> Numbers:
    """Return the bounds that divide `amount` bytes among the servers of an attribute placement."""
    cuts = np.array(bounds(operator.parts, len(placement.servers)), dtype=np.int64)
    # Python's integers: a table's bytes times its parts may be beyond 63 bits.
    return np.array([amount * int(cut) // operator.parts for cut in cuts], dtype=np.int64)


def transfer(operator: Operator, batch: int, source: Placement, target: Placement) -> Transfer:
    """Return the transfer of an operator's output to the servers of a reader.

    Parameters
    ----------
    operator : Operator
        The operator whose output moves.
    batch : int
        Number of samples.
    source, target : Placement
        Placement of the operator, and of the operator that reads its output.

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
