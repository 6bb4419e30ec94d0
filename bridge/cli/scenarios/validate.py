"""``cosim validate``: check a scenario."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

import frontend
from bridge.cli.options import allow_files_option, naming, set_option, some_files_or_stdin
from bridge.present.quantities import byte_rate_text, scaled_text
from frontend.compiler.compile import marks
from frontend.errors import ScenarioError
from frontend.loading.overrides import Override
from frontend.schema.base import Model
from frontend.schema.quantities import ByteRate, Rate


@click.command("validate")
@some_files_or_stdin
@allow_files_option
@set_option
def validate_command(scenarios: tuple[Path, ...], overrides: list[Override]) -> None:
    """Check scenario files without simulating them; this needs no ns-3.

    On stderr, the command prints each bandwidth in bits and in bytes per second, and from which
    queue lengths packets are marked, if these follow from the rates."""
    problems: list[str] = []
    for scenario in scenarios:
        try:
            _validate(scenario, overrides)
        except ScenarioError as error:
            problems += error.problems
    if problems:
        raise ScenarioError(problems)


def _validate(scenario: Path, overrides: list[Override]) -> None:
    """Check a scenario and print its bandwidths; raise ScenarioError if something is wrong."""
    loaded = frontend.load_scenario(scenario, overrides)
    with naming(scenario):
        frontend.validate_scenario(loaded)
    click.echo(f"{'stdin' if str(scenario) == '-' else scenario}: valid")
    for key, bits_per_s in _bandwidths(loaded, ""):
        both = f"{scaled_text(bits_per_s, 'bit/s')} = {byte_rate_text(bits_per_s)}"
        click.echo(f"{key}: {both}", err=True)
    for bits_per_s, size in sorted(marks(loaded)):
        mark = f"{scaled_text(size, 'B')} on links of {scaled_text(bits_per_s, 'bit/s')}"
        click.echo(f"switches.ecn_threshold: {mark}", err=True)


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
