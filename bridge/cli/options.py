"""Arguments and options that several commands share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from frontend import units
from frontend.errors import ScenarioError
from frontend.schema.files import allow_files

if TYPE_CHECKING:
    from frontend.loading.overrides import Override

F = TypeVar("F", bound=Callable[..., Any])

existing_file = click.Path(exists=True, dir_okay=False, path_type=Path)

_file_or_stdin = click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path)


def _overrides(_: click.Context, __: click.Parameter, texts: tuple[str, ...]) -> list[Override]:
    # Here, because commands without --set use this module, too, and the import takes 0.3 s.
    from frontend.loading.overrides import split

    return [split(text, "--set") for text in texts]


def with_seed(overrides: list[Override], seed: int | None) -> list[Override]:
    """Return the overrides of ``--set``, and then that of ``--seed`` if it is given."""
    from frontend.loading.overrides import Override

    return overrides if seed is None else [*overrides, Override("seed", seed, "--seed")]


def what_was_set(overrides: list[Override]) -> list[str]:
    """Return overrides as texts, each key once with its last value, in the order of the keys."""
    last = {one.key.strip(): one.value for one in overrides if one.key.strip() != "name"}
    return [f"{key}={value}" for key, value in sorted(last.items())]


def _allow_files(context: click.Context, _: click.Parameter, folders: tuple[Path, ...]) -> None:
    if folders:
        context.with_resource(allow_files(*folders))


class StoredResult(click.ParamType[Path]):
    """A result: a path that exists, a folder below results/, or a label."""

    name = "result"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Return the path; fail with what is accepted."""
        # Imported here, because commands without results use this module, too.
        from bridge.results.folders import RESULTS
        from bridge.results.labels import labelled

        for path in (Path(value), RESULTS / value):
            if value and path.exists():
                return path
        found = labelled(str(value))
        if len(found) > 1:
            several = " and ".join(map(str, found))
            self.fail(f"value {value}: {several} have this label, expected one of them", param, ctx)
        if not found:
            self.fail(
                f"value {value}: no such file, folder or label, expected a result; `cosim results` "
                "lists them",
                param,
                ctx,
            )
        return found[0]


stored_result = StoredResult()

some_files_or_stdin = click.argument(
    "scenarios", metavar="FILE...", nargs=-1, required=True, type=_file_or_stdin
)

allow_files_option = click.option(
    "--allow-files",
    metavar="DIR",
    multiple=True,
    expose_value=False,
    callback=_allow_files,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder in which the scenario may read files, besides its own and its Git repository; may "
    "be repeated. The environment variable COSIM_FILES has such folders for all scenarios.",
)

allow_hooks_option = click.option(
    "--allow-hooks", is_flag=True, help="Run the Python file that the scenario's key `hooks` names."
)


@contextmanager
def naming(scenario: Path) -> Iterator[None]:
    """Put the name of the file before the problems of a scenario that has been loaded from it."""
    name = "stdin" if str(scenario) == "-" else scenario
    try:
        yield
    except ScenarioError as error:
        raise ScenarioError([f"{name}: {one}" for one in error.problems]) from None


def scenario_argument(command: F) -> F:
    """Add FILE and --allow-files to a command, which gets `scenario`."""
    argument = click.argument("scenario", metavar="FILE", type=existing_file)
    return argument(allow_files_option(command))


def scenario_or_stdin_argument(command: F) -> F:
    """Do the same for a command that reads the scenario once, so that `-` can be stdin."""
    argument = click.argument("scenario", metavar="FILE", type=_file_or_stdin)
    return argument(allow_files_option(command))


set_option = click.option(
    "--set",
    "overrides",
    metavar="KEY=VALUE",
    multiple=True,
    callback=_overrides,
    help="Set a key of the scenario, such as topology.bandwidth=800Gbps; may be repeated.",
)

seed_option = click.option("--seed", type=int, help="Set the scenario's random seed.")

seeds_option = click.option(
    "--seeds",
    metavar="N",
    type=click.IntRange(2, 1000),
    help="Simulate with N seeds, from the scenario's on, and show means with 95 % confidence "
    "intervals.",
)


class OutPath(click.Path):
    """A place to write; an empty name, as of a shell variable that is not set, is none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "":
            self.fail("an empty name, expected a place to write", param, ctx)
        return super().convert(value, param, ctx)


def out_folder_option(help_text: str) -> Callable[[F], F]:
    """Return the option ``--out`` of a command that writes a folder."""
    return click.option("-o", "--out", metavar="DIR", type=OutPath(path_type=Path), help=help_text)


def out_file_option(
    help_text: str, *, metavar: str = "FILE", required: bool = False
) -> Callable[[F], F]:
    """Return the option ``--out`` of a command that writes a file."""
    return click.option(
        "-o",
        "--out",
        "--output",
        "out",
        metavar=metavar,
        required=required,
        type=OutPath(dir_okay=False, path_type=Path),
        help=help_text,
    )


run_folder_option = out_folder_option(
    "Folder for result.json, which replaces an earlier one there. By default results/NAME, or "
    "results/NAME/KEY=VALUE after what is set, with -2 … if that holds the result of another "
    "scenario; none with --json."
)


json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print JSON to stdout, and no progress."
)


class Quantity(click.ParamType[int]):
    """A quantity above 0 with a unit, such as 100Gbps, in its base unit; a time may be 0."""

    def __init__(self, kind: units.Kind) -> None:
        self.kind = kind
        self.name = kind.name

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the quantity; fail with what is accepted."""
        try:
            result = units.parse(value, self.kind)
        except ValueError as error:
            self.fail(f"{value!r}: {error}", param, ctx)
        if result == 0 and self.kind is not units.TIME:
            self.fail(f"{value!r}: expected {units.accepted(self.kind)}, more than 0", param, ctx)
        return result
