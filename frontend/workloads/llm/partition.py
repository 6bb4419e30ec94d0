"""Which blocks a pipeline stage computes, and how many weights a rank of it holds and gathers.

A block is a layer, the embedding, the output layer with the normalisation before it, or what merges
a hidden state with an embedding. A module for a further token (multi-token prediction) is four
blocks at the end of the last chunk: the embedding and the output layer again, and between them a
merge and a layer. A last stage that has no embedding gets a copy of it. Source: NVIDIA/Megatron-LM
(d98e8a6), `megatron/core/transformer/multi_token_prediction.py`.

Ranks of dp that share weights (zero 3) gather those of a block before its forward phase, drop them,
and gather them again before its backward phase. Two stay, because they would be gathered again at
once: the output layer from its first forward to its last backward phase, and, for a whole
micro-batch, a table that is the embedding and the output layer of one stage.

Sources: S. Rajbhandari et al., "ZeRO: memory optimizations toward training trillion parameter
models", SC 2020, section 7.2.2, for the two gatherings; TorchTitan (W. Liang et al., ICLR 2025),
`apply_fsdp` for Llama, for the units and those that stay (`reshard_after_forward`).

The memory that a rank needs: weights, gradients, the optimizer's state and activations. With zero
3, weights of other ranks are there while they are used.

Sources: S. Rajbhandari et al., "ZeRO: memory optimizations toward training trillion parameter
models", SC 2020; V. Korthikanti et al., "Reducing activation recomputation in large transformer
models", MLSys 2023.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import Enum
from functools import lru_cache
from itertools import accumulate
from operator import mul
from typing import NamedTuple

from frontend.models.cards import Card
from frontend.models.transformer import (
    Matrix,
    adapted_matrices,
    adapter,
    attention_matrices,
    has_experts,
    head_widths,
    kv_elements,
    merge_matrix,
    network_matrices,
    norm_weights,
)
from frontend.workloads.llm.grid import Grid
from frontend.workloads.llm.operators import ELEMENT, routed_tokens
from frontend.workloads.llm.schedule import (
    Pass,
    Step,
    dual_pipe_steps,
    steps,
    warm_up,
    zero_bubble_steps,
)
from frontend.workloads.llm.workload import Layout, LlmWorkload


class Weights(NamedTuple):
    """Weights on a rank: those that all ranks of dp have, and those of experts."""

    dense: int
    expert: int


NO_WEIGHTS = Weights(0, 0)


class Chunk(NamedTuple):
    """Consecutive layers on a pipeline stage."""

    number: int
    """Place among all chunks, from the input on."""
    layers: range


def chunks(card: Card, layout: Layout) -> list[Chunk]:
    """Return all chunks, with the layers of `layout.layers` or of `even_layers`."""
    count = layout.pp * layout.chunks
    return _chunks(layout.layers or even_layers(card.layers, card.mtp_layers, count))


@lru_cache(maxsize=64)
def even_layers(layers: int, modules: int, count: int) -> tuple[int, ...]:
    """Return the layers of each chunk if they are divided as evenly as possible.

    Layers that do not divide evenly go to the chunks in the middle, as the first one also has the
    embedding and the last one the output layer. A module for a further token counts as a layer of
    the last chunk.
    """
    last = layers if count == 1 else max(0, (layers + modules) // count - modules)
    each, rest = divmod(layers - last, max(1, count - 1))
    sizes = (count - 1) * [each] + [last]
    for number in [*range(1, count - 1), 0][:rest]:
        sizes[number] += 1
    return tuple(sizes)


@lru_cache(maxsize=64)
def _chunks(sizes: tuple[int, ...]) -> list[Chunk]:
    found = zip(accumulate(sizes), sizes, strict=True)
    return [Chunk(number, range(end - size, end)) for number, (end, size) in enumerate(found)]


def stage_of(layout: Layout, chunk: int) -> int:
    """Return the stage of a chunk: k mod pp, or with dual_pipe there and back again."""
    if layout.schedule == "dual_pipe":
        return min(chunk, 2 * layout.pp - 1 - chunk)
    return chunk % layout.pp


def stage_chunks(card: Card, layout: Layout, stage: int) -> list[Chunk]:
    """Return the chunks of a stage."""
    return [one for one in chunks(card, layout) if stage_of(layout, one.number) == stage]


class Kind(Enum):
    """What a block is."""

    EMBEDDING = "embedding"
    DENSE = "layer with a feed-forward network"
    EXPERTS = "layer with experts"
    OUTPUT = "output layer"
    EMBEDDING_AGAIN = "embedding, whose weights another block of the stage has"
    MERGE = "projection of a hidden state and an embedding"
    OUTPUT_AGAIN = "output layer, whose weights another block of the stage has"


LAYER_KINDS = (Kind.DENSE, Kind.EXPERTS)
EMBEDDING_KINDS = (Kind.EMBEDDING, Kind.EMBEDDING_AGAIN)
OUTPUT_KINDS = (Kind.OUTPUT, Kind.OUTPUT_AGAIN)


class Block(NamedTuple):
    """Equal parts of the model, one after another."""

    kind: Kind
    number: int = 1
    """How many there are."""


def chunk_blocks(card: Card, layout: Layout, chunk: Chunk) -> list[Block]:
    """Return the blocks of a chunk, in the order of the forward phase."""
    layers, last = chunk.layers, layout.pp * layout.chunks - 1
    first = card.layers if card.experts is None else card.experts.dense_layers
    border = min(max(first, layers.start), layers.stop)
    found = [
        Block(Kind.DENSE, border - layers.start),
        Block(Kind.EXPERTS, layers.stop - border),
    ]
    if card.vocabulary and chunk.number == 0:
        found.insert(0, Block(Kind.EMBEDDING))
    if card.vocabulary and chunk.number == last:
        found.append(Block(Kind.OUTPUT))
        layer = Kind.EXPERTS if has_experts(card, card.layers - 1) else Kind.DENSE
        for module in range(card.mtp_layers):
            copied = module == 0 and not card.tied_embedding and not ends_together(layout)
            embedding = Kind.EMBEDDING if copied else Kind.EMBEDDING_AGAIN
            found += map(Block, (embedding, Kind.MERGE, layer, Kind.OUTPUT_AGAIN))
    return [block for block in found if block.number]


def block_weights(workload: LlmWorkload, kind: Kind, *, trained: bool = False) -> Weights:
    """Return the weights of a block on a rank; with `trained`, those that training changes."""
    card, layout = workload.model, workload.layout
    layer, adapted = kind in LAYER_KINDS, workload.lora is not None
    added = _adapters(workload) if layer else 0
    if trained and adapted:
        return Weights(added, 0)
    if layer:
        own = _layer_weights(card, layout, kind)
        return own._replace(dense=own.dense + added)
    if kind in (Kind.EMBEDDING_AGAIN, Kind.OUTPUT_AGAIN):
        return NO_WEIGHTS
    if kind == Kind.EMBEDDING:
        return Weights(table_weights(card, layout), 0)
    if kind == Kind.MERGE:  # with the normalisations of both inputs, and that after the layer
        return Weights(_part([merge_matrix(card)], layout.tp) + 3 * norm_weights(card) // 2, 0)
    table = 0 if has_one_table(card, layout) else table_weights(card, layout)
    return Weights(table + norm_weights(card) // 2, 0)


def _adapters(workload: LlmWorkload) -> int:
    """Return the weights of the adapters of a layer on a rank."""
    if workload.lora is None:
        return 0
    matrices = adapted_matrices(workload.model)
    pairs = [adapter(matrices[name], workload.lora.rank) for name in workload.lora.targets]
    return sum(_part(pair, workload.layout.tp) for pair in pairs)


def _layer_weights(card: Card, layout: Layout, kind: Kind) -> Weights:
    dense = norm_weights(card) + _part(attention_matrices(card), layout.tp)
    experts = card.experts
    if experts is None or kind == Kind.DENSE:
        matrices = network_matrices(card.hidden, card.feed_forward, card.gated)
        return Weights(dense + _part(matrices, layout.tp), 0)
    one = _part(network_matrices(card.hidden, experts.width, card.gated), layout.tp)
    dense += experts.shared * one + card.hidden * experts.count
    return Weights(dense, experts.count // layout.ep * one)


def table_weights(card: Card, layout: Layout) -> int:
    """Return the weights of the embedding, or of the output layer, on a rank."""
    return _part([Matrix(card.hidden, card.vocabulary, "columns")], layout.tp)


def ends_together(layout: Layout) -> bool:
    """Return whether the first and the last chunk are on one stage."""
    return stage_of(layout, layout.pp * layout.chunks - 1) == 0


def has_one_table(card: Card, layout: Layout) -> bool:
    """Return whether a stage has the embedding and the output layer as one matrix."""
    return card.tied_embedding and card.vocabulary > 0 and ends_together(layout)


def has_two_copies(card: Card, layout: Layout) -> bool:
    """Return whether the first and the last stage both have the embedding's weights."""
    both = card.tied_embedding or card.mtp_layers > 0
    return both and card.vocabulary > 0 and not ends_together(layout)


