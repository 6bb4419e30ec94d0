"""Lists the families that have a topology of a given size and degree."""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd, isqrt

from topology_gen.graphs import least_diameter_offsets, least_distance_offsets
from topology_gen.search.store import packaged

MOST_OFFSETS = 16
"""Greatest number of nodes for which all offsets of directed circulant graphs are tried."""

DISTANCE_REGULAR = {
    "octahedron": 6,
    "paley_9": 9,
    "k55_minus_matching": 10,
    "distance_3_heawood": 14,
    "line_petersen": 15,
    "hypercube_4": 16,
    "line_heawood": 21,
    "incidence_pg_2_3": 26,
    "incidence_ag_2_4": 32,
    "odd_graph_o4": 35,
    "line_tutte_8_cage": 45,
    "doubled_odd_o4": 70,
    "incidence_gq_3_3": 80,
    "line_tutte_12_cage": 189,
    "incidence_gh_3_3": 728,
}
"""Number of nodes of each distance-regular graph; to build them just to count takes too long."""


ONE_WAY = (
    "unidirectional_ring",
    "unidirectional_torus",
    "generalized_kautz",
    "de_bruijn",
    "modified_de_bruijn",
    "directed_circulant",
)
"""Families whose links have no opposite links."""

GREATEST_SPREAD = 2**12
"""Greatest number of nodes for which the offsets of circulant graphs are searched."""


def bases(nodes: int, degree: int, found: bool, duplex: bool = False) -> Iterator[str]:
    """Yield the specs of all families that have a topology of this size and degree.

    Parameters
    ----------
    nodes, degree : int
        Number of nodes, at least 2, and degree, at least 1.
    found : bool
        Whether to include the topologies that searches have found.
    duplex : bool
        Whether to leave out families with one-way links, and to include random graphs, for sizes
        at which nothing else has few steps.

    Yields
    ------
    str
        A spec that `topology_gen.specs.parse` accepts.

    Examples
    --------
    >>> list(bases(8, 4, found=False))  # doctest: +NORMALIZE_WHITESPACE
    ['complete_bipartite:d=4', 'ring:n=8,d=4', 'unidirectional_ring:n=8,d=4',
     'twisted_torus:a=2', 'generalized_kautz:d=4,n=8', 'circulant:n=8']
    """
    for spec in _families(nodes, degree):
        if not duplex or not spec.startswith(ONE_WAY):
            yield spec
    if duplex and degree < nodes and nodes * degree % 2 == 0:
        yield f"random_regular:n={nodes},d={degree},seed=1"
    if found:
        for index, record in enumerate(packaged().get((nodes, degree), ())):
            if record.duplex or not duplex:
                yield f"found:n={nodes},d={degree},i={index}"


def _families(nodes: int, degree: int) -> Iterator[str]:
    yield from _small(nodes, degree)
    if degree % 2 == 0:
        yield f"ring:n={nodes},d={degree}"
    yield f"unidirectional_ring:n={nodes},d={degree}"
    yield from _tori(nodes, degree)
    if degree >= 2:
        yield f"generalized_kautz:d={degree},n={nodes}"
        for diameter in range(2, 25):
            if degree**diameter == nodes:
                yield f"de_bruijn:d={degree},k={diameter}"
                yield f"modified_de_bruijn:d={degree},k={diameter}"
    if degree % 2 == 0 and nodes >= 3:
        yield from _circulants(nodes, degree)
    if degree == nodes - 2:
        yield f"directed_circulant:n={nodes}"
    if degree == 2 and 3 <= nodes <= MOST_OFFSETS:
        for first in range(1, nodes):
            for second in range(first + 1, nodes):
                if gcd(nodes, first, second) == 1 and (first == 1 or gcd(nodes, first) > 1):
                    yield f"directed_circulant:n={nodes},offsets={first}+{second}"
    if degree == 4:
        for name, size in DISTANCE_REGULAR.items():
            if size == nodes:
                yield f"distance_regular:name={name}"


def _small(nodes: int, degree: int) -> Iterator[str]:
    """Yield the specs of families with few steps."""
    if degree == nodes - 1:
        yield f"complete:n={nodes}"
    if nodes == 2 * degree:
        yield f"complete_bipartite:d={degree}"
    for dimensions in range(2, degree + 1):
        letters = degree // dimensions + 1
        if degree % dimensions == 0 and letters**dimensions == nodes:
            yield f"hamming:k={dimensions},q={letters}"
    if nodes == 2**degree and degree >= 3:
        yield f"twisted_hypercube:n={nodes}"


def _tori(nodes: int, degree: int) -> Iterator[str]:
    if degree % 2 == 0:
        for sides in _factorizations(nodes, degree // 2, 3):
            yield f"torus:dims={'x'.join(map(str, sides))}"
    for sides in _factorizations(nodes, degree, 2):
        yield f"unidirectional_torus:dims={'x'.join(map(str, sides))}"
    side = isqrt(nodes // 2)
    if degree == 4 and side >= 2 and 2 * side**2 == nodes:
        yield f"twisted_torus:a={side}"
    cube = round((nodes / 2) ** (1 / 3))
    if degree == 6 and cube >= 2 and 2 * cube**3 == nodes:
        yield f"twisted_torus:a={cube},k=3"


def _factorizations(number: int, factors: int, least: int) -> Iterator[tuple[int, ...]]:
    """Yield the factorization with the least sum of factors, which is the one of fewest steps."""
    best = min(_all_factorizations(number, factors, least), key=sum, default=None)
    if factors >= 2 and best is not None:
        yield best


def _all_factorizations(number: int, factors: int, least: int) -> Iterator[tuple[int, ...]]:
    if factors == 1:
        if number >= least:
            yield (number,)
        return
    side = least
    while side**factors <= number:
        if number % side == 0:
            for rest in _all_factorizations(number // side, factors - 1, side):
                yield (side, *rest)
        side += 1


def _circulants(nodes: int, degree: int) -> Iterator[str]:
    if degree == 4:
        yield f"circulant:n={nodes}"
        return
    if degree % 4 == 0:
        least, _ = least_diameter_offsets(nodes)
        offsets = "+".join([f"{least}+{least + 1}"] * (degree // 4))
        if least + 1 < nodes:
            yield f"circulant:n={nodes},offsets={offsets}"
    if 6 <= degree < nodes - 1 and nodes <= GREATEST_SPREAD:
        offsets = "+".join(map(str, least_distance_offsets(nodes, degree // 2)))
        yield f"circulant:n={nodes},offsets={offsets}"
