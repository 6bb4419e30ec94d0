"""The schedules that expansions provide, and their costs by the published formulas."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import lcm

from topology_gen import specs
from topology_gen.expansions.cartesian import cartesian_power, power_schedule
from topology_gen.expansions.degree import degree_expansion, degree_schedule
from topology_gen.expansions.line_graphs import line_graph, line_schedule
from topology_gen.expansions.reversal import bidirectional, bidirectional_schedule
from topology_gen.graphs.digraph import Digraph
from topology_gen.schedules import bfb
from topology_gen.schedules.schedule import Schedule

EXPANSIONS = ("line", "degree", "power", "bidirectional")
"""The families that provide a schedule."""


@dataclass(frozen=True)
class Cost:
    """The cost of an all-gather in the α-β model.

    Attributes
    ----------
    steps : int
        The latency in units of α.
    bandwidth_time : Fraction
        T_B in units of M/B.
    """

    steps: int
    bandwidth_time: Fraction


def line_cost(base: Cost, nodes: int) -> Cost:
    """Return the greatest cost of the all-gather on the line graph (equations 4 and 5).

    Examples
    --------
    >>> line_cost(Cost(2, Fraction(7, 8)), nodes=8)
    Cost(steps=3, bandwidth_time=Fraction(1, 1))
    """
    return Cost(base.steps + 1, base.bandwidth_time + Fraction(1, nodes))


def degree_cost(base: Cost, nodes: int, times: int) -> Cost:
    """Return the cost of the all-gather on the degree expansion (equations 9 and 10).

    Examples
    --------
    >>> degree_cost(Cost(1, Fraction(2, 3)), nodes=3, times=2)
    Cost(steps=2, bandwidth_time=Fraction(5, 6))
    """
    return Cost(base.steps + 1, base.bandwidth_time + Fraction(times - 1, times * nodes))


def power_cost(base: Cost, nodes: int, times: int) -> Cost:
    """Return the cost of the all-gather on the Cartesian power (equations 11 and 12).

    Examples
    --------
    >>> power_cost(Cost(2, Fraction(3, 4)), nodes=4, times=2)
    Cost(steps=4, bandwidth_time=Fraction(15, 16))
    """
    whole = Fraction(nodes, nodes - 1) * Fraction(nodes**times - 1, nodes**times)
    return Cost(times * base.steps, base.bandwidth_time * whole)


def expanded_all_gather(spec: str) -> Schedule | None:
    """Return the all-gather that an expansion derives from its base, or None.

    The base uses its best BFB all-gather. If the base is an expansion itself, it uses the better of
    that and its own derived schedule. A topology that is no expansion, or a Cartesian product of
    different digraphs, has no derived schedule.

    Parameters
    ----------
    spec : str
        The topology, as `topology_gen.specs.parse` accepts it.

    Raises
    ------
    TopologyError
        The topology is not valid, or cannot be expanded.

    Examples
    --------
    >>> schedule = expanded_all_gather("degree:of=[complete:n=3],n=2")
    >>> schedule.steps, str(schedule.bandwidth_time)
    (2, '5/6')
    >>> expanded_all_gather("complete:n=3") is None
    True
    """
    return _expanded(spec, transposed=False)


def expanded_reduce_scatter(spec: str) -> Schedule | None:
    """Return the reduce-scatter that an expansion derives from its base, or None.

    It is the reverse of the all-gather that is derived on the transposed topology.

    Raises
    ------
    TopologyError
        As in `expanded_all_gather`.

    Examples
    --------
    >>> schedule = expanded_reduce_scatter("line:of=[generalized_kautz:d=2,n=5]")
    >>> schedule.operation, schedule.graph.name
    ('reduce_scatter', 'L(Pi(2,5))')
    """
    schedule = _expanded(spec, transposed=True)
    return None if schedule is None else _reversed(schedule, spec)


def best_all_gather(spec: str) -> Schedule:
    """Return the better all-gather of a topology: BFB, or the one derived from its base.

    BFB has the fewest steps. The derived schedule is returned if it has as few and a lower T_B.

    Raises
    ------
    TopologyError
        The topology is not valid.

    Examples
    --------
    BFB needs only 2 steps on this expansion:

    >>> best_all_gather("degree:of=[ring:n=5],n=2").steps
    2
    >>> expanded_all_gather("degree:of=[ring:n=5],n=2").steps
    3
    """
    return _best(spec, transposed=False)


def best_reduce_scatter(spec: str) -> Schedule:
    """Return the better reduce-scatter of a topology: BFB, or the one derived from its base.

    Raises
    ------
    TopologyError
        The topology is not valid.
    """
    return _reversed(_best(spec, transposed=True), spec)


def _best(spec: str, transposed: bool) -> Schedule:
    graph = specs.parse(spec)
    schedule = bfb.all_gather(graph.transpose() if transposed else graph)
    other = _expanded(spec, transposed)
    if other is None:
        return schedule
    return min(schedule, other, key=lambda each: (each.steps, each.bandwidth_time))


def _expanded(spec: str, transposed: bool) -> Schedule | None:
    """Return the derived all-gather, or the one on the transpose, with the topology's link ids."""
    family, values = specs.read(spec)
    if family not in EXPANSIONS:
        return None
    of = specs.inner(values["of"])
    base = specs.parse(of)
    if family == "bidirectional":
        ways = [bfb.all_gather_performance(base), bfb.reduce_scatter_performance(base)]
        chunks = lcm(*(way.chunks for way in ways))  # no rounding in either direction
        schedule = bidirectional_schedule(
            bfb.all_gather(base, chunks), bfb.all_gather(base.transpose(), chunks)
        )
        return _turned(schedule, bidirectional(base), transposed)
    schedule = _best(of, transposed)
    if family == "line":
        for _ in range(int(values.get("k", 1))):
            base = line_graph(base)
            schedule = _turned(line_schedule(schedule), base, transposed)
        return schedule
    times = int(values["n"])
    if family == "degree":
        return _turned(degree_schedule(schedule, times), degree_expansion(base, times), transposed)
    return _turned(power_schedule(schedule, times), cartesian_power(base, times), transposed)


def _reversed(schedule: Schedule, spec: str) -> Schedule:
    """Return the reduce-scatter on a topology, given an all-gather on its transpose."""
    return replace(schedule.reversed(), graph=specs.parse(spec))


def _turned(schedule: Schedule, graph: Digraph, transposed: bool) -> Schedule:
    """Return a schedule on the transpose of `graph` if wanted, else unchanged."""
    return schedule.on(graph.transpose()) if transposed else schedule
