"""List the key paths that a scenario may have, given the families and kinds that it selects."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, get_args, get_origin

from pydantic import BaseModel, Discriminator
from pydantic.fields import FieldInfo

from frontend.scenario import Scenario
from frontend.schema.base import description

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
    return dict(_walk(model, data, ()))


def _walk(model: type[BaseModel], data: Any, prefix: KeyPath) -> Iterator[tuple[KeyPath, Key]]:
    for name, field in model.model_fields.items():
        path = (*prefix, name)
        value = data.get(name) if isinstance(data, Mapping) else None
        models = list(_models(field.annotation))
        found: Any = field.discriminator or next(_discriminators(field.annotation), None)
        items = [(path, value)]
        if get_origin(field.annotation) is tuple and models:
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
        if isinstance(argument, Discriminator):
            yield argument.discriminator
        yield from _discriminators(argument)


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from _models(argument)


def _chosen(parts: list[type[BaseModel]], key: str, value: Any) -> list[type[BaseModel]]:
    if isinstance(value, Mapping) and key in value:
        fitting = [part for part in parts if value[key] in _tags(part, key)]
    else:
        fitting = [part for part in parts if not part.model_fields[key].is_required()]
    return fitting or parts


def families(key: Key) -> list[str]:
    """Return the discriminator values (family names) that a key accepts."""
    assert key.discriminator is not None
    models = _models(key.field.annotation)
    return [tag for part in models for tag in _tags(part, key.discriminator)]


def _tags(part: type[BaseModel], key: str) -> tuple[str, ...]:
    return get_args(part.model_fields[key].annotation)
