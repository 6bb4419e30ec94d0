"""The cases: a command, and the files that it reads, one of them altered or drawn anew."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from tests.fuzz.mutators import Mutator

_COMMAND = "command.txt"
_REFERENCE = "reference.txt"


@dataclass(frozen=True)
class Case:
    """A command line of `cosim`, and the files in its folder.

    Attributes
    ----------
    arguments : tuple of str
        The command line.
    files : mapping
        The bytes of each file, by its path.
    reference : tuple of str
        Another command line, which must give the same result; empty: there is none.
    """

    arguments: tuple[str, ...]
    files: Mapping[str, bytes]
    reference: tuple[str, ...] = ()

    @property
    def simulates(self) -> bool:
        """Whether the command simulates, which can take any time, but must be interruptible."""
        return self.arguments[0] in ("run", "replay")

    def write(self, folder: Path) -> None:
        """Write the files into a folder."""
        for name, content in self.files.items():
            file = folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)

    def store(self, folder: Path) -> None:
        """Write the files and the command into a folder, for `stored`."""
        self.write(folder)
        for name, arguments in ((_COMMAND, self.arguments), (_REFERENCE, self.reference)):
            if arguments:
                (folder / name).write_text("\n".join(arguments) + "\n", encoding="utf-8")


def stored(folder: Path) -> Case:
    """Return the case that a folder holds."""
    files = {
        str(file.relative_to(folder)): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }
    arguments, reference = (
        tuple(files.pop(name, b"").decode().splitlines()) for name in (_COMMAND, _REFERENCE)
    )
    return Case(arguments, files, reference)


@dataclass(frozen=True)
class Seed:
    """A case that works, of which one file is to be altered.

    Attributes
    ----------
    case : Case
        The case.
    file : str
        The file to alter.
    mutators : tuple of callable
        What can alter it.
    """

    case: Case
    file: str
    mutators: tuple[Mutator, ...]

    def altered(self, chance: random.Random) -> Case:
        """Return a case with the altered file."""
        data = chance.choice(self.mutators)(chance, self.case.files[self.file])
        return replace(self.case, files={**self.case.files, self.file: data})


Corpus = Mapping[str, tuple[Seed, ...]]
"""The seeds of each kind of file."""


def number(corpus: Corpus, kind: str, seed: int, index: int) -> Case:
    """Return a case of a kind; the same arguments always give the same case."""
    chance = random.Random(f"{seed}/{kind}/{index}")
    return chance.choice(corpus[kind]).altered(chance)


def names(corpus: Corpus, seed: int) -> Iterator[tuple[str, int, int]]:
    """Return kind, seed and index of case after case, of every kind in turn, without end."""
    index = 0
    while True:
        for kind in corpus:
            yield kind, seed, index
        index += 1
