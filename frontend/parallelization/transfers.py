"""Compute the transfers of an operator's output, from the servers that have it to its readers.

The output of an operator has samples × bytes per sample. A placement divides it among its servers,
so that each element is on exactly one server: a *box* of samples and bytes. After the servers of a
group with different rows have exchanged their partial sums, each has the sum for a part of the
group's samples.

A server of a reader needs its samples. Of an aligned input it needs only its columns, which it adds
or combines after the exchange of partial sums. If its rows are divided, it needs only the bytes of
its rows. Otherwise it needs all bytes. A server does not send data to itself. In the backward
phase, the gradients take the same way back (the transposed matrix), because the gradient of an
element is summed on the server that has the element.

Samples are divided at `bounds(batch, parts)`. Columns are divided at the bytes of
`bounds(operator.parts, columns)`, rounded down, so that every byte is sent as a whole and only
once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from frontend.parallelization.operators import Operator
from frontend.parallelization.strategy import Placement, bounds
from topology_gen.kernels import participants

Numbers = NDArray[np.int64]


class Boxes(NamedTuple):
    """For each of several servers, a range of samples and a range of bytes of each sample."""

    servers: Numbers
    first: Numbers
    end: Numbers
    low: Numbers
    high: Numbers

    def at(self, chosen: Numbers) -> Boxes:
        """Return the boxes at some places."""
        return Boxes(*(each[chosen] for each in self))


class Transfer(NamedTuple):
    """Data that servers have and others need: what their boxes have in common moves.

    Nothing moves from a server to itself.
    """

    has: Boxes
    needs: Boxes

    @property
    def reversed(self) -> Transfer:
        """The transfer of the gradients."""
        return Transfer(self.needs, self.has)

    def between(self) -> tuple[int, Transfer]:
        """Return the number of messages, and the transfer without boxes that take no part."""
        messages, sends, receives = participants(self.has, self.needs)
        return messages, Transfer(
            self.has.at(np.flatnonzero(sends)), self.needs.at(np.flatnonzero(receives))
        )

    def messages(self) -> tuple[Numbers, Numbers, Numbers]:
        """Return the source, the target and the bytes of each message."""
        has, needs = (Boxes(*(each[:, None] for each in self.has)), self.needs)
        samples = np.minimum(has.end, needs.end) - np.maximum(has.first, needs.first)
        width = np.minimum(has.high, needs.high) - np.maximum(has.low, needs.low)
        moved = np.maximum(samples, 0) * np.maximum(width, 0) * (has.servers != needs.servers)
        sources, targets = np.nonzero(moved)
        return self.has.servers[sources], needs.servers[targets], moved[sources, targets]

    def matrix(self, servers: int) -> Numbers:
        """Return the matrix of bytes between all servers, from row to column."""
        result = np.zeros((servers, servers), np.int64)
        sources, targets, moved = self.messages()
        result[sources, targets] = moved
        return result


def samples(placement: Placement, batch: int) -> tuple[Numbers, Numbers]:
    """Return the first sample that each server computes, and the sample after its last."""
    place = np.arange(len(placement.servers)) // placement.weight_parts
    return _ranges(bounds(batch, placement.samples), place)


def part_bounds(parts: int, pieces: int, amount: int) -> Numbers:
    """Return the bounds of `pieces` ranges of `amount` bytes, which consist of `parts` parts."""
    # Python's integers: a table's bytes times its parts may be beyond 63 bits.
    return np.array([amount * cut // parts for cut in bounds(parts, pieces)], dtype=np.int64)


def columns(placement: Placement, operator: Operator, amount: int) -> tuple[Numbers, Numbers]:
    """Return the range of each server if its columns divide `amount` bytes."""
    place = np.arange(len(placement.servers)) // placement.rows % placement.columns
    return _ranges(part_bounds(operator.parts, placement.columns, amount), place)


def rows(placement: Placement, operator: Operator, amount: int) -> tuple[Numbers, Numbers]:
    """Return the range of each server if its rows divide `amount` bytes."""
    place = np.arange(len(placement.servers)) % placement.rows
    return _ranges(part_bounds(operator.rows, placement.rows, amount), place)


def transfer(
    operator: Operator,
    batch: int,
    source: Placement,
    target: Placement,
    reader: Operator | None = None,
    position: int = 0,
) -> Transfer:
    """Return the transfer of an operator's output to the servers of a reader.

    Parameters
    ----------
    operator : Operator
        The operator whose output moves.
    batch : int
        Number of samples.
    source, target : Placement
        Placement of the operator, and of the operator that reads its output.
    reader : Operator, optional
        The operator that reads the output. By default one that needs all bytes of its samples.
    position : int
        Position of the operator among the inputs of the reader.

    Examples
    --------
    >>> from frontend.parallelization import by_samples, on_server
    >>> from frontend.roofline import Cost
    >>> table = Operator("table", (), Cost(0, 0), Cost(0, 0), output_bytes=10, table=True)
    >>> transfer(table, 8, on_server(1), by_samples((0, 1))).matrix(2).tolist()
    [[0, 0], [40, 0]]
    """
    has = _summed(operator, batch, source, operator.output_bytes)
    if reader is not None and position in reader.aligned:
        needs = _summed(reader, batch, target, operator.output_bytes)
    else:
        first, end = samples(target, batch)
        low, high = np.zeros_like(first), np.full_like(first, operator.output_bytes)
        if reader is not None and target.rows > 1:
            low, high = rows(target, reader, operator.output_bytes)
        needs = Boxes(_servers(target), first, end, low, high)
    return Transfer(has, needs)


def partial_sums(operator: Operator, batch: int, placement: Placement) -> Transfer:
    """Return the exchange of partial sums among the servers that differ only in their rows.

    Each server sends to each other server of its group the partial sums of that server's samples.

    Examples
    --------
    >>> from frontend.roofline import Cost
    >>> layer = Operator("layer", (), Cost(0, 0), Cost(0, 0), output_bytes=10, rows=2)
    >>> partial_sums(layer, 8, Placement((0, 1, 2, 3), rows=2)).matrix(4).tolist()
    [[0, 20, 0, 0], [20, 0, 0, 0], [0, 0, 0, 20], [0, 0, 20, 0]]
    """
    first, end = samples(placement, batch)
    low, high = columns(placement, operator, operator.output_bytes)
    has = Boxes(_servers(placement), first, end, low, high)
    return Transfer(has, _summed(operator, batch, placement, operator.output_bytes))


def _servers(placement: Placement) -> Numbers:
    return np.array(placement.servers, dtype=np.int64)


def _summed(operator: Operator, batch: int, placement: Placement, amount: int) -> Boxes:
    """Return the boxes of a sample's `amount` bytes after the exchange of partial sums."""
    place = np.arange(len(placement.servers))
    place = place // placement.weight_parts * placement.rows + place % placement.rows
    first, end = _ranges(bounds(batch, placement.samples * placement.rows), place)
    return Boxes(_servers(placement), first, end, *columns(placement, operator, amount))


def _ranges(cuts: list[int] | Numbers, place: Numbers) -> tuple[Numbers, Numbers]:
    every = np.array(cuts, dtype=np.int64)
    return every[place], every[place + 1]