def chunk_weights(workload: LlmWorkload, chunk: Chunk, *, trained: bool = False) -> Weights:
    """Return the weights of a chunk on a rank; with `trained`, those that training changes."""
    return _sum(
        [
            Weights(block.number * each.dense, block.number * each.expert)
            for block in chunk_blocks(workload.model, workload.layout, chunk)
            for each in (block_weights(workload, block.kind, trained=trained),)
        ]
    )


def gather_buckets(workload: LlmWorkload, chunk: Chunk) -> dict[int, Weights]:
    """Return the trained weights of the buckets of a chunk by the number of their first block.

    Buckets are those of the gradients, which fill from the last block on.
    """
    kinds = [
        block.kind
        for block in chunk_blocks(workload.model, workload.layout, chunk)
        for _ in range(block.number)
    ]
    each = {kind: block_weights(workload, kind, trained=True) for kind in set(kinds)}
    found, bucket = dict[int, Weights](), NO_WEIGHTS
    for place in reversed(range(len(kinds))):
        bucket = _sum([bucket, each[kinds[place]]])
        if place == 0 or max(bucket) * workload.gradient_element >= workload.bucket:
            found[place], bucket = bucket, NO_WEIGHTS
    return dict(sorted(found.items()))


def stage_weights(workload: LlmWorkload, stage: int, *, trained: bool = False) -> Weights:
    """Return the weights of a stage on a rank, or those that training changes."""
    own = stage_chunks(workload.model, workload.layout, stage)
    return _sum([chunk_weights(workload, chunk, trained=trained) for chunk in own])


