"""Makes unidirectional digraphs bidirectional: adds the transpose over the same nodes."""

from __future__ import annotations

import numpy as np

from topology_gen.arrays import ids
from topology_gen.errors import ParameterError
from topology_gen.expansions.sends import Sends, check_all_gather, sorted_by_step, steps_of
from topology_gen.graphs.digraph import Digraph
from topology_gen.graphs.symmetry import bidirectional_symmetry
from topology_gen.schedules.schedule import Schedule


def bidirectional(of: Digraph) -> Digraph:
    """Return the digraph with an opposite link for each link, which doubles the degree.

    The links of the base keep their ids; the opposite of link i is link i + links. The result is
    vertex-transitive if the base is.

    Parameters
    ----------
    of : Digraph
        The base.

    Examples
    --------
    >>> from topology_gen.graphs import unidirectional_ring
    >>> graph = bidirectional(unidirectional_ring(5))
    >>> graph.name, graph.degree, graph.diameter, graph.bidirectional
    ('Bi(UniRing(1,5))', 2, 2, True)
    """
    return Digraph(
        f"Bi({of.name})",
        of.nodes,
        np.concatenate([of.source, of.target]),
        np.concatenate([of.target, of.source]),
        of.vertex_transitive,
        symmetry=bidirectional_symmetry(of),
    )


def bidirectional_schedule(forward: Schedule, backward: Schedule) -> Schedule:
    """Return the all-gather that sends half of every shard in each direction.

    If the base is isomorphic to its transpose, both directions cost the same, and the result has
    the steps and the T_B of the base.

    Parameters
    ----------
    forward : Schedule
        An all-gather on a digraph.
    backward : Schedule
        An all-gather on its transpose, with the same number of chunks.

    Raises
    ------
    ParameterError
        A schedule is not an all-gather, the digraphs are not transposes of each other, or the
        numbers of chunks differ.

    Examples
    --------
    >>> from topology_gen.schedules import bfb
    >>> from topology_gen import graphs
    >>> base = graphs.unidirectional_ring(5)
    >>> both = bidirectional_schedule(bfb.all_gather(base), bfb.all_gather(base.transpose()))
    >>> both.steps, str(both.bandwidth_time)
    (4, '4/5')
    """
    check_all_gather(forward)
    check_all_gather(backward)
    base = forward.graph
    if not (
        np.array_equal(base.source, backward.graph.target)
        and np.array_equal(base.target, backward.graph.source)
        and base.nodes == backward.graph.nodes
    ):
        raise ParameterError(
            f"schedules on {base.name} and {backward.graph.name}: "
            f"expected the second to be the transpose of the first"
        )
    if forward.chunks != backward.chunks:
        raise ParameterError(
            f"{forward.chunks} and {backward.chunks} chunks: expected the same number in both "
            f"directions"
        )
    parts = [
        Sends(forward.link, forward.shard, forward.first, forward.count),
        Sends(
            ids(backward.link + np.uint32(base.links)),
            backward.shard,
            ids(backward.first + np.uint32(forward.chunks)),
            backward.count,
        ),
    ]
    steps = np.concatenate([steps_of(forward), steps_of(backward)])
    return sorted_by_step(bidirectional(base), 2 * forward.chunks, parts, steps)
