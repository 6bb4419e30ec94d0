"""The command line ``cosim``.

Exit status: 0 success, 1 the simulation failed or its output could not be written, 2 bad input, 130
interrupted. The summary goes to stdout; progress and errors go to stderr, each error as one
sentence.
"""

from __future__ import annotations

import sys
import warnings
from functools import partial
from typing import Any, TextIO, cast

import click

from bridge.cli.groups import LazyGroup
from bridge.cli.status import BAD_INPUT, FAILED, INTERRUPTED, NOT_BEGUN
from bridge.errors import InputError, SaveError
from bridge.files import DISK_ERRORS, PLACE_ERRORS
from bridge.results.errors import SimulationError
from frontend.errors import ScenarioError, ScenarioWarning, one_line
from topology_gen.errors import RegistrationWarning, TopologyError

_HOMES = {
    "calibrate": "runs.calibrate:calibrate_command",
    "cluster": "runs.cluster:cluster_command",
    "compare": "results.compare:compare_command",
    "compile": "scenarios.compile:compile_command",
    "convert": "scenarios.convert:convert_command",
    "examples": "scenarios.examples:examples_command",
    "explain": "scenarios.explain:explain_command",
    "import": "scenarios.imports:import_group",  # `import` cannot be the name of a module
    "init": "scenarios.examples:init_command",
    "interference": "runs.interference:interference_command",
    "list": "scenarios.list:list_command",
    "nccl-tests": "runs.nccl_tests:nccl_tests_command",
    "plot": "results.plot:plot_command",
    "replay": "runs.replay:replay_command",
    "results": "results.results:results_group",
    "run": "runs.run:run_command",
    "schedule": "networks.schedule:schedule_group",
    "schema": "scenarios.schema:schema_command",
    "search": "runs.search:search_command",
    "sensitivities": "runs.sensitivities:sensitivities_command",
    "study": "runs.study:study_group",
    "sweep": "runs.sweep:sweep_command",
    "topo": "networks.topo:topo_group",
    "validate": "scenarios.validate:validate_command",
    "view": "results.view:view_command",
}


_FORMER = {"report": "plot", "cost": "topo cost"}
"""Former names of commands, which this version still accepts, and what they are called now."""


class _Main(LazyGroup):
    """Prints the exceptions of all commands as a sentence, and knows former names of commands."""

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name in _FORMER:
            _complain(f"warning: `cosim {name}` is now `cosim {_FORMER[name]}`; use the new name")
        command: Any = super()
        for part in _FORMER.get(name, name).split():
            command = command.get_command(context, part)
        return cast("click.Command | None", command)

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
        except Exception as error:
            from topology_gen.registry import failure_of_package

            sentence = failure_of_package(error)
            if sentence is None:
                raise
            _complain(sentence)
            context.exit(FAILED)


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


_SETTINGS = {"help_option_names": ["-h", "--help"], "show_default": True}


@click.group(cls=_Main, homes=_HOMES, context_settings=_SETTINGS)
@click.version_option(package_name="cosim", prog_name="cosim")
def main() -> None:
    """Simulate distributed training over ns-3's TCP, from one YAML file.

    A scenario file describes the network, the transport and the training job. Start with
    `cosim init` and `cosim run first.yaml`; `cosim list` shows what a scenario can use."""
