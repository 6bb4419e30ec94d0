"""The keys of a schema as rows of text: what each accepts, its default and its meaning."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple


class Row(NamedTuple):
    """A key."""

    key: str
    """Its path; that of an entry of a list has `[]` after the list."""
    accepts: str
    default: str
    """As YAML; empty if there is none."""
    meaning: str
    required: bool
    """Whether it must be given."""


class Section(NamedTuple):
    """A block of a scenario, or one of the kinds that it can be."""

    name: str
    """The block; empty for the keys that are in no block."""
    choice: str
    """The kind, such as the family of a topology; empty if there is one kind alone."""
    text: str
    rows: tuple[Row, ...]


def sections(schema: dict[str, Any]) -> Iterator[Section]:
    """Yield the scalar keys of a schema's root, then one section for each kind of a block."""
    definitions = schema["$defs"]
    plain = {
        name: field
        for name, field in schema["properties"].items()
        if not models(field, definitions)
    }
    root = {"properties": plain, "required": schema.get("required", ())}
    yield Section("", "", "", tuple(rows("", root, definitions)))
    blocks = {name: models(field, definitions) for name, field in schema["properties"].items()}
    for name, field in schema["properties"].items():
        for model in blocks[name]:
            text = " ".join(model["description"].split())
            choice = next(
                (value["const"] for value in model["properties"].values() if "const" in value), ""
            )
            suffix = "[]" if is_list(field) else ""
            inside = rows(name + suffix + ".", model, definitions, blocks)
            yield Section(name, choice, text, tuple(inside))


def rows(
    prefix: str,
    keys_of: Mapping[str, Any],
    definitions: dict[str, Any],
    blocks: Mapping[str, Any] | None = None,
) -> Iterator[Row]:
    """Yield every key of a mapping's schema, nested keys included.

    What is a block of the scenario, too, has its keys there, and is one row here.
    """
    for name, field in keys_of["properties"].items():
        required = name in keys_of.get("required", ())
        inner = models(field, definitions)
        accepted = accepts(field, definitions)
        if blocks and inner and inner == blocks.get(name):
            meaning = " ".join(field.get("description", "").split())
            optional = "default" in field and field["default"] is None
            yield Row(
                f"{prefix}{name}", f"as `{name}`", "null" if optional else "", meaning, required
            )
            continue
        if not inner or accepted:
            given = "default" in field and not isinstance(field["default"], dict)
            default = yaml(field["default"]) if given and accepted else ""
            meaning = " ".join(field.get("description", "").split())
            if inner and "mapping" not in accepted:
                several, of, entries = accepted.rpartition("list of ")
                accepted = several + of + _or(["mapping", *filter(None, [entries])])
            yield Row(f"{prefix}{name}", accepted, default, meaning, required)
        suffix = "[]" if is_list(field) else ""
        for model in inner:
            yield from rows(f"{prefix}{name}{suffix}.", model, definitions, blocks)


def is_list(field: dict[str, Any]) -> bool:
    """Return whether the value of a key, if there is one, is a list."""
    choices = [choice for choice in field.get("anyOf", [field]) if choice.get("type") != "null"]
    return all(choice.get("type") == "array" for choice in choices)


def models(field: dict[str, Any], definitions: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the models of the mappings that a key, or each entry of its list, can hold."""
    if "$ref" in field:
        return models(definitions[field["$ref"].rpartition("/")[2]], definitions)
    if "properties" in field:
        return [field]
    choices = [*field.get("anyOf", ()), *field.get("oneOf", ())]
    if "items" in field:
        choices.append(field["items"])
    return [model for choice in choices for model in models(choice, definitions)]


def accepts(field: dict[str, Any], definitions: dict[str, Any]) -> str:
    """Return text that says which values, other than mappings, a key accepts."""
    if "$ref" in field:
        return accepts(definitions[field["$ref"].rpartition("/")[2]], definitions)
    if "anyOf" in field or "oneOf" in field:
        options = [*field.get("anyOf", ()), *field.get("oneOf", ())]
        return _or([accepts(option, definitions) for option in options])
    if "const" in field:
        return f"`{field['const']}`"
    if "enum" in field:
        return ", ".join(f"`{value}`" for value in field["enum"])
    if "examples" in field:
        return f"such as `{field['examples'][0]}`"
    match field.get("type"):
        case "integer" | "number" as kind:
            return ", ".join([kind, *limits(field)])
        case "string" | "boolean" | "null" as kind:
            return str(kind)
        case "array":
            if "prefixItems" in field:
                return f"[{', '.join(accepts(item, definitions) for item in field['prefixItems'])}]"
            entries = accepts(field["items"], definitions)
            of = f"values {entries}" if entries.startswith("such as") else entries
            return f"list of {of}" if entries else ""
        case "object" if "properties" not in field:
            return "mapping"
    return ""


def _or(choices: list[str]) -> str:
    """Return what a key accepts, each choice once and null last."""
    each = dict.fromkeys(one for choice in choices for one in choice.split(" or ") if one)
    return " or ".join(sorted(each, key=lambda one: one == "null"))


def limits(field: dict[str, Any]) -> Iterator[str]:
    """Yield the bounds of a number."""
    signs = {
        "minimum": "≥",
        "exclusiveMinimum": ">",
        "maximum": "≤",
        "exclusiveMaximum": "<",
    }
    for key, sign in signs.items():
        # A bound near 2³¹ only means that the number must fit into 32 bits.
        if key in field and field[key] < 2**31 - 1:
            yield f"{sign} {field[key]:.10g}"


def yaml(value: Any) -> str:
    """Return a default as YAML."""
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(yaml, value))}]"
    return str(value) if value != "" else '""'
