"""Cartesian products: sizes multiply, degrees add, and every factor is a dimension."""

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
from topology_gen.schedules.schedule import Schedule


def cartesian_product(of: Sequence[Digraph]) -> Digraph:
    """Return G₁□G₂□…: a link of a factor for every choice of the other factors' nodes.

    Node (x₁, x₂, …) has the number ((x₁·N₂ + x₂)·N₃ + …). It is vertex-transitive if all factors
    are. Its BFB all-gather is bandwidth-optimal if those of all factors are, and takes the sum of
    their steps.

    Parameters
    ----------
    of : sequence of Digraph
        The factors, at least 2.

    Raises
    ------
    ParameterError
        Fewer factors, or more links than fit.

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
        raise ParameterError(f"a product of {len(of)} digraph: expected at least 2")
    nodes = prod(factor.nodes for factor in of)
    check_size(nodes, -(-sum(factor.links * (nodes // factor.nodes) for factor in of) // nodes))
    sources, targets = [], []
    below = nodes  # nodes of this factor and the later ones together
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
    )


def cartesian_power(of: Digraph, times: int) -> Digraph:
    """Return G□G□…, n times.

    Parameters
    ----------
    of : Digraph
        The base.
    times : int
        n, at least 2.

    Raises
    ------
    ParameterError
        Fewer, or more links than fit.

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
    """Return the all-gather on the Cartesian power that an all-gather on the base becomes.

    Every shard is cut into n parts. Part r is gathered along dimension r first, then along the
    next one what has been gathered by then, and so on round, so that no two parts use the same
    dimension at a time. Steps are n times the base's, and T_B is N/(N-1)·(Nⁿ-1)/Nⁿ times its.

    Parameters
    ----------
    schedule : Schedule
        An all-gather.
    times : int
        n, at least 2.

    Raises
    ------
    ParameterError
        Not an all-gather, fewer dimensions than 2, or too many sends.

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
            # Where the sender is in the other dimensions, and where the shard's owner is: the same
            # but in those that were gathered before, in which it may be anywhere.
            here = _combinations(size, times, [i for i in range(times) if i != dimension])
            away = _combinations(size, times, gathered)
            there = here[:, None] - _projected(here, size, times, gathered)[:, None] + away
            # Links of a dimension follow each other, the other dimensions' nodes ascending.
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
    """Return the numbers, ascending, of all nodes that are 0 but in some dimensions."""
    result = np.zeros(1, np.int64)
    for dimension in sorted(dimensions):
        steps = np.arange(size) * size ** (times - 1 - dimension)
        result = (result[:, None] + steps).ravel()
    return result


def _projected(
    nodes: NDArray[np.int64], size: int, times: int, dimensions: Sequence[int]
) -> NDArray[np.int64]:
    """Return the nodes with all coordinates 0 but those of some dimensions."""
    result = np.zeros_like(nodes)
    for dimension in dimensions:
        stride = size ** (times - 1 - dimension)
        result += nodes // stride % size * stride
    return result
