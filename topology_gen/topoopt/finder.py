"""TopologyFinder: rings for all-reduces, and matchings for model-parallel transfers.

Source: W. Wang et al., "TopoOpt", NSDI 2023, Algorithm 1.

Maximum-weight matching of dense demand: Edmonds' blossom algorithm on few candidate edges. The
algorithm proves its result with a dual value for every node: no matching is heavier if, for every
edge, the duals of its ends add up to at least its weight. So the algorithm first runs on the
heaviest edges of every node. Then the edges that violate this rule are added, and it runs again,
until no edge violates it. The result is a heaviest matching of all edges, as
`networkx.max_weight_matching` would find, but 400 times as fast.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from math import frexp
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from topology_gen.arrays import Numbers
from topology_gen.errors import ParameterError
from topology_gen.graphs.totient_perms import select_permutations, totient_perms
from topology_gen.kernels import heaviest_matching as _match
from topology_gen.topoopt.degree_split import by_traffic, more_rings, ring_ports, split_degree
from topology_gen.topoopt.demand import Demand
from topology_gen.topoopt.discount import gain
from topology_gen.topoopt.topology import Rings, TopoOptTopology

if TYPE_CHECKING:
    import networkx as nx


CANDIDATES = 8
"""Number of edges of each node that are used at first, and that are added at a time."""

_BITS = 52
"""Number of bits of the integers that weights become; whole bytes and halves of them stay exact."""


def heaviest_matching(weights: NDArray[np.float64], seed: int = 1) -> NDArray[np.int64]:
    """Return a matching of greatest total weight.

    Parameters
    ----------
    weights : array, shape (n, n)
        A symmetric matrix of weights of at least 0; the diagonal is ignored. Pairs of weight 0 are
        never matched.
    seed : int
        Seed of the choice between equally heavy matchings.

    Returns
    -------
    int64 array, shape (pairs, 2)
        The pairs, in ascending order.

    Raises
    ------
    ParameterError
        The matrix is not square, not symmetric, or has a weight that is negative or not finite.

    Examples
    --------
    >>> heaviest_matching(np.array([[0, 3, 5], [3, 0, 4], [5, 4, 0]])).tolist()
    [[0, 2]]
    """
    whole = _whole(np.asarray(weights, dtype=np.float64))
    nodes = len(whole)
    if not whole.any():
        return np.zeros((0, 2), np.int64)
    order = np.random.default_rng(seed).permutation(nodes)
    whole = whole[np.ix_(order, order)]  # the order of nodes decides between equal matchings
    listed = _heaviest(whole) & (whole > 0)
    while True:
        first, second = np.nonzero(np.triu(listed))
        mates, duals = _match(
            nodes, first.astype(np.int32), second.astype(np.int32), whole[first, second]
        )
        excess = np.where(listed, 0, 2 * whole - duals[:, None] - duals[None, :])
        if excess.max() <= 0:
            break
        listed |= _heaviest(excess) & (excess > 0)
    matched = np.flatnonzero(mates > np.arange(nodes))
    pairs = np.sort(np.stack([order[matched], order[mates[matched]]], axis=1), axis=1)
    return pairs[np.lexsort(pairs.T[::-1])].astype(np.int64)


def _whole(weights: NDArray[np.float64]) -> NDArray[np.int64]:
    """Check the weights, and return them as integers."""
    if weights.ndim != 2 or weights.shape[0] != weights.shape[1]:
        raise ParameterError(f"weights of shape {weights.shape}: expected a square matrix")
    if not np.all(np.isfinite(weights)) or np.any(weights < 0):
        raise ParameterError("expected weights that are finite and at least 0")
    if not np.array_equal(weights, weights.T):
        raise ParameterError("weights that differ by direction: expected a symmetric matrix")
    # The factor is a power of 2, so that rounding is exact wherever possible.
    _, exponent = frexp(float(weights.max(initial=0.0)))
    whole = np.rint(np.ldexp(weights, _BITS - exponent)).astype(np.int64)
    np.fill_diagonal(whole, 0)
    return whole


def _heaviest(weights: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return a symmetric mask of the few heaviest entries of each row.

    Each row is rotated to start at its diagonal. Of equal entries, different rows then choose
    different columns, so that they can be matched.
    """
    nodes = len(weights)
    turned = (np.arange(nodes)[:, None] + np.arange(1, nodes + 1)[None, :]) % max(nodes, 1)
    count = min(CANDIDATES, nodes)
    rows = np.take_along_axis(weights, turned, axis=1)
    if count < nodes:
        least = -np.partition(-rows, count - 1, axis=1)[:, count - 1 : count]
        heavier = rows > least
        level = rows == least
        level &= np.cumsum(level, axis=1) <= count - heavier.sum(axis=1, keepdims=True)
        chosen = heavier | level
    else:
        chosen = np.ones_like(rows, dtype=bool)
    mask = np.zeros((nodes, nodes), dtype=bool)
    np.put_along_axis(mask, turned, chosen, axis=1)
    return mask | mask.T


