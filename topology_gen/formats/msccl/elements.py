"""Reads the elements of an MSCCL XML file, and checks them against MSCCL's schema."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from xml.parsers import expat

from topology_gen.errors import FileFormatError
from topology_gen.formats.msccl.names import OPTIONAL, PARENT, REQUIRED

MOST_BYTES = 2**28
"""Greatest size of a file in bytes."""

_NUMBER = re.compile("-?[0-9]{1,19}")


@dataclass(slots=True)
class Element:
    """An element of the file: its name, line number, attributes and children."""

    name: str
    line: int
    attributes: Mapping[str, str]
    children: list[Element] = field(default_factory=list)

    def error(self, text: str) -> FileFormatError:
        """Return an error about this element, with its line number."""
        return FileFormatError(f"line {self.line}: <{self.name}>: {text}")

    def text(self, key: str, accepted: Mapping[str, object] | tuple[str, ...]) -> str:
        """Return an attribute that holds one of the accepted words."""
        value = self.attributes[key]
        if value not in accepted:
            raise self.error(f"{key} is {value!r}: expected one of {', '.join(accepted)}")
        return value

    def number(self, key: str, least: int, most: int = 2**31 - 1) -> int:
        """Return an attribute that holds a whole number from `least` to `most`."""
        value = self.attributes[key]
        if not _NUMBER.fullmatch(value) or not least <= int(value) <= most:
            raise self.error(f"{key} is {value!r}: expected a whole number from {least} to {most}")
        return int(value)


def read_elements(content: bytes) -> tuple[Element, tuple[str, ...]]:
    """Return the root element of a file, and what was ignored.

    As in the runtime, elements and attributes that are not in MSCCL's schema are ignored. A
    document type is an error. So there are no entities, which could read other files or expand
    without limit.

    Raises
    ------
    FileFormatError
        The file is too large or not XML, or an element or attribute is missing or in the wrong
        place.
    """
    if len(content) > MOST_BYTES:
        raise FileFormatError(f"{len(content)} bytes: expected at most {MOST_BYTES}")
    reader = _Reader()
    try:
        reader.parser.Parse(content, True)
    except (expat.ExpatError, LookupError, ValueError) as error:
        if isinstance(error, FileFormatError):
            raise
        raise FileFormatError(f"expected MSCCL XML, but it is not XML: {error}") from None
    assert reader.root is not None  # otherwise the parser would have failed
    return reader.root, reader.ignored


class _Reader:
    def __init__(self) -> None:
        self.root: Element | None = None
        self.open: list[Element] = []
        self._unknown = 0  # depth inside an element that is ignored
        self._ignored: dict[str, list[int]] = {}  # what, and the lines
        self.parser = expat.ParserCreate()
        self.parser.StartDoctypeDeclHandler = self._doctype
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text

    def _doctype(self, *_: object) -> None:
        line = self.parser.CurrentLineNumber
        raise FileFormatError(f"line {line}: expected a file without a document type")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        line = self.parser.CurrentLineNumber
        element = Element(name, line, attributes)
        parent = self.open[-1].name if self.open else None
        if self._unknown or (name not in PARENT and parent is not None):
            self._unknown += 1
            if self._unknown == 1:
                self._ignored.setdefault(f"element <{name}>", []).append(line)
            return
        if name not in PARENT:
            raise element.error("unknown element: expected algo")
        if PARENT[name] != parent:
            inside = f"inside <{PARENT[name]}>" if PARENT[name] else "as the outermost element"
            raise element.error(f"expected this element {inside}, not inside <{parent}>")
        for key in REQUIRED[name]:
            if key not in attributes:
                raise element.error(f"missing attribute {key}")
        known = (*REQUIRED[name], *OPTIONAL.get(name, ()))
        for key in attributes:
            if key not in known:
                self._ignored.setdefault(f"attribute {key} of <{name}>", []).append(line)
        if self.open:
            self.open[-1].children.append(element)
        else:
            self.root = element
        self.open.append(element)

    @property
    def ignored(self) -> tuple[str, ...]:
        """A phrase for each unknown element and attribute."""
        return tuple(
            f"line {lines[0]}: {what} is ignored, as the runtime ignores it"
            + (f" (and {len(lines) - 1} more)" if len(lines) > 1 else "")
            for what, lines in self._ignored.items()
        )

    def _end(self, _: str) -> None:
        if self._unknown:
            self._unknown -= 1
        else:
            self.open.pop()

    def _text(self, data: str) -> None:
        if data.strip() and not self._unknown:
            line = self.parser.CurrentLineNumber
            raise FileFormatError(
                f"line {line}: expected elements only, not the text {data.strip()[:20]!r}"
            )
