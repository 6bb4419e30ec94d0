"""The layouts among which a search for the layout of a language model chooses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice, permutations, product
from typing import Any

from frontend.workloads.llm.grid import Grid
from frontend.workloads.llm.workload import Layout

Changes = Mapping[str, Any]
"""Keys of the workload and their values."""


def divisors(number: int) -> list[int]:
    """Return the divisors of a number.

    Examples
    --------
    >>> divisors(12)
    [1, 2, 3, 4, 6, 12]
    """
    return [one for one in range(1, number + 1) if number % one == 0]


def sizes(layout: Layout, ranks: int) -> Iterator[Changes]:
    """Yield all sizes of tp, cp, pp and ep whose product divides the ranks; dp is what is left.

    Stages hold as many parts as in the given layout, or one each. Whether the model divides over a
    layout is not checked.
    """
    for tp, cp, pp in product(divisors(ranks), repeat=3):
        if ranks % (tp * cp * pp):
            continue
        for ep in divisors(ranks // (tp * cp * pp)):
            for chunks in sorted({layout.chunks, 1}):
                found = {"tp": tp, "cp": cp, "pp": pp, "ep": ep, "dp": None, "chunks": chunks}
                yield {f"layout.{key}": value for key, value in found.items()}


def orders(layout: Layout, ranks: int) -> Iterator[Changes]:
    """Yield all orders of the ranks that differ from the layout's own.

    Dimensions of one rank make no difference, so only the others change their places.

    Examples
    --------
    >>> [changes["layout.order"] for changes in orders(Layout(tp=2, pp=2), 4)]
    ['pp-tp-cp-ep-dp']
    """
    grid = Grid(layout, ranks)
    own = layout.order.split("-")
    long = [one for one in own if grid.size[one] > 1]
    short = [one for one in own if one not in long]
    for order in islice(permutations(long), 1, None):  # the first is the layout's own
        yield {"layout.order": "-".join((*order, *short))}
