"""Makes all candidates of a size and degree: families, and expansions of smaller candidates.

The cost of a family's topology is that of its BFB schedules. The cost of an expansion follows from
that of its base by formulas. If the digraph is small enough, its BFB schedules are measured, too,
and used if they are better. Only the best candidates of each size and degree are expanded further.
Source: L. Zhao et al., "Efficient direct-connect topologies for collective communications",
NSDI 2025, section 5.4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from math import gcd, isqrt, prod

from topology_gen import specs
from topology_gen.errors import ParameterError, TopologyError
from topology_gen.finder.costs import Candidate, of_graph
from topology_gen.finder.plan import Cost, degree_cost, line_cost, power_cost
from topology_gen.graphs import least_diameter_offsets, least_distance_offsets
from topology_gen.search.store import Record, packaged

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


GREATEST_NODES, GREATEST_DEGREE = 2**14, 64
"""The largest topologies that can be asked for."""

GREATEST_MEASURED = 2**25
"""BFB is measured up to this product of receivers and links."""

KEPT = 8
"""Number of candidates of a size and degree that are expanded further."""


class Pool:
    """The candidates by size and degree; each size and degree is computed once.

    Parameters
    ----------
    found : bool
        Whether to include the topologies that searches have found.
    more : sequence of Record
        Topologies from the user's own searches.

    Examples
    --------
    >>> best = frontier(Pool().candidates(9, 4))
    >>> [(each.spec, each.steps, str(each.bandwidth_time)) for each in best]
    [('hamming:k=2,q=3', 2, '8/9')]
    """

    def __init__(self, found: bool = True, more: Sequence[Record] = ()) -> None:
        self.found = found
        self.more = more
        self._known: dict[tuple[int, int, bool], list[Candidate]] = {}

    def candidates(self, nodes: int, degree: int, duplex: bool = False) -> list[Candidate]:
        """Return the best candidates in ascending order of steps.

        Parameters
        ----------
        nodes, degree : int
            Size and degree.
        duplex : bool
            Whether every link must have an opposite link.

        Raises
        ------
        ParameterError
            There are fewer than 2 or more than 2¹⁴ nodes, or the degree is not in 1 … 64.
        """
        if not 2 <= nodes <= GREATEST_NODES:
            raise ParameterError(f"{nodes} nodes: expected 2 … {GREATEST_NODES}")
        if not 1 <= degree <= GREATEST_DEGREE:
            raise ParameterError(f"degree {degree}: expected 1 … {GREATEST_DEGREE}")
        key = nodes, degree, duplex
        if key not in self._known:
            every = self._all(nodes, degree, duplex)
            self._known[key] = _best(each for each in every if each.duplex or not duplex)
        return self._known[key]

    def _all(self, nodes: int, degree: int, duplex: bool) -> Iterator[Candidate]:
        """Yield all candidates, and if they must be duplex, also some that are not."""
        for spec in bases(nodes, degree, self.found, duplex):
            yield from _with_bfb(spec, None)
        for record in self.more:
            if (record.nodes, record.degree) == (nodes, degree) and record.duplex >= duplex:
                yield from _with_bfb(record.spec, None)
        if not duplex:  # a link of a line graph has no opposite link
            yield from self._lines(nodes, degree)
        yield from self._degrees(nodes, degree, duplex)
        yield from self._powers(nodes, degree, duplex)
        yield from self._products(nodes, degree, duplex)
        if degree % 2 == 0:
            for base in self.candidates(nodes, degree // 2):
                spec = f"bidirectional:of=[{base.spec}]"
                if base.schedule == "bfb" and base.cost[1] == 2 * base.bandwidth_time:
                    yield from _with_bfb(spec, base)

    def _lines(self, nodes: int, degree: int) -> Iterator[Candidate]:
        if degree < 2 or nodes % degree or nodes // degree < 2:
            return
        for base in self.candidates(nodes // degree, degree):
            family, values = specs.read(base.spec)
            times = int(values.get("k", 1)) + 1 if family == "line" else 1
            of = values["of"] if family == "line" else f"[{base.spec}]"
            power = f",k={times}" if times > 1 else ""
            expanded = replace(_expanded(base, partial(line_cost, nodes=base.nodes)), duplex=False)
            yield from _with_bfb(f"line:of={of}{power}", expanded, (nodes, degree))

    def _degrees(self, nodes: int, degree: int, duplex: bool) -> Iterator[Candidate]:
        for times in range(2, degree + 1):
            if degree % times or nodes % times or nodes // times < 2:
                continue
            for base in self.candidates(nodes // times, degree // times, duplex):
                expanded = _expanded(base, partial(degree_cost, nodes=base.nodes, times=times))
                spec = f"degree:of=[{base.spec}],n={times}"
                yield from _with_bfb(spec, expanded, (nodes, degree))

    def _powers(self, nodes: int, degree: int, duplex: bool) -> Iterator[Candidate]:
        for times in range(2, degree + 1):
            side = round(nodes ** (1 / times))
            if degree % times or side**times != nodes or side < 2:
                continue
            for base in self.candidates(side, degree // times, duplex):
                expanded = _expanded(base, partial(power_cost, nodes=side, times=times))
                spec = f"power:of=[{base.spec}],n={times}"
                yield from _with_bfb(spec, expanded, (nodes, degree))

    def _products(self, nodes: int, degree: int, duplex: bool) -> Iterator[Candidate]:
        """Yield products of two bases with optimal BFB, which the product inherits (theorem 13)."""
        for side in range(2, nodes // 2 + 1):
            if nodes % side or side > nodes // side:
                continue
            for part in range(1, degree):
                factors = [
                    _quickest(self.candidates(side, part, duplex)),
                    _quickest(self.candidates(nodes // side, degree - part, duplex)),
                ]
                product = _product([each for each in factors if each is not None])
                if product is not None:
                    yield product


def frontier(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Return the candidates that no other beats in steps and T_B, in ascending order of steps.

    Of several candidates with the same cost, the one with the lowest distances is returned.
    """
    front: list[Candidate] = []
    for candidate in sorted(candidates, key=lambda each: each.key):
        if not any(candidate.beaten_by(other) for other in front):
            front.append(candidate)
    return front


