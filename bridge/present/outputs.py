"""What can be made of a result: a new output is one `Output`, registered here.

An installed package adds its own through the entry points ``cosim.outputs``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from bridge.errors import InputError
from bridge.files import write_whole
from bridge.present.pictures.figure import PICTURES
from bridge.present.pictures.kinds import draw_layers
from bridge.present.report import print_report, write_report
from bridge.results.result import Result
from topology_gen.registry import Registry


@dataclass(frozen=True)
class Output:
    """A kind of file that is made of a result."""

    name: str
    """A short name."""
    description: str
    """A few words."""
    suffixes: tuple[str, ...]
    """Extensions of the files that it writes, such as ``".svg"`` or ``".trace.json"``."""
    write: Callable[[Result, Path], None]
    """Writes the file; raises `InputError` if it cannot."""


@dataclass(frozen=True)
class TextOutput(Output):
    """One that can be printed too."""

    show: Callable[[Result, Console], None]
    """Prints it."""


def output_for(file: Path) -> Output:
    """Return the output that writes files with this file's extension.

    The longest extension counts, so that ``.trace.json`` and ``.json`` can be two outputs. If two
    outputs have the same extension, the first that was registered counts.

    Raises
    ------
    InputError
        No output has this extension.
    """
    known = [(suffix, output) for output in OUTPUTS.values() for suffix in output.suffixes]
    found = [pair for pair in known if file.name.lower().endswith(pair[0])]
    if not found:
        expected = ", ".join([".html", *(suffix for suffix, _ in known)])
        raise InputError(f"{file}: unknown file extension, expected one of {expected}")
    return max(found, key=lambda pair: len(pair[0]))[1]


def _write_json(result: Result, file: Path) -> None:
    write_whole(file, result.to_json().encode())


def _print_json(result: Result, console: Console) -> None:
    # Not console.print, which would break lines.
    console.file.write(result.to_json())
    console.file.flush()


LAYERS = Output("layers", "picture of each layer's times", PICTURES, draw_layers)
JSON = TextOutput("json", "result.json itself", (".json",), _write_json, _print_json)
SUMMARY = TextOutput("summary", "tables for a terminal", (".txt",), write_report, print_report)

OUTPUTS = Registry[Output]("output", "cosim.outputs", Output)
for _output in (LAYERS, JSON, SUMMARY):
    OUTPUTS.register(_output)
