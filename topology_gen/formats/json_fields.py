"""Fields of a JSON object, each with an error that says where it is and what it should be."""

from __future__ import annotations

import json
from typing import Any

from topology_gen.errors import FileFormatError


def parse(content: bytes) -> Fields:
    """Return the object that a JSON file holds.

    Raises
    ------
    FileFormatError
        Not JSON, or not an object.
    """
    try:
        value = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise FileFormatError(f"expected JSON, but {error}") from None
    return Fields(value)


class Fields:
    """A JSON object at a path.

    Parameters
    ----------
    value : object
        What JSON gave.
    path : str
        Where in the file it stands.

    Raises
    ------
    FileFormatError
        Not an object.
    """

    def __init__(self, value: Any, path: str = "") -> None:
        if not isinstance(value, dict):
            raise FileFormatError(f"{path or 'the file'}: expected a JSON object")
        self._value = value
        self._path = path

    def error(self, name: str, expected: str) -> FileFormatError:
        """Return the error that a field is not what is expected."""
        return FileFormatError(f"{self._at(name)}: {expected}")

    def number(self, name: str, least: int = 0) -> int:
        """Return a whole number."""
        value = self._get(name)
        if type(value) is not int or value < least:
            raise self.error(name, f"{value!r:.60}: expected a whole number from {least}")
        return value

    def number_or_none(self, name: str) -> int | None:
        """Return a whole number, or None for null."""
        return None if self._get(name) is None else self.number(name)

    def flag(self, name: str) -> bool:
        """Return true or false."""
        value = self._get(name)
        if type(value) is not bool:
            raise self.error(name, f"{value!r:.60}: expected true or false")
        return value

    def text(self, name: str) -> str:
        """Return a text."""
        value = self._get(name)
        if not isinstance(value, str):
            raise self.error(name, f"{value!r:.60}: expected a text")
        return value

    def word(self, name: str, accepted: tuple[str, ...]) -> str:
        """Return one of some words."""
        value = self._get(name)
        if value not in accepted:
            raise self.error(name, f"{value!r:.60}: expected one of {', '.join(accepted)}")
        return str(value)

    def array(self, name: str) -> list[Any]:
        """Return a list."""
        value = self._get(name)
        if not isinstance(value, list):
            raise self.error(name, "expected a list")
        return value

    def part(self, name: str) -> Fields:
        """Return an object inside."""
        return Fields(self._get(name), self._at(name))

    def parts(self, name: str, count: int | None = None) -> list[Fields]:
        """Return a list of objects inside."""
        values = self.array(name)
        if count is not None and len(values) != count:
            raise self.error(name, f"expected {count} of them, not {len(values)}")
        return [Fields(value, f"{self._at(name)}[{i}]") for i, value in enumerate(values)]

    def _get(self, name: str) -> Any:
        if name not in self._value:
            raise self.error(name, "is missing")
        return self._value[name]

    def _at(self, name: str) -> str:
        return f"{self._path}.{name}" if self._path else name
