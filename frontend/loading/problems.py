"""Describe each problem of a scenario in one sentence: place, key, value, and what is accepted."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path as Folder
from typing import Any, Literal, NamedTuple, get_args, get_origin

from pydantic import BaseModel, Discriminator, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from frontend.errors import RefusedError, in_file, key_path, name_of, one_of, shown
from frontend.loading.stored import REMOVED, REMOVED_KINDS
from frontend.scenario import Scenario
from frontend.scenario.transport import with_protocols_of_jobs
from frontend.schema.base import description
from frontend.topologies import TOPOLOGIES
from frontend.workloads import WORKLOADS
from frontend.yaml_document import Path

KeyPath = tuple[str | int, ...]


class Key(NamedTuple):
    """A key of the schema: a field of a model, or an item of a field that is a list of models."""

    model: type[BaseModel]
    name: str
    discriminator: Any = None
    """What selects one of several models: the key below this one that does, or a function."""

    @property
    def field(self) -> FieldInfo:
        """The field."""
        return self.model.model_fields[self.name]

    @property
    def description(self) -> str:
        """What the key means."""
        return description(self.model, self.name)


Known = Mapping[KeyPath, Key]


def key_paths(data: Any, model: type[BaseModel] = Scenario) -> Known:
    """Return every key path of the schema with its key. Lists have the items that `data` has.

    Parameters
    ----------
    data : any
        The scenario as given. Where a part has families (`topology.family`), the result contains
        only the keys of the family that `data` selects. Without a valid selection, it contains the
        keys of all families.
    model : type
        The schema to walk.
    """
    return dict(_walk(model, with_protocols_of_jobs(data, missing=True), ()))


def _walk(model: type[BaseModel], data: Any, prefix: KeyPath) -> Iterator[tuple[KeyPath, Key]]:
    for name, info in model.model_fields.items():
        path = (*prefix, name)
        value = data.get(name) if isinstance(data, Mapping) else None
        models = list(models_of(info.annotation))
        found: Any = info.discriminator or next(_discriminators(info.annotation), None)
        items = [(path, value)]
        if get_origin(info.annotation) is tuple and models:
            yield path, Key(model, name)
            listed = value if isinstance(value, list | tuple) else []
            items = [((*path, index), item) for index, item in enumerate(listed)]
        for place, item in items:
            yield place, Key(model, name, found)
            parts = _chosen(models, found, item) if isinstance(found, str) else models
            for part in parts:
                yield from _walk(part, item, place)


def _discriminators(annotation: Any) -> Iterator[Any]:
    """Yield the discriminators of the unions in an annotation."""
    for argument in get_args(annotation):
        if isinstance(argument, Discriminator | FieldInfo) and argument.discriminator:
            yield argument.discriminator
        yield from _discriminators(argument)


def models_of(annotation: Any) -> Iterator[type[BaseModel]]:
    """Yield the models of the mappings that a field of this type can hold."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from models_of(argument)


def _chosen(parts: list[type[BaseModel]], key: str, value: Any) -> list[type[BaseModel]]:
    if isinstance(value, Mapping) and key in value:
        fitting = [part for part in parts if value[key] in _tags(part, key)]
    else:
        fitting = [part for part in parts if not part.model_fields[key].is_required()]
    return fitting or parts


def families(key: Key) -> list[str]:
    """Return the discriminator values (family names) that a key accepts."""
    assert key.discriminator is not None
    models = models_of(key.field.annotation)
    return [tag for part in models for tag in _tags(part, key.discriminator)]


def _tags(part: type[BaseModel], key: str) -> tuple[str, ...]:
    return get_args(part.model_fields[key].annotation)


_FEW = 4

_BOUNDS = {
    "greater_than_equal": ("ge", "at least"),
    "greater_than": ("gt", "more than"),
    "less_than_equal": ("le", "at most"),
    "less_than": ("lt", "less than"),
}
_TYPES = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "string_type": "text",
    "tuple_type": "a list of whole numbers",
    "too_short": "at least one entry",
    "finite_number": "a finite number",
    "none_required": "nothing",
}


