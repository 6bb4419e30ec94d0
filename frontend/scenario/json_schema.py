"""Generate the JSON Schema of a scenario."""

import json
from pathlib import Path

from frontend.scenario.model import Scenario

PATH = Path(__file__).parents[1] / "scenario.schema.json"


def text() -> str:
    """Return the JSON Schema, the exact content of `scenario.schema.json`."""
    schema = Scenario.model_json_schema(mode="validation")
    schema["patternProperties"] = {"^x-": {"description": "Ignored: a place for YAML anchors."}}
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
