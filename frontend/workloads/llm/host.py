"""How long the host takes to launch the operators of a layer, one after another.

The host does not wait for the accelerator inside an iteration. So operator i begins on the
accelerator at the earliest h_1 + … + h_i after the iteration has begun, where h_j is what the host
takes for operator j. A queue of kernels that is empty lets the accelerator wait; one that is not
hides the host.

Operators are counted as Megatron-LM has them: a linear layer with its normalisation and casts, and
each other operator, collective and message. The backward phase launches as many as the forward
phase.

Where tokens go to experts, the host waits in the forward phase: it needs their numbers to launch
what follows, and gets them from the router (DeepEP's README, "Example use in model training";
`cuda_sync_point` of Megatron-LM's token dispatchers).
"""

from __future__ import annotations

from frontend.models.transformer import has_experts
from frontend.workloads.llm.workload import LlmWorkload

_ADAPTER = 5
"""Operators of an adapter: dropout, two products, the factor and the sum."""


class Launches:
    """The time of the host for the operators of a phase, by their names in `Operators` [ps].

    All are 0 if the host is never waited for.

    Parameters
    ----------
    workload : LlmWorkload
        The workload.
    """

    def __init__(self, workload: LlmWorkload) -> None:
        card, lora, host = workload.model, workload.lora, workload.compute.host
        linear, self.operator = (host.linear, host.operator) if host else (0, 0)
        expert = host.expert if host else 0
        targets = () if lora is None else lora.targets

        def launches(linears: int, others: int, *matrices: str) -> int:
            adapters = sum(name in targets for name in matrices)
            return linears * linear + (others + _ADAPTER * adapters) * self.operator

        rotated = 2 if card.gated else 0
        self.projections = launches(1 if card.latent_attention is None else 4, rotated, "qkv")
        self.scores = launches(0, 1)
        self.ring = launches(0, 3)  # of keys and values of a rank: copies, attention, sums
        self.output_projection = launches(1, 1, "proj")  # and the sum with the residual
        self.network = launches(2, 2, "fc1", "fc2")  # and the activation and the sum
        self.router = self.experts = 0
        if has_experts(card, card.layers - 1) and card.experts is not None:
            self.router = launches(1, 1)
            networks = 1 + (card.experts.shared > 0)
            self.experts = networks * launches(2, 1)
            self.experts += card.experts.count // workload.layout.ep * expert
        self.embedding = launches(0, 1)
        self.output = launches(1, 1)  # and the loss
        self.merge = launches(1, 3)  # and two normalisations, and the copy side by side
