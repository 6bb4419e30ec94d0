"""Makes JSON Schemas of models whose fields have docstrings."""

from __future__ import annotations

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from frontend.schema.docstrings import attribute_docstrings


class DocumentedSchema(GenerateJsonSchema):
    """Describes each field that has no description by its docstring.

    Give it to `model_json_schema` as ``schema_generator``.
    """

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        """Return the schema of a model, with a description of every field."""
        made = super().model_schema(schema)
        for name, text in attribute_docstrings(schema["cls"]).items():
            if name in made.get("properties", {}):
                made["properties"][name].setdefault("description", text)
        return made