@dataclass
class Origin:
    """Records where each value of a scenario comes from: a line of a file, or an override."""

    name: str = ""
    lines: Mapping[Path, int] = field(default_factory=dict)
    overrides: dict[Path, str] = field(default_factory=dict)
    given: set[str] = field(default_factory=set)
    """The texts in the values of the overrides, such as names of files."""

    @property
    def folder(self) -> Folder:
        """The folder that relative file names in the scenario start from."""
        return Folder(self.name).parent

    def line(self, path: Path) -> int:
        """Return the line of a path or of its nearest parent; 0 for an override or a dict."""
        if self.override(path) is not None:
            return 0
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 0)

    def override(self, path: Path) -> str | None:
        """Return the last override that set the value at `path`, or None."""
        for key, text in reversed(self.overrides.items()):
            if path[: len(key)] == key or key[: len(path)] == path:
                return text
        return None

    def where(self, path: Path) -> str:
        """Return the start of a sentence: `file:line: `, the override or nothing."""
        override = self.override(path)
        if override is not None:
            return f"{override}: "
        line = self.line(path)
        return f"{self.name}:{line}: " if line else f"{self.name}: " if self.name else ""


def unknown_key(path: Path, known: Known) -> str:
    """Describe an unknown key: suggest the nearest key, or list the keys of the same mapping."""
    if path in REMOVED:
        return f"cosim no longer has this key: {REMOVED[path].expected}"
    *above, last = key_path(str(path[-1]))
    if above and (*path[:-1], *above, last) in known:
        return f"unknown key: expected {last} as a key of its own below {name_of(above)}"
    for depth in range(1, len(path)):
        if isinstance(path[depth], int) and _is_empty_list(path[:depth], known):
            return f"unknown key: {name_of(path[:depth])} has no entries, so set all of it"
        items = [key[depth] for key in known if key[:depth] == path[:depth] and len(key) > depth]
        if items and path[depth] not in items and all(isinstance(one, int) for one in items):
            return f"unknown key: expected a number from 0 to {max(items)} after {path[depth - 1]}"
    beside = _keys(path[:-1], known)
    if not beside and path[:-1] in known:
        return f"unknown key: {name_of(path[:-1])} has one value, without keys inside"
    if owners := _families_with(path, known):
        return f"unknown key here, it belongs to {owners}"
    if near := _near_keys(path, known):
        return f"unknown key: did you mean {' or '.join(map(name_of, near))}?"
    parent = path[:-1]
    while not _keys(parent, known):
        parent = parent[:-1]
    return f"unknown key: expected one of {_keys(parent, known)}"


def _is_empty_list(path: Path, known: Known) -> bool:
    """Return whether a key is a list of mappings, and the scenario has none of them."""
    key = known.get(path)
    is_list = key is not None and get_origin(key.field.annotation) is tuple
    return is_list and not any(one[: len(path)] == path != one for one in known)


def _near_keys(path: Path, known: Known) -> list[Path]:
    """Return the keys that may be meant by an unknown one: mostly one, or a few like it."""
    name, parent = str(path[-1]), path[:-1]
    beside = {str(key[-1]): key for key in known if key[:-1] == parent}
    below = [key for key in known if key[: len(parent)] == parent and key[-1] == name]
    if below:
        return below[:1]
    if parts := [key for one, key in beside.items() if len(name) > 1 and _is_end(name, one)]:
        return parts[:3]
    if close := get_close_matches(name, beside, n=1, cutoff=0.7):
        return [beside[close[0]]]
    if not beside:  # the name of the parent is wrong
        paths = {name_of(key): key for key in known if path[: len(key)] != key}
        if close := get_close_matches(name_of(path), paths, n=1, cutoff=0.75):
            return [paths[close[0]]]
    return [key for key in known if key[-1] == name][:1]