def _best(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Return the frontier, and further candidates with lower distances, up to a limit."""
    ordered = sorted(candidates, key=lambda each: each.key)
    front: list[Candidate] = []
    for each in ordered:
        if not any(each.beaten_by(other) and each.key[2] >= other.key[2] for other in front):
            front.append(each)
    kept = frontier(front)
    others = [each for each in front if each not in kept]
    return sorted(kept + others[: max(0, KEPT - len(kept))], key=lambda each: each.key)


def _with_bfb(
    spec: str, expanded: Candidate | None, size: tuple[int, int] | None = None
) -> Iterator[Candidate]:
    """Yield an expansion with its cost by formula, by BFB, or both, if neither beats the other."""
    if expanded is not None:
        nodes, degree = size or (expanded.nodes, 2 * expanded.degree)
        by_formula = Candidate(
            spec,
            nodes,
            degree,
            expanded.steps,
            expanded.steps_back,
            expanded.bandwidth_time,
            expanded.bandwidth_time_back,
            None,
            "expansion",
            size is None or expanded.duplex,  # only a bidirectional expansion keeps the size
        )
        if nodes**2 * degree > GREATEST_MEASURED:
            yield by_formula
            return
    try:
        graph = specs.parse(spec)
        if (graph.orbits or graph.nodes) * graph.links > 2**3 * GREATEST_MEASURED:
            return
        by_bfb = of_graph(spec, graph)
    except TopologyError:
        return  # the topology is not connected, or its base has self-loops
    yield by_bfb
    if expanded is not None and not by_formula.beaten_by(by_bfb):
        yield by_formula


def _expanded(base: Candidate, formula: Callable[[Cost], Cost]) -> Candidate:
    """Return the base with the cost of its expansion."""
    forward = formula(Cost(base.steps, base.bandwidth_time))
    back = formula(Cost(base.steps_back, base.bandwidth_time_back))
    return replace(
        base,
        steps=forward.steps,
        steps_back=back.steps,
        bandwidth_time=forward.bandwidth_time,
        bandwidth_time_back=back.bandwidth_time,
    )


def _quickest(candidates: Iterable[Candidate]) -> Candidate | None:
    """Return the first candidate whose BFB is bandwidth-optimal, or None."""
    optimal = (each for each in candidates if each.bandwidth_optimal and each.schedule == "bfb")
    return next(optimal, None)


def _product(factors: list[Candidate]) -> Candidate | None:
    """Return the product of two factors by theorem 13, or None if a factor is missing."""
    if len(factors) < 2 or any(each.distance is None for each in factors):
        return None
    nodes = prod(each.nodes for each in factors)
    least = Fraction(nodes - 1, nodes)
    distance = sum(nodes // each.nodes * (each.distance or 0) for each in factors)
    return Candidate(
        "product:of=" + "+".join(f"[{each.spec}]" for each in factors),
        nodes,
        sum(each.degree for each in factors),
        sum(each.steps for each in factors),
        sum(each.steps_back for each in factors),
        least,
        least,
        Fraction(distance),
        "bfb",
        all(each.duplex for each in factors),
    )
