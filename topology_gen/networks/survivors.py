"""What is left of a network while some of its links are down."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from topology_gen.arrays import Numbers
from topology_gen.networks.network import Network


def without(network: Network, down: Collection[int]) -> Network:
    """Return a network whose paths use none of some links.

    Parameters
    ----------
    network : Network
        The network.
    down : collection of int
        The links.

    Returns
    -------
    Network
        The same nodes and links. Flows are spread over all shortest paths that are left, whatever
        the family's rule is.
    """
    up = _up(network, down)
    left = replace(
        network, **{name: getattr(network, name)[up] for name in _OF_LINKS}, loss=None
    ).shortest_paths()

    def router(source: Numbers, target: Numbers, route: Numbers) -> tuple[Numbers, Numbers]:
        begin, links = left(source, target, route)
        return begin, up[links]

    return replace(network, router=router)


_OF_LINKS = (
    *("source", "target", "rate_bps", "latency_ps", "buffer_bytes", "ecn_threshold_bytes"),
    "dimension",
)


def cut_off(network: Network, down: Collection[int]) -> set[int]:
    """Return the ranks that cannot reach the others while some links are down.

    A piece of the network has switches with paths between them, and ranks if these forward. A rank
    is not cut off if it has a link to the piece with the most ranks, or if it shares a piece with
    each rank there.

    Parameters
    ----------
    network : Network
        The network, whose links go both ways.
    down : collection of int
        The links.

    Examples
    --------
    >>> from topology_gen.networks.fat_tree import fat_tree
    >>> network = fat_tree(16, 100 * 10**9, 1_000_000)
    >>> cut_off(network, np.flatnonzero((network.source == 1) | (network.target == 1)).tolist())
    {1}
    >>> cut_off(network, [])
    set()
    """
    of_rank, of_piece, _ = _pieces(network, down)
    if not len(of_rank):
        return set(range(network.ranks))
    there = of_rank[of_piece == np.bincount(of_piece).argmax()]
    rest = np.setdiff1d(np.arange(network.ranks), there)
    return {int(one) for one in rest if not _reaches(int(one), there, of_rank, of_piece)}


def reach(network: Network, down: Collection[int], ranks: Sequence[int]) -> NDArray[np.bool_]:
    """Return which of some ranks reach which others while some links are down.

    Parameters
    ----------
    network, down
        As for `cut_off`.
    ranks : sequence of int
        The ranks.

    Returns
    -------
    bool array, shape (ranks, ranks)
        Whether the two share a piece.
    """
    of_rank, of_piece, pieces = _pieces(network, down)
    place = np.full(network.ranks, -1)
    place[list(ranks)] = np.arange(len(ranks))
    own = place[of_rank] >= 0
    near = np.zeros((len(ranks), pieces), np.float32)
    near[place[of_rank[own]], of_piece[own]] = 1
    near = near[:, near.any(0)]
    return np.asarray(near @ near.T > 0)


def _pieces(network: Network, down: Collection[int]) -> tuple[Numbers, Numbers, int]:
    """Return the pairs of a rank and a piece that it has a link to, and the number of pieces."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    up = _up(network, down)
    source, target = network.source[up].astype(np.int64), network.target[up].astype(np.int64)
    ranks, nodes = network.ranks, network.nodes
    # A rank that does not forward is a piece of its own, apart from those it has links to.
    forwards = np.full(len(up), network.ranks_forward) | (np.minimum(source, target) >= ranks)
    pairs = (source[forwards], target[forwards])
    graph = coo_matrix((np.ones(len(pairs[0])), pairs), (nodes, nodes))
    count, piece = connected_components(graph, directed=False)
    ends, others = np.concatenate([source, target]), np.concatenate([target, source])
    mine = ends < ranks
    at = np.unique(ends[mine] * count + piece[others[mine]])
    return at // count, at % count, count


def _reaches(rank: int, others: Numbers, of_rank: Numbers, of_piece: Numbers) -> bool:
    near = of_rank[np.isin(of_piece, of_piece[of_rank == rank])]
    return bool(np.isin(others, near).all())


def _up(network: Network, down: Collection[int]) -> NDArray[np.int64]:
    return np.setdiff1d(np.arange(network.links), np.fromiter(down, np.int64, len(down)))