def _is_end(part: str, name: str) -> bool:
    return name.startswith(part) or name.endswith(part)


def _families_with(path: Path, known: Known) -> str:
    """Return which values of the key that selects a family give it an unknown key, if any do."""
    parent = known.get(path[:-1])
    if parent is None or not isinstance(parent.discriminator, str):
        return ""
    tags = [
        tag
        for part in models_of(parent.field.annotation)
        if path[-1] in part.model_fields
        for tag in _tags(part, parent.discriminator)
    ]
    *others, last = tags or [""]
    names = f"{', '.join(others)} or {last}" if others else last
    return f"{parent.discriminator} {names}" if names else ""


def no_scenario(data: Any) -> str:
    """Describe the content of a file that is no mapping."""
    kind = "empty" if data is None else "a list" if isinstance(data, list) else "no keys"
    return f"{kind}, expected a scenario with the blocks topology and workload (see cosim init)"


def describe(error: ValidationError, data: Any, origin: Origin) -> list[str]:
    """Return one sentence per problem: unknown keys first, then the others by line number."""
    known = key_paths(data)
    found = []
    for details in error.errors(include_url=False):
        if details["type"] == "default_factory_not_called":
            continue  # a consequence of another problem
        path = _given(_path(details, known), data)
        rank = (details["type"] != "extra_forbidden", origin.line(path))
        found.append((rank, _sentence(details, path, data, known, origin)))
    found.sort(key=lambda item: item[0])
    return list(dict.fromkeys(sentence for _, sentence in found))


def describe_refusal(error: RefusedError, data: Any, origin: Origin) -> str:
    """Return the sentence for a value that cannot work."""
    path = key_path(error.path)
    inside = in_file(data, path)
    return f"{origin.where(inside[0] if inside else path)}{error.sentence(data)}"


def _path(details: ErrorDetails, known: Known) -> Path:
    """Return the key path of a problem: pydantic's location without the names of union members."""
    check = details.get("ctx", {}).get("path", "")  # of a check over several keys
    if check and not check.startswith("."):
        return key_path(check)
    path: Path = ()
    location = list(details["loc"])
    while location:
        path = (*path, location.pop(0))
        parent = known.get(path)
        if parent is not None and parent.discriminator and location:
            location.pop(0)
    if details["type"].startswith("union_tag"):
        path = (*path, details["ctx"]["discriminator"].strip("'"))
    return (*path, *key_path(check[1:])) if check else path


def _given(path: Path, data: Any) -> Path:
    """Return the path of a problem, or of the number that stands for all keys below it."""
    for depth, part in enumerate(path):
        if isinstance(data, int | float):
            return path[:depth]
        if not isinstance(data, Mapping) or part not in data:
            break
        data = data[part]
    return path


def _sentence(details: ErrorDetails, path: Path, data: Any, known: Known, origin: Origin) -> str:
    kind = details["type"]
    if kind in ("missing", "union_tag_not_found") and (wrong := _misspelt(path, data, known)):
        kind, path = "extra_forbidden", wrong
    if kind == "extra_forbidden":
        saying = unknown_key(path, known)
    elif kind in ("missing", "union_tag_not_found"):
        saying = f"missing key: expected {_description(path, known)}"
        if path in origin.lines:  # an override has replaced the mapping that had it
            saying += f"; the override replaces all of {name_of(path[:-1])}"
    else:
        saying = _expected(details, path, known)
        inside = in_file(data, path)
        if inside is not None:
            path, rest = inside
            saying = f"{name_of(rest)}: value {shown(details['input'], ())}: {saying}"
        saying = f"value {shown(data, path)}: {saying}"
    return f"{origin.where(path)}{name_of(path) or 'scenario'}: {saying}"


