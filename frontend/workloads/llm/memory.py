"""The memory that a rank needs: weights, gradients, the optimizer's state and activations.

With zero 3, weights of other ranks are there while they are used.

Sources: S. Rajbhandari et al., "ZeRO: memory optimizations toward training trillion parameter
models", SC 2020; V. Korthikanti et al., "Reducing activation recomputation in large transformer
models", MLSys 2023.
"""

from __future__ import annotations

from typing import NamedTuple

from frontend.models.transformer import has_experts, head_widths, kv_elements
from frontend.workloads.llm.grid import Grid
from frontend.workloads.llm.operators import ELEMENT
from frontend.workloads.llm.partition import chunks, gathered_weights, stage_weights
from frontend.workloads.llm.routing import routed_tokens
from frontend.workloads.llm.schedule import warm_up
from frontend.workloads.llm.workload import LlmWorkload

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
    own = stage_weights(workload.model, layout, stage)
    shared = (grid.dp * layout.cp, grid.size["dp"] * layout.cp)

    def held(least: int) -> int:
        """Return the weights on a rank if ranks of dp share them from `least` on."""
        return sum(
            -(-count // ranks) if zero >= least else count
            for count, ranks in zip(own, shared, strict=True)
        )

    return Memory(
        held(3) * ELEMENT,
        held(2) * workload.gradient_element,
        held(1) * _STATE,
        _activations(workload, stage, micro_batches),
        gathered_weights(workload, stage, micro_batches, shared) * ELEMENT,
    )


def _activations(workload: LlmWorkload, stage: int, micro_batches: int) -> int:
    """Return the activations of the micro-batches in flight, between forward and backward."""
    card, layout = workload.model, workload.layout
    # The gradients of weights on the later stages of zero_bubble wait as long as on the first one.
    longest = 0 if layout.schedule == "zero_bubble" else stage
    ahead = warm_up(longest, layout.pp, micro_batches, layout.chunks)
    in_flight = min(ahead + 1, micro_batches * layout.chunks)
    most = max(
        sum(layer_activations(workload, layer) for layer in chunk.layers)
        for chunk in chunks(card, layout)[stage :: layout.pp]
    )
    tokens = workload.micro_batch * card.sequence // layout.cp
    last = stage == layout.pp - 1
    logits = tokens * -(-card.vocabulary // layout.tp) * (ELEMENT + 4) if last else 0
    return in_flight * most + logits


def layer_activations(workload: LlmWorkload, layer: int) -> int:
    """Return the bytes that a layer keeps of a micro-batch for its backward phase."""
    card, layout = workload.model, workload.layout
    tokens = workload.micro_batch * card.sequence // layout.cp
    shared = tokens // layout.tp
    between = shared if layout.sequence_parallel else tokens
    if workload.recompute == "full":
        return between * card.hidden * ELEMENT
    query, value = head_widths(card)
    attention = card.heads * (query + value) + kv_elements(card)
    network = 3 if card.gated else 2
    experts = card.experts
    if experts is not None and has_experts(card, layer):
        routed = routed_tokens(workload, shared)
        assigned = shared * experts.top_k if routed is None else routed.most
        inner = shared * experts.shared * network * experts.width
        inner += assigned * (network * experts.width + card.hidden)
    else:
        inner = shared * network * card.feed_forward
    # Inputs of both halves of the layer, before and after their normalisations.
    elements = 4 * between * card.hidden + shared * attention + inner
    if workload.recompute == "none" and not workload.flash_attention:
        # Scores before and after the softmax, as in the third term of Korthikanti's equation 1.
        scores = 2 * workload.micro_batch * card.heads * card.sequence**2 // layout.cp
        elements += scores // layout.tp
    return elements * ELEMENT
