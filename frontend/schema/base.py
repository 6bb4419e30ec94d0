"""What every model of the schema shares: strictness, and problems over several keys."""

from abc import abstractmethod
from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    PlainSerializer,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError

from frontend.schema.docstrings import attribute_docstrings

Problems = Iterator[tuple[str, str]]
"""For each value that cannot work: its key path, and what is accepted."""


class Model(BaseModel):
    """A frozen part of a scenario: unknown keys are errors.

    A docstring below a field describes it; see `description`.
    """

    model_config = ConfigDict(
        frozen=True,
        defer_build=True,  # only whole scenarios are checked
        extra="forbid",
        strict=True,
        validate_default=True,
        ser_json_inf_nan="strings",
    )


class ShortForm(Model):
    """A part that may also be written in a short form, such as a name instead of a mapping."""

    @classmethod
    @abstractmethod
    def whole(cls, value: Any) -> Any:
        """Return the mapping that a short form stands for; any other value as it is."""

    @classmethod
    @abstractmethod
    def short_schema(cls) -> JsonSchemaValue:
        """Return the JSON Schema of the short form."""

    @model_validator(mode="before")
    @classmethod
    def _from_short_form(cls, value: Any) -> Any:
        return cls.whole(value)

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {"anyOf": [cls.short_schema(), handler.resolve_ref_schema(handler(core))]}


def description(model: type[BaseModel], key: str) -> str:
    """Return the meaning of a key: the description of the field, or else its docstring."""
    return model.model_fields[key].description or attribute_docstrings(model).get(key, "")


def cross_check_error(path: str, expected: str) -> PydanticCustomError:
    """Return the error of a check over several keys: the key to blame, and what it should be.

    A path that begins with a dot starts at the checked model.
    """
    # The text goes in through the context: pydantic reads braces in a template.
    return PydanticCustomError(
        "cross_check", "{path}: {expected}", {"path": path, "expected": expected}
    )


def listed(value: Any) -> Any:
    """Let a list of YAML be a tuple; raise ValueError for anything else."""
    if not isinstance(value, list | tuple):
        raise ValueError("expected a list")
    return tuple(value)


def _integral(value: Any) -> Any:
    """Let 1e3 be a whole number; YAML calls it a float."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


# The bounds stand before the validator, so that the JSON Schema gets them as the integer's own.
Count = Annotated[int, Field(ge=1, le=2**31 - 1), BeforeValidator(_integral)]
"""A whole number, at least 1; the stream has 32 bits for it."""

Whole = Annotated[int, Field(ge=0, le=2**31 - 1), BeforeValidator(_integral)]
"""A whole number, such as a parameter of a graph."""

Width = Annotated[int, Field(ge=1, le=2**20), BeforeValidator(_integral)]
"""Elements or samples along one axis of a tensor."""

Accesses = Annotated[int, Field(ge=0, le=1000), BeforeValidator(_integral)]
"""Memory accesses an element."""

Iterations = Annotated[int, Field(ge=1, le=100_000), BeforeValidator(_integral)]
"""Training iterations."""

Ranks = Annotated[int, Field(ge=2, le=65536), BeforeValidator(_integral)]
"""Ranks that make a network."""

Switches = Annotated[int, Field(ge=1, le=1024), BeforeValidator(_integral)]
"""Parallel switches."""


def as_tuple(value: Any) -> Any:
    """Let a list of YAML be a tuple."""
    return tuple(value) if isinstance(value, list) else value


Widths = Annotated[
    tuple[Width, ...],
    BeforeValidator(as_tuple),
    Field(min_length=1),
    PlainSerializer(list, return_type=list[int]),
]
"""The output widths of a stack of layers, input side first."""

Probability = Annotated[float, Field(ge=0, lt=1)]
"""Part of the packets, from 0 to less than 1."""
