"""A topology with a schedule, and its cost."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from topology_gen import specs
from topology_gen.graphs.digraph import Digraph
from topology_gen.schedules import bfb


@dataclass(frozen=True)
class Candidate:
    """A topology with a schedule, and its cost.

    Attributes
    ----------
    spec : str
        The topology, as `topology_gen.specs.parse` accepts it.
    nodes, degree : int
        Size and degree of the topology.
    steps, steps_back : int
        Steps of the all-gather and of the reduce-scatter.
    bandwidth_time, bandwidth_time_back : Fraction
        T_B of both, in units of M/B.
    distance : Fraction or None
        Sum of the distances from a node to all others, averaged over the nodes; None if it was not
        computed.
    schedule : str
        "bfb", or "expansion" if the cost is that of the base's schedule, expanded.
    duplex : bool
        Whether every link has an opposite link, as cables have.
    """

    spec: str
    nodes: int
    degree: int
    steps: int
    steps_back: int
    bandwidth_time: Fraction
    bandwidth_time_back: Fraction
    distance: Fraction | None
    schedule: Literal["bfb", "expansion"]
    duplex: bool

    @property
    def cost(self) -> tuple[int, Fraction]:
        """Steps and T_B of an all-reduce, which is a reduce-scatter and an all-gather."""
        return self.steps + self.steps_back, self.bandwidth_time + self.bandwidth_time_back

    @property
    def key(self) -> tuple[int, Fraction, Fraction]:
        """The sort key, lower is better: steps, T_B, then distances."""
        unknown = Fraction(self.nodes**2)  # greater than any sum of distances
        return *self.cost, unknown if self.distance is None else self.distance

    @property
    def bandwidth_optimal(self) -> bool:
        """Whether no schedule on any topology of this size has a lower T_B."""
        least = Fraction(self.nodes - 1, self.nodes)
        return self.bandwidth_time == least == self.bandwidth_time_back

    def beaten_by(self, other: Candidate) -> bool:
        """Return whether another candidate is at least as good in steps and in T_B."""
        steps, time = self.cost
        return steps >= other.cost[0] and time >= other.cost[1]


def measured(spec: str) -> Candidate:
    """Return a topology with its best BFB schedules.

    Raises
    ------
    TopologyError
        The topology is not valid, not strongly connected, or not regular.

    Examples
    --------
    >>> candidate = measured("circulant:n=16")
    >>> candidate.steps, str(candidate.bandwidth_time), str(candidate.distance)
    (3, '15/16', '30')
    """
    return of_graph(spec, specs.parse(spec))


def of_graph(spec: str, graph: Digraph) -> Candidate:
    """Return a topology, whose digraph is given, with its best BFB schedules."""
    forward, back, distance = bfb.costs(graph)
    return Candidate(
        spec,
        graph.nodes,
        graph.degree,
        forward.steps,
        back.steps,
        forward.bandwidth_time,
        back.bandwidth_time,
        distance,
        "bfb",
        graph.bidirectional,
    )
