"""The ranks as a grid of parallel dimensions, and the groups along them.

Source: Megatron-LM's order of ranks; D. Narayanan et al., "Efficient large-scale language model
training on GPU clusters using Megatron-LM", SC 2021.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import product
from math import prod
from typing import Any, NamedTuple

import numpy as np

from frontend.collectives.program.program import Ints
from frontend.errors import ScenarioError
from frontend.workloads.llm.workload import DIMENSIONS, Layout


class Groups(NamedTuple):
    """Groups of equal size, which cover the ranks of a pipeline stage."""

    ranks: tuple[int, ...]
    """The ranks, group by group."""
    number: int
    """Number of groups."""

    @property
    def size(self) -> int:
        """Ranks of a group."""
        return len(self.ranks) // self.number


class Part(NamedTuple):
    """Ranks of a pipeline stage that share a trace."""

    ranks: tuple[int, ...]
    cp: int
    """Their place in cp, if ranks at different places do not share a trace; otherwise 0."""
    ep: int
    """Their place in ep, likewise."""


class Grid:
    """The ranks in the order of a layout.

    Parameters
    ----------
    layout : Layout
        The layout.
    ranks : int
        Number of ranks, a multiple of tp · cp · pp.
    super_node : int, optional
        Consecutive ranks of a super-node, if the topology has them.
    """

    def __init__(self, layout: Layout, ranks: int, super_node: int | None = None) -> None:
        dp = layout.dp or ranks // (layout.tp * layout.cp * layout.pp)
        self.ranks = ranks
        self.super_node = super_node or 1
        self.dp = dp
        self.size: Mapping[str, int] = {
            "tp": layout.tp,
            "cp": layout.cp,
            "ep": layout.ep,
            "dp": dp // layout.ep,
            "pp": layout.pp,
        }
        self._order = layout.order.split("-")
        self._known: dict[tuple[int, tuple[str, ...]], Groups] = {}

    @cached_property
    def _places(self) -> Ints:
        """The ranks by their place in each dimension, in the order of `DIMENSIONS`."""
        numbers = np.arange(self.ranks).reshape([self.size[d] for d in reversed(self._order)])
        axes = [len(self._order) - 1 - self._order.index(dimension) for dimension in DIMENSIONS]
        return numbers.transpose(axes)

    def stage(self, stage: int) -> tuple[int, ...]:
        """Return the ranks of a pipeline stage, in increasing order."""
        return tuple(sorted(self._places[..., stage].reshape(-1).tolist()))

    def parts(self, stage: int, *by: str) -> list[Part]:
        """Return the ranks of a stage by their places in some of the dimensions cp and ep."""
        ways = [range(self.size[one]) if one in by else [None] for one in ("cp", "ep")]
        found = []
        for cp, ep in product(*ways):
            place: list[Any] = [slice(None) if one is None else one for one in (cp, ep)]
            ranks = self._places[:, place[0], place[1], :, stage].reshape(-1)
            found.append(Part(tuple(sorted(ranks.tolist())), cp or 0, ep or 0))
        return found

    def part_groups(self, stage: int, *along: str) -> list[Groups]:
        """Return the groups of a stage by their place in ep, which is not among `along`."""
        whole = self.groups(stage, *along)
        found = []
        for part in self.parts(stage, "ep"):
            members = set(part.ranks)
            ranks = tuple(rank for rank in whole.ranks if rank in members)
            found.append(Groups(ranks, len(ranks) // whole.size))
        return found

    def ring_offsets(self, way: int) -> list[int]:
        """Return what to add to a rank for its neighbour in the ring of cp, by the place in cp."""
        ring = self._places[0, :, 0, 0, 0]
        return [int(one) % self.ranks for one in np.roll(ring, -way) - ring]

    def groups(self, stage: int, *along: str) -> Groups:
        """Return the groups of a stage whose ranks differ only in the given dimensions."""
        if (stage, along) not in self._known:
            others = [d for d in DIMENSIONS if d not in along and d != "pp"]
            axes = [DIMENSIONS.index(d) for d in (*others, *sorted(along, key=self._outer_first))]
            members = self._places[..., stage].transpose(axes).reshape(-1)
            size = prod(self.size[d] for d in along)
            ranks = tuple(members.tolist())
            self._known[stage, along] = Groups(ranks, len(ranks) // size)
        return self._known[stage, along]

    def by_super_node(self, groups: Groups) -> tuple[Groups, Groups]:
        """Return groups within super-nodes, and groups of the same places in each super-node.

        Raises
        ------
        ScenarioError
            If the groups do not have as many ranks in each of their super-nodes.
        """
        nodes = (np.array(groups.ranks) // self.super_node).reshape(groups.number, -1)
        together = int((nodes[0] == nodes[0, 0]).sum())
        if groups.size % together or not _alike(nodes.reshape(groups.number, -1, together)):
            raise ScenarioError(
                "workload.routing.super_nodes: expected null, or groups of ep with as many ranks "
                f"in each super-node of {self.super_node} ranks"
            )
        places = np.array(groups.ranks).reshape(groups.number, -1, together)
        across = places.transpose(0, 2, 1).reshape(-1)
        return (
            Groups(groups.ranks, len(groups.ranks) // together),
            Groups(tuple(across.tolist()), groups.number * together),
        )

    def across(self, stages: Sequence[int]) -> Groups:
        """Return the groups of ranks that differ only in the stage, of the given stages."""
        members = self._places[..., list(stages)].reshape(-1)
        return Groups(tuple(members.tolist()), members.size // len(stages))

    def stage_offset(self, source: int, target: int) -> int:
        """Return what to add to a rank of one stage for the same place in another, modulo ranks."""
        first = self._places[0, 0, 0, 0]
        return int(first[target] - first[source]) % self.ranks

    def _outer_first(self, dimension: str) -> int:
        return -self._order.index(dimension)


def _alike(nodes: Ints) -> bool:
    """Return whether each row of each group is one super-node, and no two rows are the same."""
    first = nodes[:, :, 0]
    ordered = np.sort(first, axis=1)
    return bool((nodes == nodes[:, :, :1]).all() and (ordered[:, 1:] > ordered[:, :-1]).all())
