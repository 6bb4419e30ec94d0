"""Apply overrides, such as those of `--set`, to a scenario before it is checked."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
from pydantic.fields import FieldInfo

from frontend.errors import ScenarioError, key_path, name_of, shown, warn
from frontend.loading.moved import moved_overrides
from frontend.loading.moved import sentence as moves
from frontend.loading.problems import KeyPath, Origin, key_paths, models_of, unknown_key
from frontend.schema.base import ShortForm
from frontend.yaml_document import read


def python_values(value: Any) -> Any:
    """Return a value with numpy's numbers and arrays, also nested ones, as Python's.

    Examples
    --------
    >>> python_values({"ranks": np.int64(8), "sizes": [np.float64(0.5)], "dims": np.arange(2)})
    {'ranks': 8, 'sizes': [0.5], 'dims': [0, 1]}
    """
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if isinstance(value, Mapping):
        return {key: python_values(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [python_values(part) for part in value]
    return value


_WITH_KEY = ("override", "--set", "--over", "over")
"""What has a key and a value; other options have the value alone, or make it of what they have."""


@dataclass(frozen=True)
class Override:
    """A value for a key of a scenario."""

    key: str
    """Key path, such as `topology.bandwidth`."""
    value: Any
    """The value. A text is read as a YAML scalar or flow value."""
    option: str = "override"
    """The option of the command line that gave it, for error messages. In Python `override`, or the
    key if it is an argument of its own."""

    def __str__(self) -> str:
        """Return what the user wrote."""
        value = self.value if isinstance(self.value, str) else shown(python_values(self.value), ())
        if self.option == self.key:
            return f"{self.key}={value}"
        if self.option in _WITH_KEY:
            return f"{self.option} {self.key}={value}"
        return f"{self.option} {value}" if isinstance(self.value, str | int) else self.option


Overrides = Mapping[str, Any] | Sequence[str | Override]


def apply(data: Mapping[str, Any], overrides: Overrides, origin: Origin) -> dict[str, Any]:
    """Return a copy of `data` with the overrides applied in order, and record them in `origin`.

    Parameters
    ----------
    overrides : mapping of key path to value, or sequence of "key.path=value" or Override
        A text value is read as a YAML scalar or flow value. A mapping replaces the whole part at
        its path.

    Raises
    ------
    ScenarioError
        If an override has no `=`, its value is not YAML, or the schema does not have its key path.
        For an unknown path the text suggests the nearest one.
    """
    result = deepcopy(dict(data))
    for override in listed(overrides):
        text, path, value = str(override), key_path(override.key.strip()), override.value
        value = python_values(value)
        if isinstance(value, str):
            value = read(value, text, one_line=True).data
        current, moved = moved_overrides(path, value, result)
        if moved:
            warn(moves(moved, f"{override.option} {override.key}"))  # once for all values
        for path, value in current:
            _set(result, path, value, text)
            origin.overrides.pop(path, None)
            origin.overrides[path] = text
            origin.given |= set(_texts(value))
    return result


def _set(data: dict[str, Any], path: KeyPath, value: Any, text: str) -> None:
    """Set the value at a path; raise ScenarioError with the text of the override if it is wrong."""
    # Check one by one: an override may select the family that the next override's key is in.
    known = key_paths(data)
    if path not in known:
        raise ScenarioError(f"{text}: {name_of(path)}: {unknown_key(path, known)}")
    part: Any = data
    for depth, key in enumerate(path[:-1], 1):
        if not isinstance(path[depth], int):
            before = part[key] if isinstance(key, int) else part.get(key)
            try:
                part[key] = _mapping(before, known[path[:depth]].field)
            except ValueError as error:
                place = f"{name_of(path[:depth])}: value {shown(before, ())}"
                raise ScenarioError(f"{text}: {place}: {error}") from None
        part = part[key]
    part[path[-1]] = value


def _texts(value: Any) -> Iterator[str]:
    """Yield the texts in a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(item)


def _mapping(part: Any, field: FieldInfo) -> dict[str, Any]:
    """Return a part as a mapping, so that a key can be set in it.

    Raises
    ------
    ValueError
        The part has a short form, but its value is none.
    """
    if isinstance(part, dict):
        return part
    for kind in models_of(field.annotation):
        if issubclass(kind, ShortForm) and part is not None:
            whole = kind.whole(part)
            if not isinstance(whole, dict):
                raise ValueError("expected a mapping")
            return whole
    return {}  # another choice, such as a file instead of the name of an algorithm


def listed(overrides: Overrides) -> list[Override]:
    """Return overrides of any form as a list.

    Raises
    ------
    ScenarioError
        If a text has no `=` or no key, or an override is neither text nor an `Override`.
    """
    if isinstance(overrides, str):
        overrides = [overrides]
    if isinstance(overrides, Mapping) and all(isinstance(name, str) for name in overrides):
        return [Override(name, value) for name, value in overrides.items()]
    if isinstance(overrides, Iterable) and not isinstance(overrides, Mapping):
        every = list(overrides)
        if all(isinstance(one, str | Override) for one in every):
            return [one if isinstance(one, Override) else split(one) for one in every]
    raise ScenarioError(
        f"overrides: value {shown(overrides, ())}: expected a mapping of key paths to values, or "
        "texts such as topology.ranks=8"
    )


def split(text: str, option: str = Override.option) -> Override:
    """Return the override that a text `key.path=value` describes.

    Parameters
    ----------
    text : str
        The text.
    option : str
        The option that gave it, for error messages.

    Raises
    ------
    ScenarioError
        If the text has no `=` or no key.
    """
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise ScenarioError(f"{option} {text}: expected key.path=value")
    return Override(name, value, option)
