"""Cartesian products: sizes multiply, degrees add, and every factor becomes a dimension."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

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

    Every shard is split into n parts. Part r is first gathered along dimension r. Along each next
    dimension, cyclically, a node then passes on all that it has gathered of the part. No two parts
    therefore use the same dimension at the same time. The result takes n times the steps of the
    base, and N/(N-1)·(Nⁿ-1)/Nⁿ times its T_B.

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
    base = schedule.graph
    graph = cartesian_power(base, times)
    size, others = base.nodes, base.nodes ** (times - 1)
    check_sends(times * schedule.sends * others * (graph.nodes - 1) // max(1, size - 1))
    step = steps_of(schedule)

    parts, steps = [], []
    for part in range(times):
        for phase in range(times):
            dimension = (part + phase) % times
            gathered = [(part + earlier) % times for earlier in range(phase)]
            stride = size ** (times - 1 - dimension)
            # `here` is the sender in the other dimensions. The owner of the shard is at the same
            # place, except in the dimensions that are already gathered, where it can be anywhere.
            here = _combinations(size, times, [i for i in range(times) if i != dimension])
            away = _combinations(size, times, gathered)
            there = here[:, None] - _projected(here, size, times, gathered)[:, None] + away
            # The links of a dimension are consecutive, ordered by the other dimensions' nodes.
            rank = np.arange(others)
            link = dimension * base.links * others + schedule.link.astype(np.int64) * others
            shape = (schedule.sends, others, len(away))
            links = np.broadcast_to((link[:, None] + rank)[:, :, None], shape)
            shards = schedule.shard.astype(np.int64)[:, None, None] * stride + there
            many = others * len(away)
            parts.append(
                Sends(
                    ids(links.ravel()),
                    ids(shards.ravel()),
                    ids(np.repeat(schedule.first + np.uint32(part * schedule.chunks), many)),
                    np.repeat(schedule.count, many),
                )
            )
            steps.append(np.repeat(step + phase * schedule.steps, many))
    return sorted_by_step(graph, times * schedule.chunks, parts, np.concatenate(steps))


def _combinations(size: int, times: int, dimensions: Sequence[int]) -> NDArray[np.int64]:
    """Return, in ascending order, all nodes whose coordinates are 0 outside some dimensions."""
    result = np.zeros(1, np.int64)
    for dimension in sorted(dimensions):
        steps = np.arange(size) * size ** (times - 1 - dimension)
        result = (result[:, None] + steps).ravel()
    return result


def _projected(
    nodes: NDArray[np.int64], size: int, times: int, dimensions: Sequence[int]
) -> NDArray[np.int64]:
    """Return the nodes with all coordinates set to 0 outside some dimensions."""
    result = np.zeros_like(nodes)
    for dimension in dimensions:
        stride = size ** (times - 1 - dimension)
        result += nodes // stride % size * stride
    return result
