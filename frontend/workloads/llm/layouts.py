"""The layouts that a search tries."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice, permutations, product
from typing import Any

from frontend.workloads.llm.grid import Grid
from frontend.workloads.llm.workload import Layout, LlmWorkload

Changes = Mapping[str, Any]
"""Keys of the workload and their values."""

KEYS = ("tp", "cp", "pp", "ep", "chunks", "zero", "micro_batch", "recompute")
"""The keys that differ between layouts, beside the order of the ranks."""

MOST_SEQUENCES = 16
"""The largest micro-batch."""


def divisors(number: int) -> list[int]:
    """Return the divisors of a number.

    Examples
    --------
    >>> divisors(12)
    [1, 2, 3, 4, 6, 12]
    """
    return [one for one in range(1, number + 1) if number % one == 0]


def sizes(layout: Layout, ranks: int, kept: Collection[str] = ()) -> Iterator[dict[str, int]]:
    """Yield all sizes of tp, cp, pp and ep whose product divides the ranks; dp is what is left.

    Whether a model divides over a layout is not checked. Keys in `kept` have the layout's values.
    """

    def choices(name: str, number: int) -> list[int]:
        return [getattr(layout, name)] if name in kept else divisors(number)

    for tp, cp, pp in product(*(choices(name, ranks) for name in ("tp", "cp", "pp"))):
        dp, rest = divmod(ranks, tp * cp * pp)
        if not rest:
            for ep in choices("ep", dp):
                yield {"tp": tp, "cp": cp, "pp": pp, "ep": ep}


def fitting(workload: LlmWorkload, ranks: int, kept: Collection[str] = ()) -> Iterator[Changes]:
    """Yield the keys of all layouts, of which many may not fit. `kept` has some of `KEYS`.

    Layouts that differ only in `zero` or `chunks` follow one another. `layout.layers`, if it is
    given, stays with the layout's own pp and chunks; others divide the layers evenly.
    """
    own_layers = workload.layout.layers
    for size in sizes(workload.layout, ranks, kept):
        dp = ranks // (size["tp"] * size["cp"] * size["pp"])
        batches, rest = divmod(workload.global_batch, dp)
        if rest or (workload.model.experts is None and size["ep"] > 1):
            continue
        others: dict[str, Sequence[Any]] = {
            "recompute": _recomputations(workload),
            "micro_batch": [one for one in divisors(batches) if one <= MOST_SEQUENCES],
            "chunks": _chunks(workload, size["pp"]),
            "zero": range(4) if dp * size["cp"] > 1 else [workload.layout.zero],
        }
        for name in others:
            if name in kept:
                own = workload.layout if name in ("chunks", "zero") else workload
                others[name] = [getattr(own, name)]
        for recompute, micro_batch, chunks, zero in product(*others.values()):
            found = {**size, "dp": None, "chunks": chunks, "zero": zero}
            if own_layers is not None:
                own_parts = (workload.layout.pp, workload.layout.chunks)
                found["layers"] = own_layers if (size["pp"], chunks) == own_parts else None
            yield {
                **{f"layout.{key}": value for key, value in found.items()},
                "micro_batch": micro_batch,
                "recompute": recompute,
            }


def _recomputations(workload: LlmWorkload) -> list[str]:
    """Return what a backward phase may compute again; FlashAttention never keeps the scores."""
    return ["none", "full"] if workload.flash_attention else ["none", "selective", "full"]


def _chunks(workload: LlmWorkload, stages: int) -> list[int]:
    """Return numbers of chunks that divide the layers evenly, and the workload's own.

    The embedding and the output layer may count as a layer each; a module for a further token does.
    """
    if workload.layout.schedule == "dual_pipe":
        return [2]
    if stages == 1 or workload.layout.schedule == "zero_bubble":
        return [1]
    layers = workload.model.layers + workload.model.mtp_layers
    even = {
        number
        for whole in (layers, layers + 2)
        for number in divisors(whole // stages)
        if whole % (stages * number) == 0
    }
    return sorted({1, workload.layout.chunks, *even})


def changed(workload: LlmWorkload, changes: Changes) -> LlmWorkload:
    """Return a workload with some keys changed, without checks of their types."""
    layout = {
        key.removeprefix("layout."): value
        for key, value in changes.items()
        if key.startswith("layout.")
    }
    own = {key: value for key, value in changes.items() if not key.startswith("layout.")}
    own["layout"] = workload.layout.model_copy(update=layout)
    return workload.model_copy(update=own)


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