def _sum(each: list[Weights]) -> Weights:
    return Weights(sum(one.dense for one in each), sum(one.expert for one in each))


def _part(matrices: list[Matrix], ranks: int) -> int:
    return sum(matrix.part(ranks).weights for matrix in matrices)


class Unit(NamedTuple):
    """Weights that are gathered together."""

    name: str
    weights: Weights


def stage_steps(layout: Layout, stage: int, micro_batches: int) -> list[Step]:
    """Return the steps of a stage in order."""
    if layout.schedule == "zero_bubble":
        return zero_bubble_steps(stage, layout.pp, micro_batches)
    if layout.schedule == "dual_pipe":
        return dual_pipe_steps(stage, layout.pp, micro_batches)
    return steps(stage, layout.pp, micro_batches, layout.chunks)


class Use(NamedTuple):
    """A block in one of the phases of a chunk."""

    kind: Kind
    unit: Unit | None
    """What is gathered before it."""


def block_unit(workload: LlmWorkload, kind: Kind, *, forward: bool) -> Unit | None:
    """Return what is gathered before a block in one of its phases, if anything."""
    if kind in LAYER_KINDS:
        return Unit("layer", block_weights(workload, kind))
    if kind == Kind.MERGE:
        return Unit("merge", block_weights(workload, kind))
    if kind == Kind.EMBEDDING_AGAIN and not workload.model.tied_embedding:
        return Unit("embedding_weights", block_weights(workload, Kind.EMBEDDING))
    if kind in (Kind.EMBEDDING_AGAIN, Kind.OUTPUT_AGAIN) or (kind == Kind.OUTPUT and not forward):
        return None
    own, embeds = block_weights(workload, kind), kind == Kind.EMBEDDING
    if has_one_table(workload.model, workload.layout):  # what a rank has kept needs no gathering
        both = _sum([own, block_weights(workload, Kind.OUTPUT)])
        own = both if embeds and forward else NO_WEIGHTS
    return Unit("embedding_weights" if embeds else "output_weights", own)


Uses = Mapping[tuple[int, bool], Sequence[Use]]
"""The blocks of each chunk of a stage in the order of a phase: forward, or not."""


def stage_uses(workload: LlmWorkload, stage: int) -> Uses:
    """Return the blocks of a stage, with what is gathered before them.

    The embedding has a backward phase if it is trained.
    """
    card, layout = workload.model, workload.layout
    found: dict[tuple[int, bool], list[Use]] = {}
    for place, chunk in enumerate(stage_chunks(card, layout, stage)):
        blocks = chunk_blocks(card, layout, chunk)
        for forward in (True, False):
            found[place, forward] = [
                Use(kind, block_unit(workload, kind, forward=forward))
                for kind, number in (blocks if forward else blocks[::-1])
                for _ in range(number)
                if forward or kind not in EMBEDDING_KINDS or workload.lora is None
            ]
    return found


