"""Lists the names that a scenario can use, read from the registries so that no list goes stale."""

from __future__ import annotations

from typing import get_args

from frontend import collectives
from frontend.fabrics import FABRICS
from frontend.models.cards import CARDS
from frontend.models.transformer import parameters
from frontend.schema.accelerators import ACCELERATORS, Accelerator
from frontend.schema.transformer import Card
from frontend.topologies import TOPOLOGIES
from frontend.transports import PROTOCOLS
from frontend.transports.tcp import Variant
from frontend.workloads import WORKLOADS


def catalogue() -> dict[str, dict[str, str]]:
    """Return the names that a scenario can choose from, with a description of each.

    Returns
    -------
    dict
        ``topologies``, ``workloads``, ``collectives``, ``transports``, ``tcp_variants``,
        ``models`` and ``accelerators`` of the workload llm, and ``fabrics``; each maps names to
        descriptions, which may be empty.
    """
    return {
        "topologies": {name: family.description for name, family in TOPOLOGIES.items()},
        "workloads": {name: kind.description for name, kind in WORKLOADS.items()},
        "collectives": {
            operation: ", ".join(algorithms)
            for operation, algorithms in collectives.algorithm_names().items()
        },
        "transports": {name: protocol.description for name, protocol in PROTOCOLS.items()},
        "tcp_variants": dict.fromkeys(get_args(Variant), ""),
        "models": {
            name: f"{parameters(card) / 1e9:.3g} B parameters, {card.layers} layers"
            for name, card in _cards().items()
        },
        "accelerators": {name: _accelerator(one) for name, one in ACCELERATORS.items()},
        "fabrics": {fabric.name: fabric.description for fabric in FABRICS.values()},
    }


def _cards() -> dict[str, Card]:
    return {name: Card.model_validate(card) for name, card in CARDS.items()}


def _accelerator(one: Accelerator) -> str:
    fp8 = f", {one.fp8_tflops:g} in fp8" if one.fp8_tflops else ""
    memory = f"{one.memory_gb_s} GB/s, {one.memory_gb} GB of memory"
    return f"{one.bf16_tflops:g} TFLOPS in bf16{fp8}, {memory}"
