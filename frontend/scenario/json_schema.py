"""Generate the JSON Schema of a scenario."""

import json
from pathlib import Path
from typing import Any

from frontend.scenario.model import Scenario
from frontend.schema.docstrings import DocumentedSchema

PATH = Path(__file__).parents[1] / "scenario.schema.json"


def schema() -> dict[str, Any]:
    """Return the JSON Schema of a scenario, with a description of every key."""
    return Scenario.model_json_schema(schema_generator=DocumentedSchema)


def text() -> str:
    """Return the exact content of `scenario.schema.json`, for editors."""
    document = schema()
    document["oneOf"] = [{"required": ["workload"]}, {"required": ["jobs"]}]
    document["patternProperties"] = {"^x-": {"description": "Ignored: a place for YAML anchors."}}
    document["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
