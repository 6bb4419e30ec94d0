"""The setting of a collective, from which an algorithm chooses its options."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from frontend.collectives.algorithm_options import AlgorithmOptions
from frontend.collectives.group_rings import GroupRings
from frontend.topologies.layout import Layout


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
    root : int
        The rank at which a broadcast or scatter starts, or a reduce or gather ends.
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
    root: int = 0