def topology_finder(
    demand: Demand,
    degree: int,
    *,
    duplex: bool = True,
    primes_only: bool = False,
    repeat_rings: bool = True,
    discount: str = "exponential",
    seed: int = 1,
) -> TopoOptTopology:
    """Return the topology that suits a job's transfers.

    Rings go to the all-reduce groups as `split_degree` divides the ports of each server. The ports
    without rings get maximum-weight matchings of the model-parallel transfers, whose two directions
    are added up. Each matching uses one port, and the discount then lowers the weights of its
    pairs. If these links do not connect all servers, `connected` joins the parts. Ports that are
    idle after that go to groups that can use them (`more_rings`).

    Parameters
    ----------
    demand : Demand
        The transfers of at least 2 servers. Without traffic, all ports go to rings through all
        servers.
    degree : int
        Number of ports of a server.
    duplex : bool
        Whether a ring has links in both directions and uses two ports of each of its servers, as
        with optical transceivers. Otherwise a ring is directed and uses one port.
    primes_only : bool
        Whether to use only rings whose strides are 1 or prime.
    repeat_rings : bool
        Whether to repeat rings if a group has fewer different rings than ports for them. Otherwise
        matchings get the ports.
    discount : str
        One of `topology_gen.topoopt.GAINS`.
    seed : int
        Seed of the choice between equally heavy matchings.

    Raises
    ------
    ParameterError
        The degree is too small for a ring, or the discount is unknown.

    See Also
    --------
    data_parallel, ocs_reconfig

    Examples
    --------
    >>> from topology_gen.topoopt import data_parallel
    >>> topology = topology_finder(data_parallel(128), 4)
    >>> topology.coins, topology.graph.diameter
    ([1, 11], 9)
    """
    gain(discount, 1)  # raises if the discount is unknown, even if there is nothing to match
    split = split_degree(demand, degree, duplex)
    most = {
        index: degree
        if repeat_rings
        else len(totient_perms(len(demand.groups[index].members), primes_only, duplex))
        for index in by_traffic(demand)
    }
    everyone = tuple(range(demand.nodes))

    def drawn(counts: Mapping[int, int], spanning: int) -> tuple[Rings, ...]:
        groups = ((index, demand.groups[index].members, n) for index, n in counts.items())
        return tuple(
            Rings(group, members, _strides(len(members), n, duplex, primes_only, repeat_rings))
            for group, members, n in (*groups, (None, everyone, spanning))
            if n
        )

    rings = drawn(split.rings, split.spare_rings)
    draft = TopoOptTopology(demand.nodes, degree, duplex, rings, ())
    matchings = match(demand.mp, degree - draft.ports, discount=discount, seed=seed)
    draft = connected(replace(draft, matchings=tuple(matchings)), demand)
    counts = {rings.group: len(rings.strides) for rings in draft.rings}
    spanning = counts.pop(None, 0)
    chosen = {index: count for index, count in counts.items() if index is not None}
    chosen = more_rings(demand, chosen, degree - draft.ports, most, duplex)
    return replace(draft, rings=drawn(chosen, spanning))


