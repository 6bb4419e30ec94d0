"""Which expert gets how many tokens: evenly, by popularity, or as measured."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from frontend.collectives.program.program import Blocks
from frontend.workloads.llm.workload import LlmWorkload


class RoutedTokens(NamedTuple):
    """The tokens of a micro-batch in a group of ep, if routing is uneven."""

    blocks: Blocks
    """Row i: the tokens that rank i of the group sends to each rank of the group."""
    experts: tuple[tuple[int, ...], ...]
    """Row j: the tokens that each expert of rank j gets from all ranks of the group."""

    @property
    def most(self) -> int:
        """Tokens that the experts of the busiest rank get."""
        return max(map(sum, self.experts))


def routed_tokens(workload: LlmWorkload, tokens: int) -> RoutedTokens | None:
    """Return where tokens go; None if each expert gets the same number.

    Parameters
    ----------
    workload : LlmWorkload
        The workload.
    tokens : int
        Tokens of a rank. Each goes to `top_k` experts.
    """
    experts, routing = workload.model.experts, workload.routing
    if experts is None or (routing.loads is None and not routing.skew):
        return None
    ep = workload.layout.ep
    rows = routing.loads or (popularity(experts.count, ep, routing.skew),)
    return _routed(rows if len(rows) == ep else rows * ep, experts.top_k, tokens)


@lru_cache(maxsize=8)
def _routed(rows: tuple[tuple[float, ...], ...], top_k: int, tokens: int) -> RoutedTokens:
    """Return where tokens go; row i of `rows` has the loads by which rank i chooses experts."""
    sent = np.array([apportioned(limited(row, top_k), tokens * top_k) for row in rows])
    sent = sent.reshape(len(rows), len(rows), -1)
    return RoutedTokens(
        tuple(map(tuple, sent.sum(axis=2).tolist())), tuple(map(tuple, sent.sum(axis=0).tolist()))
    )


def popularity(count: int, ranks: int, skew: float) -> tuple[float, ...]:
    """Return relative loads by Zipf's law: the k-th most popular expert has k to the power -skew.

    The ranks have popular experts in turn: the k-th is on rank (k - 1) modulo `ranks`.
    """
    local = count // ranks
    return tuple(
        float(1 + within * ranks + rank) ** -skew
        for rank in range(ranks)
        for within in range(local)
    )


def limited(loads: Sequence[float], top_k: int) -> list[Fraction]:
    """Return the parts of all assignments that experts get, each at most 1 / top_k.

    A token does not choose an expert twice. What an expert cannot take goes to the others, in
    proportion to their loads.
    """
    most, rest = Fraction(1, top_k), Fraction(1)
    given = [Fraction(load) for load in loads]
    parts = [Fraction(0)] * len(given)
    left = list(range(len(given)))
    while left:
        total = sum(given[one] for one in left)
        full = [one for one in left if given[one] * rest > most * total]
        if not full:
            for one in left:
                parts[one] = given[one] * rest / total if total else rest / len(left)
            break
        for one in full:
            parts[one] = most
        rest -= most * len(full)
        left = [one for one in left if parts[one] != most]
    return parts


def apportioned(parts: Sequence[Fraction], total: int) -> list[int]:
    """Return whole numbers with the sum `total`, in proportion to parts whose sum is 1.

    The largest remainders are rounded up.
    """
    exact = [part * total for part in parts]
    found = [int(one) for one in exact]
    by_remainder = sorted(range(len(exact)), key=lambda one: (found[one] - exact[one], one))
    for one in by_remainder[: total - sum(found)]:
        found[one] += 1
    return found
