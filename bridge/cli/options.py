"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from frontend.loading.overrides import Override


def _overrides(_: click.Context, __: click.Parameter, texts: tuple[str, ...]) -> list[Override]:
    # Here, because commands without --set use this module, too, and the import takes long.
    from frontend.loading.overrides import split

    return [split(text, "--set") for text in texts]


def with_seed(overrides: list[Override], seed: int | None) -> list[Override]:
    """Return the overrides of ``--set``, and then that of ``--seed`` if it is given."""
    from frontend.loading.overrides import Override

    return overrides if seed is None else [*overrides, Override("seed", seed, "--seed")]


scenario_argument = click.argument(
    "scenario",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, readable=True, path_type=Path),
)

stream_argument = click.argument(
    "stream",
    metavar="STREAM",
    type=click.Path(exists=True, dir_okay=False, readable=True, path_type=Path),
)

set_option = click.option(
    "--set",
    "overrides",
    metavar="KEY=VALUE",
    multiple=True,
    callback=_overrides,
    help="Set a key of the scenario, such as topology.bandwidth=800Gbps; may be repeated.",
)

seed_option = click.option("--seed", type=int, help="Set the scenario's random seed.")

out_option = click.option(
    "-o",
    "--out",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Folder for result.json, which replaces an earlier one there. By default results/NAME, or "
    "results/NAME-2 … if that holds the result of another scenario; none with --json.",
)

force_option = click.option("--force", is_flag=True, help="Replace files that exist.")

json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print result.json to stdout and no progress."
)
