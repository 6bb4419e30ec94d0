"""Times of collectives in the α-β model, and lower bounds for all topologies.

Source: L. Zhao et al., "Efficient direct-connect topologies for collective communications",
NSDI 2025, sections 3.2 and 5.4 and appendix A.5.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from topology_gen import specs
from topology_gen.graphs.digraph import Digraph
from topology_gen.graphs.moore import moore_layers
from topology_gen.schedules import bfb
from topology_gen.schedules.throughput import Throughput, throughput


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


GOAL, WORK = 5e-3, 8e9
"""The relative gap at which the search for an all-to-all stops, and the most steps over links."""

Collective = Literal["all_reduce", "all_gather", "reduce_scatter", "all_to_all"]


@dataclass(frozen=True)
class Fabric:
    """The latency and the bandwidth of a network.

    Attributes
    ----------
    hop_us : float
        α, the latency of a step in microseconds.
    bandwidth_bps : float
        B, the bandwidth of a node in bit/s, summed over its links.
    """

    hop_us: float
    bandwidth_bps: float

    def transfer_us(self, size_bytes: float) -> float:
        """Return M/B, the time in microseconds in which a node sends M bytes over its links."""
        return size_bytes * 8e6 / self.bandwidth_bps


@dataclass(frozen=True)
class Choice:
    """A candidate and its properties that are printed.

    Attributes
    ----------
    candidate : Candidate
    name : str
        The name of the topology in mathematical notation.
    diameter : int
    rate : Throughput
        The throughput of an all-to-all.
    """

    candidate: Candidate
    name: str
    diameter: int
    rate: Throughput

    def time_us(self, collective: Collective, size_bytes: float, fabric: Fabric) -> float:
        """Return the time in microseconds that a collective takes.

        Parameters
        ----------
        collective : str
            "all_reduce", "all_gather", "reduce_scatter" or "all_to_all".
        size_bytes : float
            M: the size of all shards together. In an all-to-all, the data of a node, including the
            part for itself.
        fabric : Fabric
            The latency and the bandwidth.
        """
        unit = fabric.transfer_us(size_bytes)
        what = self.candidate
        if collective == "all_to_all":
            return unit * what.degree / (what.nodes * self.rate.least)
        total = 0.0
        if collective != "reduce_scatter":
            total += what.steps * fabric.hop_us + float(what.bandwidth_time) * unit
        if collective != "all_gather":
            total += what.steps_back * fabric.hop_us + float(what.bandwidth_time_back) * unit
        return total


def chosen(candidate: Candidate, useless: float = 0) -> Choice:
    """Return a candidate with its name, diameter and all-to-all throughput.

    Parameters
    ----------
    candidate : Candidate
        A topology.
    useless : float
        An all-to-all throughput that is of no use. If the candidate's is proved to be no greater,
        it may be given as less than it is.

    Examples
    --------
    >>> from topology_gen.finder.costs import measured
    >>> choice = chosen(measured("circulant:n=12"))
    >>> choice.name, choice.diameter, round(choice.rate.least, 6)
    ('C(12,{2,3})', 2, 0.214286)
    """
    graph = specs.parse(candidate.spec)
    diameter = candidate.steps if candidate.schedule == "bfb" else graph.diameter
    return Choice(candidate, graph.name, diameter, throughput(graph, None, GOAL, WORK, useless))


def least_all_reduce_us(
    nodes: int, degree: int, size_bytes: float, fabric: Fabric, duplex: bool = False
) -> float:
    """Return a lower bound for an all-reduce: the Moore bound's steps plus 2·(M/B)·(N-1)/N.

    Examples
    --------
    >>> round(least_all_reduce_us(1024, 4, 2**20, Fabric(10, 1e11)), 1)
    267.6
    >>> round(least_all_reduce_us(1024, 4, 2**20, Fabric(10, 1e11), duplex=True), 1)
    287.6
    """
    steps = len(moore_layers(nodes, degree, duplex))
    return 2 * (steps * fabric.hop_us + fabric.transfer_us(size_bytes) * (nodes - 1) / nodes)


def least_all_to_all_us(
    nodes: int, degree: int, size_bytes: float, fabric: Fabric, duplex: bool = False
) -> float:
    """Return a lower bound for an all-to-all: the greatest number of nodes at every distance.

    Examples
    --------
    >>> round(least_all_to_all_us(1024, 4, 2**20, Fabric(10, 1e11)), 1)
    382.3
    """
    layers = moore_layers(nodes, degree, duplex)
    total = sum(hops * many for hops, many in enumerate(layers, 1))
    return fabric.transfer_us(size_bytes) * float(Fraction(total, nodes))
