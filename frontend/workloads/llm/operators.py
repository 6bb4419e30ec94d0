"""How long the operators of a layer take on a rank, and how much its collectives carry.

An operator takes max(FLOP / peak, bytes / memory bandwidth), or as long as kernels of its shape
(`compute.kernels: shapes`). Its backward phase has two parts: the gradient of its input, which the
layer before needs, and the gradient of its weights.

Sources: D. Narayanan et al., SC 2021; V. Korthikanti et al., "Reducing activation recomputation in
large transformer models", MLSys 2023; T. Dao, "FlashAttention-2", ICLR 2024; A. Grattafiori et al.,
"The Llama 3 herd of models", arXiv 2407.21783, section 3.3.2, for context parallelism.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property, lru_cache, partial
from math import ceil, comb
from typing import NamedTuple

import numpy as np

from frontend.collectives.program.program import Blocks
from frontend.errors import ScenarioError
from frontend.kernels import BESIDE_NCCL, CHIPS, Kernels, kernels
from frontend.models.transformer import (
    Matrix,
    adapted_matrices,
    adapter,
    attention_matrices,
    head_widths,
    kv_elements,
    merge_matrix,
    network_matrices,
)
from frontend.roofline import Cost, checked_duration_ps, matrix_product
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


def copied(
    experts: int, top_k: int, super_nodes: int, most: int, ranks: int
) -> tuple[Fraction, Fraction]:
    """Return the different super-nodes and ranks on which a token's experts are, on average.

    Parameters
    ----------
    experts, top_k : int
        Experts of a layer, and those of a token.
    super_nodes, most : int
        Super-nodes that have the experts, and those among which a token chooses its experts, all
        with the same probability.
    ranks : int
        Ranks that have the experts.
    """
    choice = experts * most // super_nodes

    def different(parts: int) -> Fraction:
        """Return how many of some parts of the choice a token's experts are in."""
        others = choice - choice // parts
        return parts * (1 - Fraction(comb(others, top_k), comb(choice, top_k)))

    return different(most), different(ranks * most // super_nodes)


ELEMENT = 2
"""Bytes of a weight or an activation."""
_INPUT = {"bf16": 2.0, "fp8": 1.0, "fp4": 9 / 16}
"""Bytes of an element of a product's input, by the precision."""


class _Beside(NamedTuple):
    """How a product runs beside a collective of tp."""

    pieces: int
    """Kernels into which it is cut, so that each waits for its part only; 0: as many as tp."""
    busy_sms: int
    """SMs of the collective."""


_ALONE = 3 * (_Beside(1, 0),)
_BESIDE_EP = 3 * (_Beside(1, 20),)
"""All products of a layer with `overlap.ep` or `dual_pipe`: 20 SMs exchange tokens (DeepSeek-V3's
report, section 3.2.2)."""
_BESIDE_TP = {
    "columns": (_Beside(0, 1), _Beside(1, 16), _Beside(1, 16)),
    "rows": (_Beside(4, 16), _Beside(0, 1), _Beside(1, 0)),
    "none": _ALONE,
}
"""The forward product and those of both gradients with `overlap.tp`, by what the ranks of tp share
of the matrix. From Transformer Engine's defaults (`initialize_ub` in
`transformer_engine/pytorch/module/base.py`): a ring of copies cuts the product into tp pieces, its
pipeline into 4, and its bulk collectives leave the product whole."""


class Times(NamedTuple):
    """Durations of an operator in picoseconds."""

    forward: int
    input_gradient: int
    weight_gradient: int

    def plus(self, *others: Times) -> Times:
        """Return the durations of this operator and others, one after the other."""
        return Times(*map(sum, zip(self, *others, strict=True)))


def in_turn(*parts: Times) -> Times:
    """Return the durations of operators one after the other."""
    return Times(0, 0, 0).plus(*parts)


class Operators:
    """The durations of all operators on one rank, and the sizes of its collectives in bytes.

    Parameters
    ----------
    workload : LlmWorkload
        The workload.
    """

    def __init__(self, workload: LlmWorkload) -> None:
        self.workload = workload
        self.card, self.layout = workload.model, workload.layout
        self.tokens = -(-workload.micro_batch * self.card.sequence // self.layout.cp)
        self.shared_tokens = -(-self.tokens // self.layout.tp)
        """Tokens of a rank where ranks of tp share the tokens."""
        self.routed = routed_tokens(workload, self.shared_tokens)
        """Where tokens go, if routing is uneven."""
        precision, compute = workload.precision, workload.compute
        self._compute = compute.roofline(precision)
        self._light = workload.recompute == "light"
        self.overlaps_tp = workload.overlap.tp and self.layout.tp > 1
        hides = workload.overlap.ep or self.layout.schedule == "dual_pipe"
        exchanges = hides and self.layout.ep > 1
        self._beside = _BESIDE_EP if exchanges else _ALONE
        self._kernels = self._plain = self._gradients = None
        if compute.kernels == "shapes":
            speed = compute.efficiency or 1.0
            self._kernels = kernels(compute.accelerator, precision, speed, compute.attention)
            self._plain = kernels(compute.accelerator, "bf16", speed)
            blocks = workload.fp8_scaling == "blocks"
            self._gradients = kernels(compute.accelerator, precision, speed, blocks=blocks)

    @cached_property
    def slower_beside_dp_ppm(self) -> int:
        """By how much kernels take longer beside a collective of dp [10^-6]."""
        slowdown = self.workload.overlap.dp_slowdown
        if slowdown is None:
            slowdown = BESIDE_NCCL if self.workload.compute.accelerator in CHIPS else 1.0
        return round(1e6 * (slowdown - 1))

    @cached_property
    def hidden_bytes(self) -> int:
        """Activations between two layers: the buffer of an all-reduce or reduce-scatter in tp."""
        return self.tokens * self.card.hidden * ELEMENT

    @property
    def shares_largest(self) -> bool:
        """Whether casts before an all-gather in tp need the largest element of all ranks."""
        precision, scaling = self.workload.precision, self.workload.fp8_scaling
        return precision == "fp4" or (precision == "fp8" and scaling == "current")

    @cached_property
    def input_bytes(self) -> int:
        """The same as inputs of products, which are cast before an all-gather in tp."""
        return ceil(self.tokens * self.card.hidden * _INPUT[self.workload.precision])

    @property
    def gradient_bytes(self) -> int:
        """The same as gradients of outputs, in the layouts of both products with them.

        With one factor for a tensor in 8 bits, one layout makes the other.
        """
        precision, scaling = self.workload.precision, self.workload.fp8_scaling
        both = precision == "fp4" or (precision == "fp8" and scaling in ("blocks", "mx"))
        return (1 + both) * self.input_bytes

    @cached_property
    def kept_bytes(self) -> int:
        """Activations between two layers that a rank holds, and sends to the next stage."""
        tokens = self.shared_tokens if self.layout.sequence_parallel else self.tokens
        return tokens * self.card.hidden * ELEMENT

    @property
    def sends_parts(self) -> bool:
        """Whether ranks of tp send a part of the same activations each to the next stage."""
        layout = self.layout
        return layout.scatter_gather and layout.tp > 1 and not layout.sequence_parallel

    @property
    def message_bytes(self) -> int:
        """Activations that a rank sends to the next stage."""
        return -(-self.kept_bytes // (self.layout.tp if self.sends_parts else 1))

    @cached_property
    def own_kv_bytes(self) -> int:
        """Keys and values of the tokens of a rank: a message in cp."""
        elements = -(-kv_elements(self.card) // self.layout.tp)
        return self.tokens * elements * ELEMENT

    @cached_property
    def kv_bytes(self) -> int:
        """Keys and values of whole sequences: the buffer of an all-gather in cp."""
        return self.layout.cp * self.own_kv_bytes

    @cached_property
    def heads_bytes(self) -> tuple[int, int, int]:
        """Queries, keys and values of the tokens of a rank: all-to-alls of heads in cp."""
        query, value = head_widths(self.card)
        heads = -(-self.card.heads // self.layout.tp)
        queries = self.tokens * heads * query * ELEMENT
        keys = self.own_kv_bytes * query // (query + value)
        return queries, keys, self.own_kv_bytes - keys

    @cached_property
    def result_bytes(self) -> int:
        """The attention's result for the tokens of a rank: an all-to-all of heads in cp."""
        heads = -(-self.card.heads // self.layout.tp)
        return self.tokens * heads * head_widths(self.card)[1] * ELEMENT

    def sorted_ps(self, size: int) -> int:
        """Return the time to copy some bytes into another order, which the roofline leaves out."""
        return 0 if self._kernels is None else self._kernels.pass_ps(2 * size)

    def ring_copies_ps(self, turn: int) -> tuple[int, int]:
        """Return the time of copies and sums beside the attention to keys and values of a rank.

        These are Transformer Engine's (2.4, `AttnFuncWithCPAndKVP2P`), on the rank that has the
        last tokens: it computes with half of the keys and values of each other rank. Forward, it
        adds up the results, whose softmax it corrects, and backward the gradients.

        Parameters
        ----------
        turn : int
            Place of the keys and values in the order of the ring.

        Returns
        -------
        tuple of int
            Picoseconds forward and backward; 0 if the roofline leaves them out.
        """
        if self._kernels is None:
            return 0, 0
        keys, result = self.own_kv_bytes, self.result_bytes
        forward, backward = (2 * keys, 2 * result), (2 * keys, 2 * keys, 2 * result)
        if turn:  # the halves are copied, and sums are read and written
            forward, backward = (keys, 3 * result), (keys, 3 * keys // 2, 3 * result)
        moved = self._kernels.pass_ps
        return sum(map(moved, forward)), sum(map(moved, backward))

    def dispatch_bytes(self, element: int) -> int:
        """Return the tokens that a rank sends to experts, or gets back: an all-to-all in ep."""
        assert self.card.experts is not None
        return self.shared_tokens * self.card.experts.top_k * self.card.hidden * element

    def passed_on_bytes(self, element: int, super_nodes: int) -> tuple[int, int]:
        """Return what a rank sends to super-nodes, and what it passes on inside its own.

        Parameters
        ----------
        element : int
            Bytes of an element.
        super_nodes : int
            Super-nodes of a group of ep.
        """
        experts, most = self.card.experts, self.workload.routing.super_nodes
        assert experts is not None
        assert most is not None
        if most > super_nodes or experts.count * most // super_nodes < experts.top_k:
            raise ScenarioError(
                f"workload.routing.super_nodes: value {most}: expected at most the {super_nodes} "
                f"super-nodes of a group of ep, with at least {experts.top_k} experts together"
            )
        copies = copied(experts.count, experts.top_k, super_nodes, most, self.layout.ep)
        token = self.shared_tokens * self.card.hidden * element
        return ceil(token * copies[0]), ceil(token * copies[1])

    @cached_property
    def expert_bytes(self) -> tuple[int, ...]:
        """Tokens of the experts of a rank, after the all-gather in tp; for each part of a stage."""
        assert self.card.experts is not None
        shared = self.tokens * (self.card.experts.shared > 0)
        if self.routed is None:
            tokens = [self.tokens * self.card.experts.top_k]
        else:
            tokens = [self.layout.tp * sum(each) for each in self.routed.experts]
        return tuple((shared + count) * self.card.hidden * ELEMENT for count in tokens)

    @cached_property
    def projections(self) -> Times:
        """The projections to queries, keys and values, and the normalisation before them."""
        matrices = attention_matrices(self.card)[:-1]
        if self._kernels is not None and self.card.latent_attention is None:
            # Queries, keys and values come from one kernel.
            columns = sum(matrix.columns for matrix in matrices)
            matrices = [Matrix(self.card.hidden, columns, "columns")]
        products = self._products("projections", matrices)
        if self._light and self.card.latent_attention is not None:
            again = self._products("projections", matrices[1::2]).forward
            products = products.plus(Times(0, again, 0))
        return products.plus(self._norm, self._rotation, self._adapter("qkv"))

    @cached_property
    def scores(self) -> Times:
        """The attention itself: scores, their softmax, and the weighted sums of values."""
        card, batch = self.card, self.workload.micro_batch
        query, value = head_widths(card)
        heads = -(-card.heads // self.layout.tp)
        scores = batch * heads * -(-card.sequence // self.layout.cp) * card.sequence
        flop = 2 * scores * (query + value)
        read = self.tokens * heads * (query + value) * ELEMENT
        moved = read + self.own_kv_bytes
        # Two products forward, and four for the gradients.
        if self.workload.flash_attention:
            flop //= 2
            if self._kernels is not None:
                # A kernel has the queries of one rank of cp, unless ranks share the heads.
                ways = 1 if self.layout.cp_exchange == "all_to_all" else self.layout.cp
                own = -(-card.sequence // ways)
                attention = partial(
                    self._kernels.attention_ps,
                    sequence=own,
                    head=query,
                    busy_sms=self._beside[0].busy_sms,
                )
                whole = Times(attention(flop), attention(5 * flop // 2, backward=True), 0)
                results = self.tokens * heads * value
                return whole.plus(self._attention_casts(moved // ELEMENT - results, results))
            forward = self._time("scores", Cost(flop, moved))
            # The product for the scores again.
            return Times(forward, self._time("scores", Cost(5 * flop // 2, 2 * moved)), 0)
        # Scores are written, read and written by the softmax, and read once more.
        gradients = 2 * (moved + 4 * scores * ELEMENT)
        moved += 4 * scores * ELEMENT
        if self._kernels is not None:
            # Dropout reads and writes them again, with a mask of one byte; so does its gradient.
            moved += 5 * scores
            gradients += 5 * scores
        forward = self._time("scores", Cost(flop, moved))
        again = forward if self.workload.recompute == "selective" else 0
        return Times(forward, self._time("scores", Cost(2 * flop, gradients)) + again, 0)

    @cached_property
    def output_projection(self) -> Times:
        """The projection of the attention's result."""
        products = self._products("output_projection", attention_matrices(self.card)[-1:])
        return products.plus(self._residual, self._adapter("proj"))

    @cached_property
    def network(self) -> Times:
        """The feed-forward network, and the normalisation before it."""
        return in_turn(*self.network_parts)

    @cached_property
    def network_parts(self) -> tuple[Times, Times, Times]:
        """The feed-forward network: its first matrix, the activation function and the second one.

        The first one has the normalisation before it, and the second one the sum with the residual.
        """
        network = self._network("feed_forward", self.card.feed_forward, self.tokens)
        first, activation, second = network
        first = first.plus(self._norm, self._adapter("fc1"))
        return first, activation, second.plus(self._residual, self._adapter("fc2"))

    @cached_property
    def router(self) -> Times:
        """The choice of experts, and the normalisation before it."""
        assert self.card.experts is not None
        matrix = Matrix(self.card.hidden, self.card.experts.count, "none")
        router = self._products("router", [matrix], self.shared_tokens, plain=True)
        return router.plus(self._norm)

    @cached_property
    def experts(self) -> tuple[Times, ...]:
        """The experts of a rank, and the shared experts; for each part of a stage.

        With kernels by their shape, tokens are copied into the order of the experts, and their
        results summed, in both phases.
        """
        experts = self.card.experts
        assert experts is not None
        local = experts.count // self.layout.ep
        if self.routed is None:
            tokens = -(-self.tokens * experts.top_k // local)
            parts = [in_turn(*self._network("experts", experts.width, tokens, local))]
            assigned = [self.tokens * experts.top_k]
        else:
            parts = [
                in_turn(
                    *(
                        part
                        for tokens in own
                        if tokens
                        for part in self._network("experts", experts.width, self.layout.tp * tokens)
                    )
                )
                for own in self.routed.experts
            ]
            assigned = [self.layout.tp * sum(own) for own in self.routed.experts]
        parts = [
            part.plus(self._ordered(count)) for part, count in zip(parts, assigned, strict=True)
        ]
        if experts.shared:
            width = experts.width * experts.shared
            also = self._network("shared_experts", width, self.tokens)
            parts = [part.plus(*also) for part in parts]
        return tuple(parts)

    def _ordered(self, assigned: int) -> Times:
        """Return the time to copy tokens to their experts, and to sum what these return."""
        if self._kernels is None:
            return Times(0, 0, 0)
        elements = 2 * assigned * self.card.hidden
        sizes = (elements * self.workload.dispatch_element, elements * ELEMENT)
        each = sum(map(self._kernels.pass_ps, sizes))
        return Times(each, each, 0)

    @cached_property
    def embedding(self) -> Times:
        """The look-up of the tokens' vectors; its gradient adds to as many."""
        moved = Cost(0, 2 * self.hidden_bytes)
        return Times(self._time("embedding", moved), 0, self._time("embedding", moved))

    @cached_property
    def output(self) -> Times:
        """The output layer with its normalisation and loss."""
        matrix = Matrix(self.card.hidden, self.card.vocabulary, "columns")
        logits = self.tokens * matrix.part(self.layout.tp).columns * ELEMENT
        loss = self._time("loss", Cost(0, self.workload.compute.loss_accesses * logits))
        output = self._products("output", [matrix], plain=True)
        return output.plus(self._norm, Times(loss, loss, 0))

    @cached_property
    def merge(self) -> Times:
        """The projection of a hidden state and an embedding, with a normalisation of each.

        With kernels by their shape, it stays in 16 bits, as DeepSeek-V3's published weights of it
        do. Both inputs are copied side by side, and the gradient of the hidden state is added to
        that of the output layer before.
        """
        product = self._products("merge", [merge_matrix(self.card)], plain=True)
        copied = summed = 0
        if self._kernels is not None:
            copied = self._kernels.pass_ps(4 * self.kept_bytes)
            summed = self._kernels.pass_ps(3 * self.kept_bytes)
        return product.plus(self._norm, self._norm, Times(copied, summed, 0))

    def update(self, weights: int, held: int) -> int:
        """Return the time to update some weights, in picoseconds.

        With kernels by their shape, all gradients that a rank holds are checked before, and those
        of its share are copied to 4 bytes, unless they have them, and read for their norm. After
        the update, all gradients are set to zero, and the transposes of weights in 8 bits written,
        or all weights in 4 bits or, with `fp8_scaling: mx`, in 8.
        """
        moved = 2 * self.workload.compute.update_accesses * weights
        lasts = self._time("update", Cost(0, moved))
        if self._kernels is not None:
            element = self.workload.gradient_element
            precision, layouts = self._kernels.precision, self._kernels.chip.layouts
            transposed = 2 * (layouts - 1) if precision == "fp8" else 0
            copied = element + 4 if element < 4 else 0
            for each in (element * held, copied * weights, 4 * weights):
                lasts += self._kernels.pass_ps(each)
            lasts += self._kernels.pass_ps((element + transposed) * held)
            if precision == "fp4":
                lasts += self._kernels.nvfp4_cast_ps(held)
            elif precision == "fp8" and self.workload.fp8_scaling == "mx":
                lasts += self._kernels.cast_ps(held, "mx")
        return lasts

    @cached_property
    def _norm(self) -> Times:
        # Read and write the activations; the gradient reads them and two gradients, and writes one.
        if self._kernels is not None:
            norm, kept = self._kernels.norm_ps, self.kept_bytes
            forward = norm(kept)
            backward = norm(kept, backward=True) + self._kernels.pass_ps(kept)
        else:
            forward = self._time("norm", Cost(0, 2 * self.kept_bytes))
            backward = self._time("norm", Cost(0, 4 * self.kept_bytes))
        return Times(forward, backward + self._light * forward, 0)

    @cached_property
    def _residual(self) -> Times:
        """Bias, dropout and sum with the residual: a kernel that the roofline leaves out."""
        if self._kernels is None:
            return Times(0, 0, 0)
        each = self._kernels.pass_ps(3 * self.kept_bytes)
        return Times(each, each, 0)

    @cached_property
    def _rotation(self) -> Times:
        """Rotary positions of queries and keys, which the roofline leaves out."""
        if self._kernels is None or not self.card.gated:
            return Times(0, 0, 0)
        query, value = head_widths(self.card)
        keys = kv_elements(self.card) * query // (query + value)
        elements = -(-(self.card.heads * query + keys) // self.layout.tp)
        each = self._kernels.pass_ps(2 * self.tokens * elements * ELEMENT)
        return Times(each, each, 0)

    def _adapter(self, target: str) -> Times:
        """Return the time of the adapter beside a matrix; nothing if it has none.

        The adapter's result is added to the matrix', and its gradient to that of the matrix' input.
        With kernels by their shape, its result is multiplied by a number, in a pass of its own.
        """
        lora = self.workload.lora
        if lora is None or target not in lora.targets:
            return Times(0, 0, 0)
        matrix = adapted_matrices(self.card)[target]
        pair, own = adapter(matrix, lora.rank), matrix.part(self.layout.tp)
        inputs, outputs = (self.tokens * one * ELEMENT for one in (own.rows, own.columns))
        if matrix.split == "rows":  # ranks of tp share the tokens of the result
            outputs = self.shared_tokens * matrix.columns * ELEMENT
        added, summed = (self._time(target, Cost(0, 3 * moved)) for moved in (outputs, inputs))
        found = self._products(target, pair, plain=True, trained=True)
        found = found.plus(Times(added, summed, 0))
        if self._kernels is not None:
            scaled, dropped = (self._kernels.pass_ps(2 * one) for one in (outputs, inputs))
            each = scaled + dropped * lora.dropout
            found = found.plus(Times(each, each, 0))
        return found

    def _network(
        self, name: str, width: int, tokens: int, number: int = 1
    ) -> tuple[Times, Times, Times]:
        """Return the time of `number` feed-forward networks or experts, each with some tokens.

        It is that of the first matrix, of the activation function, and of the second matrix.
        """
        inner = -(-width // self.layout.tp)
        # The activation function reads one or two factors and writes the product.
        moved = (3 if self.card.gated else 2) * tokens * inner * ELEMENT
        forward = backward = self._time(name, Cost(0, moved), number)
        if self._kernels is not None:
            # The gradient reads that of the product, and writes one for each factor.
            moved = (5 if self.card.gated else 3) * tokens * inner * ELEMENT
            backward = self._time(name, Cost(0, moved), number)
        backward += self._light * forward
        if self._kernels is not None and self.workload.kept_activation == "8 bits":
            factors = (2 if self.card.gated else 1) * tokens * inner
            cast = self._kernels.pass_ps(number * 3 * factors)
            forward, backward = forward + cast, backward + cast
        first, second = (
            self._products(name, [matrix], tokens, number)
            for matrix in network_matrices(self.card.hidden, width, self.card.gated)
        )
        return first, Times(forward, backward, 0), second

    def _products(
        self,
        name: str,
        matrices: list[Matrix],
        tokens: int | None = None,
        number: int = 1,
        *,
        plain: bool = False,
        trained: bool = False,
    ) -> Times:
        """Return the time of some matrices with some tokens, each `number` times.

        With kernels by their shape, the output layer, the merge for a further token, the router and
        adapters stay in 16 bits (`plain`), and their collectives are not cut. Frozen matrices have
        no gradient: beside adapters, only these are `trained`.
        """
        found = self._all_products(name, matrices, tokens, number, plain=plain)
        frozen = self.workload.lora is not None and not trained
        return found._replace(weight_gradient=0) if frozen else found

    def _all_products(
        self, name: str, matrices: list[Matrix], tokens: int | None, number: int, *, plain: bool
    ) -> Times:
        tokens = self.tokens if tokens is None else tokens
        parts = [matrix.part(self.layout.tp) for matrix in matrices]
        kernels = self._plain if plain else self._kernels
        if kernels is None:
            return in_turn(*(self._roofline(name, tokens, part, number) for part in parts))
        found = []
        for part in parts:
            beside = _ALONE if plain else self._beside
            if self.overlaps_tp and not plain:
                beside = _BESIDE_TP[part.split]
            found.append(self._kernel_times(kernels, beside, tokens, part, number))
        return in_turn(*found)

    def _kernel_times(
        self,
        kernels: Kernels,
        beside: tuple[_Beside, ...],
        tokens: int,
        part: Matrix,
        number: int,
    ) -> Times:
        """Return the time of a matrix with its casts, by kernels of its shape."""
        rows, columns = part.rows, part.columns

        def product(
            how: _Beside,
            left: int,
            inner: int,
            right: int,
            result: int = ELEMENT,
            own: Kernels = kernels,
        ) -> int:
            pieces = how.pieces or self.layout.tp
            piece = -(-left // pieces)
            return pieces * own.product_ps(
                piece, inner, right, result, number, busy_sms=how.busy_sms
            )

        gradients = kernels if kernels is self._plain else self._gradients or kernels
        # Kernels add the gradient to that of other micro-batches: they read and write it.
        added = 2 * self.workload.gradient_element
        # The input and the gradient of the output are cast for the products with them.
        cast = partial(self._cast, kernels)
        return Times(
            product(beside[0], tokens, rows, columns) + cast(number * tokens * rows),
            product(beside[1], tokens, columns, rows) + cast(number * tokens * columns, True),
            product(beside[2], rows, tokens, columns, added, gradients),
        )

    def _cast(self, kernels: Kernels, elements: int, gradient: bool = False) -> int:
        """Return the time to cast an input, or the gradient of an output, for products."""
        trained, how = self.workload.lora is None, self.workload.nvfp4
        if kernels.precision == "fp8":
            return kernels.cast_ps(elements, self.workload.fp8_scaling, for_gradient=trained)
        if kernels.precision == "fp4":
            return kernels.nvfp4_cast_ps(
                elements,
                hadamard=how.hadamard,
                stochastic=how.stochastic_rounding and gradient,
                for_gradient=trained,
            )
        return 0

    def _attention_casts(self, inputs: int, results: int) -> Times:
        """Return the time to cast the inputs of attention in 8 bits, and its result's gradient."""
        if self._kernels is None or self.workload.compute.attention != "cudnn_fp8":
            return Times(0, 0, 0)
        scaling = self.workload.fp8_scaling
        cast = partial(self._kernels.cast_ps, scaling=scaling, for_gradient=False)
        return Times(cast(inputs), cast(results), 0)

    def _roofline(self, name: str, tokens: int, part: Matrix, number: int) -> Times:
        rows, columns = part.rows, part.columns
        shapes = ((tokens, rows, columns), (tokens, columns, rows), (rows, tokens, columns))
        return Times(
            *(number * self._time(name, matrix_product(*shape, ELEMENT)) for shape in shapes)
        )

    def _time(self, name: str, cost: Cost, number: int = 1) -> int:
        if self._kernels is None:
            return number * checked_duration_ps(name, cost, self._compute)
        if cost.flop:
            return self._kernels.scores_ps(cost.flop, cost.memory_bytes)
        return self._kernels.pass_ps(number * cost.memory_bytes)
