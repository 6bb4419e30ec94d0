"""Arguments and options that several commands share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

import frontend

if TYPE_CHECKING:
    from frontend.loading.overrides import Override


F = TypeVar("F", bound=Callable[..., Any])


def _overrides(_: click.Context, __: click.Parameter, texts: tuple[str, ...]) -> list[Override]:
    # Here, because commands without --set use this module, too, and the import takes long.
    from frontend.loading.overrides import split

    return [split(text, "--set") for text in texts]


def with_seed(overrides: list[Override], seed: int | None) -> list[Override]:
    """Return the overrides of ``--set``, and then that of ``--seed`` if it is given."""
    from frontend.loading.overrides import Override

    return overrides if seed is None else [*overrides, Override("seed", seed, "--seed")]


def _allow_files(context: click.Context, _: click.Parameter, folders: tuple[Path, ...]) -> None:
    if folders:
        from frontend.schema.files import allow_files

        context.with_resource(allow_files(*folders))


allow_files_option = click.option(
    "--allow-files",
    metavar="DIR",
    multiple=True,
    expose_value=False,
    callback=_allow_files,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder in which the scenario may read files, besides its own; may be repeated.",
)

allow_hooks_option = click.option(
    "--allow-hooks", is_flag=True, help="Run the Python file that the scenario's key `hooks` names."
)


@contextmanager
def naming(scenario: Path) -> Iterator[None]:
    """Put the name of the file before the problems of a scenario that has been loaded from it."""
    try:
        yield
    except frontend.ScenarioError as error:
        raise frontend.ScenarioError([f"{scenario}: {one}" for one in error.problems]) from None


def scenario_argument(command: F) -> F:
    """Add FILE and --allow-files to a command, which gets `scenario`."""
    argument = click.argument(
        "scenario",
        metavar="FILE",
        type=click.Path(exists=True, dir_okay=False, readable=True, path_type=Path),
    )
    return argument(allow_files_option(command))


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
