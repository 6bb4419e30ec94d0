"""A digraph that a search found, and what it costs."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

Permutation = tuple[int, ...]
Arc = tuple[int, Permutation]
"""Where an arc of the base digraph leads, and by what element of the group."""


@dataclass(frozen=True)
class Found:
    """A digraph on which a group acts.

    Attributes
    ----------
    group : str
        What is known of the group.
    arcs : tuple
        Of each arc of the base digraph, by generator and orbit, where it leads and by what
        element, as `topology_gen.graphs.families.lift` takes them.
    steps : int
        The diameter.
    bandwidth_time, bandwidth_time_back : Fraction
        T_B of all-gather and reduce-scatter, in units of M/B.
    distance : Fraction
        Sum of the distances from a node to all others, on average over the nodes.
    """

    group: str
    arcs: tuple[tuple[Arc, ...], ...]
    steps: int
    bandwidth_time: Fraction
    bandwidth_time_back: Fraction
    distance: Fraction

    @property
    def key(self) -> tuple[int, Fraction, Fraction]:
        """What is to be low."""
        return self.steps, self.bandwidth_time + self.bandwidth_time_back, self.distance

    def beaten_by(self, other: Found) -> bool:
        """Whether another is as good in everything."""
        steps, time, distance = other.key
        return self.steps >= steps and self.key[1] >= time and self.distance >= distance