def match(
    transfers: NDArray[np.float64],
    rounds: int | Numbers,
    *,
    discount: str = "exponential",
    seed: int = 1,
) -> list[NDArray[np.int64]]:
    """Return successive maximum-weight matchings; the pairs of a matching weigh less in the next.

    There are fewer matchings than rounds if nothing is left to match.

    Parameters
    ----------
    transfers : array, shape (n, n)
        Bytes from each server (row) to each other (column).
    rounds : int, or int64 array, shape (n,)
        Number of ports for matchings, at least 0, of every server or of each.
    discount : str
        One of `topology_gen.topoopt.GAINS`.
    seed : int
        Seed of the choice between equally heavy matchings.

    Raises
    ------
    ParameterError
        `rounds` is negative, or the discount is unknown.

    Examples
    --------
    >>> match(np.array([[0, 4, 0], [4, 0, 3], [0, 0, 0]]), 2)
    [array([[0, 1]]), array([[0, 1]])]
    """
    ports = np.broadcast_to(rounds, len(transfers))
    if ports.min(initial=0) < 0:
        raise ParameterError(f"{ports.min()} matchings: expected at least 0")
    weights = transfers + transfers.T
    linked: Counter[tuple[int, int]] = Counter()
    left = weights.copy()
    result = []
    for turn in range(int(ports.max(initial=0))):
        free = ports > turn
        pairs = heaviest_matching(np.where(np.outer(free, free), left, 0), seed + turn)
        if not len(pairs):
            break
        result.append(pairs)
        for a, b in pairs.tolist():
            linked[a, b] += 1
            left[a, b] = left[b, a] = weights[a, b] * float(gain(discount, linked[a, b] + 1))
    return result


def _strides(
    size: int, count: int, duplex: bool, primes_only: bool, repeat: bool
) -> tuple[int, ...]:
    """Return the strides of a group's rings."""
    found = select_permutations(totient_perms(size, primes_only, duplex), count, size)
    return tuple(found[index % len(found)] for index in range(count if repeat else len(found)))


def connected(topology: TopoOptTopology, demand: Demand) -> TopoOptTopology:
    """Return a topology with links from each server to all others, over others.

    If every server has free ports for it, a ring of stride 1 goes through all servers. Otherwise,
    single links in free ports join the parts. If there are no ports for that, matched links are
    given up: first those without which their part is still connected. Rings are only given up if
    the ports of all matched links do not suffice: one of a group with several rings before the only
    ring of a group, and the one with fewer bytes first.

    Parameters
    ----------
    topology : TopoOptTopology
        Rings and matchings, with ports for a ring through all servers in its degree.
    demand : Demand
        The transfers for which it was made.

    Examples
    --------
    >>> from topology_gen.topoopt import data_parallel
    >>> apart = TopoOptTopology(4, 2, True, (), (np.array([[0, 1], [2, 3]]),))
    >>> [pairs.tolist() for pairs in connected(apart, data_parallel(4)).matchings]
    [[[0, 1], [2, 3]], [[0, 2]]]
    """
    while short := _short_parts(replace(topology, matchings=())):
        for part in short:
            topology = _without_ring(topology, demand, part)
    while short := _short_parts(topology):
        topology = _with_fewer_links(topology, demand, short)
    free = topology.degree - topology.ports
    parts = _parts(topology)
    if len(parts) > 1 and free.min() >= ring_ports(topology.nodes, topology.duplex):
        everyone = Rings(None, tuple(range(topology.nodes)), (1,))
        return replace(topology, rings=(*topology.rings, everyone))
    return _joined(topology, parts)


