"""Groups of commands that are imported when they are called, so that a command starts quickly."""

from __future__ import annotations

import ast
import gc
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import click


class LazyGroup(click.Group):
    """A group that imports the module of a command when the command is called.

    The list of commands shows the first line of each command's docstring. It is read from the
    source, because importing all commands takes half a second.

    Parameters
    ----------
    homes : mapping of str to str
        For each command, its module in `bridge.cli` and its function: ``"runs.run:run_command"``.
    """

    def __init__(self, *arguments: Any, homes: Mapping[str, str], **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self._homes = homes

    def list_commands(self, context: click.Context) -> list[str]:
        return list(self._homes)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in self._homes:
            return None
        module, function = self._homes[name].split(":")
        command = getattr(import_module(f"bridge.cli.{module}"), function)
        assert isinstance(command, click.Command)
        if not isinstance(command, LazyGroup) and not gc.isenabled():  # `start` has disabled it
            gc.freeze()  # what is imported stays
            gc.enable()
        return command

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, _summary(home)) for name, home in self._homes.items()])


def _summary(home: str) -> str:
    """Return the first line of the docstring of a command."""
    module, function = home.split(":")
    path = Path(__file__).parent.joinpath(*module.split(".")).with_suffix(".py")
    source = path.read_text(encoding="utf-8")
    found = [
        node
        for node in ast.parse(source).body
        if isinstance(node, ast.FunctionDef) and node.name == function
    ]
    return (ast.get_docstring(found[0]) or "").partition("\n")[0]
