"""``cosim list``: list the names that a scenario can use."""

from __future__ import annotations

import json
from typing import get_args

import click
from rich import box
from rich.table import Table

from bridge.cli.console import output
from bridge.cli.options import json_option
from frontend import collectives
from frontend.fabrics import FABRICS
from frontend.models.cards import CARDS, Card
from frontend.models.transformer import parameters
from frontend.placements import PLACEMENTS
from frontend.schema.compute import ACCELERATORS, Accelerator
from frontend.topologies import TOPOLOGIES
from frontend.transports import PROTOCOLS
from frontend.transports.tcp import Variant
from frontend.workloads import WORKLOADS


@click.command("list")
@json_option
def list_command(as_json: bool) -> None:
    """List what a scenario can use.

    These are the topologies, workloads, collectives, transports and fabrics."""
    entries = _catalogue()
    if as_json:
        click.echo(json.dumps(entries, indent=2, ensure_ascii=False))
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("kind")
    table.add_column("name", no_wrap=True)
    table.add_column("")
    for kind, names in entries.items():
        for index, (name, text) in enumerate(names.items()):
            table.add_row("" if index else kind, name, text)
        table.add_section()
    output().print(table)


def _catalogue() -> dict[str, dict[str, str]]:
    """Return the names that a scenario can choose from by kind, with a description of each.

    They are read from the registries, so that no list goes stale.
    """
    return {
        "topologies": {name: family.description for name, family in TOPOLOGIES.items()},
        "workloads": {name: kind.description for name, kind in WORKLOADS.items()},
        "collectives": {
            operation: ", ".join(algorithms)
            for operation, algorithms in collectives.algorithm_names().items()
        },
        "placements": {name: policy.description for name, policy in PLACEMENTS.items()},
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
    peaks = (("fp8", one.fp8_tflops), ("fp4", one.fp4_tflops))
    fewer = "".join(f", {peak:g} in {name}" for name, peak in peaks if peak)
    memory = f"{one.memory_gb_s} GB/s, {one.memory_gb} GB of memory"
    return f"{one.bf16_tflops:g} TFLOPS in bf16{fewer}, {memory}"
