"""The setting of a collective, from which an algorithm chooses its options."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from frontend.collectives.algorithm_options import AlgorithmOptions
from frontend.collectives.group_rings import GroupRings
from frontend.collectives.program.program import CollectiveError, Ints
from frontend.topologies.registry import Layout
from topology_gen import Network


@dataclass(frozen=True)
class Setting:
    """A collective, its group and its network.

    Attributes
    ----------
    operation : str
        One of `frontend.collectives.OPERATIONS`.
    given : AlgorithmOptions
        Options from the scenario.
    ranks : sequence of int
        Ranks of the group, in the order of its members.
    chunks, chunk_bytes : int
        Number of chunks of the collective, and the size of each in bytes.
    layout : Layout
        Layout of the topology.
    rings : GroupRings, optional
        Rings of the group, if the workload determines them.
    seed : int
        Seed of the scenario.
    header_bytes : int
        Bytes on the wire that a packet adds to its payload.
    network : callable
        Function that returns the network. The first call may run an optimiser.
    hop_ps : int
        Time that a message spends at its two ends, in picoseconds.
    root : int
        The member at which a broadcast or scatter starts, or a reduce or gather ends.
    blocks : tuple of N tuples of N numbers, optional
        For an all-to-all with unequal blocks: units that each member sends to each member.
    """

    operation: str
    given: AlgorithmOptions
    ranks: Sequence[int]
    chunks: int
    chunk_bytes: int
    layout: Layout
    rings: GroupRings | None
    seed: int
    header_bytes: int
    network: Callable[[], Network]
    hop_ps: int
    root: int = 0
    blocks: tuple[tuple[int, ...], ...] | None = None

    @property
    def dimension(self) -> str:
        """The network dimension of the group: scale_up if it is inside one super-node."""
        return "scale_up" if self._super_nodes().size == 1 else "scale_out"

    @property
    def local_size(self) -> int:
        """Members of the group in each super-node; its members must be ordered by super-node.

        Raises
        ------
        CollectiveError
            If super-nodes have different numbers of members, or their members are not together.
        """
        super_nodes = self._super_nodes()
        local = len(self.ranks) // max(1, super_nodes.size)
        owner = np.asarray(self.ranks) // (self.layout.super_node or 1)
        together = owner.size == super_nodes.size * local
        if not together or (owner[::local] != owner.reshape(super_nodes.size, local).T).any():
            raise CollectiveError(
                f"the {owner.size} ranks of the group are not in super-nodes of equal parts, one "
                "after the other: expected an algorithm without super-nodes"
            )
        return local

    def _super_nodes(self) -> Ints:
        """Return the super-nodes that have members; empty if the network has none."""
        if self.layout.super_node is None:
            return np.zeros(0, np.int64)
        # np.unique would import the masked arrays, which takes longer than the rest.
        return np.flatnonzero(np.bincount(np.asarray(self.ranks) // self.layout.super_node))
