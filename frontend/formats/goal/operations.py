"""The operations of one rank of a GOAL file, from which its trace is made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from frontend.nodes import Ids, NodeColumns, NodeType, slices

KINDS = {"send": NodeType.SEND, "recv": NodeType.RECV, "calc": NodeType.COMPUTE}
"""The node type of each operation."""


@dataclass
class Operations:
    """The operations of one rank, a list for each of their values, and their dependencies."""

    names: list[str] = field(default_factory=list)
    kind: list[int] = field(default_factory=list)
    size: list[int] = field(default_factory=list)
    peer: list[int] = field(default_factory=list)
    tag: list[int] = field(default_factory=list)
    cpu: list[int] = field(default_factory=list)
    nic: list[int] = field(default_factory=list)
    requires: list[tuple[int, int]] = field(default_factory=list)
    """Pairs of an operation, and one that must be done before it starts."""
    irequires: list[tuple[int, int]] = field(default_factory=list)
    """Pairs of an operation, and one that must have started before it starts."""

    def columns(self) -> NodeColumns:
        """Return the trace."""
        kind, size = np.array(self.kind, np.uint32), np.array(self.size, np.uint64)
        calc = kind == NodeType.COMPUTE
        cpu = np.array(self.cpu, np.uint32)
        begin, dep = _slices(self.requires, kind.size)
        start_begin, start = _slices(self.irequires, kind.size)
        none = np.zeros(0, np.uint32)
        return NodeColumns(
            names=self.names,
            type=kind,
            duration_ps=np.where(calc, size, 0).astype(np.uint64),
            peer=np.array(self.peer, np.uint32),
            bytes=np.where(calc, 0, size).astype(np.uint64),
            tag=np.array(self.tag, np.uint64),
            dep_begin=begin,
            dep=dep,
            route=np.array(self.nic, np.uint32),
            lane=np.where(calc, cpu + 1, 0).astype(np.uint32),
            lane_slots=(1,) * (int(cpu[calc].max(initial=0)) + 1),
            start_dep_begin=start_begin if start.size else none,
            start_dep=start if start.size else none,
        )


def _slices(pairs: Sequence[tuple[int, int]], nodes: int) -> tuple[Ids, Ids]:
    """Return the slices of the second elements by the first, each once and in rising order."""
    rows = np.unique(np.array(pairs, np.uint32).reshape(-1, 2), axis=0)
    return slices(np.bincount(rows[:, 0], minlength=nodes)), np.ascontiguousarray(rows[:, 1])
