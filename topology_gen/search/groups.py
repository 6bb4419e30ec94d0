"""Finite groups of a given order, as groups of permutations."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import gcd, isqrt, prod

import numpy as np
from numpy.typing import NDArray

from topology_gen.errors import ParameterError
from topology_gen.search.store import Permutation

Table = NDArray[np.uint32]

GREATEST_ORDER = 4096
"""Greatest number of elements of a group, because a table keeps all products."""

GREATEST_LETTERS = 160
"""Greatest number of letters that the permutations of a named group move."""


@dataclass(frozen=True, eq=False)
class Group:
    """A group of permutations.

    Attributes
    ----------
    name : str
        The name of the group, if it has one.
    elements : list of permutations
        The elements; element 0 is the identity.
    products : uint32 array, shape (order, order)
        products[g] is the permutation x → x·g of the numbers of elements: first x, then g.
    """

    name: str
    elements: list[Permutation]
    products: Table

    @property
    def order(self) -> int:
        """Number of elements."""
        return len(self.elements)


def generated(name: str, generators: Sequence[Permutation], order: int) -> Group | None:
    """Return the group that some permutations generate, or None if its order differs.

    Examples
    --------
    >>> generated("S3", [(1, 0, 2), (1, 2, 0)], 6).order
    6
    """
    elements = [tuple(range(len(generators[0])))]
    numbers = {elements[0]: 0}
    rules: list[list[int]] = [[] for _ in generators]
    came: list[tuple[int, int]] = [(0, 0)]  # each element is an earlier one times a generator
    for number, element in enumerate(elements):  # the loop appends to the list
        for index, generator in enumerate(generators):
            product = tuple([generator[image] for image in element])
            if product not in numbers:
                if len(elements) == order:
                    return None
                numbers[product] = len(elements)
                elements.append(product)
                came.append((number, index))
            rules[index].append(numbers[product])
    if len(elements) < order:
        return None
    steps = np.array(rules, dtype=np.uint32)
    products = np.empty((order, order), np.uint32)
    products[0] = np.arange(order)
    for number in range(1, order):
        earlier, index = came[number]
        products[number] = steps[index][products[earlier]]
    return Group(name, elements, products)


def named_groups(order: int) -> Iterator[tuple[str, list[Permutation]]]:
    """Yield the names and generators of groups of an order, of some well-known kinds.

    The kinds are metacyclic groups Zₘ ⋊ Zₙ, which include products of cyclic groups, dihedral
    groups and affine groups over primes; Zₘᵏ with a cyclic permutation of its factors; affine
    groups over fields and their subgroups; and SL(2,p), PSL(2,p) and GL(2,p).

    Examples
    --------
    >>> [name for name, _ in named_groups(6)]
    ['Z1:Z6', 'Z2:Z3', 'Z3:Z2', 'Z3:Z2 by 2', 'Z6:Z1', 'SL(2,2)', 'PSL(2,2)', 'GL(2,2)']
    """
    yield from _metacyclic(order)
    yield from _circled(order)
    yield from _affine(order)
    yield from _linear(order)


def random_generators(order: int, source: random.Random) -> list[Permutation]:
    """Return some permutations that may generate a group of the order.

    They are generators of Zₘᵏ ⋊ Zₙ with a random matrix, or random automorphisms of a tree. The
    tree's branchings are prime factors of the order, and the children of each node are permuted
    cyclically. If the order is a power of a prime, these are elements of a Sylow subgroup.
    """
    if source.random() < 0.5:
        vectors = _random_vectors(order, source)
        if vectors:
            return vectors
    primes = _prime_factors(order)
    source.shuffle(primes)
    depth = source.randint(1, len(primes))
    while depth > 1 and prod(primes[:depth]) > 32:
        depth -= 1
    factors = [primes[:depth]]
    if source.random() < 0.4:
        factors.append([source.choice(primes)])
    blocks = []
    for _ in range(source.randint(2, 4)):
        images: list[int] = []
        for branching in factors:
            images += [len(images) + image for image in _tree(branching, source)]
        blocks.append(tuple(images))
    return blocks


def _tree(branching: Sequence[int], source: random.Random) -> list[int]:
    """Return a random automorphism of a tree, as a permutation of its leaves."""
    if not branching:
        return [0]
    below = prod(branching[1:])
    turn = source.randrange(branching[0])
    images = []
    for child in range(branching[0]):
        first = (child + turn) % branching[0] * below
        images += [first + image for image in _tree(branching[1:], source)]
    return images


def _prime_factors(number: int) -> list[int]:
    factors, divisor = [], 2
    while number > 1:
        while number % divisor == 0:
            factors.append(divisor)
            number //= divisor
        divisor += 1
    return factors


def _cycle(length: int, first: int, letters: int, by: int = 1) -> Permutation:
    """Return the permutation that moves some of the letters cyclically."""
    images = list(range(letters))
    for i in range(length):
        images[first + i] = first + (i + by) % length
    return tuple(images)


def _metacyclic(order: int) -> Iterator[tuple[str, list[Permutation]]]:
    for base in range(1, order + 1):
        if order % base:
            continue
        top = order // base
        if base + top > GREATEST_LETTERS:
            continue
        seen: set[int] = set()
        for factor in range(1, max(2, base)):
            if gcd(factor, base) > 1 or pow(factor, top, base) != 1 % base or factor in seen:
                continue
            # Powers of the factor that generate the same subgroup give the same group.
            seen |= {pow(factor, i, base) for i in range(1, top + 1) if gcd(i, top) == 1}
            letters = base + top
            turn = list(_cycle(top, base, letters))
            turn[:base] = [factor * i % base for i in range(base)]
            by = f" by {factor}" if factor > 1 else ""
            yield f"Z{base}:Z{top}{by}", [_cycle(base, 0, letters), tuple(turn)]


def _circled(order: int) -> Iterator[tuple[str, list[Permutation]]]:
    for copies in range(2, 13):
        for base in range(2, isqrt(order) + 1):
            size = base**copies * copies
            if size > order or order % size:
                continue
            more = order // size
            turns = copies * more
            letters = base * copies + turns
            if letters > GREATEST_LETTERS:
                continue
            shift = list(_cycle(turns, base * copies, letters))
            shift[: base * copies] = [(i + base) % (base * copies) for i in range(base * copies)]
            yield f"Z{base}^{copies}:Z{turns}", [_cycle(base, 0, letters), tuple(shift)]


def _affine(order: int) -> Iterator[tuple[str, list[Permutation]]]:
    for prime in (2, 3, 5, 7):
        for degree in range(2, 8):
            size = prime**degree
            if size > GREATEST_LETTERS or order % size or (size - 1) % (order // size):
                continue
            times = (size - 1) // (order // size)
            yield f"AGL(1,{size})/{times}", _vectors(prime, _primitive(prime, degree, times), 1)


def _random_vectors(order: int, source: random.Random) -> list[Permutation]:
    """Return generators of Zₘᵏ ⋊ Zₙ with a random matrix, or none if the order permits none."""
    sizes = [
        (base, degree)
        for degree in range(2, 8)
        for base in range(2, 12)
        if order % base**degree == 0 and base**degree + order // base**degree <= GREATEST_LETTERS
    ]
    if not sizes:
        return []
    base, degree = source.choice(sizes)
    top = order // base**degree
    one = np.eye(degree, dtype=np.int64)
    while True:
        matrix = np.array([[source.randrange(base) for _ in one] for _ in one])
        power, found = matrix, 1
        while found < 4 * base**degree and not np.array_equal(power, one):
            power, found = power @ matrix % base, found + 1
        if np.array_equal(power, one):  # the matrix is invertible, and `found` is its order
            result = one
            for _ in range(found // gcd(found, top)):
                result = result @ matrix % base
            return _vectors(base, result, top)


def _vectors(base: int, matrix: NDArray[np.int64], top: int) -> list[Permutation]:
    """Return generators of Zₘᵏ ⋊ Zₙ: a step in each dimension, and the matrix with a rotation."""
    degree = len(matrix)
    size = base**degree
    weights = base ** np.arange(degree)
    digits = np.arange(size)[:, None] // weights % base
    circle = np.arange(size, size + top) if top > 1 else np.arange(0)
    generators = [np.concatenate([digits @ matrix.T % base @ weights, np.roll(circle, -1)])]
    for step in np.eye(degree, dtype=np.int64):
        generators.append(np.concatenate([(digits + step) % base @ weights, circle]))
    return [tuple(generator.tolist()) for generator in generators]


def _primitive(prime: int, degree: int, times: int) -> NDArray[np.int64]:
    """Return a power of a matrix whose powers are all elements of a field except 0."""
    size = prime**degree
    for code in range(1, size):
        matrix = np.zeros((degree, degree), np.int64)
        matrix[1:, :-1] = np.eye(degree - 1, dtype=np.int64)
        matrix[:, -1] = [code // prime**j % prime for j in range(degree)]
        power, count = matrix.copy(), 1
        while count < size and not np.array_equal(power, np.eye(degree, dtype=np.int64)):
            power = power @ matrix % prime
            count += 1
        if count == size - 1:
            result = np.eye(degree, dtype=np.int64)
            for _ in range(times):
                result = result @ matrix % prime
            return result
    raise ParameterError(f"no primitive polynomial of degree {degree} over {prime}")


def _linear(order: int) -> Iterator[tuple[str, list[Permutation]]]:
    for prime in (2, 3, 5, 7, 11, 13):
        special = prime * (prime**2 - 1)
        vectors = [(x, y) for x in range(prime) for y in range(prime) if (x, y) != (0, 0)]
        shear, turn = ((1, 1), (0, 1)), ((0, prime - 1), (1, 0))
        root = next(
            r for r in range(1, prime) if len({pow(r, i, prime) for i in range(prime)}) >= prime - 1
        )
        scale = ((root, 0), (0, 1))
        kinds = [
            (f"SL(2,{prime})", special, [shear, turn], vectors),
            (
                f"PSL(2,{prime})",
                special // gcd(2, prime - 1),
                [shear, turn],
                [(1, y) for y in range(prime)] + [(0, 1)],
            ),
            (f"GL(2,{prime})", special * (prime - 1), [shear, turn, scale], vectors),
        ]
        for name, size, matrices, points in kinds:
            if size != order:
                continue
            place = {point: i for i, point in enumerate(points)}
            projective = name.startswith("P")
            yield (
                name,
                [
                    tuple(place[_moved(matrix, point, prime, projective)] for point in points)
                    for matrix in matrices
                ],
            )


def _moved(
    matrix: tuple[tuple[int, int], tuple[int, int]],
    point: tuple[int, int],
    prime: int,
    projective: bool,
) -> tuple[int, int]:
    """Return matrix times point, normalized as a projective point if `projective`."""
    x, y = (sum(a * b for a, b in zip(row, point, strict=True)) % prime for row in matrix)
    if not projective:
        return x, y
    inverse = pow(x or y, -1, prime)
    return x * inverse % prime, y * inverse % prime
