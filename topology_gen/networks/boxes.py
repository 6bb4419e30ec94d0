"""Boxes: groups of ranks with fast links, joined by slower rails between equal places."""

from __future__ import annotations

from typing import Literal

import numpy as np

from topology_gen.errors import ParameterError
from topology_gen.graphs.digraph import from_pairs
from topology_gen.graphs.wiring import Wiring, wired

Inside = Literal["mesh", "switch"]
Rails = Literal["ring", "mesh"]


def boxes(
    count: int,
    ranks_per_box: int,
    *,
    inside: Inside,
    rails: Rails,
    scale_up_bps: int,
    scale_up_ps: int,
    rail_bps: int,
    rail_ps: int,
) -> Wiring:
    """Return the wiring of boxes; ranks 0 … ranks_per_box-1 are in the first box.

    Parameters
    ----------
    count : int
        Number of boxes, at least 1.
    ranks_per_box : int
        Number of ranks in a box, at least 1; together there are at least 2.
    inside : str
        "mesh": a link pair between every two ranks of a box. "switch": a switch in each box.
    rails : str
        "ring": a link pair from every rank to the rank at the same place in the next box, and from
        the last box to the first. "mesh": a link pair to this place in every other box.
    scale_up_bps : int
        Rate of a rank inside its box (bit/s), divided evenly among its links.
    rail_bps : int
        Rate of each rail (bit/s).
    scale_up_ps, rail_ps : int
        Latency of each link (picoseconds).

    Raises
    ------
    ParameterError
        There are too few ranks.

    Examples
    --------
    >>> wiring = boxes(2, 4, inside="switch", rails="ring", scale_up_bps=8, scale_up_ps=0,
    ...     rail_bps=1, rail_ps=0)
    >>> wiring.ranks, wiring.switches, wiring.graph.links
    (8, 2, 24)
    """
    if count < 1 or ranks_per_box < 1 or count * ranks_per_box < 2:
        raise ParameterError(f"{count} boxes of {ranks_per_box} ranks: expected at least 2 ranks")
    ranks = count * ranks_per_box
    link_bps = scale_up_bps if inside == "switch" else scale_up_bps // max(ranks_per_box - 1, 1)
    near: list[tuple[int, int]] = []
    for rank in range(ranks):
        box = rank // ranks_per_box
        if inside == "switch":
            near.append((rank, ranks + box))
        else:
            near += [(rank, other) for other in range(rank + 1, (box + 1) * ranks_per_box)]
    steps = range(1, count) if rails == "mesh" else [1]
    far = {
        (min(rank, other), max(rank, other))
        for step in steps
        for rank in range(ranks)
        for other in [(rank + step * ranks_per_box) % ranks]
        if rank != other
    }
    switches = count if inside == "switch" else 0
    graph = from_pairs(f"Boxes({count}x{ranks_per_box})", ranks + switches, near + sorted(far))
    sizes = [2 * len(near), 2 * len(far)]
    return wired(
        graph,
        np.repeat([link_bps, rail_bps], sizes),
        np.repeat([scale_up_ps, rail_ps], sizes),
        switches,
    )
