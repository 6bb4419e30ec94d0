"""Cartesian products: sizes multiply, degrees add, and every factor becomes a dimension."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import lcm, prod

import numpy as np
from numpy.typing import NDArray

from topology_gen.arrays import ids
from topology_gen.errors import ParameterError
from topology_gen.expansions.sends import (
    Sends,
    check_all_gather,
    check_sends,
    sorted_by_step,
    steps_of,
)
from topology_gen.graphs.digraph import Digraph
from topology_gen.graphs.families.parameters import check_least, check_size, power
from topology_gen.graphs.symmetry import product_symmetry
from topology_gen.schedules.schedule import Schedule


def cartesian_product(of: Sequence[Digraph]) -> Digraph:
    """Return G₁□G₂□…: a link of a factor for every choice of the other factors' nodes.

    Node (x₁, x₂, …) has the number ((x₁·N₂ + x₂)·N₃ + …). The product is vertex-transitive if all
    factors are. Its BFB all-gather is bandwidth-optimal if those of all factors are, and takes the
    sum of their steps.

    Parameters
    ----------
    of : sequence of Digraph
        The factors, at least 2.

    Raises
    ------
    ParameterError
        There are fewer than 2 factors, or the product has too many links.

    See Also
    --------
    cartesian_power

    Examples
    --------
    >>> from topology_gen.graphs import complete, ring
    >>> graph = cartesian_product([complete(4), ring(3)])
    >>> graph.name, graph.nodes, graph.degree, graph.diameter
    ('K_4□BiRing(2,3)', 12, 5, 2)
    """
    if len(of) < 2:
        raise ParameterError(f"a product of {len(of)} digraph: expected at least 2 digraphs")
    nodes = prod(factor.nodes for factor in of)
    check_size(nodes, -(-sum(factor.links * (nodes // factor.nodes) for factor in of) // nodes))
    sources, targets = [], []
    below = nodes  # size of the product of this factor and the later ones
    for factor in of:
        stride = below // factor.nodes
        above = np.arange(nodes // below)[:, None] * below
        others = (above + np.arange(stride)).ravel()
        sources.append((factor.source[:, None].astype(np.int64) * stride + others).ravel())
        targets.append((factor.target[:, None].astype(np.int64) * stride + others).ravel())
        below = stride
    return Digraph(
        "□".join(factor.name for factor in of),
        nodes,
        ids(np.concatenate(sources)),
        ids(np.concatenate(targets)),
        all(factor.vertex_transitive for factor in of),
        grid=tuple(length for factor in of for length in factor.grid or (factor.nodes,)),
        symmetry=product_symmetry(of),
    )


def cartesian_power(of: Digraph, times: int) -> Digraph:
    """Return the Cartesian power G□G□… of n factors.

    Parameters
    ----------
    of : Digraph
        The base G.
    times : int
        Number n of factors, at least 2.

    Raises
    ------
    ParameterError
        There are fewer than 2 factors, or the power has too many links.

    See Also
    --------
    power_schedule, cartesian_product

    Examples
    --------
    >>> from topology_gen.graphs import unidirectional_ring
    >>> graph = cartesian_power(unidirectional_ring(4), 2)
    >>> graph.name, graph.nodes, graph.degree, graph.diameter
    ('UniRing(1,4)^□2', 16, 2, 6)
    """
    check_least(2, times=times)
    power(max(2, of.nodes), times)
    name = f"({of.name})" if "□" in of.name else of.name
    return replace(cartesian_product([of] * times), name=f"{name}^□{times}")


def power_schedule(schedule: Schedule, times: int) -> Schedule:
    """Return the all-gather on a Cartesian power that an all-gather on the base expands to.

    It is the `product_schedule` of n times the same all-gather. No two parts use a dimension at
    the same time, so the result takes n times the steps of the base, and N/(N-1)·(Nⁿ-1)/Nⁿ times
    its T_B.

    Parameters
    ----------
    schedule : Schedule
        An all-gather on the base.
    times : int
        Number n of factors, at least 2.

    Raises
    ------
    ParameterError
        The schedule is not an all-gather, n is below 2, or the result has too many sends.

    Examples
    --------
    >>> from topology_gen.schedules import bfb
    >>> from topology_gen import graphs
    >>> expanded = power_schedule(bfb.all_gather(graphs.ring(4)), 2)
    >>> expanded.steps, str(expanded.bandwidth_time)
    (4, '15/16')
    """
    check_all_gather(schedule)
    graph = cartesian_power(schedule.graph, times)
    return replace(product_schedule([schedule] * times), graph=graph)


def product_schedule(schedules: Sequence[Schedule]) -> Schedule:
    """Return the all-gather on a Cartesian product that all-gathers on its factors form.

    Every shard is split into as many parts as there are factors. Part r is first gathered along
    dimension r. Along each next dimension, cyclically, a node then passes on all that it has
    gathered of the part. If the factors differ, parts can meet in a dimension, and their sends
    share its links.

    Parameters
    ----------
    schedules : sequence of Schedule
        An all-gather on each factor, at least 2.

    Raises
    ------
    ParameterError
        A schedule is not an all-gather, there are fewer than 2, or the result has too many sends.

    See Also
    --------
    topology_gen.schedules.bfb.all_gather : the best steps, and T_B if the factors' BFB is optimal

    Examples
    --------
    >>> from topology_gen.graphs import torus
    >>> from topology_gen.schedules import rings
    >>> made = product_schedule([rings.all_gather(torus([n])) for n in (3, 4)])
    >>> made.steps, str(made.bandwidth_time)
    (5, '7/6')
    """
    for schedule in schedules:
        check_all_gather(schedule)
    graph = cartesian_product([schedule.graph for schedule in schedules])
    chunks = lcm(*(schedule.chunks for schedule in schedules))
    bases = [schedule.in_chunks(chunks) for schedule in schedules]
    grid = _Grid([base.graph.nodes for base in bases])
    links = [base.graph.links * (graph.nodes // base.graph.nodes) for base in bases]
    first_link = np.concatenate([[0], np.cumsum(links)])
    dimensions = range(len(bases))
    turns = [[*dimensions[part:], *dimensions[:part]] for part in dimensions]
    check_sends(
        sum(
            bases[dimension].sends * graph.nodes // grid.sizes[dimension] * grid.count(turn[:phase])
            for turn in turns
            for phase, dimension in enumerate(turn)
        )
    )

    parts, steps = [], []
    for part, turn in enumerate(turns):
        done = 0  # steps of this part along the earlier dimensions
        for phase, dimension in enumerate(turn):
            base, gathered = bases[dimension], turn[:phase]
            # `here` is the sender in the other dimensions. The owner of the shard is at the same
            # place, except in the dimensions that are already gathered, where it can be anywhere.
            here = grid.combinations([i for i in dimensions if i != dimension])
            away = grid.combinations(gathered)
            there = here[:, None] - grid.projected(here, gathered)[:, None] + away
            # The links of a dimension are consecutive, ordered by the other dimensions' nodes.
            others = len(here)
            link = first_link[dimension] + base.link.astype(np.int64) * others
            shape = (base.sends, others, len(away))
            numbers = np.broadcast_to((link[:, None] + np.arange(others))[:, :, None], shape)
            owner = base.shard.astype(np.int64)[:, None, None] * grid.strides[dimension]
            many = others * len(away)
            parts.append(
                Sends(
                    ids(numbers.ravel()),
                    ids((owner + there).ravel()),
                    ids(np.repeat(base.first + np.uint32(part * chunks), many)),
                    np.repeat(base.count, many),
                )
            )
            steps.append(np.repeat(steps_of(base) + done, many))
            done += base.steps
    return sorted_by_step(graph, len(bases) * chunks, parts, np.concatenate(steps))


class _Grid:
    """The nodes of a product, by their coordinates in every factor."""

    def __init__(self, sizes: Sequence[int]) -> None:
        self.sizes = sizes
        self.strides = [prod(sizes[dimension + 1 :]) for dimension in range(len(sizes))]

    def count(self, dimensions: Sequence[int]) -> int:
        """Return the number of combinations of coordinates in some dimensions."""
        return prod(self.sizes[dimension] for dimension in dimensions)

    def combinations(self, dimensions: Sequence[int]) -> NDArray[np.int64]:
        """Return, in ascending order, the nodes whose coordinates are 0 in other dimensions."""
        result = np.zeros(1, np.int64)
        for dimension in sorted(dimensions):
            steps = np.arange(self.sizes[dimension]) * self.strides[dimension]
            result = (result[:, None] + steps).ravel()
        return result

    def projected(self, nodes: NDArray[np.int64], dimensions: Sequence[int]) -> NDArray[np.int64]:
        """Return the nodes with all coordinates set to 0 outside some dimensions."""
        result = np.zeros_like(nodes)
        for dimension in dimensions:
            stride = self.strides[dimension]
            result += nodes // stride % self.sizes[dimension] * stride
        return result
