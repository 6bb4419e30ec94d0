"""Tell what is wrong with a command line in the style of all other errors."""

from __future__ import annotations

import re
from difflib import get_close_matches

import click

_REWORDED = (
    (r"'(.*)' is not a valid integer(?: range)?", r"value \1: expected a whole number"),
    (r"'(.*)' is not a valid float(?: range)?", r"value \1: expected a number"),
    (r"(\S+) is not in the range (\S+)", r"value \1: expected a number with \2"),
    (r"'(.*)' is not one of (.*)", r"value \1: expected one of \2"),
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
        return f"{error.option_name}: unknown option{_did_you_mean(error.possibilities or [])}"
    message = " ".join(error.format_message().split()).rstrip(".")
    if unknown := re.match(r"No such command '(.*?)'", message):
        return (
            f"{unknown[1]}: unknown command{_did_you_mean(_commands_like(unknown[1], error.ctx))}"
        )
    if isinstance(error, click.MissingParameter):
        return message[0].lower() + message[1:].replace("'", "")
    if isinstance(error, click.BadParameter) and error.param is not None:
        return f"{_name(error.param)}: {_reworded(error.message)}"
    return message


def _commands_like(name: str, context: click.Context | None) -> list[str]:
    if context is None or not isinstance(context.command, click.Group):
        return []
    return get_close_matches(name, context.command.list_commands(context))


def _name(parameter: click.Parameter) -> str:
    if isinstance(parameter, click.Option):
        return max(parameter.opts, key=len)
    return parameter.human_readable_name


def _did_you_mean(names: list[str]) -> str:
    return f": did you mean {' or '.join(sorted(names))}?" if names else ""


def _reworded(message: str) -> str:
    text = " ".join(message.split()).rstrip(".")
    for pattern, replacement in _REWORDED:
        if match := re.fullmatch(pattern, text):
            return match.expand(replacement).replace("'", "")
    return text
