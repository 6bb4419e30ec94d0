"""The keys of a file of a training program: each is read, known to have no effect, or named."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NoReturn

from frontend.errors import ScenarioError


class Keys:
    """Keys and values, of which the reader takes those that it knows.

    Parameters
    ----------
    path : Path
        The file, for messages.
    content : mapping
        The keys and values.
    """

    def __init__(self, path: Path, content: Mapping[str, Any]) -> None:
        self.path = path
        self._content = dict(content)
        self.notes: list[str] = []
        """What the scenario does not have as it is, one sentence each."""

    def __contains__(self, key: str) -> bool:
        return key in self._content

    def peek(self, key: str, default: Any = None) -> Any:
        """Return the value of a key, and leave it to others."""
        return self._content.get(key, default)

    def take(self, key: str, default: Any = None) -> Any:
        """Return the value of a key; the default if there is none, or if it is null."""
        value = self._content.pop(key, None)
        return default if value is None else value

    def count(self, key: str, default: int | None = None, least: int = 1) -> int | None:
        """Return a whole number of at least `least`; the default if the key is missing or null."""
        value = self.take(key)
        if value is None:
            return default
        text = str(value)
        digits = text.removeprefix("-") if least < 0 else text
        if isinstance(value, bool) or not digits.isdecimal() or int(text) < least:
            self.refuse(key, value, f"expected a whole number of at least {least}")
        return int(text)

    def required(self, key: str, why: str = "expected a whole number of at least 1") -> int:
        """Return a whole number of at least 1; refuse the file without it."""
        value = self.count(key)
        if value is None:
            raise ScenarioError(f"{self.path}: {key}: missing: {why}")
        return value

    def flag(self, key: str, default: bool = False) -> bool:
        """Return whether a switch is on."""
        value = self.take(key, default)
        if isinstance(value, str) and value.lower() in ("true", "false"):
            return value.lower() == "true"
        if not isinstance(value, bool):
            self.refuse(key, value, "expected true or false")
        return value

    def refuse(self, key: str, value: Any, expected: str) -> NoReturn:
        """Raise ScenarioError for a value that no scenario can have."""
        raise ScenarioError(f"{self.path}: {key}: value {value}: {expected}")

    def note(self, key: str, value: Any, what: str) -> None:
        """Name a value that the scenario does not have as it is."""
        self.notes.append(f"{self.path}: {key}: value {value}: {what}")

    def drop(self, names: Iterable[str] = (), beginnings: tuple[str, ...] = ()) -> None:
        """Leave out keys that do not change the time of a step."""
        known = set(names)
        for key in list(self._content):
            if key in known or key.startswith(beginnings):
                del self._content[key]

    def rest(self) -> None:
        """Name the keys that are left."""
        if self._content:
            names = ", ".join(self._content)
            self.notes.append(f"{self.path}: not known here, and left out: {names}")
