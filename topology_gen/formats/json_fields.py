"""Reads fields of a JSON object; an error says where the field is and what is expected."""

from __future__ import annotations

import json
from typing import Any

from topology_gen.errors import FileFormatError


def parse(content: bytes) -> Fields:
    """Return the object that a JSON file holds.

    Raises
    ------
    FileFormatError
        The content is not JSON, or not an object.
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
        A value that the JSON parser returned.
    path : str
        Its place in the file, for messages.

    Raises
    ------
    FileFormatError
        The value is not an object.
    """

    def __init__(self, value: Any, path: str = "") -> None:
        if not isinstance(value, dict):
            raise FileFormatError(f"{path or 'the file'}: expected a JSON object")
        self._value = value
        self._path = path

    def error(self, name: str, expected: str) -> FileFormatError:
        """Return an error that says what is expected of a field."""
        return FileFormatError(f"{self._at(name)}: {expected}")

    def has(self, name: str) -> bool:
        """Return whether there is such a field."""
        return name in self._value

    def number(self, name: str, least: int = 0, most: int = 2**31 - 1) -> int:
        """Return a field that holds a whole number from `least` to `most`."""
        value = self._get(name)
        if type(value) is not int or not least <= value <= most:
            raise self.error(name, f"{value!r:.60}: expected a whole number from {least} to {most}")
        return value

    def number_or_none(self, name: str) -> int | None:
        """Return a field that holds a whole number or null."""
        return None if self._get(name) is None else self.number(name)

    def flag(self, name: str) -> bool:
        """Return a field that holds true or false."""
        value = self._get(name)
        if type(value) is not bool:
            raise self.error(name, f"{value!r:.60}: expected true or false")
        return value

    def text(self, name: str) -> str:
        """Return a field that holds a text."""
        value = self._get(name)
        if not isinstance(value, str):
            raise self.error(name, f"{value!r:.60}: expected a text")
        return value

    def word(self, name: str, accepted: tuple[str, ...]) -> str:
        """Return a field that holds one of the accepted words."""
        value = self._get(name)
        if value not in accepted:
            raise self.error(name, f"{value!r:.60}: expected one of {', '.join(accepted)}")
        return str(value)

    def array(self, name: str) -> list[Any]:
        """Return a field that holds a list."""
        value = self._get(name)
        if not isinstance(value, list):
            raise self.error(name, "expected a list")
        return value

    def part(self, name: str) -> Fields:
        """Return a field that holds an object."""
        return Fields(self._get(name), self._at(name))

    def parts(self, name: str, count: int | None = None) -> list[Fields]:
        """Return a field that holds a list of objects, of a given length if `count` is given."""
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
