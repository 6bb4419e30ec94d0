"""Workload kind `llm`: training of a decoder-only transformer from its card.

The ranks form a grid of tensor, context, expert, data and pipeline parallelism (`grid`). A pipeline
stage computes its micro-batches in the order of `schedule`. Each layer is computed as in `layers`,
with the durations of `operators`; `gradients` says what data-parallel ranks exchange. All ranks of
a stage do the same, so they share a trace.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from math import prod
from typing import Any

from frontend.collectives.choices import CollectiveAlgorithms
from frontend.goodput import Period
from frontend.models.transformer import (
    adapted_matrices,
    adapter,
    every_layer,
    multiplied_weights,
    token_flop,
    weights,
)
from frontend.schema.base import Problems
from frontend.topologies import Layout, TopologyFamily
from frontend.workloads.llm.estimate import Blocks, iteration_ps
from frontend.workloads.llm.grid import Grid
from frontend.workloads.llm.layouts import KEYS, Changes, changed, fitting, orders
from frontend.workloads.llm.partition import Memory, rank_memory
from frontend.workloads.llm.stage import build
from frontend.workloads.llm.stream import COMMUNICATION_LAYERS
from frontend.workloads.llm.workload import LlmWorkload
from frontend.workloads.plan import Plan
from frontend.workloads.registry import (
    Chosen,
    Costs,
    Estimate,
    TrainingWork,
    WorkloadKind,
)

_CONTEXT = {
    "all_gather": ("all_gather", "reduce_scatter"),
    "ring": (),
    "all_to_all": ("all_to_all",),
}
"""The collectives of cp by `layout.cp_exchange`."""


class _Llm(WorkloadKind[LlmWorkload]):
    model = LlmWorkload
    layout_keys = KEYS

    def default_collective(self) -> None:
        return None

    def algorithms(
        self, workload: LlmWorkload, collective: CollectiveAlgorithms | None
    ) -> Iterator[Chosen]:
        layout, chosen = workload.layout, workload.algorithms
        sums, gathers = _CONTEXT["all_gather"], workload.model.mtp_layers > 0
        used = {
            "tp": sums if layout.sequence_parallel else ("all_reduce", *sums[:gathers]),
            "cp": _CONTEXT[layout.cp_exchange],
            "ep": ("all_to_all",),
            "dp": sums if layout.zero else ("all_reduce",),
        }
        for dimension, operations in used.items():
            for operation in operations:
                path = f"workload.algorithms.{dimension}"
                yield Chosen(operation, path, getattr(chosen, dimension))

    def problems(self, workload: LlmWorkload, ranks: int, family: TopologyFamily[Any]) -> Problems:
        found = list(_layout_problems(workload, ranks))
        yield from found
        if not found and workload.check_memory:
            yield from _memory_problems(workload, ranks)

    def training(self, workload: LlmWorkload, ranks: int) -> TrainingWork:
        grid = Grid(workload.layout, ranks)
        tokens = workload.global_batch * workload.model.sequence
        needs = stage_memory(workload, grid)
        period = _period(workload, needs, ranks)
        interval = workload.failures and workload.failures.interval
        return TrainingWork(
            tokens=tokens,
            flop=_flop(workload),
            peak_flops=_peak_flops(workload, ranks),
            memory_bytes=max(map(sum, needs)),
            pipeline_layer=COMMUNICATION_LAYERS["pp"],
            period=period,
            interval_s=interval / _PS_PER_S
            if interval
            else period.best_interval_s()
            if period
            else 0,
        )

    def layouts(
        self, workload: LlmWorkload, ranks: int, kept: Collection[str] = ()
    ) -> Iterator[Changes]:
        yield from fitting(workload, ranks, kept)

    def orders(self, workload: LlmWorkload, ranks: int) -> Iterator[Changes]:
        yield from orders(workload.layout, ranks)

    def estimates(
        self, workload: LlmWorkload, ranks: int, costs: Costs, every: Iterable[Changes]
    ) -> Iterator[Estimate]:
        known: Blocks | None = None
        for changes in every:
            own = changed(workload, changes)
            if any(True for _ in _layout_problems(own, ranks)):
                continue
            grid = Grid(own.layout, ranks, costs.super_node)
            memory_bytes = _fitting_bytes(own, grid)
            if memory_bytes is None:
                continue
            if known is None or not known.serve(own):
                known = Blocks(own, grid, costs)
            seconds = iteration_ps(own, known, micro_batches(own, grid)) / _PS_PER_S
            yield Estimate(changes, seconds, memory_bytes, _mfu(own, ranks, seconds))

    def plan(
        self, workload: LlmWorkload, layout: Layout, collective: CollectiveAlgorithms | None
    ) -> Plan:
        """Return a trace for each pipeline stage."""
        grid = Grid(workload.layout, layout.ranks, layout.super_node)
        return build(workload, grid, micro_batches(workload, grid))


def _flop(workload: LlmWorkload) -> int:
    """Return the FLOPs of the model in an iteration.

    A frozen weight counts 4 FLOPs for each token instead of 6, as it has no gradient.
    """
    card, sequence = workload.model, workload.model.sequence
    flop = token_flop(card, sequence)
    if workload.lora is not None:
        matrices, rank = adapted_matrices(card), workload.lora.rank
        each = sum(weights(adapter(matrices[name], rank)) for name in workload.lora.targets)
        flop += 6 * len(every_layer(card)) * each - 2 * multiplied_weights(card)
    return workload.global_batch * sequence * flop


def _peak_flops(workload: LlmWorkload, ranks: int) -> int:
    """Return the peak rate of all ranks together."""
    return ranks * workload.compute.roofline(workload.precision).peak_flops


def _mfu(workload: LlmWorkload, ranks: int, seconds: float) -> float:
    """Return the model FLOPs utilization of an iteration that takes some seconds."""
    return _flop(workload) / seconds / _peak_flops(workload, ranks)


_PS_PER_S = 10**12
_YEAR_S = 365 * 24 * 3600


def _period(workload: LlmWorkload, needs: list[Memory], ranks: int) -> Period | None:
    """Return what failures and checkpoints cost; the stage that writes most decides."""
    failures = workload.failures
    if failures is None:
        return None
    write_s = max(one.weights + one.optimizer for one in needs) / failures.write_rate
    rate = failures.per_rank_year * ranks / _YEAR_S
    restart_s = failures.restart / _PS_PER_S
    if failures.stall is None:
        return Period(rate, restart_s, write_s)
    return Period(rate, restart_s, failures.stall / _PS_PER_S, write_s)


def micro_batches(workload: LlmWorkload, grid: Grid) -> int:
    """Return the micro-batches of an iteration on each rank."""
    return workload.global_batch // (workload.micro_batch * grid.dp)


def stage_memory(workload: LlmWorkload, grid: Grid) -> list[Memory]:
    """Return the memory that a rank of each pipeline stage needs."""
    number = micro_batches(workload, grid)
    return [rank_memory(workload, grid, stage, number) for stage in range(workload.layout.pp)]


def _fitting_bytes(workload: LlmWorkload, grid: Grid) -> int | None:
    """Return the memory that a rank needs at most; None if that is more than it has."""
    number, most = micro_batches(workload, grid), 0
    for stage in range(workload.layout.pp):
        most = max(most, sum(rank_memory(workload, grid, stage, number)))
        if workload.check_memory and most > workload.compute.memory_bytes:
            return None
    return most


def _layout_problems(workload: LlmWorkload, ranks: int) -> Problems:
    """Check that the model divides over the layout, and the layout over the ranks."""
    card, layout = workload.model, workload.layout
    parts = {"tp": layout.tp, "cp": layout.cp, "pp": layout.pp}
    own = prod(parts.values())
    product = " · ".join(parts)
    if layout.dp is None and ranks % own:
        yield "workload.layout", f"expected a divisor of the {ranks} ranks as {product}, not {own}"
        return
    dp = layout.dp or ranks // own
    if own * dp != ranks:
        expected = f"expected {ranks / own:g}, as {product} is {own}, and there are {ranks} ranks"
        yield "workload.layout.dp", expected
        return
    unfit = list(_layers_problems(workload))
    yield from unfit
    if unfit:
        return
    heads = card.heads
    if heads % layout.tp:
        yield "workload.layout.tp", f"expected a divisor of the model's {heads} heads"
    kv = card.kv_heads or heads
    if kv % layout.tp and layout.tp % kv:
        yield "workload.layout.tp", f"expected a divisor or a multiple of the {kv} heads of keys"
    shared = layout.tp * layout.cp
    if card.sequence % shared:
        yield (
            "workload.layout.cp",
            (f"expected tp · cp ({shared}) to divide the {card.sequence} tokens of a sequence"),
        )
    # The first chunk has the embedding and the last one the output layer, so they may be empty.
    most = card.layers + (2 if card.vocabulary else 0)
    if layout.pp * layout.chunks > most:
        yield "workload.layout.pp", f"expected pp · chunks to be at most {most} parts of the model"
    if card.experts is None and layout.ep > 1:
        yield "workload.layout.ep", "expected 1, because the model has no experts"
    if dp % layout.ep:
        yield "workload.layout.ep", f"expected a divisor of dp ({dp})"
    if card.experts is not None and card.experts.count % layout.ep:
        yield "workload.layout.ep", f"expected a divisor of the {card.experts.count} experts"
    local = kv // layout.tp if kv % layout.tp == 0 else 1
    if layout.cp_exchange == "all_to_all" and local % layout.cp:
        expected = f"expected a divisor of the {local} heads of keys on a rank, as heads are shared"
        yield "workload.layout.cp", expected
    if workload.lora is not None and (card.experts or card.latent_attention) is not None:
        yield "workload.lora", "expected null, because the model has experts or latent attention"
    yield from _routing_problems(workload)
    yield from _failure_problems(workload, ranks)
    yield from _deferral_problems(workload)
    each = workload.micro_batch * dp
    if workload.global_batch % each:
        yield "workload.global_batch", f"expected a multiple of micro_batch · dp ({each})"
    if layout.schedule == "dual_pipe" and workload.compute.host is not None:
        yield "workload.compute.host", "expected null, because the schedule is dual_pipe"
    if layout.schedule == "dual_pipe":
        number = workload.global_batch // each
        if layout.chunks != 2:
            yield "workload.layout.chunks", "expected 2, because the schedule is dual_pipe"
        elif layout.pp == 1 or number < 2 * layout.pp:
            expected = f"expected 2 to {number // 2}: half of the {number} micro-batches at most"
            yield "workload.layout.pp", expected
    elif layout.chunks > 1 and layout.schedule == "zero_bubble":
        yield "workload.layout.chunks", "expected 1, because the schedule is zero_bubble"
    elif layout.chunks > 1 and layout.pp == 1:
        yield "workload.layout.chunks", "expected 1, because there is one pipeline stage"
    elif layout.chunks > 1 and workload.global_batch // each % layout.pp:
        number = workload.global_batch // each
        expected = f"expected 1, because pp ({layout.pp}) does not divide {number} micro-batches"
        yield "workload.layout.chunks", expected


def _layers_problems(workload: LlmWorkload) -> Problems:
    """Check that `layout.layers` has all layers of the model, and something on each chunk."""
    card, layers = workload.model, workload.layout.layers
    if layers is None:
        return
    path, count = "workload.layout.layers", workload.layout.pp * workload.layout.chunks
    if len(layers) != count:
        yield path, f"expected {count} numbers, as pp · chunks, not {len(layers)}"
    elif sum(layers) != card.layers:
        yield path, f"expected the sum {card.layers}, the layers of the model, not {sum(layers)}"
    else:
        ends = (0, count - 1) if card.vocabulary else ()
        for number, own in enumerate(layers):
            if not own and number not in ends:
                expected = "expected at least 1, as the chunk has no embedding or output layer"
                yield f"{path}.{number}", expected


def _deferral_problems(workload: LlmWorkload) -> Problems:
    """Check that the last stage has gradients to leave, and others compute meanwhile."""
    if not workload.deferred_output:
        return
    layout, because = workload.layout, ""
    if layout.pp == 1:
        because = "there is one pipeline stage"
    elif layout.schedule != "1f1b":
        because = f"the schedule is {layout.schedule}"
    elif layout.zero >= 2:
        because = f"zero {layout.zero} reduces gradients after each micro-batch"
    elif workload.lora is not None:
        because = "only adapters are trained"
    elif not workload.model.vocabulary:
        because = "the model has no output layer"
    if because:
        yield "workload.deferred_output", f"expected 0, because {because}"


def _failure_problems(workload: LlmWorkload, ranks: int) -> Problems:
    """Check that a checkpoint is complete before the next one begins."""
    failures = workload.failures
    if failures is None or failures.interval is None or failures.stall is None:
        return
    grid = Grid(workload.layout, ranks)
    if workload.global_batch % (workload.micro_batch * grid.dp):
        return  # a problem of its own
    period = _period(workload, stage_memory(workload, grid), ranks)
    if period is not None and failures.interval < period.write_s * _PS_PER_S:
        expected = f"expected at least the {period.write_s:.3g} s that a rank writes a checkpoint"
        yield "workload.failures.interval", expected


def _routing_problems(workload: LlmWorkload) -> Problems:
    """Check that the loads fit the experts of the model and the ranks of ep."""
    routing, experts, ep = workload.routing, workload.model.experts, workload.layout.ep
    if experts is None:
        for key in ("skew", "loads", "super_nodes"):
            if getattr(routing, key):
                yield f"workload.routing.{key}", "expected none, because the model has no experts"
    elif routing.loads is not None:
        rows, count = len(routing.loads), len(routing.loads[0])
        if rows not in (1, ep) or count != experts.count:
            yield (
                "workload.routing.loads",
                (
                    f"expected {experts.count} numbers, one for each expert, in one row or in ep "
                    f"({ep}) rows, not {count} in {rows}"
                ),
            )
        if routing.skew:
            yield "workload.routing.skew", "expected 0, because workload.routing.loads is given"
    if routing.super_nodes is not None and (routing.skew or routing.loads is not None):
        expected = "expected null, because experts get different numbers of tokens"
        yield "workload.routing.super_nodes", expected


def _memory_problems(workload: LlmWorkload, ranks: int) -> Problems:
    """Check that the stage that needs most fits into the memory of a rank."""
    grid = Grid(workload.layout, ranks)
    needs = stage_memory(workload, grid)
    stage = max(range(len(needs)), key=lambda stage: sum(needs[stage]))
    most, memory_bytes = sum(needs[stage]), workload.compute.memory_bytes
    if most > memory_bytes:
        yield (
            "workload.layout",
            (
                f"expected a rank to need at most {memory_bytes / 1e9:.1f} GB, but a rank of stage "
                f"{stage} needs {most / 1e9:.1f} GB ({needs[stage].text()}); check_memory: false "
                "simulates it nevertheless"
            ),
        )


KIND = _Llm()
