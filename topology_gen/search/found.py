"""A digraph that a search has found, and its cost."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

Permutation = tuple[int, ...]
Arc = tuple[int, Permutation]
"""The target of an arc of the base digraph, and the arc's group element."""


@dataclass(frozen=True)
class Found:
    """A digraph on which a group acts, and its cost.

    Attributes
    ----------
    group : str
        The name of the group, if it has one.
    arcs : tuple
        For each arc of the base digraph, by generator and orbit: its target and its group element,
        as `topology_gen.graphs.families.lift` accepts them.
    steps : int
        The diameter.
    bandwidth_time, bandwidth_time_back : Fraction
        T_B of the all-gather and of the reduce-scatter, in units of M/B.
    distance : Fraction
        Sum of the distances from a node to all others, averaged over the nodes.
    """

    group: str
    arcs: tuple[tuple[Arc, ...], ...]
    steps: int
    bandwidth_time: Fraction
    bandwidth_time_back: Fraction
    distance: Fraction

    @property
    def key(self) -> tuple[int, Fraction, Fraction]:
        """The sort key, lower is better: steps, T_B, then distances."""
        return self.steps, self.bandwidth_time + self.bandwidth_time_back, self.distance

    def beaten_by(self, other: Found) -> bool:
        """Return whether another digraph is at least as good in every cost."""
        steps, time, distance = other.key
        return self.steps >= steps and self.key[1] >= time and self.distance >= distance
