"""What the options of an algorithm are chosen from: a collective, its group and its network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from frontend.collectives.algorithm_options import AlgorithmOptions
from frontend.collectives.group_rings import GroupRings
from frontend.topologies.layout import Layout


@dataclass(frozen=True)
class Setting:
    """A collective that a scenario issues.

    Attributes
    ----------
    operation : str
        "all_reduce", "reduce_scatter", "all_gather" or "all_to_all".
    given : AlgorithmOptions
        The options that the scenario gives.
    ranks : sequence of int
        The group, in the order of its members.
    chunks, chunk_bytes : int
        Chunks of the collective, and the size of each.
    layout : Layout
        The topology.
    rings : GroupRings, optional
        The rings of the group, where the workload has them.
    seed : int
        Of the scenario.
    header_bytes : int
        Bytes of a packet on the wire beside its payload.
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
