"""The command line ``cosim``.

Exit status: 0 success, 1 the simulation failed or its output could not be written, 2 bad input, 130
interrupted. The summary goes to stdout; progress and errors go to stderr, each error as one
sentence.
"""

from __future__ import annotations

import re
import sys
import warnings
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Any, TextIO, cast

import click

from bridge.cli.groups import LazyGroup
from bridge.cli.status import BAD_INPUT, FAILED, INTERRUPTED, NOT_BEGUN
from bridge.errors import InputError, SaveError
from bridge.files import DISK_ERRORS, PLACE_ERRORS
from bridge.results.errors import SimulationError
from frontend.errors import ScenarioError, ScenarioWarning, one_line, one_of
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
            from bridge.cli.main import explain  # few command lines are wrong

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


_REWORDED = (
    (r"'(.*)' is not a valid integer(?: range)?", r"value \1: expected a whole number"),
    (r"'(.*)' is not a valid float(?: range)?", r"value \1: expected a number"),
    (r"(\S+) is not in the range x>=(\S+)", r"value \1: expected at least \2"),
    (r"(\S+) is not in the range x<=(\S+)", r"value \1: expected at most \2"),
    (r"(\S+) is not in the range (\S+)<=x<=(\S+)", r"value \1: expected \2 to \3"),
    (r"(?:File|Directory|Path) '(.*)' does not exist", r"value \1: no such file or folder"),
    (r"\w+ '(.*)' is a directory", r"value \1: a folder, expected a file"),
    (r"\w+ '(.*)' is a file", r"value \1: a file, expected a folder"),
    (r"\w+ '(.*)' is not (readable|writable)", r"value \1: not \2"),
)
"""What click says of a value, and what we say. Other sentences stay as they are."""


def explain(error: click.UsageError) -> str:
    """Return one sentence: the option or argument, its value, what is accepted, and where to look.

    >>> explain(click.NoSuchOption("--sed", possibilities=["--seed"]))
    '--sed: unknown option: did you mean --seed? See cosim --help'
    """
    path = error.ctx.command_path.split()[1:] if error.ctx is not None else []
    sentence = _sentence(error)
    end = " See" if sentence.endswith("?") else "; see"
    return f"{sentence}{end} {' '.join(['cosim', *path])} --help"


def _sentence(error: click.UsageError) -> str:
    if isinstance(error, click.NoSuchOption):
        if _is_key_to_set(error):
            key = error.option_name.removeprefix("--")
            return f"{error.option_name}: unknown option: did you mean --set {key}=VALUE?"
        if owner := _command_with(error):
            return (
                f"{error.option_name}: an option of commands: expected it after the command, as "
                f"in cosim {owner} FILE {error.option_name}"
            )
        return f"{error.option_name}: unknown option{_did_you_mean(error.possibilities or [])}"
    message = " ".join(error.format_message().split()).rstrip(".")
    if unknown := re.match(r"No such command '(.*?)'", message):
        return f"{unknown[1]}: unknown command{_commands_instead(unknown[1], error.ctx)}"
    if option := re.fullmatch(r"Option '(.*)' requires an argument", message):
        return f"{option[1]}: expected a value"
    if extra := re.fullmatch(r"Got unexpected extra arguments? \((.*)\)", message):
        if _sets_keys(error.ctx) and re.match(r"[\w.]+=", extra[1]):
            return f"{extra[1]}: unknown argument: did you mean --set {extra[1].split()[0]}?"
        return f"{extra[1]}: expected no more arguments"
    if isinstance(error, click.MissingParameter):
        return message[0].lower() + message[1:].replace("'", "")
    if isinstance(error, click.BadParameter):
        name = f"{_name(error.param)}: " if error.param is not None else ""
        return f"{name}{_reworded(error.message)}{_other_file(error.message)}"
    return message


def _sets_keys(context: click.Context | None) -> bool:
    """Return whether a command has the option `--set`."""
    return context is not None and any(one.name == "overrides" for one in context.command.params)


def _command_with(error: click.NoSuchOption) -> str | None:
    """Return a command that has an option which was given before the command, if there is one."""
    context = error.ctx
    if context is None or not isinstance(context.command, click.Group):
        return None
    names = sorted(context.command.list_commands(context), key=lambda name: name != "run")
    for name in names:
        command = context.command.get_command(context, name)
        if command is not None and any(error.option_name in one.opts for one in command.params):
            return name
    return None


def _other_file(message: str) -> str:
    """Return the file that may be meant by one that click refuses; nothing if there is none."""
    found = re.fullmatch(r"\w+ '(.*)' (does not exist|is a directory)\.?", message)
    if found is None:
        return ""
    path = Path(found[1])
    if found[2] == "is a directory":
        inside = path / "result.json"
        return f": did you mean {inside}?" if inside.is_file() else ""
    try:
        beside = sorted(one.name for one in path.parent.iterdir() if one.is_file())
    except OSError:
        return ""
    same = [one for one in beside if Path(one).stem == path.stem]
    near = sorted(same, key=lambda one: not one.endswith(".yaml"))
    near = near or get_close_matches(path.name, beside, n=1, cutoff=0.8)
    return f": did you mean {path.with_name(near[0])}?" if near else ""


def _is_key_to_set(error: click.NoSuchOption) -> bool:
    """Return whether an unknown option is a key of the scenario, of a command that sets keys."""
    if not _sets_keys(error.ctx):
        return False
    from frontend.loading.problems import key_paths

    return tuple(error.option_name.removeprefix("--").split(".")) in key_paths({})


def _commands_instead(name: str, context: click.Context | None) -> str:
    """Return the commands of a group that are near a name, or all if they are few."""
    if context is None or not isinstance(context.command, click.Group):
        return ""
    options = {opt for one in context.command.get_params(context) for opt in one.opts}
    if f"--{name}" in options:
        return f": did you mean --{name}?"
    if isinstance(context.command, _Main) and Path(name).is_file():
        return f": did you mean cosim run {name}?"
    known = context.command.list_commands(context)
    near = get_close_matches(name, known)
    few = len(known) <= 10  # a line of them
    return f": expected one of {', '.join(known)}" if few and not near else _did_you_mean(near)


def _name(parameter: click.Parameter) -> str:
    if isinstance(parameter, click.Option):
        return max(parameter.opts, key=len)
    return parameter.human_readable_name.strip("[].")


def _did_you_mean(names: list[str]) -> str:
    return f": did you mean {' or '.join(sorted(names))}?" if names else ""


def _reworded(message: str) -> str:
    text = " ".join(message.split()).rstrip(".")
    if choice := re.fullmatch(r"'(.*?)' is not one of (.*)", text):
        accepted = re.findall(r"'(.*?)'", choice[2])
        return f"value {choice[1]}: {one_of(choice[1], accepted)}"
    for pattern, replacement in _REWORDED:
        if match := re.fullmatch(pattern, text):
            return match.expand(replacement).replace("'", "")
    return text
