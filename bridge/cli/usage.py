"""What is wrong with a command line, in one sentence."""

from __future__ import annotations

import re
from difflib import get_close_matches
from pathlib import Path

import click

from frontend.errors import one_of

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
    if context.parent is None and Path(name).is_file():
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