def _misspelt(path: Path, data: Any, known: Known) -> Path | None:
    """Return the unknown key of the scenario that means a missing one, if there is one."""
    for part in path[:-1]:
        data = data.get(part) if isinstance(data, Mapping) else None
    given = [(*path[:-1], name) for name in data] if isinstance(data, Mapping) else []
    return next((one for one in given if one not in known and path in _near_keys(one, known)), None)


def _expected(details: ErrorDetails, path: Path, known: Known) -> str:
    """Return the phrase that says what is accepted instead of the value."""
    kind, context = details["type"], details.get("ctx", {})
    if kind in _TYPES:
        return f"expected {_TYPES[kind]}"
    if kind in _BOUNDS:
        name, phrase = _BOUNDS[kind]
        return f"expected {phrase} {_plain(context[name])}"
    match kind:
        case "cross_check":
            return str(context["expected"])
        case "value_error":
            return str(context["error"])
        case "literal_error":
            names = re.findall(r"'([^']*)'", expected := str(context["expected"]))
            return one_of(details["input"], names) if names else f"expected {expected}"
        case "union_tag_invalid":
            if context["tag"] in REMOVED_KINDS:
                return f"cosim no longer has this kind: {REMOVED_KINDS[context['tag']]}"
            problem = TOPOLOGIES.problem(context["tag"]) or WORKLOADS.problem(context["tag"])
            names = families(known[path[:-1]])
            return one_of(context["tag"], names) + (f" ({problem})" if problem else "")
        case "string_pattern_mismatch":
            return f"expected {_description(path, known)}"
        case "too_long":
            return f"expected at most {context['max_length']} entries"
        case "number_or_mapping":
            return f"expected a whole number, or a mapping with the keys {_keys(path, known)}"
        case "model_type" | "model_attributes_type" | "dict_type":
            key = known.get(path)
            if takes := _key_with_name(details["input"], path, known):
                return f"did you mean {name_of(takes)}: {details['input']}?"
            if key is not None and isinstance(key.discriminator, str):
                return (
                    f"expected a mapping with the keys {key.discriminator} "
                    f"({_description((*path, key.discriminator), known)}) and those that it needs"
                )
            return f"expected a mapping with the keys {_keys(path, known)}"
    message = " ".join(details["msg"].split())
    return message[0].lower() + message[1:]


def _key_with_name(name: Any, path: Path, known: Known) -> Path | None:
    """Return the key of a mapping that accepts a name, which was given in place of the mapping."""
    key = known.get(path)
    if not isinstance(name, str):
        return None
    if key is not None and isinstance(key.discriminator, str) and name in families(key):
        return (*path, key.discriminator)
    below = [one for one in known if one[:-1] == path]
    return next((one for one in below if name in _names(known[one])), None)


def _names(key: Key) -> list[str]:
    """Return the names that a key accepts; none if it accepts something else."""
    return [value for one in _literals(key.field.annotation) for value in get_args(one)]


def _literals(annotation: Any) -> Iterator[Any]:
    if get_origin(annotation) is Literal:
        yield annotation
    elif not isinstance(annotation, type):
        for argument in get_args(annotation):
            yield from _literals(argument)


def _plain(number: int | float) -> str:
    return str(int(number)) if float(number).is_integer() else str(number)


def _keys(path: Path, known: Known) -> str:
    return ", ".join(str(key[-1]) for key in known if key[:-1] == path)


def _description(path: Path, known: Known) -> str:
    """Return the meaning of the key at a path, or the names of the families for a discriminator."""
    parent = known.get(path[:-1])
    if parent is not None and path[-1:] == (parent.discriminator,):
        names = families(parent)
        return " or ".join(names) if len(names) <= _FEW else f"one of {', '.join(names)}"
    key = known.get(path)
    text = " ".join((key.description if key else "").split()) or "a value"
    return (text if text[1:2].isupper() else text[0].lower() + text[1:]).rstrip(".")
