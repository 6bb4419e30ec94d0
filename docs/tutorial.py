"""Run the tutorial: `python docs/tutorial.py` runs its commands and rewrites their outputs.

A block of commands (sh) can be followed by a block of its output (text). The summary of a run is
shown without the table `simulator`, whose numbers differ from run to run. A test compares.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

PAGE = Path(__file__).resolve().parent / "tutorial.md"

_BLOCK = re.compile(r"```(sh|python)\n(.*?)```(?:\n\n```text\n(.*?)```)?", re.DOTALL)


class Block(NamedTuple):
    """A block of the page that can be run."""

    language: str
    text: str
    stored: str | None
    """The output on the page, if it is there."""
    span: tuple[int, int]
    """Where the output is on the page."""


def blocks(page: str) -> Iterator[Block]:
    """Yield the blocks of commands and of Python in their order."""
    for found in _BLOCK.finditer(page):
        yield Block(found[1], found[2], found[3], found.span(3))


def run(block: Block, folder: Path) -> str:
    """Run a block in a folder, and return what it prints on standard output.

    Raises
    ------
    subprocess.CalledProcessError
        A command failed.
    """
    beside = Path(sys.executable).parent
    shell = ["bash", "-euc", block.text]
    environment = {name: text for name, text in os.environ.items() if name != "COLUMNS"}
    done = subprocess.run(
        shell if block.language == "sh" else [sys.executable, "-c", block.text],
        cwd=folder,
        env={**environment, "PATH": f"{beside}:{os.environ['PATH']}"},
        check=True,
        capture_output=True,
        text=True,
    )
    lines = done.stdout.partition("\nsimulator ")[0].splitlines()
    return "\n".join(line.rstrip() for line in lines).strip("\n") + "\n"


def main() -> None:
    """Run the page in an empty folder and write its outputs."""
    page = PAGE.read_text(encoding="utf-8")
    shift = 0
    with tempfile.TemporaryDirectory() as folder:
        for block in list(blocks(page)):
            output = run(block, Path(folder))
            print(f"{block.text}\n{output}")
            if block.stored is not None:
                start, end = (place + shift for place in block.span)
                page = page[:start] + output + page[end:]
                shift += len(output) - len(block.stored)
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
