"""Writes the pages that follow from the code: `python docs/generate.py`, from the root.

`scenario.md` and `result.md` list every key with what it accepts and means, and
`result.schema.json` is the JSON Schema of a result. A test keeps them current.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bridge.results.result import result_schema, result_schema_text
from frontend import Scenario

FOLDER = Path(__file__).resolve().parent

GROUP = "x-group"
"""In the schema of a block that belongs to a group: the title and text of the group."""

SCENARIO_INTRODUCTION = """\
# Scenario reference

A scenario is one YAML 1.2 file. Unknown keys are errors, and every key can be set on the command
line: `--set topology.bandwidth=400Gbps`. Quantities are written with their unit: times `0.5us`,
rates `100Gbps`, sizes `8MB` (10⁶) or `8MiB` (2²⁰). The same in JSON Schema, for editors:
`cosim schema`.
"""

RESULT_INTRODUCTION = """\
# Result reference

`result.json`, what `--json` prints, and `bridge.Result` in Python are the same document. Times
are nanoseconds of simulated time (fractions are picoseconds, exactly), sizes bytes, rates bit/s.
Two runs of one scenario are byte-identical but for `simulator.wall_s`, `simulator.cpu_s` and
`simulator.peak_rss_bytes`. The same in JSON Schema: `cosim schema result`, or
[result.schema.json](result.schema.json).
"""


def pages() -> dict[str, str]:
    """Make the generated files.

    Returns
    -------
    dict
        File name to content.
    """
    scenario = Scenario.model_json_schema(mode="validation")
    return {
        "scenario.md": SCENARIO_INTRODUCTION + "".join(sections(scenario)),
        "result.md": RESULT_INTRODUCTION + "".join(sections(result_schema())),
        "result.schema.json": result_schema_text(),
    }


def sections(schema: dict[str, Any]) -> Iterator[str]:
    """Yield the scalar keys of a schema's root, then one section a block."""
    definitions = schema["$defs"]
    plain = {
        name: field
        for name, field in schema["properties"].items()
        if not models(field, definitions)
    }
    yield "\n" + table(rows("", plain, definitions))
    for name, field in schema["properties"].items():
        group, alone = [], []
        for model in models(field, definitions):
            (group if GROUP in model else alone).append(model)
        for model in alone:
            text = " ".join(model["description"].split())
            choice = next(
                (value["const"] for value in model["properties"].values() if "const" in value), None
            )
            heading = f"`{name}`" + (f": {choice}" if choice else "")
            suffix = "[]" if is_list(field) else ""
            yield f"\n## {heading}\n\n{text}\n\n"
            yield table(rows(name + suffix + ".", model["properties"], definitions))
        if group:
            yield from grouped(name, group, definitions)


def grouped(name: str, group: list[dict[str, Any]], definitions: dict[str, Any]) -> Iterator[str]:
    """Yield one section for blocks that share most of their keys: those, then each one's own."""
    title, text = group[0][GROUP]
    common = set.intersection(*(set(model["properties"]) for model in group))
    shared, own = {}, []
    for model in group:
        for key, field in model["properties"].items():
            if key in common and "const" not in field:
                shared[key] = field
            else:
                own += rows(name + ".", {key: field}, definitions)
    yield f"\n## `{name}`: {title}\n\n{' '.join(text.split())}\n\n"
    yield table(rows(name + ".", shared, definitions))
    yield "\nThe families, and their own keys:\n\n" + table(iter(own))


def rows(
    prefix: str, properties: dict[str, Any], definitions: dict[str, Any]
) -> Iterator[tuple[str, str, str, str]]:
    """Yield key path, accepted values, default and meaning of every key, nested ones too."""
    for name, field in properties.items():
        inner = models(field, definitions)
        accepted = accepts(field, definitions)
        if not inner or accepted:
            given = "default" in field and not isinstance(field["default"], dict)
            default = f"`{yaml(field['default'])}`" if given and accepted else ""
            meaning = " ".join(field.get("description", "").split())
            yield f"`{prefix}{name}`", accepted or "mapping", default, meaning
        suffix = "[]" if is_list(field) else ""
        for model in inner:
            yield from rows(f"{prefix}{name}{suffix}.", model["properties"], definitions)


def is_list(field: dict[str, Any]) -> bool:
    """Tell whether a key holds a list, if it holds anything."""
    choices = [choice for choice in field.get("anyOf", [field]) if choice.get("type") != "null"]
    return all(choice.get("type") == "array" for choice in choices)


def models(field: dict[str, Any], definitions: dict[str, Any]) -> list[dict[str, Any]]:
    """Give the mappings that a key can hold, or that the entries of its list are."""
    if "$ref" in field:
        return models(definitions[field["$ref"].rpartition("/")[2]], definitions)
    if "properties" in field:
        return [field]
    choices = [*field.get("anyOf", ()), *field.get("oneOf", ())]
    if "items" in field:
        choices.append(field["items"])
    return [model for choice in choices for model in models(choice, definitions)]


def accepts(field: dict[str, Any], definitions: dict[str, Any]) -> str:
    """Say which values that are no mappings a key accepts."""
    if "$ref" in field:
        return accepts(definitions[field["$ref"].rpartition("/")[2]], definitions)
    if "anyOf" in field or "oneOf" in field:
        options = [*field.get("anyOf", ()), *field.get("oneOf", ())]
        # A quantity may also be a plain number in its base unit; the example says enough.
        if any("examples" in option for option in options):
            options = [option for option in options if option.get("type") != "number"]
        choices = (accepts(option, definitions) for option in options)
        return " or ".join(dict.fromkeys(choice for choice in choices if choice))
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
            return f"list of {entries}" if entries else ""
        case "object" if "properties" not in field:
            return "mapping"
    return ""


def limits(field: dict[str, Any]) -> Iterator[str]:
    """Yield the bounds of a number."""
    signs = {
        "minimum": "≥",
        "exclusiveMinimum": ">",
        "maximum": "≤",
        "exclusiveMaximum": "<",
    }
    for key, sign in signs.items():
        # A bound of 2³¹ or so only says that the number must fit.
        if key in field and field[key] < 2**31 - 1:
            yield f"{sign} {field[key]}"


def yaml(value: Any) -> str:
    """Write a default as a scenario does."""
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(yaml, value))}]"
    return str(value) if value != "" else '""'


def table(lines: Iterator[tuple[str, str, str, str]]) -> str:
    """Lay out rows as Markdown, without a column of defaults where there are none."""
    rows = [("key", "accepts", "default", "meaning"), *lines]
    columns = [0, 1, 2, 3] if any(row[2] for row in rows[1:]) else [0, 1, 3]
    cells = [[row[column].replace("|", "\\|") for column in columns] for row in rows]
    cells.insert(1, ["---"] * len(columns))
    return "".join(f"| {' | '.join(row)} |\n" for row in cells)


def main() -> None:
    """Write the files."""
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
