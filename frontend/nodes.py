"""The nodes of a trace as columns: one array for each field, as the stream has them.

A trace from a file may have a million nodes, so there is no object for each node.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.uint32]
Wide = NDArray[np.uint64]


class NodeType(IntEnum):
    """Type of a node; the values equal those of `Trace.Type` in network_api.proto."""

    COMPUTE = 0
    COLLECTIVE = 1
    SEND = 2
    RECV = 3
    TIMER = 4


def slices(lengths: Any) -> Ids:
    """Return where slices of these lengths begin, and where the last one ends."""
    begin = np.zeros(len(lengths) + 1, np.uint32)
    np.cumsum(lengths, out=begin[1:])
    return begin


def _nothing() -> Ids:
    return np.zeros(0, np.uint32)


@dataclass(eq=False)
class NodeColumns:
    """The nodes of a trace. Each column has an entry for each node; see `Trace` of the stream.

    Attributes
    ----------
    names : sequence of str
        Names of the nodes.
    type : array of uint32
        Their `NodeType`.
    duration_ps : array of uint64
        COMPUTE and TIMER: durations.
    peer, bytes, tag : array
        SEND and RECV: the other rank, the size and the tag of the message.
    dep_begin, dep : array of uint32
        Slices of the indices of the nodes that each node waits for.
    collective : array of uint32
        COLLECTIVE: index of the collective in `Plan.issues`.
    layer, iteration, route, job : array of uint32
        Index of the layer, of the iteration and of the message's route, and number of the job.
    lane : array of uint32
        Number of the lane from 1; 0 for none.
    lane_slots : tuple of int
        Slots of each lane.
    peer_modulus : int
        If it is not 0, `peer` is added to the rank that runs the node, modulo this number.
    start_dep_begin, start_dep : array of uint32
        Like `dep_begin` and `dep`, for nodes that must have started. Empty if there are none.
    """

    names: Sequence[str]
    type: Ids
    duration_ps: Wide
    peer: Ids
    bytes: Wide
    tag: Wide
    dep_begin: Ids
    dep: Ids
    collective: Ids = field(default_factory=_nothing)
    layer: Ids = field(default_factory=_nothing)
    iteration: Ids = field(default_factory=_nothing)
    route: Ids = field(default_factory=_nothing)
    job: Ids = field(default_factory=_nothing)
    lane: Ids = field(default_factory=_nothing)
    lane_slots: tuple[int, ...] = ()
    peer_modulus: int = 0
    start_dep_begin: Ids = field(default_factory=_nothing)
    start_dep: Ids = field(default_factory=_nothing)

    def __post_init__(self) -> None:
        """Fill the columns that are 0 for every node."""
        for name in ("collective", "layer", "iteration", "route", "job", "lane"):
            if not getattr(self, name).size:
                setattr(self, name, np.zeros(self.size, np.uint32))

    @property
    def size(self) -> int:
        """Number of nodes."""
        return int(self.type.size)

    def peer_of(self, rank: Any, peer: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the ranks that values of `peer` mean on a rank, or on an array of ranks."""
        whole: NDArray[np.int64] = (rank + peer) % self.peer_modulus if self.peer_modulus else peer
        return whole

    def later(self, offset: int, begin: int | None) -> NodeColumns:
        """Return the nodes as they are after others in one trace.

        Parameters
        ----------
        offset : int
            Number of the nodes before them.
        begin : int, optional
            The node that those wait for that wait for none of these.
        """
        counts = np.diff(self.dep_begin).astype(np.int64)
        dep = self.dep.astype(np.int64) + offset
        if begin is not None:
            waits = counts == 0
            if self.start_dep.size:
                waits &= np.diff(self.start_dep_begin) == 0
            dep = np.insert(dep, self.dep_begin[:-1][waits].astype(np.int64), begin)
            counts += waits
        return replace(
            self,
            dep_begin=slices(counts),
            dep=dep.astype(np.uint32),
            start_dep=(self.start_dep + offset).astype(np.uint32),
        )

    def last(self) -> NDArray[np.int64]:
        """Return the nodes that no other waits for to be done."""
        ends = np.ones(self.size, np.bool_)
        ends[self.dep] = False
        return np.flatnonzero(ends)

    def part(self, begin: int, end: int) -> NodeColumns:
        """Return nodes that are side by side, with the dependencies between them."""
        made: dict[str, Any] = {"names": self.names[begin:end]}
        for name in ("dep", "start_dep"):
            if not (first := getattr(self, f"{name}_begin")).size:
                continue
            dep = getattr(self, name)[first[begin] : first[end]]
            owner = np.repeat(np.arange(end - begin), np.diff(first[begin : end + 1]))
            made[name] = dep[dep >= begin] - np.uint32(begin)
            made[f"{name}_begin"] = slices(np.bincount(owner[dep >= begin], minlength=end - begin))
        for one in fields(NodeColumns):
            if one.name not in (
                *made,
                "lane_slots",
                "peer_modulus",
                "start_dep_begin",
                "start_dep",
            ):
                made[one.name] = getattr(self, one.name)[begin:end]
        return replace(self, **made)

    def edges(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the two ends of every dependency of both kinds: the earlier and the later node."""
        ends = [self.dep], [np.repeat(np.arange(self.size), np.diff(self.dep_begin))]
        if self.start_dep.size:
            ends[0].append(self.start_dep)
            ends[1].append(np.repeat(np.arange(self.size), np.diff(self.start_dep_begin)))
        return np.concatenate(ends[0]).astype(np.int64), np.concatenate(ends[1]).astype(np.int64)


def concatenated(parts: Sequence[NodeColumns]) -> NodeColumns:
    """Return the nodes of parts as one trace.

    Dependencies count from the first node of the first part (`NodeColumns.later`). Parts with the
    same lanes share them.
    """
    first, *others = parts
    if not others:
        return first
    slots: tuple[int, ...] = ()
    before: dict[tuple[int, ...], int] = {}
    for part in parts:
        if part.lane_slots not in before:
            before[part.lane_slots] = len(slots)
            slots += part.lane_slots
    lanes = [np.where(part.lane, part.lane + before[part.lane_slots], 0) for part in parts]
    made: dict[str, Any] = {
        "names": [name for part in parts for name in part.names],
        "lane": np.concatenate(lanes).astype(np.uint32),
        "lane_slots": slots,
        "peer_modulus": first.peer_modulus,
    }
    for name in ("dep_begin", "start_dep_begin"):
        lengths = [np.diff(getattr(part, name)) for part in parts]
        if name == "start_dep_begin":
            if not any(part.start_dep.size for part in parts):
                made[name] = _nothing()
                continue
            none = [np.zeros(part.size, np.int64) for part in parts]
            lengths = [own if own.size else zero for own, zero in zip(lengths, none, strict=True)]
        made[name] = slices(np.concatenate(lengths))
    for one in fields(NodeColumns):
        if one.name not in made:
            made[one.name] = np.concatenate([getattr(part, one.name) for part in parts])
    return NodeColumns(**made)