def _servers(topology: TopoOptTopology) -> nx.Graph[int]:
    """Return which servers have rings or links in common."""
    import networkx as nx

    graph: nx.Graph[int] = nx.empty_graph(topology.nodes)
    for rings in topology.rings:
        nx.add_cycle(graph, rings.members)
    for pairs in topology.matchings:
        graph.add_edges_from(pairs.tolist())
    return graph


def _parts(topology: TopoOptTopology) -> list[list[int]]:
    import networkx as nx

    return sorted(sorted(part) for part in nx.connected_components(_servers(topology)))


def _short_parts(topology: TopoOptTopology) -> list[list[int]]:
    """Return sets of servers of which each has to give up a ring or link, so that parts can join.

    These are the parts without free ports, or else all servers together.
    """
    free = topology.degree - topology.ports
    parts = _parts(topology)
    if len(parts) == 1 or free.min() >= ring_ports(topology.nodes, topology.duplex):
        return []
    # Each link takes two ports, and a tree of all parts has one link less than there are parts.
    if full := [part for part in parts if not free[part].any()]:
        return full
    return [] if free.sum() >= 2 * (len(parts) - 1) else [list(range(topology.nodes))]


def _joined(topology: TopoOptTopology, parts: list[list[int]]) -> TopoOptTopology:
    """Return the topology with a tree of links between the parts, where most ports are free."""
    free = topology.degree - topology.ports
    parts = sorted(parts, key=lambda part: (-free[part].sum(), part))
    inside = list(parts[0])
    links = []
    for part in parts[1:]:
        pair = sorted(max(side, key=lambda one: (free[one], -one)) for side in (inside, part))
        free[pair] -= 1
        links.append(np.array([pair]))
        inside += part
    return replace(topology, matchings=(*topology.matchings, *links))


def _without_ring(topology: TopoOptTopology, demand: Demand, part: list[int]) -> TopoOptTopology:
    """Return the topology without one of the rings of some servers."""
    place = min(
        (place for place, rings in enumerate(topology.rings) if rings.members[0] in part),
        key=lambda place: _worth(topology.rings[place], demand),
    )
    group, members, strides = topology.rings[place]
    rest = (Rings(group, members, strides[:-1]),) if len(strides) > 1 else ()
    rings = (*topology.rings[:place], *rest, *topology.rings[place + 1 :])
    return replace(topology, rings=rings)


def _worth(rings: Rings, demand: Demand) -> tuple[bool, float, tuple[int, ...]]:
    """Return a key by which rings are kept: the only one of a group, or one with more bytes."""
    assert rings.group is not None  # the ring through all servers is added last
    count = len(rings.strides)
    return count == 1, demand.groups[rings.group].traffic / count, rings.members


def _with_fewer_links(
    topology: TopoOptTopology, demand: Demand, parts: list[list[int]]
) -> TopoOptTopology:
    """Return the topology without one of the matched links of each of some sets of servers."""
    import networkx as nx

    links = Counter((a, b) for pairs in topology.matchings for a, b in pairs.tolist())
    found: Any = nx.bridges(_servers(topology))
    # The ring of a group of two is a link beside the matched ones.
    bridges = set(map(frozenset, found)) - {frozenset(one.members) for one in topology.rings}
    weights = demand.mp + demand.mp.T

    def worth(pair: tuple[int, int]) -> tuple[bool, float, tuple[int, int]]:
        alone = links[pair] == 1 and frozenset(pair) in bridges
        return alone, weights[pair] / links[pair], pair

    part_of = {server: place for place, part in enumerate(parts) for server in part}
    given: dict[int, tuple[int, int]] = {}
    for pair in sorted(links, key=worth):
        if pair[0] in part_of:
            given.setdefault(part_of[pair[0]], pair)
    left, matchings = set(given.values()), []
    for pairs in reversed(topology.matchings):
        here = left & set(map(tuple, pairs.tolist()))
        left -= here
        matchings.append(np.array([pair for pair in pairs if tuple(pair.tolist()) not in here]))
    return replace(topology, matchings=tuple(one for one in matchings[::-1] if len(one)))
