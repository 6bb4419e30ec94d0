"""Apply overrides (`--set key.path=value`) to a scenario before it is checked."""

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any

from pydantic.fields import FieldInfo

from frontend.errors import ScenarioError
from frontend.loading.key_paths import key_paths
from frontend.loading.problems import Origin, unknown_key
from frontend.loading.python_values import python_values
from frontend.loading.yaml_document import read
from frontend.schema.system import NumberOrMapping

Overrides = Mapping[str, Any] | Sequence[str]


def apply(data: Mapping[str, Any], overrides: Overrides, origin: Origin) -> dict[str, Any]:
    """Return a copy of `data` with the overrides applied in order, and record them in `origin`.

    Parameters
    ----------
    overrides : mapping of key path to value, or sequence of "key.path=value"
        A text value is read as a YAML scalar or flow value. A mapping replaces the whole part at
        its path.

    Raises
    ------
    ScenarioError
        If an override has no `=`, its value is not YAML, or the schema does not have its key path.
        For an unknown path the text suggests the nearest one.
    """
    result = deepcopy(dict(data))
    for text, path, value in _parsed(overrides):
        # Check one by one: an override may select the family that the next override's key is in.
        known = key_paths(result)
        if path not in known:
            raise ScenarioError(f"--set {text}: {'.'.join(path)}: {unknown_key(path, known)}")
        part = result
        for depth, key in enumerate(path[:-1], 1):
            part[key] = _mapping(part.get(key), known[path[:depth]])
            part = part[key]
        part[path[-1]] = value
        origin.overrides.pop(path, None)
        origin.overrides[path] = text
    return result


def _mapping(part: Any, field: FieldInfo) -> dict[str, Any]:
    """Return a part as a mapping, so that a key can be set in it."""
    kind = field.annotation
    if isinstance(part, dict):
        return part
    if isinstance(kind, type) and issubclass(kind, NumberOrMapping):
        # A single number (system.chunks) keeps applying to the keys that are not overridden.
        return dict.fromkeys(kind.model_fields, part) if part is not None else {}
    return {}


def _parsed(overrides: Overrides) -> Iterator[tuple[str, tuple[str, ...], Any]]:
    """Yield the text, key path and value of each override."""
    if isinstance(overrides, str):
        overrides = [overrides]
    items = overrides.items() if isinstance(overrides, Mapping) else map(_split, overrides)
    for name, value in items:
        text = f"{name}={value}"
        value = python_values(value)
        if isinstance(value, str):
            value = read(value, f"--set {text}", one_line=True).data
        yield text, tuple(name.strip().split(".")), value


def _split(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise ScenarioError(f"--set {text}: expected key.path=value")
    return name, value
