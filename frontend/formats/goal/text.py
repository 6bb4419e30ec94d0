"""Read the text form of GOAL."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from frontend.errors import ScenarioError
from frontend.formats.goal.operations import KINDS, Operations
from frontend.nodes import NodeColumns

_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_RANKS = re.compile(r"num_ranks\s+(\d+)")
_RANK = re.compile(r"rank\s+(\d+)")
_OPERATION = re.compile(
    r"(?:([A-Za-z]\w*)\s*:\s*)?(send|recv|calc)\s+(\d+)(b?)(?:\s+(to|from)\s+(-?\d+))?"
    r"((?:\s+(?:tag|cpu|nic)\s+-?\d+)*)"
)
_OPTION = re.compile(r"(tag|cpu|nic)\s+(-?\d+)")
_REQUIRES = re.compile(r"([A-Za-z]\w*)\s+(i?requires)\s+([A-Za-z]\w*)")
_WORD = {"send": "to", "recv": "from", "calc": None}
_MOST_RANKS = 65536
_LIMITS = {"tag": 2**32, "cpu": 256, "nic": 256}
_LARGEST = 2**62
_LONG_NUMBER = re.compile(r"\d{21}")  # longer than any that is accepted


def read_text(path: Path, data: bytes) -> list[NodeColumns]:
    """Return the trace of each rank of a GOAL text.

    Raises
    ------
    ScenarioError
        If the text is not GOAL. The sentence has the line.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise ScenarioError(f"{path}: neither text nor binary GOAL") from None
    return _Reader(path).read(_COMMENT.sub(_blank, text))


def _blank(comment: re.Match[str]) -> str:
    """Return a blank in place of a comment, with its line breaks."""
    return "\n" * comment[0].count("\n") or " "


class _Reader:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.ranks: list[Operations | None] = []
        self.current: Operations | None = None
        self.labels: dict[str, int] = {}
        self.waiting: list[tuple[int, str, str, str]] = []

    def read(self, text: str) -> list[NodeColumns]:
        line = 0
        for line, part in _parts(text):
            if _LONG_NUMBER.search(part):
                self.fail(line, f"{part!r:.60}: a number is too large")
            if self.current is None:
                self.outside(line, part)
            elif part == "}":
                self.close()
            elif not self.operation(line, part) and not self.dependency(line, part):
                self.fail(line, f"{part!r}: expected send, recv, calc, requires or irequires")
        if self.current is not None:
            self.fail(line, "the file ends inside a rank: expected }")
        if not self.ranks:
            self.fail(1, "expected num_ranks N")
        return [(rank or Operations()).columns() for rank in self.ranks]

    def outside(self, line: int, part: str) -> None:
        """Read what stands between the ranks."""
        if ranks := _RANKS.fullmatch(part):
            if self.ranks or not 1 <= int(ranks[1]) <= _MOST_RANKS:
                self.fail(line, f"{part!r}: expected it once, with 1 to {_MOST_RANKS} ranks")
            self.ranks = [None] * int(ranks[1])
        elif rank := _RANK.fullmatch(part.removesuffix("{").rstrip()):
            number = int(rank[1])
            if not part.endswith("{"):
                self.fail(line, f"{part!r}: expected {{ on the same line")
            if number >= len(self.ranks):
                self.fail(line, f"rank {number}: expected less than num_ranks, {len(self.ranks)}")
            if self.ranks[number] is not None:
                self.fail(line, f"rank {number} a second time: expected every rank once")
            self.ranks[number] = self.current = Operations()
        else:
            self.fail(line, f"{part!r}: expected num_ranks N or rank N {{")

    def operation(self, line: int, part: str) -> bool:
        """Read an operation, if the line is one."""
        found = _OPERATION.fullmatch(part)
        if found is None:
            return False
        label, kind, size, unit, word, peer, options = found.groups()
        if word != _WORD[kind] or (unit == "b") != (kind != "calc"):
            forms = "send Nb to R, recv Nb from R or calc N"
            self.fail(line, f"{part!r}: expected {forms}")
        values = {"tag": 0, "cpu": 0, "nic": 0}
        for name, value in _OPTION.findall(options):
            values[name] = int(value)
        if (peer is not None and int(peer) < 0) or values["tag"] < 0:
            self.fail(line, f"{part!r}: a receive of any source or tag: expected a rank and a tag")
        for name, value in values.items():
            if not 0 <= value < _LIMITS[name]:
                self.fail(line, f"{part!r}: expected {name} from 0 to {_LIMITS[name] - 1}")
        if int(size) >= _LARGEST or int(peer or 0) >= 2**32:
            self.fail(line, f"{part!r}: a number is too large")
        operations = self.current
        assert operations is not None
        number = len(operations.kind)
        if label is not None:
            if label in self.labels:
                self.fail(line, f"label {label} a second time: expected every label of a rank once")
            self.labels[label] = number
        operations.names.append(label or f"{kind} of line {line}")
        operations.kind.append(KINDS[kind])
        operations.size.append(int(size))
        operations.peer.append(int(peer or 0))
        operations.tag.append(values["tag"])
        operations.cpu.append(values["cpu"])
        operations.nic.append(values["nic"])
        return True

    def dependency(self, line: int, part: str) -> bool:
        """Read a dependency, if the line is one. Its labels may follow later."""
        found = _REQUIRES.fullmatch(part)
        if found is not None:
            self.waiting.append((line, found[1], found[2], found[3]))
        return found is not None

    def close(self) -> None:
        """Resolve the labels of the rank's dependencies."""
        assert self.current is not None
        for line, later, word, earlier in self.waiting:
            for label in (later, earlier):
                if label not in self.labels:
                    self.fail(line, f"label {label} is not in this rank")
            pair = self.labels[later], self.labels[earlier]
            (self.current.requires if word == "requires" else self.current.irequires).append(pair)
        self.current = None
        self.labels, self.waiting = {}, []

    def fail(self, line: int, what: str) -> None:
        raise ScenarioError(f"{self.path}:{line}: {what}")


def _parts(text: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of what stands on lines of its own, and of closing braces."""
    for number, line in enumerate(text.splitlines(), 1):
        for part in line.replace("{", "{\n").replace("}", "\n}\n").splitlines():
            if part := part.strip():
                yield number, part