def used_units(uses: Uses, order: Iterable[Step]) -> list[Unit]:
    """Return what a stage gathers before the blocks of its steps, in order of use.

    The gradients of weights need no weights.
    """
    return [
        use.unit
        for step in order
        if step.kind != Pass.WEIGHTS
        for use in uses[step.chunk, step.forward]
        if use.unit is not None
    ]


def gathered_weights(
    workload: LlmWorkload, stage: int, micro_batches: int, ranks: tuple[int, int]
) -> int:
    """Return the most weights that a rank of a stage has gathered at a time.

    These are the unit in use, and the units that are gathered ahead. Each is whole, with the part
    of the rank itself, as the buffer of the all-gather is.

    Parameters
    ----------
    workload : LlmWorkload
        The workload.
    stage : int
        The pipeline stage.
    micro_batches : int
        Micro-batches of an iteration.
    ranks : tuple of int
        Ranks that share dense weights, and those of experts.
    """
    card, layout = workload.model, workload.layout
    if layout.zero < 3:
        return 0
    # From twice the stages on, further micro-batches only repeat the order.
    order = stage_steps(layout, stage, min(micro_batches, 2 * layout.pp))
    units = used_units(stage_uses(workload, stage), order)
    ahead, table = workload.overlap.prefetch + 1, 0
    # A table that is there all the time, or during all modules for further tokens.
    kept = "embedding_weights" if has_one_table(card, layout) else "output_weights"
    if has_one_table(card, layout) or card.mtp_layers:
        table = max((_shared(one.weights, ranks) for one in units if one.name == kept), default=0)
        units = [unit for unit in units if unit.name != kept]
    sizes = [_shared(unit.weights, ranks) for unit in units]
    starts = range(max(1, len(sizes) - ahead + 1))
    return table + max(sum(sizes[at : at + ahead]) for at in starts)


def _shared(weights: Weights, ranks: tuple[int, int]) -> int:
    return sum(count for count, sharing in zip(weights, ranks, strict=True) if sharing > 1)


_STATE = 12  # bytes of Adam for a weight: a copy of the weight and two moments, 4 bytes each


class Memory(NamedTuple):
    """Memory of a rank in bytes."""

    weights: int
    gradients: int
    optimizer: int
    activations: int
    gathered: int
    """Weights that a rank has gathered at a time (zero 3)."""

    def text(self) -> str:
        """Return the parts in GB."""
        parts = {name: value for name, value in self._asdict().items() if value}
        return ", ".join(f"{name} {value / 1e9:.1f} GB" for name, value in parts.items())


