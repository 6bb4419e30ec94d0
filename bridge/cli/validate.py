"""``cosim validate``: check a scenario."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

import frontend
from bridge.cli.options import naming, scenario_argument, set_option
from bridge.present.quantities import byte_rate_text, scaled_text
from frontend.loading.overrides import Override
from frontend.schema.base import Model
from frontend.schema.quantities import ByteRate, Rate


@click.command("validate")
@scenario_argument
@set_option
def validate_command(scenario: Path, overrides: list[Override]) -> None:
    """Check the scenario FILE without simulating it; this needs no ns-3.

    On stderr, the command prints each bandwidth in bits and in bytes per second."""
    loaded = frontend.load_scenario(scenario, overrides)
    with naming(scenario):
        frontend.validate_scenario(loaded)
    click.echo(f"{scenario}: valid")
    for key, bits_per_s in _bandwidths(loaded, ""):
        both = f"{scaled_text(bits_per_s, 'bit/s')} = {byte_rate_text(bits_per_s)}"
        click.echo(f"{key}: {both}", err=True)


def _bandwidths(part: Model, prefix: str) -> Iterator[tuple[str, int]]:
    """Yield the key path and the bit/s of each bandwidth in a part of a scenario."""
    for name, value in part:
        key = f"{prefix}{name}"
        if isinstance(value, Rate):
            yield key, value
        elif isinstance(value, ByteRate):
            yield key, 8 * value
        elif isinstance(value, Model):
            yield from _bandwidths(value, f"{key}.")
