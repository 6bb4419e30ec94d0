"""A transformer's matrices, and so its parameters and the FLOPs of a token.

Sources: D. Narayanan et al., "Efficient large-scale language model training on GPU clusters using
Megatron-LM", SC 2021; A. Chowdhery et al., "PaLM: scaling language modeling with pathways", JMLR 24
(2023), appendix B. Multi-token prediction: DeepSeek-AI, "DeepSeek-V3 technical report", arXiv
2412.19437, section 2.2.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from frontend.models.cards import Card
from frontend.roofline import Cost, matrix_product


class Matrix(NamedTuple):
    """A weight matrix, and how tensor parallelism divides it."""

    rows: int
    """Elements of an input."""
    columns: int
    """Elements of an output."""
    split: Literal["rows", "columns", "none"]
    """What the ranks of tp share; none: each rank has the whole matrix."""

    @property
    def weights(self) -> int:
        """Number of weights."""
        return self.rows * self.columns

    def part(self, ranks: int) -> Matrix:
        """Return the part of one of `ranks` ranks, rounded up."""
        rows, columns = self.rows, self.columns
        if self.split == "rows":
            rows = -(-rows // ranks)
        elif self.split == "columns":
            columns = -(-columns // ranks)
        return Matrix(rows, columns, self.split)


def head_widths(card: Card) -> tuple[int, int]:
    """Return the elements of a query (or key) and of a value, per head."""
    latent = card.latent_attention
    if latent is not None:
        return latent.plain_width + latent.rotary_width, latent.value_width
    width = card.head_width or card.hidden // card.heads
    return width, width


def kv_elements(card: Card) -> int:
    """Return the elements of all keys and values of a token."""
    if card.latent_attention is not None:
        return card.heads * sum(head_widths(card))
    return 2 * (card.kv_heads or card.heads) * head_widths(card)[0]


def attention_matrices(card: Card) -> list[Matrix]:
    """Return the projections of attention: queries, keys and values, and the output."""
    hidden, heads, latent = card.hidden, card.heads, card.latent_attention
    query, value = head_widths(card)
    output = Matrix(heads * value, hidden, "rows")
    if latent is None:
        return [
            Matrix(hidden, heads * query, "columns"),
            Matrix(hidden, kv_elements(card), "columns"),
            output,
        ]
    return [
        Matrix(hidden, latent.query_rank, "none"),
        Matrix(latent.query_rank, heads * query, "columns"),
        Matrix(hidden, latent.kv_rank + latent.rotary_width, "none"),
        Matrix(latent.kv_rank, heads * (latent.plain_width + value), "columns"),
        output,
    ]


def network_matrices(hidden: int, width: int, gated: bool) -> list[Matrix]:
    """Return the matrices of a feed-forward network or expert of `width` inner elements."""
    up = (2 if gated else 1) * width
    return [Matrix(hidden, up, "columns"), Matrix(width, hidden, "rows")]


def merge_matrix(card: Card) -> Matrix:
    """Return the projection of a hidden state and an embedding to the input of a module's layer."""
    return Matrix(2 * card.hidden, card.hidden, "columns")


def adapter(matrix: Matrix, rank: int) -> list[Matrix]:
    """Return the two matrices of an adapter beside a matrix: down to `rank` elements, and up again.

    The first one is divided among ranks of tp like the matrix, the second one by columns, as in
    Megatron-LM's linear adapters.
    """
    return [Matrix(matrix.rows, rank, matrix.split), Matrix(rank, matrix.columns, "columns")]


def adapted_matrices(card: Card) -> dict[str, Matrix]:
    """Return the matrices of a layer that can have adapters, by Megatron-LM's names."""
    *inputs, output = attention_matrices(card)
    up, down = network_matrices(card.hidden, card.feed_forward, card.gated)
    qkv = Matrix(card.hidden, sum(matrix.columns for matrix in inputs), "columns")
    return {"qkv": qkv, "proj": output, "fc1": up, "fc2": down}


def forward_cost(matrices: list[Matrix], tokens: int, element_bytes: int) -> Cost:
    """Return the cost of multiplying some tokens by each of the matrices."""
    products = [matrix_product(tokens, m.rows, m.columns, element_bytes) for m in matrices]
    return Cost(0, 0).plus(*products)


def weights(matrices: list[Matrix]) -> int:
    """Return the number of weights of some matrices."""
    return sum(matrix.weights for matrix in matrices)


def norm_weights(card: Card) -> int:
    """Return the weights of the two normalisations of a layer, twice those of any other one."""
    return (2 if card.gated else 4) * card.hidden  # RMSNorm, or LayerNorm with a bias


def has_experts(card: Card, layer: int) -> bool:
    """Return whether a layer has experts."""
    return card.experts is not None and layer >= card.experts.dense_layers


def parameters(card: Card, *, active: bool = False) -> int:
    """Return the number of weights; with `active`, of those that compute a token.

    Examples
    --------
    >>> from frontend.models.cards import CARDS
    >>> round(parameters(Card.model_validate(CARDS["llama3_70b"])) / 1e9, 2)
    70.55
    """
    embedding = card.vocabulary * card.hidden
    total = embedding * (1 if card.tied_embedding else 2) + norm_weights(card) // 2
    # A module has two normalisations before its projection, and one before the output layer.
    total += card.mtp_layers * (merge_matrix(card).weights + 3 * norm_weights(card) // 2)
    for layer in every_layer(card):
        total += weights(attention_matrices(card)) + norm_weights(card)
        experts = card.experts
        if experts is None or not has_experts(card, layer):
            total += weights(network_matrices(card.hidden, card.feed_forward, card.gated))
            continue
        number = (experts.top_k if active else experts.count) + experts.shared
        total += number * weights(network_matrices(card.hidden, experts.width, card.gated))
        total += card.hidden * experts.count  # the router
    return total


def every_layer(card: Card) -> list[int]:
    """Return the numbers of all layers; those of modules for further tokens are like the last."""
    return [*range(card.layers), *card.mtp_layers * [card.layers - 1]]


def token_flop(card: Card, sequence: int) -> int:
    """Return the FLOPs of a token in training, as a model FLOPs utilization counts them.

    Each weight that multiplies a token counts 6 FLOPs, forward and backward. Attention counts the
    whole matrix of scores, as the sources do.
    """
    layers = len(every_layer(card))
    scores = layers * card.heads * sum(head_widths(card)) * sequence
    return 6 * (multiplied_weights(card) + scores)


def multiplied_weights(card: Card) -> int:
    """Return the number of weights that multiply a token; the output layer for each prediction."""
    table = card.vocabulary * card.hidden  # a look-up; a tied table still multiplies once
    multiplied = parameters(card, active=True) - (0 if card.tied_embedding else table)
    norms = len(every_layer(card)) * 2 + 1 + 3 * card.mtp_layers
    return multiplied + card.mtp_layers * table - norms * norm_weights(card) // 2
