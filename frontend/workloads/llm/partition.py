"""Which layers a pipeline stage computes, and how many weights a rank of it holds."""

from __future__ import annotations

from typing import NamedTuple

from frontend.models.transformer import (
    Matrix,
    attention_matrices,
    has_experts,
    network_matrices,
    norm_weights,
)
from frontend.schema.transformer import Card
from frontend.workloads.llm.workload import Layout


class Weights(NamedTuple):
    """Weights on a rank: those that all ranks of dp have, and those of experts."""

    dense: int
    expert: int


class Chunk(NamedTuple):
    """Consecutive layers on a pipeline stage."""

    number: int
    """Place among all chunks, from the input on."""
    layers: range


def chunks(card: Card, layout: Layout) -> list[Chunk]:
    """Return all chunks; chunk k is on stage k mod pp.

    Layers that do not divide evenly go to the chunks in the middle, as the first one also has the
    embedding and the last one the output layer.
    """
    count = layout.pp * layout.chunks
    each, rest = divmod(card.layers, count)
    middle = [*range(1, count - 1), 0, count - 1][:rest]
    found, first = [], 0
    for number in range(count):
        size = each + (number in middle)
        found.append(Chunk(number, range(first, first + size)))
        first += size
    return found


def layer_weights(card: Card, layout: Layout, layer: int) -> Weights:
    """Return the weights of a layer on a rank."""
    dense = norm_weights(card) + _part(attention_matrices(card), layout.tp)
    experts = card.experts
    if experts is None or not has_experts(card, layer):
        matrices = network_matrices(card.hidden, card.feed_forward, card.gated)
        return Weights(dense + _part(matrices, layout.tp), 0)
    one = _part(network_matrices(card.hidden, experts.width, card.gated), layout.tp)
    dense += experts.shared * one + card.hidden * experts.count
    return Weights(dense, experts.count // layout.ep * one)


def table_weights(card: Card, layout: Layout) -> int:
    """Return the weights of the embedding, or of the output layer, on a rank."""
    return _part([Matrix(card.hidden, card.vocabulary, "columns")], layout.tp)


def has_one_table(card: Card, layout: Layout) -> bool:
    """Return whether a stage has the embedding and the output layer as one matrix."""
    return card.tied_embedding and card.vocabulary > 0 and layout.pp == 1


def embedding_weights(card: Card, layout: Layout) -> Weights:
    """Return the weights of the embedding on a rank."""
    return Weights(table_weights(card, layout), 0)


def output_weights(card: Card, layout: Layout) -> Weights:
    """Return the weights of the output layer and of the normalisation before it, on a rank."""
    own = 0 if has_one_table(card, layout) else table_weights(card, layout)
    return Weights(own + norm_weights(card) // 2, 0)


def stage_weights(card: Card, layout: Layout, stage: int) -> Weights:
    """Return the weights of a stage on a rank."""
    every = chunks(card, layout)
    own = [
        layer_weights(card, layout, layer)
        for chunk in every[stage :: layout.pp]
        for layer in chunk.layers
    ]
    if card.vocabulary and stage == 0:
        own.append(embedding_weights(card, layout))
    if card.vocabulary and stage == layout.pp - 1:
        own.append(output_weights(card, layout))
    return Weights(sum(each.dense for each in own), sum(each.expert for each in own))


def _part(matrices: list[Matrix], ranks: int) -> int:
    return sum(matrix.part(ranks).weights for matrix in matrices)
