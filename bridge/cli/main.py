"""The command line ``cosim``.

Exit status: 0 success, 1 the simulation failed or its output could not be written, 2 bad input, 130
interrupted. The summary goes to stdout; progress and errors go to stderr, each error as one
sentence.
"""

from __future__ import annotations

import gc
import sys
import warnings
from functools import partial
from importlib import import_module
from typing import Any, TextIO

import click

from bridge.cli.status import BAD_INPUT, FAILED, INTERRUPTED, NOT_BEGUN
from bridge.errors import InputError, SaveError
from bridge.files import DISK_ERRORS, PLACE_ERRORS
from bridge.results.errors import SimulationError
from frontend.errors import ScenarioError, ScenarioWarning, one_line
from topology_gen.errors import RegistrationWarning, TopologyError

COMMANDS = {
    "compare": ("compare_command", "Show how result B differs from result A."),
    "compile": (
        "compile_command",
        "Compile the scenario FILE to a stream, or write its workload for other tools.",
    ),
    "convert": (
        "convert_command",
        "Rewrite scenario files whose keys have moved since the version before.",
    ),
    "cost": ("cost_command", "Compute what a network costs in dollars, part by part."),
    "examples": ("examples_command", "Copy the scenarios that come with cosim to the folder DIR."),
    "fidelity": ("fidelity_command", "Compare the fabrics on a fixed set of scenarios."),
    "import": ("import_group", "Make a scenario from the files of another simulator."),
    "init": ("init_command", "Write a commented scenario to the file NAME."),
    "list": ("list_command", "List what a scenario can use."),
    "plot": ("plot_command", "Draw one or several results."),
    "replay": ("replay_command", "Simulate a STREAM that `cosim compile` wrote."),
    "report": (
        "report_command",
        "Write a page about RESULT, or compare several of them side by side.",
    ),
    "run": ("run_command", "Simulate the scenario FILE and print a summary."),
    "schedule": ("schedule_group", "Make, check and convert schedules of collectives."),
    "schema": ("schema_command", "Print the JSON Schema of a scenario file or of result.json."),
    "search": ("search_command", "Search for a faster strategy for a training job."),
    "study": ("study_group", "Repeat published experiments and check the claims."),
    "sweep": ("sweep_command", "Simulate a scenario with many combinations of values."),
    "topo": ("topo_group", "List, show, draw, find and export topologies."),
    "validate": (
        "validate_command",
        "Check the scenario FILE without simulating it; this needs no ns-3.",
    ),
}
"""For each command, its function in the module of its name, and its line in the list of commands.

A module is imported only when its command is called, so the list needs these lines.
"""


class _Group(click.Group):
    """Imports commands when they are called, and prints their exceptions as a sentence."""

    def main(self, *arguments: Any, **settings: Any) -> Any:
        try:
            status = super().main(*arguments, **{**settings, "standalone_mode": False})
            sys.exit(status if isinstance(status, int) else 0)
        except click.exceptions.NoArgsIsHelpError as error:
            error.show()
            sys.exit(BAD_INPUT)
        except click.UsageError as error:
            from bridge.cli.usage import explain  # few command lines are wrong

            _complain(explain(error))
            sys.exit(BAD_INPUT)
        except click.ClickException as error:
            _complain(error.format_message())
            sys.exit(BAD_INPUT)
        except click.Abort:
            _complain(NOT_BEGUN)
            sys.exit(INTERRUPTED)
        except OSError as error:
            if error.errno in PLACE_ERRORS and error.filename is not None:
                _complain(f"{error.filename}: {error.strerror}")
                sys.exit(BAD_INPUT)
            if error.errno not in DISK_ERRORS:
                raise
            # Imported here because few runs need it, and it imports rich.
            from bridge.cli.console import drop_stdout

            drop_stdout()
            _complain(f"{error.filename or 'stdout'}: {error.strerror}")
            sys.exit(FAILED)

    def list_commands(self, context: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        # `import` is a keyword, so it cannot be the name of a module that others import.
        module = "imports" if name == "import" else name
        command = getattr(import_module(f"bridge.cli.{module}"), COMMANDS[name][0])
        if not gc.isenabled():  # `start` has disabled it
            gc.freeze()  # what is imported stays
            gc.enable()
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])

    def invoke(self, context: click.Context) -> object:
        with warnings.catch_warnings():
            for category in _OWN_WARNINGS:
                warnings.simplefilter("always", category)
            warnings.showwarning = partial(_show_warning, set())
            return self._invoke(context)

    def _invoke(self, context: click.Context) -> object:
        try:
            return super().invoke(context)
        except SaveError as error:
            _complain(str(error))
            context.exit(FAILED)
        except ScenarioError as error:
            for problem in error.problems:
                _complain(problem)
            context.exit(BAD_INPUT)
        except (InputError, TopologyError, ImportError) as error:
            _complain(str(error))
            context.exit(BAD_INPUT)
        except SimulationError as error:
            _complain(str(error))
            context.exit(FAILED)
        except MemoryError:
            _complain("out of memory: expected a smaller scenario, or a machine with more memory")
            context.exit(FAILED)
        except KeyboardInterrupt as error:
            _complain(str(error) or NOT_BEGUN)
            context.exit(INTERRUPTED)


_OWN_WARNINGS = (ScenarioWarning, RegistrationWarning)

_show_by_default = warnings.showwarning


def _show_warning(
    shown: set[str],
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    if issubclass(category, _OWN_WARNINGS):
        if str(message) not in shown:  # a command may load a scenario several times
            shown.add(str(message))
            _complain(f"warning: {message}")
    else:
        _show_by_default(message, category, filename, lineno, file, line)


def _complain(sentence: str) -> None:
    click.echo(f"cosim: {one_line(sentence)}", err=True)


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="cosim", prog_name="cosim")
def main() -> None:
    """Simulate distributed training over ns-3's TCP, from one YAML file.

    A scenario file describes the network, the transport and the training job. Start with
    `cosim init` and `cosim run first.yaml`; `cosim list` shows what a scenario can use."""