def rank_memory(workload: LlmWorkload, grid: Grid, stage: int, micro_batches: int) -> Memory:
    """Return the memory that a rank of a stage needs.

    Parameters
    ----------
    workload : LlmWorkload
        The workload.
    grid : Grid
        Its ranks.
    stage : int
        The pipeline stage.
    micro_batches : int
        Micro-batches of an iteration.
    """
    layout, zero = workload.layout, workload.layout.zero
    shared = (grid.dp * layout.cp, grid.size["dp"] * layout.cp)

    def held(least: int, trained: bool) -> int:
        """Return the weights on a rank if ranks of dp share them from `least` on."""
        return sum(
            -(-count // ranks) if zero >= least else count
            for count, ranks in zip(
                stage_weights(workload, stage, trained=trained), shared, strict=True
            )
        )

    return Memory(
        held(3, trained=False) * ELEMENT,
        held(2, trained=True) * workload.gradient_element,
        held(1, trained=True) * _STATE,
        _activations(workload, stage, micro_batches),
        gathered_weights(workload, stage, micro_batches, shared) * ELEMENT,
    )


def _activations(workload: LlmWorkload, stage: int, micro_batches: int) -> int:
    """Return the activations of the micro-batches in flight, between forward and backward."""
    card, layout = workload.model, workload.layout
    blocks = [chunk_blocks(card, layout, chunk) for chunk in stage_chunks(card, layout, stage)]
    each_chunk = [
        sum(block.number * block_activations(workload, block.kind) for block in own)
        for own in blocks
    ]
    if len(set(each_chunk)) == 1:
        held = _in_flight(layout, stage, micro_batches) * each_chunk[0]
    else:
        number = min(micro_batches, 4 * layout.pp)  # further ones only repeat the order
        every = _chunks_in_flight(layout.schedule, stage, layout.pp, number, layout.chunks)
        held = max(sum(map(mul, counts, each_chunk)) for counts in every)
    tokens = workload.micro_batch * card.sequence // layout.cp
    outputs = sum(block.kind in OUTPUT_KINDS for own in blocks for block in own)
    logits = tokens * -(-card.vocabulary // layout.tp) * (ELEMENT + 4)
    # What is left for the end needs the gradient of the logits, and the output layer's input.
    left = min(workload.deferred_output, micro_batches)
    between = tokens // (layout.tp if layout.sequence_parallel else 1) * card.hidden
    each = (tokens * -(-card.vocabulary // layout.tp) + between) * ELEMENT
    return held + outputs * (logits + left * each)


def _in_flight(layout: Layout, stage: int, micro_batches: int) -> int:
    """Return the most micro-batches whose activations a stage holds; each chunk has its own."""
    if layout.schedule == "dual_pipe":
        return min(2 * layout.pp + 1, micro_batches * layout.chunks)
    # The gradients of weights on the later stages of zero_bubble wait as long as on the first one.
    longest = 0 if layout.schedule == "zero_bubble" else stage
    ahead = warm_up(longest, layout.pp, micro_batches, layout.chunks)
    return min(ahead + 1, micro_batches * layout.chunks)


@lru_cache(maxsize=256)
def _chunks_in_flight(
    schedule: str, stage: int, stages: int, micro_batches: int, chunks: int
) -> Collection[tuple[int, ...]]:
    """Return how many micro-batches of each chunk a stage holds after each forward step."""
    if schedule == "dual_pipe":
        order = dual_pipe_steps(stage, stages, micro_batches)
    else:
        order = steps(stage, stages, micro_batches, chunks)
    held, every = [0] * chunks, set[tuple[int, ...]]()
    for step in order:
        if step.forward:
            held[step.chunk] += 1
            every.add(tuple(held))
        elif step.kind != Pass.INPUT:  # activations stay for the gradients of weights
            held[step.chunk] -= 1
    return every


def block_activations(workload: LlmWorkload, kind: Kind) -> int:
    """Return the bytes that a block keeps of a micro-batch for its backward phase.

    Logits are not among them, as the backward phase follows at once.
    """
    if kind not in (*LAYER_KINDS, Kind.MERGE):
        return 0
    card, layout = workload.model, workload.layout
    tokens = workload.micro_batch * card.sequence // layout.cp
    shared = tokens // layout.tp
    between = shared if layout.sequence_parallel else tokens
    if kind == Kind.MERGE:  # both inputs, before and after their normalisations
        return (
            (2 if workload.recompute in ("light", "full") else 4) * between * card.hidden * ELEMENT
        )
    if workload.recompute == "full":
        return between * card.hidden * ELEMENT
    query, value = head_widths(card)
    attention = card.heads * (query + value) + kv_elements(card)
    factors = 2 if card.gated else 1
    network, ends = factors + 1, 4
    if workload.lora is not None:
        # The input of a frozen matrix is kept only for its adapter, or if it is a result, too.
        network -= "fc2" not in workload.lora.targets
        ends -= sum(name not in workload.lora.targets for name in ("qkv", "fc1"))
    kept = 0
    if workload.recompute == "light":
        network, ends = factors, 2
        if card.latent_attention is not None:
            # Queries, keys and values come from the latent ones again.
            attention = card.heads * value
            kept = sum(matrix.columns for matrix in attention_matrices(card)[:-1:2])
    network_bytes = network * ELEMENT - factors * (workload.kept_activation == "8 bits")
    experts = card.experts
    if experts is not None and kind == Kind.EXPERTS:
        routed = routed_tokens(workload, shared)
        assigned = shared * experts.top_k if routed is None else routed.most
        inner = shared * experts.shared * network_bytes * experts.width
        inner += assigned * (network_bytes * experts.width + ELEMENT * card.hidden)
    else:
        inner = shared * network_bytes * card.feed_forward
    # Inputs of both halves of the layer, before and after their normalisations.
    elements = between * (ends * card.hidden + kept) + shared * attention
    if workload.recompute == "none" and not workload.flash_attention:
        # Scores before and after the softmax, as in the third term of Korthikanti's equation 1.
        scores = 2 * workload.micro_batch * card.heads * card.sequence**2 // layout.cp
        elements += scores // layout.tp
    return elements * ELEMENT + inner
